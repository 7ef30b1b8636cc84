//! What `status` shows.

use std::{collections::BTreeMap, fmt::Write};

use serde_json::{Value, json};

use super::{Drift, caller::Caller, json, text};
use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, lacking},
    template,
};

/// How a file stands beside what was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileState {
    /// As it was generated.
    Unedited,
    /// Edited since.
    Edited,
    /// Taken over, and without lines that would be generated now.
    Stale,
    /// Generated once and gone.
    Deleted,
    /// Not there yet.
    New,
    /// Something that operator-forge did not make stands where a file belongs.
    InTheWay,
    /// No longer part of the project, and unedited.
    Obsolete,
    /// No longer part of the project, but edited: the user's alone.
    Orphaned,
    /// A merge lost its entry in `PROJECT`.
    Lost,
}

impl FileState {
    /// The word of `--output json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unedited => "unedited",
            Self::Edited => "edited",
            Self::Stale => "stale",
            Self::Deleted => "deleted",
            Self::New => "new",
            Self::InTheWay => "in-the-way",
            Self::Obsolete => "obsolete",
            Self::Orphaned => "orphaned",
            Self::Lost => "lost",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Unedited => "Unedited",
            Self::Edited => "Edited",
            Self::Stale => "Stale",
            Self::Deleted => "Deleted",
            Self::New => "New",
            Self::InTheWay => "In the way",
            Self::Obsolete => "Obsolete",
            Self::Orphaned => "Orphaned",
            Self::Lost => "Lost",
        }
    }
}

/// One file.
pub struct FileStatus {
    /// Relative to the project.
    pub path: String,
    /// `tool`, `user`, `shared` or `derived`.
    pub owner: &'static str,
    /// How it stands.
    pub state: FileState,
    /// What `sync` would do to it: the word of a change.
    pub pending: Option<&'static str>,
    /// The generated lines that it lacks, unless it is the user's own.
    pub lacks: Vec<String>,
    /// The command that shows or settles the difference, where `sync` does not.
    pub help: Option<Script>,
}

impl FileStatus {
    /// An unedited file, of which there is nothing to say.
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

    /// Edits of the user's own files are everyday life.
    fn deserves_a_look(&self) -> bool {
        let everyday = match self.state {
            FileState::Unedited => true,
            FileState::Edited => self.owner == "user",
            _ => false,
        };
        !everyday || self.pending.is_some()
    }
}

/// All of it.
pub struct StatusReport<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The template set.
    pub templates: u32,
    /// Every file, by path.
    pub files: &'a [FileStatus],
    /// What `sync` would do.
    pub set: &'a ChangeSet,
    /// Where types say something else than `PROJECT`.
    pub drifts: &'a [Drift],
    /// The commands to run instead of `sync`, where it would refuse.
    pub instead: &'a [Advice],
    /// Whether the text names files that are as one would expect, too.
    pub all: bool,
}

impl StatusReport<'_> {
    /// The text for people, on standard output.
    ///
    /// `sync` is the line that does what is pending; `caller` is where lines are pasted.
    pub(super) fn text(&self, sync: &str, caller: &Caller, quiet: bool, color: bool) -> String {
        let mut out = String::new();
        if !quiet {
            let (project, set) = (self.project, self.templates);
            out += &text::line(
                "Project",
                text::GREEN,
                &format!("{project}, template set {set}"),
                color,
            );
        }
        for file in self
            .files
            .iter()
            .filter(|file| self.all || file.deserves_a_look())
        {
            let mut rest = format!("{} ({}", file.path, file.owner);
            if let Some(word) = file.pending {
                let _ = write!(rest, "; `sync` would {word} it");
            }
            // A warning below has those of the tool's files.
            let lacks = lacking(&file.lacks).filter(|_| file.owner != "tool");
            if let Some(lacks) = lacks {
                let _ = write!(rest, "; lacks {lacks}");
            }
            rest.push(')');
            if let Some(help) = &file.help {
                let _ = write!(rest, ": {}", caller.text(&help.clone().into()));
            }
            let style = if file.deserves_a_look() {
                text::YELLOW
            } else {
                text::GREEN
            };
            out += &text::line(file.state.verb(), style, &rest, color);
        }
        out += &text::attention(self.set, color);
        let drifts: Vec<String> = self.drifts.iter().map(Drift::note).collect();
        out += &text::warnings(&drifts, color);
        if quiet {
            return out;
        }
        for (owner, states) in self.counts() {
            let files: usize = states.values().sum();
            let mut rest = if files == 1 {
                "1 file".to_owned()
            } else {
                format!("{files} files")
            };
            for (state, count) in states
                .iter()
                .filter(|(state, _)| **state != FileState::Unedited)
            {
                let _ = write!(rest, ", {count} {}", state.word());
            }
            let mut title = owner.to_owned();
            title[..1].make_ascii_uppercase();
            out += &text::line(&title, text::GREEN, &rest, color);
        }
        let changes = self.set.visible().count() + self.set.conflicts.len();
        let newest = template::SET;
        let pending = match (changes, self.set.all().count()) {
            _ if self.templates < newest => format!("template set {newest}: {sync}"),
            _ if self.templates > newest => {
                format!(
                    "unknown: this operator-forge has template set {newest}, and a newer one is needed"
                )
            }
            (0, 0) => match self.drifts.first() {
                Some(drift) => format!("an edit of yours: {}", caller.text(&drift.help().into())),
                None => "nothing".to_owned(),
            },
            (0, _) => format!("the record in .operator-forge/: {sync}"),
            (1, _) => format!("1 file: {sync}"),
            (n, _) => format!("{n} files: {sync}"),
        };
        out + &text::line("Pending", text::GREEN, &pending, color)
    }

    /// One object on standard output: every file, the counts, and what `sync` would do.
    pub(super) fn json(&self, caller: &Caller) -> Value {
        let file = |file: &FileStatus| {
            let help = file.help.clone().map(|help| caller.text(&help.into()));
            json!({
                "path": file.path,
                "owner": file.owner,
                "state": file.state.word(),
                "pending": file.pending,
                "lacks": file.lacks,
                "command": help,
            })
        };
        let files: Vec<Value> = self.files.iter().map(file).collect();
        let mut counts = BTreeMap::new();
        for (owner, states) in self.counts() {
            let words = states
                .into_iter()
                .map(|(state, count)| (state.word(), count));
            counts.insert(owner, words.collect::<BTreeMap<_, _>>());
        }
        json!({
            "command": "status",
            "project": self.project,
            "templateSet": self.templates,
            "files": files,
            "counts": counts,
            "changes": json::changes(self.set, false),
            "notes": json::notes(self.set),
            "conflicts": json::conflicts(self.set),
            "attributes": self.drifts.iter().map(Drift::json).collect::<Vec<_>>(),
        })
    }

    fn counts(&self) -> BTreeMap<&'static str, BTreeMap<FileState, usize>> {
        let mut counts: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for file in self.files {
            *counts
                .entry(file.owner)
                .or_default()
                .entry(file.state)
                .or_default() += 1;
        }
        counts
    }
}
