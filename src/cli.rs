//! The shape of the command line. kubebuilder's flags keep their names and meanings.
//!
//! Invariant: nothing here checks a name or knows a project; the text of a flag goes to its command as it was typed.

mod complete;
mod correction;
mod foreign;
mod global;
mod project;
mod refusal;
mod resource;

use std::path::PathBuf;

use clap::{
    Arg, CommandFactory, Parser, Subcommand,
    builder::styling::{AnsiColor, Style, Styles},
};
use clap_complete::{Shell, engine::ArgValueCandidates};

pub use self::{
    correction::{help_of, in_directory, with_flags, without_flags},
    foreign::{ExternalFlags, Foreign, Scaffold},
    global::{Color, Global, Output},
    project::{Check, Diff, Edit, Files, Init, Status, Update, Vcs},
    refusal::refusal,
    resource::{
        Api, ChartFlags, Create, Delete, DeleteApi, DeleteWebhook, EditApi, EditWhat, Rename,
        TypeFlags, Webhook,
    },
};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "operator-forge",
    version,
    about = "Scaffold Kubernetes operators in Rust with kube-rs, and keep them up to date",
    after_help = "\
Examples:
  operator-forge init --domain example.com
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false --dry-run",
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The style of titles in cargo's help.
const TITLE: Style = AnsiColor::Green.on_default().bold();

/// The command line with the help that people read: in the colors of cargo. Only the help of the program explains the global
/// flags.
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
    let names: String = names.collect();
    let footer = format!("{TITLE}Global flags{TITLE:#} (see `operator-forge --help`):\n {names}\n");
    command.mut_subcommands(|command| brief(command, &global, &footer))
}

/// A command whose help begins with examples, which are not wrapped, and ends with `footer` instead of the global flags.
fn brief(command: clap::Command, global: &[Arg], footer: &str) -> clap::Command {
    let examples = command.get_after_help().map(|text| format!("{text}\n\n"));
    let examples = examples.unwrap_or_default();
    let examples = examples.replace("Examples:", &format!("{TITLE}Examples:{TITLE:#}"));
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{examples}{{all-args}}\n\n{footer}"
    );
    let command = command.help_template(template).args(global);
    command.mut_subcommands(|command| brief(command, global, footer))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Initialize a new project
    Init(Init),
    /// Scaffold an API, a controller or a webhook
    #[command(subcommand, visible_alias = "new")]
    Create(Create),
    /// Delete an API, a controller or a webhook; files that you edited are kept
    #[command(subcommand)]
    Delete(Delete),
    /// Update the configuration of the project, or of one kind
    Edit(Edit),
    /// Rename a kind, with its files
    Rename(Rename),
    /// Apply PROJECT to the files, after you edited or merged it
    #[command(after_help = "\
Examples:
  operator-forge sync
  operator-forge sync --dry-run --diff")]
    Sync,
    /// Revert the last command, if its files have not changed since
    #[command(after_help = "\
Examples:
  operator-forge undo --dry-run --diff
  operator-forge undo")]
    Undo,
    /// Fail if files differ from PROJECT, or if CRDs are incompatible with a release
    Check(Check),
    /// Show the owner and the state of each file, and what `sync` would change
    Status(Status),
    /// Show how files differ from the generated ones
    Diff(Diff),
    /// Update the project to the templates of this operator-forge, and merge your edits
    Update(Update),
    /// Take over generated files: no command rewrites them any more
    #[command(after_help = "\
Examples:
  operator-forge own src/controllers.rs
  operator-forge own Makefile Dockerfile")]
    Own(Files),
    /// Return files that you own: they are generated again
    #[command(mut_arg("paths", |paths| paths.add(ArgValueCandidates::new(complete::owned))), after_help = "\
Examples:
  operator-forge disown src/controllers.rs --dry-run --diff
  operator-forge disown src/controllers.rs")]
    Disown(Files),
    /// Recreate deleted files
    #[command(mut_arg("paths", |paths| paths.add(ArgValueCandidates::new(complete::deleted))), after_help = "\
Examples:
  operator-forge restore src/controllers/cache/memcached.rs
  operator-forge restore Makefile --dry-run")]
    Restore(Files),
    /// Print the versions of operator-forge, of its templates and of kube
    #[command(after_help = "\
Examples:
  operator-forge version
  operator-forge version --output json")]
    Version,
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  source <(operator-forge completion bash)
  operator-forge completion zsh > ~/.zfunc/_operator-forge
  operator-forge completion fish > ~/.config/fish/completions/operator-forge.fish")]
    Completion {
        /// Shell that runs the script
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write a man page for each command, as `make install` does
    #[command(hide = true)]
    ManPages {
        /// Directory of the pages, created if it is missing
        #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: PathBuf,
    },
}
