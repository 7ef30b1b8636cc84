//! `make manifests`: the files of `config/` that are generated from the project's types.
//!
//! A file without the header belongs to the user and is never changed.

#[cfg(feature = "bundle")]
mod bundle;
#[cfg(feature = "chart")]
mod chart;
mod conditions;
mod crds;
mod dashboard;
#[cfg(any(feature = "bundle", feature = "chart"))]
mod environment;
mod generated;
pub mod migrate;
mod nullable;
#[cfg(any(feature = "bundle", feature = "chart"))]
mod objects;
mod render;
#[cfg_attr(not(feature = "webhooks"), path = "manifests/off.rs")]
mod webhooks;

use std::{
    collections::BTreeMap,
    env,
    fmt::Display,
    fs, io,
    path::{Path, PathBuf},
    process::{self, ExitCode},
};

use clap::{
    Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::{
    controller::Controllers,
    manager::{ManagerOptions, WatchScope},
    webhook::Webhooks,
};

pub use crds::{CrdError, Crds, Refusal, refusals, structural};
use generated::{Generated, read};

/// The file that exists only if there are webhooks.
const WEBHOOKS: &str = "webhook/manifests.yaml";

/// Where CRDs and webhook configurations of earlier runs are.
const OWNED: &[&str] = &[generated::BASES, WEBHOOKS];

/// Write the CRDs, the RBAC and the webhook configurations that are generated from the project's types
#[derive(Parser)]
struct Args {
    /// Write nothing; exit with 1 if a file is out of date
    #[arg(long)]
    check: bool,

    /// Write nothing; print the ready condition of each kind, in the format of `kubectl wait --for
    /// condition=`
    #[arg(long, conflicts_with = "check")]
    conditions: bool,

    /// Write a Grafana dashboard of the metrics that config.yaml in DIR lists, to DIR; nothing else
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "conditions", "dir"])]
    dashboard: Option<PathBuf>,

    /// Directory to write to [default: config, beside the project's Cargo.toml]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[cfg(feature = "chart")]
    #[command(flatten)]
    chart: chart::ChartFlags,

    #[cfg(feature = "bundle")]
    #[command(flatten)]
    bundle: bundle::BundleFlags,
}

/// The `main` of a project's `manifests` binary.
pub fn main<E: Display, C>(
    options: &ManagerOptions,
    crds: Result<Vec<CustomResourceDefinition>, E>,
    controllers: &Controllers<C>,
    webhooks: &Webhooks<C>,
) -> ExitCode {
    let args = Args::try_parse().unwrap_or_else(|error| refuse(&error));
    let crds = crds.map_err(|error| error.to_string());
    if args.conditions {
        return match crds {
            Ok(crds) => {
                print!("{}", conditions::lines(&crds, controllers.conditions()));
                ExitCode::SUCCESS
            }
            Err(error) => failed(&error),
        };
    }
    if let Some(dir) = args.dashboard {
        return match write_dashboard(options.name, &dir) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    let apply = |generated: Result<Vec<Generated>, String>| {
        let applied = generated.and_then(|all| {
            all.iter()
                .try_fold(true, |same, one| Ok(one.apply(args.check)? && same))
        });
        match applied {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => failed(&error),
        }
    };
    #[cfg(feature = "chart")]
    if let Some(chart) = args.chart.generated() {
        return apply(chart.map(|chart| vec![chart]));
    }
    let dir = args.dir.unwrap_or_else(|| {
        // `cargo run` sets it to the project's directory, whatever the working directory is.
        let project = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        project.unwrap_or_default().join("config")
    });
    #[cfg(feature = "bundle")]
    if args.bundle.is_set() {
        let bundle = bundle::generated(&args.bundle, &dir, options.scope, controllers);
        return apply(bundle);
    }
    let files = crds.and_then(|crds| files(options.scope, crds, controllers, webhooks));
    apply(files.map(|files| vec![Generated::new("manifests", dir, files, OWNED)]))
}

/// Writes the dashboard of the metrics of the operator `name` that the file in `dir` lists.
fn write_dashboard(name: &str, dir: &Path) -> Result<(), String> {
    let config = dir.join(dashboard::CONFIG);
    let Some(text) = read(&config)? else {
        return Err(format!("no file `{}`", config.display()));
    };
    let made = dashboard::dashboard(name, &text);
    let made = made.map_err(|error| format!("`{}`: {error}", config.display()))?;
    let path = dir.join(dashboard::DASHBOARD);
    let (show, there) = (path.display(), read(&path)?);
    let fail = |error: io::Error| format!("cannot write `{show}`: {error}");
    match made {
        made if made == there => {}
        _ if there.is_some_and(|it| !dashboard::is_generated(&it)) => {
            eprintln!(
                "kept {show}: its description does not say that it is generated, so it is yours"
            );
        }
        Some(made) => {
            fs::write(&path, made).map_err(fail)?;
            eprintln!("wrote {show}");
        }
        None if path.exists() => {
            fs::remove_file(&path).map_err(fail)?;
            eprintln!("removed {show}");
        }
        None => {}
    }
    Ok(())
}

/// Ends the program because of its arguments. A Makefile may have a flag whose feature `Cargo.toml` lacks.
fn refuse(error: &clap::Error) -> ! {
    let Some((feature, plugin)) = lacking(error) else {
        error.exit()
    };
    // Nothing is left to do if it cannot be printed.
    _ = error.print();
    eprintln!("note: it is a flag of the feature `{feature}` of operator-runtime");
    eprintln!("help: operator-forge edit --plugins {plugin}");
    process::exit(error.exit_code())
}

/// The feature that adds the flag which the error calls unknown, and the plugin of operator-forge that turns the feature on.
fn lacking(error: &clap::Error) -> Option<(&'static str, &'static str)> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(flag) if flag == "--bundle" => Some(("bundle", "olm")),
        ContextValue::String(flag) if flag == "--chart" => Some(("chart", "helm")),
        _ => None,
    }
}

