//! Flags of kubebuilder that mean something else to a Rust project, or nothing.

use std::slice;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::{
    advice::{Advice, Script},
    error::{Failure, Result},
    project::PluginEdit,
};

/// The flags that are ignored, so that scripts go on, and why. `--repo` has a value, the others are switches.
const IGNORED: [(&str, &str); 6] = [
    ("repo", "a Rust project is no Go module"),
    ("multigroup", "every project can have several groups"),
    ("make", "`cargo build` needs no generated code"),
    ("fetch-deps", "cargo fetches dependencies when it builds"),
    ("skip-go-version-check", "Rust projects need no Go"),
    ("ssa", "kube applies every type server-side"),
];

/// Flags without a meaning here, hidden from `--help`.
#[derive(Debug, Default)]
pub struct Foreign {
    ignored: Vec<String>,
}

impl Foreign {
    /// Remarks about the flags that are ignored.
    pub fn remarks(&self) -> Vec<String> {
        self.ignored.clone()
    }
}

impl Args for Foreign {
    fn augment_args(command: Command) -> Command {
        let flag = |name| Arg::new(name).long(name).hide(true);
        let switch = |name| flag(name).num_args(0..=1).require_equals(true);
        command
            .arg(flag("project-version").value_parser(["3"]))
            .args(IGNORED.map(|(name, _)| match name {
                "repo" => flag(name),
                _ => switch(name).default_missing_value("true"),
            }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Foreign {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        let is_given = |(name, _): &(&str, &str)| matches.contains_id(name);
        let ignored = IGNORED.into_iter().filter(is_given);
        Ok(Self {
            ignored: ignored
                .map(|(name, why)| format!("`--{name}` is ignored: {why}"))
                .collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `--plugins` of kubebuilder's `create`, which selects a scaffold.
#[derive(Args, Debug, Default)]
pub struct Scaffold {
    /// Names this layout, or a plugin that flags replace here.
    #[arg(long, hide = true)]
    plugins: Option<String>,
}

impl Scaffold {
    /// Errors: a plugin of the whole project, or an unknown one.
    pub fn check(&self) -> Result<()> {
        let Some(plugins) = &self.plugins else {
            return Ok(());
        };
        if plugins.starts_with("deploy-image") {
            return Ok(());
        }
        let failure = Failure::usage(format!("`--plugins {plugins}` is not for one kind"));
        Err(match PluginEdit::parse(slice::from_ref(plugins)) {
            Ok(edits) if edits.is_empty() => return Ok(()),
            Ok(_) => failure
                .note("a plugin adds files to the whole project")
                .advise(Script::forge("edit --plugins").arg(plugins)),
            Err(invalid) => failure
                .note(format!("the plugins of a project: {}", invalid.rule))
                .advise(Advice::drop("--plugins")),
        })
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
        let Some(module) = &self.external_api_module else {
            return Ok(());
        };
        let error = format!("`--external-api-module {module}` names a Go module");
        Err(Failure::usage(error)
            .note("an external type is in a crate: Cargo.toml has its version, and `--external-api-path` names the type")
            .advise(Advice::set("--external-api-path", "cert_manager_crds::v1::Certificate")))
    }
}
