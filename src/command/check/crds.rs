//! `check --crds`: what a change of the project's CRDs breaks for those who use a released version.

use crate::{
    cli::Global,
    error::{Failure, Result},
    report::Report,
};

pub fn run(_: &Global, _: &str, _: &[String], _: &Report) -> Result<u8> {
    Err(Failure::refused("`--crds` compares nothing yet"))
}
