//! The shape of the command line. kubebuilder's flags keep their names and meanings.
//!
//! Invariant: nothing here checks a name or knows a project; a flag's text goes to its command as it was typed.

mod api;
mod check;
mod complete;
mod correction;
mod delete;
mod edit;
mod external;
mod files;
mod foreign;
mod global;
mod init;
mod refusal;
mod rename;
mod status;
mod type_flags;
mod update;
mod webhook;

use std::path::PathBuf;

use clap::{
    Arg, CommandFactory, Parser, Subcommand, ValueEnum,
    builder::styling::{AnsiColor, Style, Styles},
};
use clap_complete::engine::ArgValueCandidates;

pub use self::{
    api::Api,
    check::Check,
    correction::{directory, help_of, in_directory, with_flags, without_flags},
    delete::{Delete, DeleteApi, DeleteWebhook},
    edit::{Edit, EditApi, EditWhat},
    external::ExternalFlags,
    files::{Diff, Files},
    foreign::Foreign,
    global::{Color, Global, OnConflict, Output},
    init::{Init, Vcs},
    refusal::refusal,
    rename::Rename,
    status::Status,
    type_flags::TypeFlags,
    update::Update,
    webhook::{Certificates, Webhook},
};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "operator-forge",
    version,
    about = "Scaffolds Kubernetes operators in Rust on kube-rs, and keeps them current",
    after_help = "\
Examples:
  operator-forge init --domain example.com
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false --dry-run",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// How cargo prints the titles of its help.
const TITLE: Style = AnsiColor::Green.on_default().bold();

/// The command line with the help that people read: in the colors of cargo, and with the flags of every command whole in the
/// help of the program only.
#[must_use]
pub fn command() -> clap::Command {
    let colors = Styles::styled()
        .header(TITLE)
        .usage(TITLE)
        .literal(AnsiColor::Cyan.on_default().bold())
        .placeholder(AnsiColor::Cyan.on_default());
    let command = Cli::command().styles(colors);
    let global = command.get_arguments().filter(|flag| flag.is_global_set());
    let global: Vec<Arg> = global.map(|flag| flag.clone().hide(true)).collect();
    let names = global.iter().map(|flag| match flag.get_short() {
        Some(short) => format!(" -{short}"),
        None => format!(" --{}", flag.get_long().unwrap_or_default()),
    });
    let others = format!(
        "{TITLE}Flags of every command{TITLE:#} (`operator-forge --help` explains them):\n {}\n",
        names.collect::<String>()
    );
    command.mut_subcommands(|command| brief(command, &global, &others))
}

/// A command whose help begins with examples, which are not wrapped, and names `others` behind its own flags.
fn brief(command: clap::Command, global: &[Arg], others: &str) -> clap::Command {
    let examples = command.get_after_help().map(|text| format!("{text}\n\n"));
    let examples = examples.unwrap_or_default();
    let examples = examples.replace("Examples:", &format!("{TITLE}Examples:{TITLE:#}"));
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{examples}{{all-args}}\n\n{others}"
    );
    let command = command.help_template(template).args(global);
    command.mut_subcommands(|command| brief(command, global, others))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a new project
    Init(Init),
    /// Add an API, a controller or a webhook to the project
    #[command(subcommand, visible_alias = "new")]
    Create(Create),
    /// Take an API, a controller or a webhook away again; files that you edited stay
    #[command(subcommand)]
    Delete(Delete),
    /// Change settings of the project, or of one kind
    Edit(Edit),
    /// Give a kind another name, and its files
    Rename(Rename),
    /// Make the files what PROJECT says, after it was edited or merged
    #[command(after_help = "\
Examples:
  operator-forge sync
  operator-forge sync --dry-run --diff")]
    Sync,
    /// Take back what the last command did, if nothing of it was changed since
    #[command(after_help = "\
Examples:
  operator-forge undo --dry-run --diff
  operator-forge undo")]
    Undo,
    /// Fail unless the files are what PROJECT says, or compare CRDs with a released version
    Check(Check),
    /// Say what each file is, and what is pending
    Status(Status),
    /// Show how files differ from what is generated
    Diff(Diff),
    /// Move the project to the templates of this operator-forge, with every edit
    Update(Update),
    /// Take generated files over: no command rewrites them any more
    #[command(after_help = "\
Examples:
  operator-forge own src/controllers.rs
  operator-forge own Makefile Dockerfile")]
    Own(Files),
    /// Give files back that were taken over: they become what the templates say
    #[command(mut_arg("paths", |paths| paths.add(ArgValueCandidates::new(complete::owned))), after_help = "\
Examples:
  operator-forge disown src/controllers.rs --dry-run --diff
  operator-forge disown src/controllers.rs")]
    Disown(Files),
    /// Write generated files again that were deleted
    #[command(mut_arg("paths", |paths| paths.add(ArgValueCandidates::new(complete::deleted))), after_help = "\
Examples:
  operator-forge restore src/controllers/cache/memcached.rs
  operator-forge restore Makefile --dry-run")]
    Restore(Files),
    /// Print the version of operator-forge and of what it generates
    #[command(after_help = "\
Examples:
  operator-forge version
  operator-forge version --output json")]
    Version,
    /// Print a script that completes commands, flags, and the project's groups and kinds
    #[command(after_help = "\
Examples:
  source <(operator-forge completion bash)
  operator-forge completion zsh > ~/.zfunc/_operator-forge
  operator-forge completion fish > ~/.config/fish/completions/operator-forge.fish")]
    Completion {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write a man page of each command into a directory, as `make install` does
    #[command(hide = true)]
    ManPages {
        /// The directory, made if it is not there
        #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: PathBuf,
    },
}

/// What `create` makes.
#[derive(Debug, Subcommand)]
pub enum Create {
    /// Add a custom resource, a controller, or both
    Api(Api),
    /// Add defaulting, validation or conversion of a kind
    Webhook(Webhook),
}

/// The shells that `completion` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}
