//! The law, for the CRDs in a directory: the CRD of the generated types is the CRD that they were generated from.
//!
//! `make import` runs it for the directory that `CRDS` names, with one crate for each of its subdirectories; `ONLY`
//! selects one. Without the directory, the test says so and ends.

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crd_types::{Crd, Options, differences, generate, read};
use serde::Deserialize as _;
use serde_json::Value;

/// A definition of a file.
struct Source {
    /// The module of its types.
    id: String,
    name: String,
    definition: Value,
}

/// The result for one definition.
enum Outcome {
    Whole,
    Differs(Vec<String>),
    Loses(Vec<String>),
    Refused(String),
}

#[test]
#[ignore = "compiles the types of every CRD in a directory"]
fn generated_types_have_the_crds_that_they_come_from() {
    let Some(dir) = env::var_os("CRDS")
        .map(PathBuf::from)
        .filter(|dir| dir.is_dir())
    else {
        eprintln!("left out: CRDS names no directory of CRDs");
        return;
    };
    let only = env::var("ONLY").ok();
    let mut whole = 0;
    let mut others = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    entries.sort();
    for entry in entries.into_iter().filter(|entry| entry.is_dir()) {
        let project = entry.file_name().unwrap().to_string_lossy().into_owned();
        if only
            .as_ref()
            .is_some_and(|only| !only.split(',').any(|it| it == project))
        {
            continue;
        }
        let run = Run::of(&project, sources(&entry));
        println!("{}", run.line());
        for (name, outcome) in run.outcomes {
            match outcome {
                Outcome::Whole => whole += 1,
                Outcome::Differs(list) => {
                    others.push(format!("{name} differs\n  {}", list.join("\n  ")))
                }
                Outcome::Loses(list) => {
                    others.push(format!("{name} loses\n  {}", list.join("\n  ")))
                }
                Outcome::Refused(why) => others.push(format!("{name} is refused: {why}")),
            }
        }
    }
    println!("{whole} whole, {} not", others.len());
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// The definitions in the files of a directory.
fn sources(dir: &Path) -> Vec<Source> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for document in serde_yaml::Deserializer::from_str(&text) {
            let definition = Value::deserialize(document).unwrap();
            if definition["kind"] == "CustomResourceDefinition" {
                let name = definition["metadata"]["name"].as_str().unwrap_or_default();
                let id = format!("kind{}", sources.len());
                let name = format!("{name} ({id})");
                sources.push(Source {
                    id,
                    name,
                    definition,
                });
            }
        }
    }
    sources
}

/// The crate of a project's CRDs.
struct Run {
    project: String,
    lines: usize,
    schemas: usize,
    time: Duration,
    outcomes: BTreeMap<String, Outcome>,
}