fn failed(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

/// The generated files by path below `config/`. Prints the notes on their permissions.
fn files<C>(
    scope: WatchScope,
    mut crds: Vec<CustomResourceDefinition>,
    controllers: &Controllers<C>,
    webhooks: &Webhooks<C>,
) -> Result<BTreeMap<String, String>, String> {
    webhooks::convert(&mut crds, webhooks)?;
    let mut hubs = crds::hubs(&crds);
    hubs.extend(webhooks.hubs());
    let checked = controllers.check(hubs);
    checked.map_err(|error| error.to_string())?;
    conditions::add_columns(&mut crds, controllers.conditions());
    crds::check(&crds).map_err(|error| error.to_string())?;
    let mut all = controllers.rules();
    all.extend(&webhooks.rules());
    if !all.faults().is_empty() {
        return Err(all.faults().join("\nerror: "));
    }
    all.notes()
        .iter()
        .for_each(|note| eprintln!("note: {note}"));
    let mut files = render::files(scope, &crds, &all)?;
    if let Some(text) = webhooks::text(webhooks)? {
        files.insert(WEBHOOKS.to_owned(), render::headed(&text));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clap::CommandFactory;
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        controller::{Action, Controller},
        object::Rules,
    };

    async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> kube::Result<Action> {
        Ok(Action::await_change())
    }

    #[test]
    fn a_fault_leaves_the_files_alone_and_a_note_does_not() {
        let files = |derived: Rules| {
            let controller = Controller::external("a", reconcile);
            let controller = controller.needs_derived(move || derived.clone());
            let webhooks = Webhooks::default();
            files(
                WatchScope::Cluster,
                Vec::new(),
                &controller.into(),
                &webhooks,
            )
        };
        let mut rules = Rules::default();
        rules.note("a doubt");
        assert!(files(rules.clone()).is_ok());
        rules.fault("one");
        rules.fault("two");
        assert_eq!(files(rules).unwrap_err(), "one\nerror: two");
    }

    #[test]
    fn the_flags_of_all_features_are_one_command_line() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_flag_without_its_feature_is_known() {
        let lacking = |flag: &str| {
            let parsed = clap::Command::new("manifests").try_get_matches_from(["manifests", flag]);
            lacking(&parsed.unwrap_err())
        };
        assert_eq!(lacking("--bundle"), Some(("bundle", "olm")));
        assert_eq!(lacking("--chart"), Some(("chart", "helm")));
        assert_eq!(lacking("--check"), None);
    }
}
