//! `man-pages`: a page of each command, written as `make install` wants them. No project is touched.

use std::{fs, path::Path};

use clap::CommandFactory;

use crate::{
    advice::Script,
    cli::{Cli, Global},
    error::{Failure, Result},
};

pub fn run(flags: &Global, dir: &Path) -> Result<u8> {
    if flags.dry_run {
        return Ok(0);
    }
    let target = flags.directory.join(dir);
    let written = fs::create_dir_all(&target)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &target));
    written.map_err(|error| {
        Failure::refused(format!(
            "cannot write man pages into `{}`: {error}",
            dir.display()
        ))
        .advise(Script::forge("man-pages man/man1"))
    })?;
    Ok(0)
}
