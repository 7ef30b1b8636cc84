//! A crate with the types of several definitions, which writes their CRDs.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::{self, Write as _},
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crd_types::{Crd, Difference, Options, differences, generate, read};
use serde_json::{Value, json};

use crate::{objects, served::Servers};

/// A definition.
pub struct Source {
    /// The module of its types.
    pub id: String,
    pub name: String,
    pub definition: Value,
}

/// The result for one definition.
pub enum Outcome {
    Whole,
    Differs(Vec<String>),
    Loses(Vec<String>),
    Refused(String),
}

/// The parts of a program that prints CRDs, or passes objects through their types.
#[derive(Default)]
struct Program {
    modules: String,
    crds: String,
    types: String,
}

impl Program {
    fn source(&self) -> String {
        let Program {
            modules,
            crds,
            types,
        } = self;
        format!(
            "{modules}\nfn main() {{\n    \
                 if std::env::args().count() > 1 {{\n        \
                     for line in std::io::stdin().lines() {{\n            \
                         let (id, object) = serde_json::from_str(&line.unwrap()).unwrap();\n            \
                         println!(\"{{}}\", serde_json::to_string(&pass(id, object)).unwrap());\n        \
                     }}\n        \
                     return;\n    \
                 }}\n    \
                 let mut all = std::collections::BTreeMap::new();\n{crds}    \
                 println!(\"{{}}\", serde_json::to_string(&all).unwrap());\n\
             }}\n\n\
             fn pass(id: String, object: serde_json::Value) -> Result<serde_json::Value, String> {{\n    \
                 match id.as_str() {{\n{types}        _ => Err(id),\n    }}\n\
             }}\n\n\
             fn through<K: serde::de::DeserializeOwned + serde::Serialize>(object: serde_json::Value) -> Result<serde_json::Value, String> {{\n    \
                 serde_json::from_value::<K>(object).and_then(serde_json::to_value).map_err(|error| error.to_string())\n\
             }}\n"
        )
    }
}

/// The crate of a project's CRDs.
pub struct Run {
    project: String,
    lines: usize,
    schemas: usize,
    time: Duration,
    pub outcomes: BTreeMap<String, Outcome>,
    pub keywords: Keywords,
    /// How many objects the API servers accept and refuse.
    pub accepted: usize,
    pub refused: usize,
}

