//! The refusals of a lock that cannot be read.

use crate::{
    advice::Script,
    error::Failure,
    memory::{Error, LOCK},
};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // Without a lock the next command tells from `PROJECT` what was generated.
        let anew = Script::put_aside(LOCK).then(Script::forge("sync"));
        match error {
            Error::Obstacle(what) => {
                Self::refused(format!("cannot read `{LOCK}`: {what}")).advise(anew)
            }
            Error::Line(line, why) => Self::refused(format!("cannot read `{LOCK}:{line}`"))
                .note(why)
                .advise(anew),
            Error::Format(line, format) => {
                Self::refused(format!("`{LOCK}:{line}` has format `{format}`"))
                    .note("this operator-forge knows format 1")
                    .newer_tool()
            }
        }
    }
}
