//! Flags of kubebuilder that mean nothing to a Rust project: each has an answer of its own.

use clap::Args;

use crate::{
    advice::Advice,
    error::{Failure, Result},
};

/// kubebuilder's own flags, hidden from `--help`.
#[derive(Args, Debug, Default)]
pub struct Foreign {
    #[arg(long, hide = true, num_args = 1)]
    repo: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    multigroup: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    make: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fetch_deps: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    skip_go_version_check: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    ssa: Option<bool>,
    #[arg(long, hide = true, num_args = 1)]
    plugins: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    project_version: Option<String>,
}

impl Foreign {
    /// What to say about the flags that a script may go on with.
    ///
    /// Errors: a flag that asks for something else than a Rust project, with the reason.
    pub fn answer(&self) -> Result<Vec<String>> {
        if let Some(plugins) = self
            .plugins
            .as_ref()
            .filter(|plugins| !plugins.starts_with("rust.operator-forge/"))
        {
            return Err(Failure::usage(format!("`--plugins {plugins}` asks for another kind of project"))
                .note("operator-forge makes projects of one layout, `rust.operator-forge/v1`, and has no other plugins")
                .advise(Advice::drop("--plugins")));
        }
        if let Some(version) = self
            .project_version
            .as_ref()
            .filter(|version| *version != "3")
        {
            return Err(
                Failure::usage(format!("`--project-version {version}` is not known"))
                    .note("PROJECT files have version 3")
                    .advise(Advice::set("--project-version", "3")),
            );
        }
        let mut notes = Vec::new();
        if self.repo.is_some() {
            notes.push(
                "`--repo` names a Go module; a Rust project has none, so it is ignored".to_owned(),
            );
        }
        if self.multigroup.is_some() {
            notes
                .push("`--multigroup` is ignored: one layout serves one group or fifty".to_owned());
        }
        if self.make.is_some() {
            notes.push(
                "`--make` is ignored: nothing has to be generated before `cargo build`".to_owned(),
            );
        }
        if self.fetch_deps.is_some() {
            notes.push("`--fetch-deps` is ignored: cargo fetches when it builds".to_owned());
        }
        if self.skip_go_version_check.is_some() {
            notes.push("`--skip-go-version-check` is ignored: there is no Go here".to_owned());
        }
        if self.ssa.is_some() {
            notes.push("`--ssa` is ignored: kube applies any type server-side as it is".to_owned());
        }
        Ok(notes)
    }
}
