//! The report of `status`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Drift,
    caller::Caller,
    drift, json,
    text::{GREEN, Page, YELLOW, counted, title},
};
use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, lacking},
    template,
};

/// The state of a file, compared with what was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// As it was generated.
    Unedited,
    /// Edited since.
    Edited,
    /// Owned, and without lines that the templates would write now.
    Stale,
    /// Generated once and deleted.
    Deleted,
    /// Not written yet.
    New,
    /// Something that operator-forge did not write is in the place of the file.
    InTheWay,
    /// No longer part of the project, and unedited.
    Obsolete,
    /// No longer part of the project, but edited: the user's alone.
    Orphaned,
    /// A git merge lost its entry in `PROJECT`.
    Lost,
}

impl FileState {
    /// The state in one word.
    fn word(self) -> String {
        let word = json!(self);
        word.as_str().unwrap_or_default().to_owned()
    }
}

/// The status of one file.
pub struct FileStatus {
    /// The path, relative to the project.
    pub path: String,
    /// `tool`, `user`, `shared` or `derived`.
    pub owner: &'static str,
    /// Its state.
    pub state: FileState,
    /// What `sync` would do to it: the word of a change.
    pub pending: Option<&'static str>,
    /// The generated lines that it lacks, unless it is the user's own.
    pub lacks: Vec<String>,
    /// The command that shows or resolves the difference, where `sync` does not.
    pub help: Option<Script>,
}

impl FileStatus {
    /// An unedited file without anything pending.
    pub fn of(path: impl ToString, owner: &'static str) -> Self {
        Self {
            path: path.to_string(),
            owner,
            state: FileState::Unedited,
            pending: None,
            lacks: Vec::new(),
            help: None,
        }
    }

    /// Whether the file needs attention. An edit of a User file does not.
    fn needs_attention(&self) -> bool {
        let is_usual = match self.state {
            FileState::Unedited => true,
            FileState::Edited => self.owner == "user",
            _ => false,
        };
        !is_usual || self.pending.is_some()
    }

    fn line(&self, caller: &Caller) -> String {
        let mut line = format!("{} ({}", self.path, self.owner);
        if let Some(word) = self.pending {
            line += &format!("; `sync` would {word} it");
        }
        // A warning has those of Tool files.
        if let Some(lacks) = lacking(&self.lacks).filter(|_| self.owner != "tool") {
            line += &format!("; lacks {lacks}");
        }
        line.push(')');
        match self.command(caller) {
            Some(command) => format!("{line}: {command}"),
            None => line,
        }
    }

    fn command(&self, caller: &Caller) -> Option<String> {
        let help = self.help.as_ref()?;
        Some(caller.text(&help.clone().into()))
    }
}

/// The status of a project.
pub struct StatusReport<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The template set.
    pub templates: u32,
    /// Every file, by path.
    pub files: &'a [FileStatus],
    /// What `sync` would do.
    pub set: &'a ChangeSet,
    /// The types that contradict `PROJECT`.
    pub drifts: &'a [Drift],
    /// The commands to run instead of `sync`, where it would refuse.
    pub instead: &'a [Advice],
    /// Whether the text names files that need no attention, too.
    pub all: bool,
}

impl StatusReport<'_> {
    /// Adds the text for people.
    pub(super) fn text(&self, page: &mut Page<'_>, quiet: bool) {
        if !quiet {
            let rest = format!("{}, template set {}", self.project, self.templates);
            page.line("Project", GREEN, &rest);
        }
        for file in self.files {
            let needs_attention = file.needs_attention();
            if needs_attention || self.all {
                let style = if needs_attention { YELLOW } else { GREEN };
                page.line(&title(&file.state.word()), style, &file.line(page.caller));
            }
        }
        page.attention(self.set);
        page.warnings(self.drifts.iter().map(Drift::note));
        if quiet {
            return;
        }
        for (owner, states) in self.counts() {
            let mut rest = counted(states.values().sum(), "file");
            for (state, count) in states {
                if state != FileState::Unedited {
                    rest += &format!(", {count} {}", state.word());
                }
            }
            page.line(&title(owner), GREEN, &rest);
        }
        page.line("Pending", GREEN, &self.pending(page.caller));
    }

    /// What is pending, with the line that does it.
    fn pending(&self, caller: &Caller) -> String {
        let sync = match self.instead {
            [] => {
                let sync = Script::forge("sync");
                let scripts = self.set.makes_room().into_iter().chain([sync]);
                let script = scripts.reduce(Script::then).map(Advice::from);
                script.map_or_else(String::new, |script| caller.text(&script))
            }
            // Each ends with something left for the next one, exit code 3.
            instead => {
                let lines: Vec<String> = instead.iter().map(|it| caller.text(it)).collect();
                lines.join("; ")
            }
        };
        let changes = self.set.visible().count() + self.set.conflicts.len();
        let newest = template::SET;
        match (changes, self.set.all().count()) {
            _ if self.templates < newest => format!("template set {newest}: {sync}"),
            _ if self.templates > newest => format!(
                "unknown: this operator-forge has template set {newest}, and a newer one is needed"
            ),
            (0, 0) => match self.drifts.first() {
                Some(drift) => format!("an edit of yours: {}", caller.text(&drift.help().into())),
                None => "nothing".to_owned(),
            },
            (0, _) => format!("the record in .operator-forge/: {sync}"),
            (n, _) => format!("{}: {sync}", counted(n, "file")),
        }
    }

    /// One object: every file, the counts, and what `sync` would do.
    pub(super) fn json(&self, caller: &Caller) -> Value {
        let file = |file: &FileStatus| {
            json!({
                "path": file.path,
                "owner": file.owner,
                "state": file.state,
                "pending": file.pending,
                "lacks": file.lacks,
                "command": file.command(caller),
            })
        };
        json!({
            "command": "status",
            "project": self.project,
            "templateSet": self.templates,
            "files": self.files.iter().map(file).collect::<Value>(),
            "counts": self.counts(),
            "changes": json::changes(self.set, false),
            "notes": json::notes(self.set, caller),
            "conflicts": json::conflicts(self.set),
            "attributes": drift::attributes(self.drifts),
            "spokes": drift::spokes(self.drifts),
        })
    }

    fn counts(&self) -> BTreeMap<&'static str, BTreeMap<FileState, usize>> {
        let mut counts: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for FileStatus { owner, state, .. } in self.files {
            *counts.entry(*owner).or_default().entry(*state).or_default() += 1;
        }
        counts
    }
}
