//! The files of the runtime's crates for a project's `vendor/`: manifest, README, license and sources, without the crates' own tests.
//! The build script embeds them, and a test compares.

use std::{collections::BTreeMap, error::Error, fs, io, path::Path};

/// The crates, each with the directory of its templates: every project has the first one, projects with charts, roles or playbooks the
/// others.
pub const CRATES: [(&str, &str); 7] = [
    ("operator-runtime", "runtime"),
    ("builtin-kinds", "recipe-runtime"),
    ("chart-api", "chart-runtime"),
    ("helm-render", "chart-runtime"),
    ("operator-helm", "chart-runtime"),
    ("ansible-api", "ansible-runtime"),
    ("operator-ansible", "ansible-runtime"),
];

/// The files and directories in `src` that only tests of the crate need.
const TESTS: [&str; 7] = [
    "tests",
    "tests.rs",
    "model",
    "model.rs",
    "simulation",
    "simulation.rs",
    "example.rs",
];

/// The files for `vendor/` of the crate in `directory`, by their paths in it, with `\n` for line ends.
///
/// Errors: a file cannot be read.
pub fn files(directory: &Path) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let read = |path: &str| {
        let text = fs::read_to_string(directory.join(path));
        text.map(|text| text.replace("\r\n", "\n"))
            .map_err(|error| {
                io::Error::other(format!("{}: {error}", directory.join(path).display()))
            })
    };
    let mut files = BTreeMap::from([("Cargo.toml".to_owned(), manifest(&read("Cargo.toml")?))]);
    for path in ["LICENSE", "README.md"] {
        files.insert(path.to_owned(), read(path)?);
    }
    let programs = Some(directory.join("python")).filter(|path| path.exists());
    let directories = programs.into_iter().chain([directory.join("src")]);
    for entry in directories.flat_map(walkdir::WalkDir::new) {
        let entry = entry?;
        let path = entry.path().strip_prefix(directory)?;
        let mut parts = path.iter().filter_map(|part| part.to_str());
        if !entry.file_type().is_file() || parts.any(|part| TESTS.contains(&part)) {
            continue;
        }
        let path = path.to_str().ok_or("a path is not UTF-8")?;
        let path = path.replace('\\', "/");
        let text = read(&path)?;
        let text = match &*path {
            "src/manifests.rs" => optional(&without_tests(&text)),
            path if path.ends_with(".rs") => without_tests(&text),
            _ => text,
        };
        files.insert(path, text);
    }
    Ok(files)
}

/// The modules of `src/manifests.rs` that a copy may lack. The compiler passes over them without their features, and rustfmt only by
/// an attribute.
const OPTIONAL: [&str; 2] = ["bundle", "chart"];

fn optional(text: &str) -> String {
    OPTIONAL.iter().fold(text.to_owned(), |text, module| {
        let line = format!("mod {module};\n");
        text.replacen(&line, &format!("#[rustfmt::skip]\n{line}"), 1)
    })
}

/// The manifest without the sections that only the crate's own tests, examples and benchmarks need.
fn manifest(text: &str) -> String {
    let mut kept = String::new();
    let mut skips = false;
    // A comment belongs to the line below it.
    let mut pending = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            let section = line.trim_matches(['[', ']']);
            skips = ["dev-dependencies", "example", "test", "bench"].contains(&section);
        }
        pending.push_str(line);
        pending.push('\n');
        if !line.starts_with('#') {
            if !skips {
                kept.push_str(&pending);
            }
            pending.clear();
        }
    }
    kept.trim_end().to_owned() + "\n"
}

