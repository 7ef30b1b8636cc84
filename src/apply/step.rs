//! One file of a change set: its content before and after, the side that is on disk, and the calls that replace one by the other.

use super::{
    Disk, STAGE,
    error::{Result, cannot},
};
use crate::{
    change::ChangeSet,
    tree::{Found, Owner, RelPath},
};

/// The content of a file before or after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its permission bits; `None` for those that the system gives a new file.
    pub mode: Option<u32>,
}

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The file.
    pub path: RelPath,
    /// The file's owner; `None` for the tool's record.
    pub owner: Option<Owner>,
    /// The old content; `None` for a new file.
    pub before: Option<Side>,
    /// The new content; `None` for a file that is deleted.
    pub after: Option<Side>,
}

/// The observed state of a step's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The content from before the step.
    Old,
    /// The content from after the step.
    New,
    /// A part of the new content, left by a power cut.
    Torn,
    /// Any other content: somebody's work.
    Other,
}

/// The smallest sector. A file system loses whole sectors.
const SECTOR: usize = 512;

impl Step {
    /// The steps of a change set.
    pub fn of(set: &ChangeSet) -> Vec<Self> {
        let side = |bytes: Vec<u8>| Side { bytes, mode: None };
        set.all()
            .map(|change| Self {
                path: change.path.clone(),
                owner: change.owner,
                before: change.before.clone().map(side),
                after: change.after.clone().map(|it| side(it.into_owned())),
            })
            .collect()
    }

    /// Compares the file on disk with both sides.
    pub fn observe(&self, found: &Found) -> Observed {
        let is = |side: &Option<Side>| match (found, side) {
            (Found::Absent, None) => true,
            (Found::File(now), Some(side)) => *now == side.bytes,
            _ => false,
        };
        match (found, &self.after) {
            _ if is(&self.after) => Observed::New,
            _ if is(&self.before) => Observed::Old,
            (Found::File(now), Some(after)) if is_torn(now, &after.bytes) => Observed::Torn,
            _ => Observed::Other,
        }
    }

    /// Writes the new content to the stage, as number `at`; if `durable`, it survives a power cut.
    pub fn stage(&self, disk: &dyn Disk, at: usize, durable: bool) -> Result<()> {
        match &self.after {
            Some(after) => self.write(disk, &staged(&at.to_string())?, after, durable),
            None => Ok(()),
        }
    }

    /// Replaces the file by its staged content, or deletes it.
    pub fn forward(&self, disk: &dyn Disk, at: usize) -> Result<()> {
        match &self.after {
            Some(_) => self.place(disk, &staged(&at.to_string())?),
            None => self.delete(disk),
        }
    }

    /// Restores the old content, or deletes a new file.
    pub fn back(&self, disk: &dyn Disk, at: usize) -> Result<()> {
        let Some(before) = &self.before else {
            return self.delete(disk);
        };
        let staged = staged(&format!("back-{at}"))?;
        self.write(disk, &staged, before, false)?;
        self.make_parents(disk)?;
        self.place(disk, &staged)
    }

    /// Creates the missing directories of the file.
    pub fn make_parents(&self, disk: &dyn Disk) -> Result<()> {
        let mut parents = self.path.directories();
        parents.try_for_each(|parent| make_directory(disk, &parent))
    }

    fn write(&self, disk: &dyn Disk, staged: &RelPath, side: &Side, durable: bool) -> Result<()> {
        disk.write(staged, &side.bytes, side.mode, durable)
            .map_err(cannot(disk, "write", &self.path))
    }

    fn place(&self, disk: &dyn Disk, staged: &RelPath) -> Result<()> {
        disk.rename(staged, &self.path)
            .map_err(cannot(disk, "write", &self.path))
    }

    fn delete(&self, disk: &dyn Disk) -> Result<()> {
        disk.remove(&self.path)
            .map_err(cannot(disk, "delete", &self.path))
    }
}

/// Creates a directory if it is missing.
pub fn make_directory(disk: &dyn Disk, path: &RelPath) -> Result<()> {
    disk.make_directory(path)
        .map(drop)
        .map_err(cannot(disk, "create", path))
}

/// A file on the stage.
fn staged(name: &str) -> Result<RelPath> {
    Ok(format!("{STAGE}/{name}").parse()?)
}

/// Whether every sector of `now` is that of `whole` or was never written.
fn is_torn(now: &[u8], whole: &[u8]) -> bool {
    now.len() <= whole.len()
        && now
            .chunks(SECTOR)
            .zip(whole.chunks(SECTOR))
            .all(|(now, whole)| whole.starts_with(now) || now.iter().all(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn a_content_belongs_to_one_side_or_to_somebody_else() {
        let side = |text: &str| {
            Some(Side {
                bytes: text.as_bytes().to_vec(),
                mode: None,
            })
        };
        let step = |before, after| Step {
            path: RelPath::constant("f"),
            owner: None,
            before,
            after,
        };
        let file = |text: &str| Found::File(text.as_bytes().to_vec());
        let long = "x".repeat(SECTOR) + "yz";
        let hole = "\0".repeat(SECTOR) + "y";
        for (step, found, expected) in [
            (step(side("a"), side("b")), file("a"), Observed::Old),
            (step(side("a"), side("b")), file("b"), Observed::New),
            (step(side("a"), side("b")), file("c"), Observed::Other),
            (step(side("a"), side("b")), file(""), Observed::Torn),
            (step(side("a"), side("b")), Found::Absent, Observed::Other),
            (step(None, side("b")), Found::Absent, Observed::Old),
            (step(None, side("")), file(""), Observed::New),
            (step(side("a"), None), Found::Absent, Observed::New),
            (step(side("a"), None), file(""), Observed::Other),
            (step(None, side(&long)), file(&hole), Observed::Torn),
            (step(None, side(&long)), file(&long[..9]), Observed::Torn),
            (step(None, side(&long)), file("\0x"), Observed::Other),
            (
                step(None, side("b")),
                Found::Obstacle(tree::Obstacle {
                    path: "f".into(),
                    kind: tree::ObstacleKind::Link,
                }),
                Observed::Other,
            ),
        ] {
            assert_eq!(step.observe(&found), expected, "{step:?} {found:?}");
        }
    }
}
