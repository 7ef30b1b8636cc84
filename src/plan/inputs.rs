//! Everything that a plan depends on.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    change::{Action, Change, Policy},
    git::Unmerged,
    memory::Memory,
    reconcile::LastApplied,
    tree::{self, Content, Digest, File, Found, Owner, RelPath, Tree},
};

/// Everything that a plan depends on.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// What was last applied.
    pub memory: Memory,
    /// The desired state.
    pub desired: Tree,
    /// The observed state, at every path that the plan reads.
    pub found: BTreeMap<RelPath, Found>,
    /// The last applied texts of edited Tool files that have to change.
    pub applied: BTreeMap<RelPath, Content>,
    /// What git knows of a merge.
    pub git: GitMerge,
    /// The text of `PROJECT` after the command.
    pub project: String,
    /// The definitions that types are generated from, by path; `None` for a path that is no longer used, also of a copied chart.
    pub definitions: BTreeMap<RelPath, Option<Content>>,
    /// User files that the command names explicitly.
    pub named: NamedFiles,
    /// The answer to every conflict.
    pub policy: Policy,
    /// The user's answers to single conflicts, which go before `policy`.
    pub answers: BTreeMap<RelPath, Policy>,
    /// Paths that the command line names, to be written whatever they hold.
    pub forced: BTreeSet<RelPath>,
    /// Paths that the user took over: they stay even if they are no longer desired.
    pub owned: BTreeSet<RelPath>,
    /// Rows that stay in the lock and are not planned.
    pub aside: BTreeMap<RelPath, LastApplied<Digest>>,
}

impl Inputs {
    /// The observed state of a path.
    pub fn found(&self, path: &RelPath) -> &Found {
        self.found.get(path).unwrap_or(&Found::Absent)
    }

