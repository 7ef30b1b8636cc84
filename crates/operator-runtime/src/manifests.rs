//! `make manifests`: the files of `config/` that are generated from the project's types.
//!
//! A file without the header belongs to the user and is never changed.

mod conditions;
mod crds;
mod dashboard;
pub mod migrate;
mod nullable;
mod render;
#[cfg_attr(not(feature = "webhooks"), path = "manifests/off.rs")]
mod webhooks;

use std::{
    collections::BTreeMap,
    env,
    fmt::Display,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::{
    controller::Controllers,
    manager::{ManagerOptions, WatchScope},
    webhook::Webhooks,
};

pub use crds::Crds;

/// The directory in which every file with the header is generated.
const BASES: &str = "crd/bases";

/// The file that exists only if there are webhooks.
const WEBHOOKS: &str = "webhook/manifests.yaml";

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
}

/// The change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Write,
    Delete,
    /// The file has no header, so it belongs to the user.
    Keep,
}

/// The `main` of a project's `manifests` binary.
pub fn main<E: Display, C>(
    options: &ManagerOptions,
    crds: Result<Vec<CustomResourceDefinition>, E>,
    controllers: &Controllers<C>,
    webhooks: &Webhooks<C>,
) -> ExitCode {
    let args = Args::parse();
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
        return match write_dashboard(&dir) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    let dir = args.dir.unwrap_or_else(|| {
        // `cargo run` sets it to the project's directory, whatever the working directory is.
        let project = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        project.unwrap_or_default().join("config")
    });
    let result = crds
        .and_then(|crds| files(options.scope, crds, controllers, webhooks))
        .and_then(|files| apply(&dir, &files, args.check));
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&error),
    }
}

/// Writes the dashboard of the metrics that the file in `dir` lists.
fn write_dashboard(dir: &Path) -> Result<(), String> {
    let config = dir.join(dashboard::CONFIG);
    let Some(text) = read(&config)? else {
        return Err(format!("no file `{}`", config.display()));
    };
    let made = dashboard::dashboard(&text);
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

fn failed(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

/// The generated files by path below `config/`.
fn files<C>(
    scope: WatchScope,
    mut crds: Vec<CustomResourceDefinition>,
    controllers: &Controllers<C>,
    webhooks: &Webhooks<C>,
) -> Result<BTreeMap<String, String>, String> {
    webhooks::convert(&mut crds, webhooks)?;
    conditions::add_columns(&mut crds, controllers.conditions());
    let mut all = controllers.rules();
    all.extend(&webhooks.rules());
    let mut files = render::files(scope, &crds, &all)?;
    if let Some(text) = webhooks::text(webhooks)? {
        files.insert(WEBHOOKS.to_owned(), render::headed(&text));
    }
    Ok(files)
}

/// Writes `files` to `dir`, or reports the differences. Returns false if `check` is set and a file differs.
fn apply(dir: &Path, files: &BTreeMap<String, String>, check: bool) -> Result<bool, String> {
    let mut same = true;
    for (path, change) in plan(dir, files)? {
        let full = dir.join(&path);
        let show = full.display();
        let fail = |error: io::Error| format!("cannot write `{show}`: {error}");
        match change {
            Change::Keep => eprintln!("kept {show}: no `# generated` header, so it is yours"),
            Change::Write | Change::Delete if check => {
                same = false;
                eprintln!("out of date: {show}");
            }
            Change::Write => {
                fs::create_dir_all(full.parent().unwrap_or(dir)).map_err(fail)?;
                fs::write(&full, &files[&path]).map_err(fail)?;
                eprintln!("wrote {show}");
            }
            Change::Delete => {
                fs::remove_file(&full).map_err(fail)?;
                eprintln!("removed {show}");
            }
        }
    }
    if !same {
        eprintln!("help: run `make manifests`");
    }
    Ok(same)
}

/// The changes that make `dir` contain `files`, by path; nothing for up-to-date files.
fn plan(dir: &Path, files: &BTreeMap<String, String>) -> Result<BTreeMap<String, Change>, String> {
    let mut plan = BTreeMap::new();
    for (path, wanted) in files {
        let change = match read(&dir.join(path))? {
            // A checkout may have changed the line endings.
            Some(text) if text.replace("\r\n", "\n") == *wanted => continue,
            Some(text) if !render::is_generated(&text) => Change::Keep,
            _ => Change::Write,
        };
        plan.insert(path.clone(), change);
    }
    let generated = |text: String| render::is_generated(&text);
    if !files.contains_key(WEBHOOKS) && read(&dir.join(WEBHOOKS))?.is_some_and(generated) {
        plan.insert(WEBHOOKS.to_owned(), Change::Delete);
    }
    let bases = dir.join(BASES);
    let fail = |error| format!("cannot read `{}`: {error}", bases.display());
    let entries = match fs::read_dir(&bases) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(plan),
        entries => entries.map_err(fail)?,
    };
    for entry in entries {
        let name = entry.map_err(fail)?.file_name();
        let Some(name) = name.to_str().filter(|name| name.ends_with(".yaml")) else {
            continue;
        };
        let path = format!("{BASES}/{name}");
        if files.contains_key(&path) {
            continue;
        }
        let text = read(&dir.join(&path))?.unwrap_or_default();
        let generated = render::is_generated(&text);
        plan.insert(
            path,
            if generated {
                Change::Delete
            } else {
                Change::Keep
            },
        );
    }
    Ok(plan)
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_generated_files_are_written_over_and_pruned() {
        let dir = env::temp_dir().join(format!("manifests-{}", std::process::id()));
        let bases = dir.join(BASES);
        fs::create_dir_all(&bases).unwrap();
        let generated = |text: &str| format!("# generated\n{text}");
        for (name, text) in [
            ("same.yaml", generated("same\r\n")),
            ("old.yaml", generated("old\n")),
            ("gone.yaml", generated("gone\n")),
            ("mine.yaml", "mine\n".to_owned()),
            ("also-mine.yaml", "also mine\n".to_owned()),
            ("README.md", generated("")),
        ] {
            fs::write(bases.join(name), text).unwrap();
        }
        fs::create_dir_all(dir.join("webhook")).unwrap();
        fs::write(dir.join(WEBHOOKS), generated("of webhooks that are gone\n")).unwrap();
        let wanted = ["same", "old", "new", "mine"];
        let file = |name: &str| (format!("{BASES}/{name}.yaml"), generated("same\n"));
        let files: BTreeMap<_, _> = wanted.into_iter().map(file).collect();

        let plan = |files| plan(&dir, files).unwrap().into_iter().collect::<Vec<_>>();
        let kept = [("also-mine", Change::Keep), ("mine", Change::Keep)];
        let mut expected = vec![kept[0], ("gone", Change::Delete), kept[1]];
        expected.extend([("new", Change::Write), ("old", Change::Write)]);
        let path = |(name, change)| (format!("{BASES}/{name}.yaml"), change);
        let mut expected: Vec<_> = expected.into_iter().map(path).collect();
        expected.push((WEBHOOKS.to_owned(), Change::Delete));
        assert_eq!(plan(&files), expected);

        assert_eq!(apply(&dir, &files, true), Ok(false));
        assert!(bases.join("gone.yaml").exists());
        assert_eq!(apply(&dir, &files, false), Ok(true));
        assert_eq!(apply(&dir, &files, true), Ok(true));
        assert_eq!(plan(&files), kept.map(path));
        fs::remove_dir_all(&dir).unwrap();
    }
}
