//! Flags of kubebuilder that mean something else to a Rust project, or nothing. They are hidden from `--help`.

use clap::Args;

use crate::{
    advice::Advice,
    error::{Failure, Result},
};

/// Flags without a meaning here: scripts may go on with most of them.
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
    /// Remarks about the flags that are ignored.
    ///
    /// Errors: a flag that asks for anything but a Rust project.
    pub fn answer(&self) -> Result<Vec<String>> {
        match &self.plugins {
            Some(plugins) if !plugins.starts_with("rust.operator-forge/") => {
                return Err(Failure::usage(format!(
                    "`--plugins {plugins}` asks for another kind of project"
                ))
                .note("operator-forge has one layout, `rust.operator-forge/v1`, and no plugins")
                .advise(Advice::drop("--plugins")));
            }
            _ => {}
        }
        match &self.project_version {
            Some(version) if version != "3" => {
                return Err(
                    Failure::usage(format!("unknown `--project-version {version}`"))
                        .note("PROJECT files have version 3")
                        .advise(Advice::set("--project-version", "3")),
                );
            }
            _ => {}
        }
        let ignored = [
            (
                self.repo.is_some(),
                "`--repo` is ignored: a Rust project is no Go module",
            ),
            (
                self.multigroup.is_some(),
                "`--multigroup` is ignored: every project can have several groups",
            ),
            (
                self.make.is_some(),
                "`--make` is ignored: `cargo build` needs no generated code",
            ),
            (
                self.fetch_deps.is_some(),
                "`--fetch-deps` is ignored: cargo fetches dependencies when it builds",
            ),
            (
                self.skip_go_version_check.is_some(),
                "`--skip-go-version-check` is ignored: Rust projects need no Go",
            ),
            (
                self.ssa.is_some(),
                "`--ssa` is ignored: kube applies every type server-side",
            ),
        ];
        let ignored = ignored.into_iter().filter(|(is_given, _)| *is_given);
        Ok(ignored.map(|(_, remark)| remark.to_owned()).collect())
    }
}

/// `--external-api-path` and `--external-api-domain`.
#[derive(Args, Debug, Default)]
pub struct ExternalFlags {
    /// Rust type of an external kind, which another project defines: CRATE::PATH::TYPE
    #[arg(long, value_name = "PATH")]
    pub external_api_path: Option<String>,
    /// Domain of an external kind's API group, if --group has only its first part
    #[arg(long, value_name = "DOMAIN")]
    pub external_api_domain: Option<String>,
    /// kubebuilder's name of a Go module.
    #[arg(long, hide = true, num_args = 1)]
    external_api_module: Option<String>,
}

impl ExternalFlags {
    /// Errors: the flag that names a Go module.
    pub fn refuse_module(&self) -> Result<()> {
        match &self.external_api_module {
            None => Ok(()),
            Some(module) => Err(Failure::usage(format!("`--external-api-module {module}` names a Go module"))
                .note("an external type is in a crate: Cargo.toml has its version, and `--external-api-path` names the type")
                .advise(Advice::set("--external-api-path", "cert_manager_crds::v1::Certificate"))),
        }
    }
}