impl Run {
    pub fn of(project: &str, sources: &[Source], servers: Option<&Servers>) -> Run {
        let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("import-{project}"));
        let _ = fs::remove_dir_all(package.join("src"));
        fs::create_dir_all(package.join("src")).unwrap();
        let mut run = Run {
            project: project.to_owned(),
            lines: 0,
            schemas: 0,
            time: Duration::ZERO,
            outcomes: BTreeMap::new(),
            keywords: Keywords::default(),
            accepted: 0,
            refused: 0,
        };
        let mut program = Program::default();
        for source in sources {
            match read(&source.definition) {
                Ok(crd) => run.module(&package, source, &crd, &mut program),
                Err(error) => {
                    let refused = Outcome::Refused(error.to_string());
                    run.outcomes.insert(source.name.clone(), refused);
                }
            }
        }
        fs::write(package.join("src/main.rs"), program.source()).unwrap();
        let start = Instant::now();
        let written = written(&package);
        run.time = start.elapsed();
        run.compare(sources, &written);
        if let Some(servers) = servers {
            run.judge(&package, sources, &written, servers);
        }
        run
    }

    fn module(&mut self, package: &Path, source: &Source, crd: &Crd, program: &mut Program) {
        let mut losses = Vec::new();
        let Program {
            modules,
            crds,
            types,
        } = program;
        crds.push_str("    let mut crds = operator_runtime::Crds::default();\n");
        for version in &crd.versions {
            let name = format!("{}_{}", source.id, version.name);
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
                "import_storage"
            } else {
                "import_served"
            };
            let _ = writeln!(modules, "pub mod {name};");
            let type_ = format!("{name}::{}", generated.root);
            let _ = writeln!(crds, "    crds.{add}::<{type_}>();");
            let _ = writeln!(types, "        {name:?} => through::<{type_}>(object),");
            losses.extend(generated.losses.iter().map(ToString::to_string));
        }
        let _ = writeln!(
            crds,
            "    all.insert({:?}, crds.merge().unwrap().remove(0));",
            source.id
        );
        if !losses.is_empty() {
            self.outcomes
                .insert(source.name.clone(), Outcome::Loses(losses));
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
                    self.keywords.count(&source.definition, &all);
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

    /// Has API servers judge objects by both CRDs of each kind, and passes those that they accept through the types.
    fn judge(&mut self, package: &Path, sources: &[Source], written: &Value, servers: &Servers) {
        let mut ids = Vec::new();
        let mut objects = Vec::new();
        for source in sources {
            let Some(ours) = written.get(&source.id) else {
                continue;
            };
            let mut report = servers.judge(&source.definition, ours);
            self.accepted += report.accepted.len();
            self.refused += report.refused;
            if !report.unlike.is_empty() {
                report.unlike.truncate(10);
                let outcome = Outcome::Differs(report.unlike);
                self.outcomes.insert(source.name.clone(), outcome);
            }
            for (version, object) in report.accepted {
                ids.push((format!("{}_{version}", source.id), source.name.clone()));
                objects.push(object);
            }
        }
        let lines = ids.iter().zip(&objects);
        let lines: String = lines
            .map(|((id, _), object)| format!("{}\n", json!([id, object])))
            .collect();
        let passed = cargo(
            package,
            &["run", "--quiet", "--offline"],
            &["--", "pass"],
            lines,
        );
        for (((_, name), object), passed) in ids.iter().zip(objects).zip(passed.lines()) {
            let passed: Value = serde_json::from_str(passed).unwrap();
            if !objects::is_same(&object, &passed["Ok"]) {
                let difference = vec![format!("{object} becomes {passed}")];
                self.outcomes
                    .insert(name.clone(), Outcome::Differs(difference));
            }
        }
    }

    pub fn line(&self) -> String {
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
         operator-runtime = {{ path = {runtime:?}, default-features = false, features = [\"ring\"] }}\n\
         schemars = \"1.2.3\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\nincremental = false\n\n[profile.dev.package.\"*\"]\ndebug = false\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let lock = package.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(workspace.join("Cargo.lock"), &lock).unwrap();
    }
    let command = env::var("IMPORT").unwrap_or_else(|_| "run".to_owned());
    let output = cargo(
        package,
        &[&command, "--quiet", "--offline"],
        &[],
        String::new(),
    );
    serde_json::from_str(&output).unwrap_or_default()
}

/// What cargo prints, or the program that it runs.
fn cargo(package: &Path, before: &[&str], after: &[&str], input: String) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    // A build script that sees them change runs again.
    let of_this_test =
        |name: &String| name.starts_with("CARGO_PKG") || name.starts_with("CARGO_MANIFEST");
    for (name, _) in env::vars().filter(|(name, _)| of_this_test(name)) {
        cargo.env_remove(name);
    }
    let mut child = cargo
        .args(before)
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .args(after)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(".."),
        )
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}",
        errors.chars().take(6000).collect::<String>()
    );
    String::from_utf8(output.stdout).unwrap()
}

/// How many CRDs have a keyword, and how many of them keep it wherever it is.
#[derive(Default)]
pub struct Keywords(BTreeMap<String, [usize; 2]>);

impl Keywords {
    fn count(&mut self, original: &Value, differences: &[Difference]) {
        let mut found = BTreeSet::new();
        for version in original["spec"]["versions"]
            .as_array()
            .into_iter()
            .flatten()
        {
            collect(&version["schema"]["openAPIV3Schema"], &mut found);
        }
        for keyword in found {
            let differs = |it: &Difference| it.path.split('/').any(|part| part == keyword);
            let [all, kept] = self.0.entry(keyword.clone()).or_default();
            *all += 1;
            *kept += usize::from(!differences.iter().any(differs));
        }
    }

    pub fn add(&mut self, others: &Keywords) {
        for (keyword, [all, kept]) in &others.0 {
            let sum = self.0.entry(keyword.clone()).or_default();
            sum[0] += all;
            sum[1] += kept;
        }
    }
}

impl fmt::Display for Keywords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (keyword, [all, kept]) in &self.0 {
            writeln!(f, "  {keyword:44} {all:4} {kept:4}")?;
        }
        Ok(())
    }
}

/// Adds the keywords of a schema, and of those inside of it.
fn collect(schema: &Value, keywords: &mut BTreeSet<String>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        keywords.insert(keyword.clone());
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values().for_each(|it| collect(it, keywords));
            }
            ("items" | "additionalProperties" | "not", schema) => collect(schema, keywords),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter().for_each(|it| collect(it, keywords));
            }
            _ => {}
        }
    }
}
