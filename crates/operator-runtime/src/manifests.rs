//! `make manifests`: the files of `config/` that are generated from the project's types.
//!
//! A file without the header belongs to the user and is never changed.

mod bundle;
mod conditions;
mod crds;
pub mod migrate;
mod nullable;
mod render;
#[cfg_attr(not(feature = "webhooks"), path = "manifests/off.rs")]
mod webhooks;

use std::{
    collections::BTreeMap,
    env,
    fmt::Display,
    fs,
    io::{self, Read as _},
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
    #[arg(long, conflicts_with = "bundle")]
    check: bool,

    /// Write nothing; print the ready condition of each kind, in the format of `kubectl wait --for
    /// condition=`
    #[arg(long, conflicts_with = "check")]
    conditions: bool,

    /// Directory to write to [default: config, beside the project's Cargo.toml]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    bundle: bundle::Flags,
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
    let dir = args.dir.unwrap_or_else(|| {
        // `cargo run` sets it to the project's directory, whatever the working directory is.
        let project = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        project.unwrap_or_default().join("config")
    });
    let result = match &args.bundle.bundle {
        Some(path) => write_bundle(&args.bundle, path, &dir, options.scope, controllers),
        None => crds
            .and_then(|crds| files(options.scope, crds, controllers, webhooks))
            .and_then(|files| apply(&dir, &files, &[WEBHOOKS, BASES], args.check)),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&error),
    }
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

/// Writes a bundle, or adds it to a catalog.
fn write_bundle<C>(
    flags: &bundle::Flags,
    path: &Path,
    config: &Path,
    scope: WatchScope,
    controllers: &Controllers<C>,
) -> Result<bool, String> {
    if let (Some(catalog), Some(image)) = (&flags.catalog, &flags.image) {
        let files = bundle::catalog::files(catalog, path, &flags.version, image)?;
        return apply(catalog, &files, &[], false);
    }
    let mut text = String::new();
    let read = io::stdin().read_to_string(&mut text);
    read.map_err(|error| format!("cannot read the objects from standard input: {error}"))?;
    let declarations = bundle::Declarations {
        scope,
        watched: controllers
            .watched()
            .map(|of| of.resource.clone())
            .collect(),
        owned: controllers
            .owned()
            .map(|(owner, child)| (owner.resource.clone(), child.resource.clone()))
            .collect(),
    };
    let files = bundle::files(
        flags,
        path,
        config,
        &declarations,
        bundle::documents::parse(&text)?,
    )?;
    let pruned = bundle::pruned(path);
    let pruned: Vec<_> = pruned.iter().map(String::as_str).collect();
    apply(path.parent().unwrap_or(path), &files, &pruned, false)
}

/// Writes `files` to `dir`, or reports the differences. Returns false if `check` is set and a file differs.
fn apply(
    dir: &Path,
    files: &BTreeMap<String, String>,
    pruned: &[&str],
    check: bool,
) -> Result<bool, String> {
    let mut same = true;
    for (path, change) in plan(dir, files, pruned)? {
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

/// The changes that make `dir` contain `files`, by path; nothing for up-to-date files. Generated files that are `pruned`,
/// or directly in a directory that is, and that are not wanted any more, are deleted.
fn plan(
    dir: &Path,
    files: &BTreeMap<String, String>,
    pruned: &[&str],
) -> Result<BTreeMap<String, Change>, String> {
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
    for path in pruned {
        for path in yaml_files(dir, path)? {
            if files.contains_key(&path) {
                continue;
            }
            let text = read(&dir.join(&path))?.unwrap_or_default();
            let change = match render::is_generated(&text) {
                true => Change::Delete,
                false => Change::Keep,
            };
            plan.insert(path, change);
        }
    }
    Ok(plan)
}

/// The file at a path, or the YAML files in the directory there, as paths below `dir`.
fn yaml_files(dir: &Path, path: &str) -> Result<Vec<String>, String> {
    let full = dir.join(path);
    if full.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let fail = |error| format!("cannot read `{}`: {error}", full.display());
    let entries = match fs::read_dir(&full) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fail)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let name = entry.map_err(fail)?.file_name();
        let name = name.to_str().filter(|name| name.ends_with(".yaml"));
        files.extend(name.map(|name| format!("{path}/{name}")));
    }
    Ok(files)
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

        let plan = |files| {
            plan(&dir, files, &[WEBHOOKS, BASES])
                .unwrap()
                .into_iter()
                .collect::<Vec<_>>()
        };
        let kept = [("also-mine", Change::Keep), ("mine", Change::Keep)];
        let mut expected = vec![kept[0], ("gone", Change::Delete), kept[1]];
        expected.extend([("new", Change::Write), ("old", Change::Write)]);
        let path = |(name, change)| (format!("{BASES}/{name}.yaml"), change);
        let mut expected: Vec<_> = expected.into_iter().map(path).collect();
        expected.push((WEBHOOKS.to_owned(), Change::Delete));
        assert_eq!(plan(&files), expected);

        assert_eq!(apply(&dir, &files, &[WEBHOOKS, BASES], true), Ok(false));
        assert!(bases.join("gone.yaml").exists());
        assert_eq!(apply(&dir, &files, &[WEBHOOKS, BASES], false), Ok(true));
        assert_eq!(apply(&dir, &files, &[WEBHOOKS, BASES], true), Ok(true));
        assert_eq!(plan(&files), kept.map(path));
        fs::remove_dir_all(&dir).unwrap();
    }
}
