//! `init` in a directory that is not empty: what is there and goes together with a project, and what does not.

use std::path::Path;

use crate::{
    advice::{Advice, Script},
    change::{Action, ChangeSet, Conflict, ConflictKind},
    error::{Failure, Result},
    merge,
    tree::{self, Found, Owner, RelPath, Tree},
};

/// What `cargo new` writes, which nobody misses.
const HELLO: &[u8] = b"fn main() {\n    println!(\"Hello, world!\");\n}\n";

/// What the directory holds of the project already.
#[derive(Default)]
pub struct Adopted {
    /// Files that stay as they are: nothing in the project depends on what they hold.
    pub kept: Vec<RelPath>,
    /// Files that are replaced: a program wrote them.
    pub replaced: Vec<RelPath>,
    /// What to know of it.
    pub remarks: Vec<String>,
}

/// Looks at what stands in `root` where the project's files belong.
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
            "Cargo.toml" => adopted
                .remarks
                .extend(kept_keys(path, &bytes, &file.content)),
            _ if file.owner == Owner::User && !file.named => {
                adopted.kept.push(path.clone());
                let more = match path.as_str() {
                    "Cargo.lock" => "; cargo adds what is missing",
                    _ => "",
                };
                adopted
                    .remarks
                    .push(format!("`{path}` stays as it is{more}"));
            }
            _ => {}
        }
    }
    Ok(adopted)
}

/// What the user's manifest says otherwise than the generated code expects; the user's word counts.
fn kept_keys(path: &RelPath, ours: &[u8], theirs: &[u8]) -> Option<String> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let keys = merge::differing_keys(text(ours)?, text(theirs)?);
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    (!keys.is_empty()).then(|| {
        format!(
            "`{path}` keeps your {}; see that the generated code builds with it",
            keys.join(", ")
        )
    })
}

/// The refusal with what would be done to the rest, and with where to move the code of a crate that is there.
pub fn explain<'a>(
    mut failure: Failure,
    set: &ChangeSet,
    kept: impl Iterator<Item = &'a RelPath>,
) -> Failure {
    let is = |conflict: &Conflict, path: &str| {
        conflict.path.as_str() == path && conflict.why == ConflictKind::Exists
    };
    let of = |action| set.visible().filter(move |change| change.action == action);
    let merged: Vec<String> = of(Action::Merge)
        .map(|change| format!("`{}`", change.path))
        .collect();
    let kept: Vec<String> = kept.map(|path| format!("`{path}`")).collect();
    let mut rest = vec![format!(
        "{} files would be created",
        of(Action::Create).count()
    )];
    if !merged.is_empty() {
        rest.push(format!("merged: {}", merged.join(", ")));
    }
    if !kept.is_empty() {
        rest.push(format!("kept: {}", kept.join(", ")));
    }
    failure.notes.push(rest.join("; "));
    let mut advice: Vec<Advice> = Vec::new();
    for conflict in &set.conflicts {
        if is(conflict, "src/main.rs") {
            advice.push(
                Script::of("mkdir -p src/bin")
                    .then(Script::of("mv -i src/main.rs src/bin/former.rs"))
                    .into(),
            );
        } else if is(conflict, "src/lib.rs") {
            failure.notes.push(
                "a library that moves is a module: add `pub mod former;` to the new `src/lib.rs`"
                    .to_owned(),
            );
            advice.push(Script::of("mv -i src/lib.rs src/former.rs").into());
        } else if let ConflictKind::Foreign { name, .. } = &conflict.why {
            advice.push(match name {
                Some(name) => Advice::set("--project-name", name),
                None => Script::edit(["Cargo.toml"]).into(),
            });
        }
    }
    advice.append(&mut failure.advice);
    failure.advice = advice;
    failure
}