/// A source without the items and fields for tests and their comments. Because rustfmt formats the sources, an item ends with a closing
/// brace at the indent of its first line.
fn without_tests(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let attribute = line.trim_start();
        if !attribute.starts_with("#[cfg(test)]") && !attribute.starts_with("#[cfg(all(test,") {
            kept.push(line);
            continue;
        }
        let indent = &line[..line.len() - attribute.len()];
        while kept
            .pop_if(|line| line.trim_start().starts_with("///"))
            .is_some()
        {}
        let end = [
            format!("{indent}}}"),
            format!("{indent}];"),
            format!("{indent}}};"),
        ];
        let first = lines
            .by_ref()
            .find(|line| !line.trim_start().starts_with("#["));
        let ends = [";", ",", " {}"];
        let is_whole = first.is_some_and(|line| ends.iter().any(|end| line.ends_with(end)));
        if !is_whole {
            lines
                .by_ref()
                .find(|line| end.iter().any(|end| end == line));
        }
        // Drop the blank line above, too.
        while kept.last().is_some_and(|line| line.is_empty())
            && lines
                .clone()
                .next()
                .is_none_or(|line| line.is_empty() || line.trim_start() == "}")
        {
            kept.pop();
        }
    }
    kept.join("\n").trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::catalogue::{self, Template};

    /// The embedded files of a crate, by their paths in it.
    fn embedded(name: &str) -> BTreeMap<String, String> {
        let of_runtime = catalogue::all().iter().filter(|it| it.scope.is_runtime());
        let file = |template: &Template| {
            let path = template.target.strip_prefix("vendor/")?;
            let path = path.strip_prefix(name)?.strip_prefix('/')?;
            let text = String::from_utf8(template.content.to_vec());
            Some((path.to_owned(), text.unwrap()))
        };
        of_runtime.filter_map(file).collect()
    }

    /// The embedded files are those of the crates now.
    #[test]
    fn the_crates_are_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
        for (name, _) in CRATES {
            assert_eq!(embedded(name), files(&root.join(name)).unwrap());
        }
    }

    #[test]
    fn rustfmt_passes_over_modules_that_may_be_missing() {
        let manifests = embedded("operator-runtime")
            .remove("src/manifests.rs")
            .unwrap();
        for module in OPTIONAL {
            let line = format!("#[cfg(feature = \"{module}\")]\n#[rustfmt::skip]\nmod {module};\n");
            assert!(manifests.contains(&line), "{line}");
        }
    }

    #[test]
    fn items_for_tests_are_left_out() {
        let text = "mod a;\n#[cfg(test)]\nmod tests;\n\nfn f() {\n    g();\n}\n\n#[cfg(test)]\nmod b {\n    fn h() {}\n}\n";
        assert_eq!(without_tests(text), "mod a;\n\nfn f() {\n    g();\n}\n");
        let text = "struct A {\n    a: u8,\n    /// A comment.\n    #[cfg(test)]\n    b: u8,\n}\n";
        assert_eq!(without_tests(text), "struct A {\n    a: u8,\n}\n");
        let text = "impl A {\n    fn a() {}\n\n    #[cfg(test)]\n    fn b() {}\n}\n";
        assert_eq!(without_tests(text), "impl A {\n    fn a() {}\n}\n");
        let text = "fn f() {}\n\n/// A comment.\n/// More.\n#[cfg(test)]\nfn g() {}\n";
        assert_eq!(without_tests(text), "fn f() {}\n");
        let text = "struct A;\n\nimpl A {\n    fn a() {}\n\n    #[cfg(test)]\n    #[must_use]\n    fn b() -> u8 {\n        1\n    }\n\n    fn c() {}\n}\n";
        assert_eq!(
            without_tests(text),
            "struct A;\n\nimpl A {\n    fn a() {}\n\n    fn c() {}\n}\n"
        );
    }

    #[test]
    fn a_manifest_keeps_what_is_built() {
        let text = "[package]\nname = \"a\"\n\n# For tests.\n[dev-dependencies]\nb = \"1\"\n\n# More.\n[[example]]\nname = \"c\"\n\n[features]\nd = []\n";
        assert_eq!(
            manifest(text),
            "[package]\nname = \"a\"\n\n[features]\nd = []\n"
        );
    }
}
