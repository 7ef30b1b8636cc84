//! `PORTING.md`: what a port leaves to a person. It is written once, and no template: it depends on the former project, which the new
//! one does not know afterwards.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use crate::{
    advice::Script,
    error::{Failure, Result},
    plan::Rewritten,
    report::one_line,
    tree::{self, Found, RelPath},
};

/// The file, at the root of the new project.
pub const FILE: &str = "PORTING.md";

/// What is left to do by hand.
#[derive(Debug, Default)]
pub struct Checklist(BTreeMap<Title, Vec<Item>>);

/// The sorts of things that are left, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Title {
    /// What loses data if it is forgotten.
    First,
    /// How this operator takes the place of the other.
    Switch,
    /// How it takes the place of a Helm operator, step by step.
    Takeover,
    /// Settings of a Helm operator.
    Settings,
    /// Entries and CRDs that the project does not have.
    NotAdded,
    /// Go modules to replace.
    Libraries,
    /// Reconcilers.
    Controllers,
    /// Permissions that no controller of the project asks for.
    Permissions,
    /// Admission webhooks.
    Webhooks,
    /// Conversions.
    Conversions,
    /// Code that kubebuilder does not scaffold.
    Code,
    /// Tests.
    Tests,
    /// Flags of the program.
    Flags,
    /// Manifests that kubebuilder does not scaffold.
    Manifests,
}

/// One thing to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// A sentence or two paths, in Markdown.
    pub what: String,
    /// Calls, or other lines, in Rust.
    pub calls: Vec<String>,
    /// Lines of a manifest.
    pub lines: Vec<String>,
    /// Remarks about it.
    pub notes: Vec<String>,
}

impl Item {
    /// A thing without further lines.
    pub fn of(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ..Self::default()
        }
    }
}

impl Title {
    fn text(self) -> &'static str {
        match self {
            Self::First => "First",
            Self::Switch => "The switch",
            Self::Takeover => "The takeover",
            Self::Settings => "Settings",
            Self::NotAdded => "Not added",
            Self::Libraries => "Libraries",
            Self::Controllers => "Controllers",
            Self::Permissions => "Other permissions",
            Self::Webhooks => "Webhooks",
            Self::Conversions => "Conversions",
            Self::Code => "Other code",
            Self::Tests => "Tests",
            Self::Flags => "Flags",
            Self::Manifests => "Manifests",
        }
    }

    fn note(self) -> &'static str {
        match self {
            Self::First => "Before the operator runs where objects are.",
            Self::Switch => {
                "How this operator takes the place of the Go operator in a cluster, when the rest is done."
            }
            Self::Takeover => "Step by step, after the settings below. Objects and releases stay.",
            Self::Settings => {
                "What `watches.yaml` and the manifests say, and this project does not have in the same place."
            }
            Self::Libraries => {
                "Go modules that the code imports. Look here first: a module without a crate may decide whether the port is worth it."
            }
            Self::NotAdded => "What the former project has, and this one does not have yet.",
            Self::Controllers => {
                "The calls follow from the RBAC markers. Add those that the Rust code needs to `controller()`: `make manifests`\n\
                 writes the role, under which the integration tests run the operator. A test that needs more of it fails.\n\
                 Of the permissions to write a controller's own kind, which kubebuilder scaffolds, only that for the status is a\n\
                 call. A finalizer needs `.finalizer()`. In metrics, the label `controller` is `NAME`: if alerts or dashboards select that of\n\
                 the Go operator, which is the name in `Named(…)` or else the kind in lower case, give `NAME` that value."
            }
            Self::Permissions => {
                "RBAC markers outside of the files of the controllers above. Add each call to the controller that needs it."
            }
            Self::Webhooks => {
                "Write what the Go methods do. The calls are what the webhook markers say beyond the defaults: add them to `webhook()`,\n\
                 with types of `operator_runtime::webhook`."
            }
            Self::Conversions => "`cargo test` checks that each conversion loses nothing.",
            Self::Code => {
                "Code that kubebuilder does not scaffold. Of `…_types.go`, the methods are left: the types are generated."
            }
            Self::Tests => {
                "Unit tests stand beside the code, with `operator_runtime::fake` in place of Go's fake client; those that need an API server\n\
                 are in `tests/`."
            }
            Self::Flags => "Flags of the operator are in `OperatorFlags` of `src/context.rs`.",
            Self::Manifests => {
                "kubebuilder does not scaffold these files and settings. Changes inside of scaffolded files are not listed."
            }
        }
    }
}

impl Checklist {
    /// Adds a thing to do.
    pub fn add(&mut self, title: Title, item: Item) {
        self.0.entry(title).or_default().push(item);
    }

    /// Adds a remark about the last thing to do under a title.
    pub fn note(&mut self, title: Title, note: String) {
        let last = self.0.get_mut(&title).and_then(|items| items.last_mut());
        last.expect("a thing was added before").notes.push(note);
    }

    /// Whether nothing is left to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file with the list, at `path`.
    ///
    /// Errors: something is there.
    pub fn file(&self, root: &Path, path: &RelPath, intro: &str) -> Result<Rewritten> {
        if tree::find(root, path)? != Found::Absent {
            return Err(Failure::refused(format!("`{FILE}` is in the way"))
                .note("a port lists there what is left to do by hand")
                .advise(Script::put_aside(FILE)));
        }
        let text = self.markdown(intro);
        Ok(Rewritten {
            after: Some(text.into_bytes().into()),
            ..Rewritten::default()
        })
    }

    /// The list in Markdown, below `intro`. Texts of the former project are parts of lines, whatever they hold.
    fn markdown(&self, intro: &str) -> String {
        let mut text = intro.to_owned();
        for (title, items) in &self.0 {
            text.truncate(text.trim_end().len());
            let _ = write!(text, "\n\n## {}\n\n{}\n\n", title.text(), title.note());
            for Item {
                what,
                calls,
                lines,
                notes,
            } in items
            {
                let _ = writeln!(text, "- [ ] {}", one_line(what));
                for note in notes {
                    let _ = writeln!(text, "  - {}", one_line(note));
                }
                for (language, lines) in [("rust", calls), ("yaml", lines)] {
                    let lines: Vec<String> = lines.iter().map(|line| one_line(line)).collect();
                    if !lines.is_empty() {
                        let lines = lines.join("\n  ");
                        let _ = writeln!(text, "\n  ```{language}\n  {lines}\n  ```\n");
                    }
                }
            }
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_former_project_stay_in_their_line() {
        let mut list = Checklist::default();
        let item = Item {
            calls: vec![".needs(\"\u{1b}[2J\")".to_owned()],
            notes: vec!["c\r".to_owned()],
            ..Item::of("a\u{1b}[2J\n## b")
        };
        list.add(Title::Code, item);
        let text = list.markdown("# Porting demo\n");
        let expected =
            "- [ ] a\\u{1b}[2J\\n## b\n  - c\\r\n\n  ```rust\n  .needs(\"\\u{1b}[2J\")\n  ```\n";
        assert!(text.ends_with(expected), "{text}");
    }
}
