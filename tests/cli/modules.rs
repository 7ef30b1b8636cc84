//! The order of modules that `docs/architecture.md` states for each crate, and the size and names of source files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A crate whose modules form one line.
struct Crate {
    src: &'static str,
    /// The last module of its line in the document.
    last: &'static str,
}

/// How many lines a file may have: as many as its idea takes, and ideas are smaller than this.
const LONGEST: usize = 450;

const CRATES: [Crate; 2] = [
    Crate {
        src: "src",
        last: "main",
    },
    Crate {
        src: "crates/operator-runtime/src",
        last: "envtest",
    },
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The line of the document that names the modules in their order.
fn order(last: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let end = format!(" {last}");
    let line = text
        .lines()
        .find(|line| line.contains("error ") && line.ends_with(&end))
        .unwrap_or_else(|| panic!("docs/architecture.md has a line `error …{end}`"));
    line.split(' ').map(str::to_owned).collect()
}

/// Every source file, relative to `src`, with its text.
fn sources(src: &str) -> Vec<(PathBuf, String)> {
    let src = root().join(src);
    walkdir::WalkDir::new(&src)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "rs"))
        .map(|entry| {
            let path = entry.path().strip_prefix(&src).unwrap().to_path_buf();
            (path, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// `name/rust.rs` is `["name", "rust"]`.
fn module_of(path: &Path) -> Vec<String> {
    path.with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect()
}

/// `text` with its comments and literals emptied, so that what is left is code.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            rest[start..]
                .find(&end)
                .map_or(rest.len(), |at| start + at + end.len())
        } else if c == '"' {
            quoted(rest, '"').unwrap_or(rest.len())
        } else if c == '\'' {
            // A lifetime has no second quote where a character would have it.
            let escaped = rest[1..].starts_with('\\');
            let end = quoted(rest, '\'').unwrap_or(0);
            let is_char = escaped || rest[..end].chars().count() == 3;
            if is_char { end } else { 0 }
        } else {
            0
        };
        if length == 0 {
            code.push(c);
        }
        rest = &rest[length.max(c.len_utf8())..];
    }
    code
}

/// The number of `#` if `text` starts with a raw string literal.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The length of the literal at the start of `text`.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The modules that paths from the crate's root name: `crate::a::b`, `crate::{a, b::c}`, and as many `super::` as lead
/// there.
fn used(module: &[String], code: &str) -> BTreeSet<String> {
    let up = "super::".repeat(module.len());
    let starts = ["crate::", "operator_forge::", up.as_str()];
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut used = BTreeSet::new();
    for start in starts {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|c| word(c) || c == ':') {
                continue;
            }
            let rest = &code[at + start.len()..];
            let Some(list) = rest.strip_prefix('{') else {
                used.insert(rest.chars().take_while(|c| word(*c)).collect());
                continue;
            };
            // The first word of each entry of the list itself, not of the lists in it.
            let (mut depth, mut first) = (1, true);
            for (at, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 1 => first = true,
                    c if depth == 1 && first && word(c) => {
                        used.insert(list[at..].chars().take_while(|c| word(*c)).collect());
                        first = false;
                    }
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
    }
    used
}

#[test]
fn a_module_uses_only_modules_before_it() {
    for Crate { src, last, .. } in CRATES {
        let order = order(last);
        let place = |name: &str| order.iter().position(|module| module == name);
        let mut seen = BTreeSet::new();
        let mut wrong = Vec::new();
        for (path, text) in sources(src) {
            let module = module_of(&path);
            if module == ["lib"] {
                continue;
            }
            seen.insert(module[0].clone());
            let Some(here) = place(&module[0]) else {
                continue;
            };
            for other in used(&module, &code(&text)) {
                // What the root offers to others would hide which module it comes from.
                let hidden = other.starts_with(|c: char| c.is_ascii_uppercase());
                if hidden || place(&other).is_some_and(|there| there > here) {
                    wrong.push(format!("{src}/{} uses `{other}`", path.display()));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(
            seen,
            order.iter().cloned().collect(),
            "docs/architecture.md and {src} name different modules"
        );
    }
}

#[test]
fn paths_are_found_in_code_only() {
    let text = r##"
        use crate::{error::{Failure, tree}, name, project::{self, plan}};
        // crate::comment
        fn f<'a>(c: char) -> bool { crate::git::init("crate::text", r#"crate::raw"#, '"', '\'') }
        use super::super::cli::Cli; use super::sibling; use other_crate::report;
    "##;
    let module = ["template".to_owned(), "render".to_owned()];
    let found: Vec<_> = used(&module, &code(text)).into_iter().collect();
    assert_eq!(found, ["cli", "error", "git", "name", "project"]);
}

#[test]
fn files_are_short_and_named_for_what_they_hold() {
    let mut wrong = Vec::new();
    for Crate { src, .. } in CRATES {
        for (path, text) in sources(src) {
            let lines = text.lines().count();
            if lines > LONGEST {
                wrong.push(format!("{src}/{} has {lines} lines", path.display()));
            }
            for name in module_of(&path) {
                if ["util", "utils", "helper", "helpers", "common", "misc"].contains(&name.as_str())
                {
                    wrong.push(format!("{src}/{} says nothing by its name", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