impl Run {
    fn of(project: &str, sources: Vec<Source>) -> Run {
        let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("import-{project}"));
        let _ = fs::remove_dir_all(package.join("src"));
        fs::create_dir_all(package.join("src")).unwrap();
        let mut run = Run {
            project: project.to_owned(),
            lines: 0,
            schemas: 0,
            time: Duration::ZERO,
            outcomes: BTreeMap::new(),
        };
        let mut main = String::from("//! Prints CRDs.\n\n");
        let mut crds = String::new();
        for source in &sources {
            match read(&source.definition) {
                Ok(crd) => run.module(
                    &package,
                    &source.id,
                    &source.name,
                    &crd,
                    &mut main,
                    &mut crds,
                ),
                Err(error) => {
                    let refused = Outcome::Refused(error.to_string());
                    run.outcomes.insert(source.name.clone(), refused);
                }
            }
        }
        let _ = write!(
            main,
            "\nfn main() {{\n    let mut all = std::collections::BTreeMap::new();\n{crds}    println!(\"{{}}\", serde_json::to_string(&all).unwrap());\n}}\n"
        );
        fs::write(package.join("src/main.rs"), main).unwrap();
        let start = Instant::now();
        let written = written(&package);
        run.time = start.elapsed();
        run.compare(&sources, &written);
        run
    }

    fn module(
        &mut self,
        package: &Path,
        kind: &str,
        source: &str,
        crd: &Crd,
        main: &mut String,
        crds: &mut String,
    ) {
        let mut losses = Vec::new();
        crds.push_str("    let mut crds = operator_runtime::Crds::default();\n");
        for version in &crd.versions {
            let name = format!("{kind}_{}", version.name);
            let options = Options {
                schemas: format!("{name}.json"),
                ..Options::default()
            };
            let generated = generate(crd, &version.name, &options).unwrap();
            self.lines += generated.source.lines().count();
            if let Some(schemas) = &generated.schemas {
                self.schemas += schemas.len();
                fs::write(package.join(format!("src/{name}.json")), schemas).unwrap();
            }
            fs::write(package.join(format!("src/{name}.rs")), &generated.source).unwrap();
            let add = if version.storage {
                "add_storage"
            } else {
                "add_served"
            };
            let _ = writeln!(main, "pub mod {name};");
            let _ = writeln!(crds, "    crds.{add}::<{name}::{}>();", generated.root);
            losses.extend(generated.losses.iter().map(ToString::to_string));
        }
        let _ = writeln!(
            crds,
            "    all.insert({kind:?}, crds.merge().unwrap().remove(0));"
        );
        if !losses.is_empty() {
            self.outcomes
                .insert(source.to_owned(), Outcome::Loses(losses));
        }
    }

    fn compare(&mut self, sources: &[Source], written: &Value) {
        for source in sources {
            if self.outcomes.contains_key(&source.name) {
                continue;
            }
            let outcome = match written.get(&source.id) {
                None => Outcome::Differs(vec!["no CRD is written".to_owned()]),
                Some(found) => {
                    let all = differences(&source.definition, found).unwrap();
                    let all: Vec<_> = all.iter().map(ToString::to_string).collect();
                    if all.is_empty() {
                        Outcome::Whole
                    } else {
                        Outcome::Differs(all)
                    }
                }
            };
            self.outcomes.insert(source.name.clone(), outcome);
        }
    }

    fn line(&self) -> String {
        let whole = self
            .outcomes
            .values()
            .filter(|it| matches!(it, Outcome::Whole))
            .count();
        format!(
            "{:28} {:3} of {:3} whole {:7} lines {:5} KiB of schemas {:4} s",
            self.project,
            whole,
            self.outcomes.len(),
            self.lines,
            self.schemas / 1024,
            self.time.as_secs()
        )
    }
}

/// The CRDs that the package writes.
fn written(package: &Path) -> Value {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let runtime = workspace.join("crates/operator-runtime");
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [workspace]\n\n[dependencies]\n\
         k8s-openapi = {{ version = \"0.29.0\", features = [\"schemars\", \"v1_37\"] }}\n\
         kube = {{ version = \"5.0.0\", default-features = false, features = [\"client\", \"derive\", \"http-proxy\", \"ring\", \"runtime\", \"rustls-tls\"] }}\n\
         operator-runtime = {{ path = {runtime:?}, default-features = false }}\n\
         schemars = \"1.2.3\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\nincremental = false\n\n[profile.dev.package.\"*\"]\ndebug = false\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let lock = package.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(workspace.join("Cargo.lock"), &lock).unwrap();
    }
    let command = env::var("IMPORT").unwrap_or_else(|_| "run".to_owned());
    let mut cargo = Command::new(env!("CARGO"));
    // A build script that sees them change runs again.
    let of_this_test =
        |name: &String| name.starts_with("CARGO_PKG") || name.starts_with("CARGO_MANIFEST");
    for (name, _) in env::vars().filter(|(name, _)| of_this_test(name)) {
        cargo.env_remove(name);
    }
    let output = cargo
        .args([&command, "--quiet", "--offline", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(".."),
        )
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}",
        errors.chars().take(6000).collect::<String>()
    );
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}