    /// The content of a file on disk.
    pub fn on_disk(&self, path: &RelPath) -> Option<&Vec<u8>> {
        match self.found(path) {
            Found::File(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The row of a path in the lock.
    pub fn last(&self, path: &RelPath) -> Option<&LastApplied<Digest>> {
        self.memory.rows.get(path)
    }

    /// The row and the text of the file at `path`. Where it is, `at`, is the same path, or the one that it moves from. A file that the
    /// command rewrites has its new ones, one that it copies the row of its copy, and one that it forgets has no row.
    pub fn observed(
        &self,
        path: &RelPath,
        at: &RelPath,
    ) -> (Option<&LastApplied<Digest>>, Option<Cow<'_, [u8]>>) {
        if let Some(rewritten) = self.named.rewritten.get(path) {
            return (rewritten.row.as_ref(), rewritten.text());
        }
        let disk = self.on_disk(at).map(|bytes| Cow::Borrowed(&**bytes));
        if let Some(copied) = self.named.copied.get(path) {
            return (copied.row.as_ref(), disk);
        }
        let last = self.last(at);
        let is_forgotten = self.named.forgotten.contains(path);
        (last.filter(|_| !is_forgotten), disk)
    }
}

/// What git knows of a merge, rebase or cherry-pick. The default is that there is none.
#[derive(Clone, Debug, Default)]
pub struct GitMerge {
    /// How far it has come; means nothing without texts.
    pub progress: Progress,
    /// Base, ours and theirs of the unmerged paths, or of the files for which a committed merge has the text of its first parent.
    pub texts: BTreeMap<RelPath, Unmerged>,
}

/// How far a merge in git has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// The paths are unmerged, and no `sync` has written since git stopped.
    #[default]
    Unmerged,
    /// The paths are unmerged, and `sync` has written.
    Synced,
    /// The last commit is the merge.
    Committed,
}

/// User files that the command names explicitly. The default is none.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles {
    /// Files that stay on disk even if their entry goes, and leave the lock.
    pub forgotten: BTreeSet<RelPath>,
    /// New files with another first content than their template's.
    pub created: Vec<(RelPath, Content)>,
    /// Files whose text changes.
    pub rewritten: BTreeMap<RelPath, Rewritten>,
    /// Files that follow a newer definition: the text that was generated from the former one.
    pub updated: BTreeMap<RelPath, Content>,
    /// Files that are copied from elsewhere, and merged with what they became in the project.
    pub copied: BTreeMap<RelPath, CopiedFile>,
    /// The old path of each rewritten file that moves, by its new one.
    pub moved: BTreeMap<RelPath, RelPath>,
}

impl NamedFiles {
    /// Gives the created files their first content, and adds the copied files.
    pub fn start(&self, desired: &mut Tree) {
        for (path, content) in &self.created {
            if let Some(file) = desired.get_mut(path) {
                (file.content, file.known) = (content.clone(), None);
            }
        }
        for (path, copied) in &self.copied {
            if let Some(content) = &copied.new {
                let file = File {
                    owner: Owner::User,
                    content: content.clone(),
                    known: None,
                    named: false,
                    former: Vec::new(),
                };
                desired.insert(path.clone(), file);
            }
        }
    }
}

/// A User file that is copied from elsewhere, such as a file of a Helm chart. The lock has no row for it: the copies are kept as they
/// were made, and they are the bases of the next merge.
#[derive(Clone, Debug, Default)]
pub struct CopiedFile {
    /// The text of the last copy; `None` if there is none.
    pub base: Option<Content>,
    /// The text to copy; `None` if the source does not have the file.
    pub new: Option<Content>,
    /// The row that the lock would have.
    row: Option<LastApplied<Digest>>,
}

impl CopiedFile {
    /// The file at `path`.
    pub fn of(path: &RelPath, base: Option<Content>, new: Option<Content>) -> Self {
        let row = base.as_ref();
        let row = row.map(|base| LastApplied::of(Owner::User, Digest::of(path, base)));
        Self { base, new, row }
    }
}

/// A User file that gets another content or path.
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// The old text. Applying refuses if the file has another one by then.
    pub before: Option<Vec<u8>>,
    /// The new text; `None` if the file goes away.
    pub after: Option<Content>,
    /// The row that the lock will hold.
    pub row: Option<LastApplied<Digest>>,
}

impl Rewritten {
    /// Replaces the content `before`. An unedited file counts as unedited afterwards, too.
    pub fn of(
        path: &RelPath,
        before: &[u8],
        after: Content,
        row: Option<&LastApplied<Digest>>,
    ) -> Self {
        let row = row.map(|row| match row.any_of.contains(&Digest::of(path, before)) {
            true => LastApplied::of(row.owner, Digest::of(path, &after)),
            false => row.clone(),
        });
        Self {
            before: Some(before.to_vec()),
            after: Some(after),
            row,
        }
    }

    /// The new text, with the line ends of the old one.
    pub fn text(&self) -> Option<Content> {
        let after = self.after.clone()?;
        Some(match &self.before {
            Some(before) => tree::with_line_ends_of(before, after),
            None => after,
        })
    }

    /// The change of the file at `path`.
    pub fn change(&self, inputs: &Inputs, path: &RelPath) -> Option<Change> {
        let after = self.text();
        let action = match (&self.before, &after) {
            (Some(before), Some(after)) if **before == **after => return None,
            (None, None) => return None,
            (Some(_), Some(_)) => Action::Edit,
            // A file whose text differs from its template has the user's text.
            (None, Some(after)) if inputs.named.moved.contains_key(path) => {
                let file = inputs.desired.get(path);
                match file.is_some_and(|file| file.digest(path) == Digest::of(path, after)) {
                    true => Action::Move,
                    false => Action::Edit,
                }
            }
            (None, Some(_)) => Action::Create,
            (Some(_), None) => Action::Delete,
        };
        Some(Change {
            path: path.clone(),
            action,
            owner: Some(Owner::User),
            before: self.before.clone(),
            after,
        })
    }
}
