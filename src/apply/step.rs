//! One file of a change set, with both of its texts, and what is found of it on disk later.

use crate::{
    change::ChangeSet,
    tree::{Found, Owner, RelPath},
};

/// What a file holds on one side of a change.
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
    /// Where.
    pub path: RelPath,
    /// Who owns it; `None` for the tool's record.
    pub owner: Option<Owner>,
    /// What was there; `None` if nothing was.
    pub before: Option<Side>,
    /// What will be there; `None` if nothing will.
    pub after: Option<Side>,
}

/// What is on disk, seen from a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// What was there before.
    Old,
    /// What belongs there after.
    New,
    /// What a power cut left of the new text: none of it is anybody else's.
    Torn,
    /// Somebody else's.
    Other,
}

/// A file system loses whole sectors; 512 bytes is the smallest.
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
                after: change
                    .after
                    .as_ref()
                    .map(|after| side(after.clone().into_owned())),
            })
            .collect()
    }

    /// Says whose text `found` is.
    pub fn state(&self, found: &Found) -> State {
        let is = |side: &Option<Side>| match (found, side) {
            (Found::Absent, None) => true,
            (Found::File(now), Some(side)) => *now == side.bytes,
            _ => false,
        };
        match (found, &self.after) {
            _ if is(&self.after) => State::New,
            _ if is(&self.before) => State::Old,
            (Found::File(now), Some(after)) if is_torn(now, &after.bytes) => State::Torn,
            _ => State::Other,
        }
    }
}

/// Whether every sector of `now` is the one of `whole` or was never written.
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

    #[test]
    fn every_text_is_somebodys() {
        let side = |text: &str| {
            Some(Side {
                bytes: text.as_bytes().to_vec(),
                mode: None,
            })
        };
        let step = |before, after| Step {
            path: RelPath::parse("f").unwrap(),
            owner: None,
            before,
            after,
        };
        let file = |text: &str| Found::File(text.as_bytes().to_vec());
        let long = "x".repeat(SECTOR) + "yz";
        let hole = "\0".repeat(SECTOR) + "y";
        for (step, found, expected) in [
            (step(side("a"), side("b")), file("a"), State::Old),
            (step(side("a"), side("b")), file("b"), State::New),
            (step(side("a"), side("b")), file("c"), State::Other),
            (step(side("a"), side("b")), file(""), State::Torn),
            (step(side("a"), side("b")), Found::Absent, State::Other),
            (step(None, side("b")), Found::Absent, State::Old),
            (step(None, side("")), file(""), State::New),
            (step(side("a"), None), Found::Absent, State::New),
            (step(side("a"), None), file(""), State::Other),
            (step(None, side(&long)), file(&hole), State::Torn),
            (step(None, side(&long)), file(&long[..9]), State::Torn),
            (step(None, side(&long)), file("\0x"), State::Other),
            (
                step(None, side("b")),
                Found::Obstacle("a link".into()),
                State::Other,
            ),
        ] {
            assert_eq!(step.state(&found), expected, "{step:?} {found:?}");
        }
    }
}
