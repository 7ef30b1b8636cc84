//! The order of modules that `docs/architecture.md` states for each crate, and the size and names of source files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::visit::{self, Visit};

use crate::session::bless;

/// A crate whose modules form one line.
struct Crate {
    src: &'static str,
    /// The last module of its line in the document.
    last: &'static str,
}

/// How many lines a file may have: as many as its idea takes, and ideas are smaller than this.
const LONGEST: usize = 500;

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

/// The crates whose files are searched for circles.
const SOURCES: [&str; 11] = [
    "src",
    "crates/ansible-api/src",
    "crates/builtin-kinds/src",
    "crates/crd-compat/src",
    "crates/crd-types/src",
    "crates/guarded-yaml/src",
    "crates/helm-render/src",
    "crates/kubebuilder-port/src",
    "crates/operator-ansible/src",
    "crates/operator-runtime/src",
    "crates/process-node/src",
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
fn the_root_lists_the_modules_in_their_order() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let listed = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    let listed: Vec<_> = listed.map(|line| line.trim_end_matches(';')).collect();
    let order = order("main");
    assert_eq!(listed, order[..order.len() - 1]);
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

/// The files of a crate by module; the root has no name.
struct Files(BTreeMap<Vec<String>, Names>);

/// The names in one file.
#[derive(Default)]
struct Names {
    /// The names of its items.
    defined: BTreeSet<String>,
    /// The paths of its `use` declarations.
    imported: Vec<Vec<String>>,
    /// Paths elsewhere that begin with `crate` or `super`, such as `super::parse::LONGEST`.
    inline: Vec<Vec<String>>,
}

impl Files {
    fn of(src: &str) -> Self {
        let mut files = BTreeMap::new();
        for (path, text) in sources(src) {
            let mut module = module_of(&path);
            if module.iter().any(|name| name.ends_with("tests")) || module == ["main"] {
                continue;
            }
            module.retain(|name| !["lib", "mod"].contains(&name.as_str()));
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let mut names = Names::default();
            for item in file.items.iter().filter(|item| !is_for_tests(item)) {
                match item {
                    syn::Item::Use(item) => {
                        flatten(&item.tree, &mut Vec::new(), &mut names.imported)
                    }
                    _ => names.defined.extend(name_of(item)),
                }
                names.visit_item(item);
            }
            files.insert(module, names);
        }
        Self(files)
    }

    /// The file that defines what `path`, as `module` writes it, names; `None` for other crates.
    fn defines(&self, module: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let ups = path.iter().take_while(|word| *word == "super").count();
        let (start, rest) = match path.first().map(String::as_str) {
            Some("crate") => (Vec::new(), &path[1..]),
            Some("self") => (module.to_vec(), &path[1..]),
            Some("super") => (
                module[..module.len().checked_sub(ups)?].to_vec(),
                &path[ups..],
            ),
            _ => (module.to_vec(), path),
        };
        let mut here = start;
        for (at, word) in rest.iter().enumerate() {
            let below = [&here[..], std::slice::from_ref(word)].concat();
            if self.0.contains_key(&below) {
                here = below;
                continue;
            }
            let Names {
                defined, imported, ..
            } = self.0.get(&here)?;
            let offered = imported.iter().find(|path| path.last() == Some(word));
            return match offered {
                Some(offered) if !defined.contains(word) && depth < 9 => {
                    let whole = [offered, &rest[at + 1..]].concat();
                    self.defines(&here, &whole, depth + 1)
                }
                _ if defined.contains(word) || at > 0 => Some(here),
                _ => None,
            };
        }
        Some(here)
    }

    /// The files that a file uses, but for those below it: a module knows its parts.
    fn used_by(&self, module: &[String]) -> BTreeSet<Vec<String>> {
        let names = &self.0[module];
        let paths = names.imported.iter().chain(&names.inline);
        let used = paths.filter_map(|path| self.defines(module, path, 0));
        used.filter(|used| !used.is_empty() && !used.starts_with(module))
            .collect()
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<_> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        if ["crate", "super"].contains(&words[0].as_str()) {
            self.inline.push(words);
        }
        visit::visit_path(self, path);
    }

    /// `pub(super)` uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// Whether an item is compiled in tests only.
fn is_for_tests(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        is_cfg
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|flag| flag == "test")
    })
}

fn name_of(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Every path of a `use`, by the name that it has in the place of which it is imported.
fn flatten(tree: &syn::UseTree, before: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, paths);
            before.pop();
        }
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, paths);
            }
        }
        syn::UseTree::Name(name) if name.ident == "self" => paths.push(before.clone()),
        syn::UseTree::Name(name) => {
            let name = name.ident.to_string();
            paths.push([&before[..], &[name]].concat());
        }
        syn::UseTree::Rename(rename) => {
            let name = rename.ident.to_string();
            paths.push([&before[..], &[name]].concat());
        }
        syn::UseTree::Glob(_) => paths.push(before.clone()),
    }
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for src in SOURCES {
        let files = Files::of(src);
        for module in files.0.keys() {
            let mut reached = BTreeSet::new();
            let mut next = vec![module.clone()];
            while let Some(at) = next.pop() {
                for used in files.used_by(&at) {
                    if reached.insert(used.clone()) {
                        next.push(used);
                    }
                }
            }
            if reached.contains(module) {
                circles.push(format!("{src}/{}", module.join("/")));
            }
        }
    }
    assert_eq!(circles, Vec::<String>::new(), "files of a circle");
}

/// The rooms of each crate, and the rooms that each uses, as `snapshots/rooms.txt` shows them: a new arrow is seen in a review.
#[test]
fn rooms_and_arrows() {
    let mut text = String::new();
    for src in SOURCES {
        let files = Files::of(src);
        let mut rooms: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for module in files.0.keys().filter(|module| !module.is_empty()) {
            let mut used = files.used_by(module);
            used.retain(|used| used[0] != module[0]);
            let room = rooms.entry(&module[0]).or_default();
            room.extend(used.into_iter().map(|used| used[0].clone()));
        }
        text += &format!("{src}\n");
        for (room, used) in rooms {
            let used: Vec<_> = used.into_iter().collect();
            text += format!("    {room} -> {}", used.join(" ")).trim_end_matches(" -> ");
            text += "\n";
        }
    }
    let path = root().join("snapshots/rooms.txt");
    if bless() {
        fs::write(&path, &text).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(recorded, text, "`make snapshots` accepts it");
}

/// A file of a repository may be a pipe without an end, or larger than the memory: one module knows how to read it.
#[test]
fn files_are_read_through_one_door() {
    let doors = [
        "tree/disk.rs",
        "tree/search.rs",
        "apply/disk/real.rs",
        "template/vendored.rs",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        let code = code(text.split("#[cfg(test)]\nmod ").next().unwrap());
        let is_test = module_of(&path).iter().any(|name| name.ends_with("tests"));
        let reads = ["fs::read(", "read_to_string(", "read_to_end(", "WalkDir"];
        let reads = reads.iter().any(|call| code.contains(call));
        if reads && !is_test && !doors.iter().any(|door| path == Path::new(door)) {
            wrong.push(path);
        }
    }
    assert_eq!(wrong, Vec::<PathBuf>::new());
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
