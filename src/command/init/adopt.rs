//! `init` in a directory that is not empty: which files stay, which are replaced, and which conflict.

use std::path::Path;

use crate::{
    advice::{Advice, Script},
    change::{Action, ChangeSet, ConflictKind},
    engine::Request,
    error::{Failure, Result},
    merge,
    tree::{self, Found, Owner, RelPath, Tree},
};

/// The `main.rs` of `cargo new`, which can be replaced.
const HELLO: &[u8] = b"fn main() {\n    println!(\"Hello, world!\");\n}\n";

/// The existing files that become part of the project.
#[derive(Default)]
pub struct Adopted {
    /// Files that stay as they are.
    pub kept: Vec<RelPath>,
    /// Files that are replaced: a program wrote them.
    pub replaced: Vec<RelPath>,
    /// Remarks for the report.
    pub remarks: Vec<String>,
}

/// Sorts the existing files in `root` at the paths of the project.
pub fn adopt(root: &Path, desired: &Tree) -> Result<Adopted> {
    let mut adopted = Adopted::default();
    for (path, file) in desired {
        let Found::File(bytes) = tree::find(root, path)? else {
            continue;
        };
        match path.as_str() {
            "src/main.rs" if *tree::unix_line_ends(&bytes) == *HELLO => {
                adopted.replaced.push(path.clone());
            }
            "Cargo.toml" => {
                let remark = kept_keys(path, &bytes, &file.content);
                adopted.remarks.extend(remark);
            }
            _ if file.owner == Owner::User && !file.named => {
                adopted.kept.push(path.clone());
                let more = match path.as_str() {
                    "Cargo.lock" => "; cargo adds what is missing",
                    _ => "",
                };
                let remark = format!("`{path}` stays as it is{more}");
                adopted.remarks.push(remark);
            }
            _ => {}
        }
    }
    Ok(adopted)
}

/// A remark about keys of the user's manifest with other values than the template has; they stay.
fn kept_keys(path: &RelPath, ours: &[u8], theirs: &[u8]) -> Option<String> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let keys = merge::differing_keys(text(ours)?, text(theirs)?);
    (!keys.is_empty()).then(|| {
        let keys = quoted(&keys);
        format!("`{path}` keeps your {keys}; check that the generated code builds with it")
    })
}

/// Adds to the refusal of conflicts what would happen to the other files, and where to move existing code.
pub fn explain(mut failure: Failure, request: &Request, set: &ChangeSet) -> Failure {
    let of = |action| set.visible().filter(move |change| change.action == action);
    let created = of(Action::Create).count();
    let mut rest = vec![format!("{created} files would be created")];
    let merged: Vec<&RelPath> = of(Action::Merge).map(|change| &change.path).collect();
    let kept: Vec<&RelPath> = request.adopted.keys().collect();
    for (what, paths) in [("merged", merged), ("kept", kept)] {
        if !paths.is_empty() {
            rest.push(format!("{what}: {}", quoted(&paths)));
        }
    }
    failure.notes.push(rest.join("; "));
    let mut advice: Vec<Advice> = Vec::new();
    for conflict in &set.conflicts {
        match (conflict.path.as_str(), &conflict.why) {
            ("src/main.rs", ConflictKind::Exists) => {
                let r#move = Script::of("mv -i src/main.rs src/bin/former.rs");
                advice.push(Script::of("mkdir -p src/bin").then(r#move).into());
            }
            ("src/lib.rs", ConflictKind::Exists) => {
                failure = failure.note(
                    "your library can become a module: add `pub mod former;` to the new `src/lib.rs`",
                );
                advice.push(Script::of("mv -i src/lib.rs src/former.rs").into());
            }
            (_, ConflictKind::Foreign { name, .. }) => advice.push(match name {
                Some(name) => Advice::set("--project-name", name),
                None => Script::edit(["Cargo.toml"]).into(),
            }),
            _ => {}
        }
    }
    advice.append(&mut failure.advice);
    failure.advice = advice;
    failure
}

fn quoted<T: std::fmt::Display>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
