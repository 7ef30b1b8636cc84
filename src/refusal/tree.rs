//! Paths and files that cannot be used.

use crate::{
    advice::Script,
    error::Failure,
    tree::{Error, Obstacle, ObstacleKind},
};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::refused(error.to_string());
        match error {
            Error::InvalidPath { why, .. } => failure
                .note(why)
                .note("it is relative, with `/` between its parts")
                .advise(Script::forge("status --all")),
            Error::Unreadable { root, .. } => {
                let root = root.to_string_lossy();
                failure.advise(Script::anywhere("chmod -R u+rX").arg(root))
            }
        }
    }
}

impl Obstacle {
    /// The commands that make room for a file: a link becomes a copy of its target, anything else is put aside.
    #[must_use]
    pub fn makes_room(&self) -> Script {
        if self.kind != ObstacleKind::Link {
            return Script::put_aside(&self.path);
        }
        let (link, copy) = (&self.path, format!("{}.former", self.path));
        Script::of("cp -RLi")
            .arg(link)
            .arg(&copy)
            .then(Script::of("rm").arg(link))
            .then(Script::of("mv -i").arg(copy).arg(link))
    }
}
