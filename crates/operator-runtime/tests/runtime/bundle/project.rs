//! A recorded project after `make manifests`, and what its `make bundle` and `make catalog` run.

use std::{
    env, fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

const BASE: &str = "config/manifests/bases/clusterserviceversion.yaml";

/// Answers what validators ask about the platforms of an image, for any image.
const DOCKER: &str = r#"#!/bin/sh
echo '{"manifests": [{"platform": {"architecture": "amd64", "os": "linux"}}, {"platform": {"architecture": "arm64", "os": "linux"}}]}'
"#;

pub struct Project {
    directory: tempfile::TempDir,
    package: String,
    pub namespaced: bool,
}

impl Project {
    /// The project `name` with the plugin `olm`.
    pub fn new(name: &str) -> Result<Self> {
        let directory = tempfile::TempDir::new()?;
        // What all projects share is recorded with the smallest one.
        for recorded in [
            "projects/minimal",
            &format!("projects/{name}"),
            &format!("manifests/{name}"),
        ] {
            copy(
                &snapshots().join(recorded).join("config"),
                &directory.path().join("config"),
            )?;
        }
        let file = fs::read_to_string(snapshots().join("projects").join(name).join("PROJECT"))?;
        let mut lines = file.lines();
        let package = lines.find_map(|line| line.strip_prefix("projectName: "));
        let project = Self {
            directory,
            package: package.context("a project has a name")?.to_owned(),
            namespaced: false,
        };
        let base = fs::read_to_string(snapshots().join("projects/webhooks").join(BASE))?;
        project.write(BASE, &base.replace("project-webhooks", &project.package))?;
        if name == "cert-manager" {
            // OLM converts for the whole cluster only.
            let crd = "config/crd/bases/ship.example.com_requests.yaml";
            let text = project.read(crd)?;
            let (start, rest) = text.split_once("  conversion:\n").context("a conversion")?;
            let rest = rest.split_once("  group:").context("a group")?.1;
            project.write(crd, &format!("{start}  group:{rest}"))?;
        }
        Ok(project)
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.path().join(path)).with_context(|| path.to_owned())
    }

    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().context("a file is in a directory")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Replaces the first `from` of a file.
    pub fn edit(&self, path: &str, from: &str, to: &str) -> Result<()> {
        let text = self.read(path)?;
        ensure!(text.contains(from), "{path} has no `{from}`");
        self.write(path, &text.replacen(from, to, 1))
    }

    pub fn edit_base(&self, from: &str, to: &str) -> Result<()> {
        self.edit(BASE, from, to)
    }

    pub fn base(&self) -> Result<String> {
        self.read(BASE)
    }

    pub fn add_to_base(&self, text: &str) -> Result<()> {
        self.write(BASE, &(self.base()? + text))
    }

    /// Confirms that webhooks are asked in every namespace.
    pub fn accept_all_namespaces(&self) -> Result<()> {
        let configurations = self.read("config/webhook/manifests.yaml")?;
        let mut list = "  webhookdefinitions:\n".to_owned();
        for document in objects(&configurations)? {
            for webhook in document["webhooks"].as_array().context("webhooks")? {
                if !webhook["namespaceSelector"].is_null() {
                    let name = webhook["name"].as_str().context("a name")?;
                    list += &format!("    - generateName: {name}\n      failurePolicy: Ignore\n");
                }
            }
        }
        self.add_to_base(&list)
    }

    /// `make bundle VERSION=…`, without a check.
    pub fn try_bundle(&self, version: &str, more: &[&str]) -> Result<Output> {
        let built = Command::new(kubectl()?)
            .args(["kustomize", "config/default"])
            .current_dir(self.path())
            .output()?;
        ensure!(built.status.success(), "{built:?}");
        let mut command = self.manifests();
        command.args([
            "--dir",
            "config",
            "--bundle",
            "bundle",
            "--version",
            version,
        ]);
        let mut child = command
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take().context("a pipe")?;
        // A command that refuses its flags reads nothing.
        _ = input.write_all(&built.stdout);
        drop(input);
        Ok(child.wait_with_output()?)
    }

    /// `make bundle VERSION=…`, and what it prints.
    pub fn bundle(&self, version: &str) -> Result<String> {
        printed(self.try_bundle(version, &["--channels", "candidate"])?)
    }

    /// `make catalog VERSION=…`, without a check.
    pub fn try_catalog(&self, version: &str) -> Result<Output> {
        let image = format!("registry.example.com/bundle:v{version}");
        let flags = [
            "--bundle",
            "bundle",
            "--catalog",
            "catalog",
            "--version",
            version,
            "--image",
            &image,
        ];
        Ok(self.manifests().args(flags).output()?)
    }

    fn manifests(&self) -> Command {
        let tests = env::current_exe().expect("a test is a program");
        let target = tests.ancestors().nth(2).expect("it is in `deps`");
        let mut command = Command::new(target.join("examples/bundle"));
        command.current_dir(self.path());
        if self.namespaced {
            command.env("NAMESPACED", "1");
        }
        command
    }

    pub fn manifest(&self) -> String {
        format!(
            "bundle/manifests/{}.clusterserviceversion.yaml",
            self.package
        )
    }

    /// The ClusterServiceVersion of the bundle.
    pub fn csv(&self) -> Result<Value> {
        let objects = objects(&self.read(&self.manifest())?)?;
        objects
            .into_iter()
            .next()
            .context("a ClusterServiceVersion")
    }

    pub fn remove_bundle(&self) -> Result<()> {
        Ok(fs::remove_dir_all(self.path().join("bundle"))?)
    }

    /// The names of the files with manifests.
    pub fn manifests_of_bundle(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path().join("bundle/manifests"))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// What the validators report about the bundle, errors and warnings.
    pub fn findings(&self) -> Result<String> {
        self.write("bin/docker", DOCKER)?;
        let docker = self.path().join("bin/docker");
        fs::set_permissions(docker, fs::Permissions::from_mode(0o755))?;
        let path = format!(
            "{}:{}",
            self.path().join("bin").display(),
            env::var("PATH")?
        );
        let mut validators = Command::new(validators()?);
        validators
            .args(["bundle", "bundle", "37"])
            .env("PATH", path);
        stdout(validators.current_dir(self.path()).output()?)
    }

    /// The channels and upgrade edges of the catalog, as operator-registry reads it.
    pub fn graph(&self) -> Result<String> {
        let mut reader = Command::new(validators()?);
        stdout(
            reader
                .args(["catalog", "catalog"])
                .current_dir(self.path())
                .output()?,
        )
    }
}

pub fn objects(text: &str) -> Result<Vec<Value>> {
    Ok(serde_saphyr::from_multiple(text)?)
}

pub fn printed(output: Output) -> Result<String> {
    let text = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{text}");
    Ok(text)
}

fn stdout(output: Output) -> Result<String> {
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn snapshots() -> PathBuf {
    repository().join("snapshots")
}

fn kubectl() -> Result<PathBuf> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").context("run `make test`")?;
    Ok(PathBuf::from(assets).join("kubectl"))
}

/// The program that runs operator-framework's code; the first call builds it.
fn validators() -> Result<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let build = || {
        let mut sh = Command::new("sh");
        let output = sh
            .arg("tests/olm/build.sh")
            .current_dir(repository())
            .output();
        let output = output.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(PathBuf::from(
                String::from_utf8_lossy(&output.stdout).trim(),
            )),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    BUILT
        .get_or_init(build)
        .as_deref()
        .map_err(|error| anyhow::anyhow!("{error}"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
