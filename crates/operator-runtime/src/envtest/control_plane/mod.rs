//! A Kubernetes control plane for one test process: etcd and kube-apiserver from local binaries, reachable
//! only through loopback. It stops when the process ends.

mod binaries;
mod component;
mod port;

use std::{
    env,
    fs::{self, DirBuilder},
    net::TcpStream,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

pub use port::free_port;

use component::{APISERVER, CONTROLLER_MANAGER, Component, ETCD, log_tail};

/// The start timeout of a component. A healthy component needs about 3 s.
const START_TIMEOUT: Duration = Duration::from_secs(60);

const AUDIT_LOG: &str = "audit.log";

/// The user of the admin token, as a row of the token file.
const ADMIN: &str = "admin,admin,system:masters";

/// The components to start, and their binaries.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory of the binaries. Default: `KUBEBUILDER_ASSETS`, or else `bin/k8s`, which `make
    /// envtest` fills, in the current directory or a parent.
    pub binaries: Option<PathBuf>,
    /// Also runs kube-controller-manager: garbage collection, Deployments, deletion of namespaces. `make
    /// envtest` does not download it.
    pub controller_manager: bool,
    /// The audit policy of kube-apiserver, as YAML of a `Policy` of audit.k8s.io/v1. The events go to
    /// [`ControlPlane::audit_log`]. Default: none.
    pub audit_policy: Option<String>,
    /// Further flags of kube-apiserver, such as `--enable-admission-plugins=AlwaysPullImages`.
    pub api_server_flags: Vec<String>,
}

impl Options {
    /// Whether kube-controller-manager is beside the other binaries.
    ///
    /// # Errors
    ///
    /// When another binary is missing.
    pub fn finds_controller_manager(&self) -> Result<bool> {
        let directory = binaries::find(self)?;
        Ok(directory.join("kube-controller-manager").is_file())
    }
}

/// A running control plane. Dropping it stops every process and removes its temporary directory; so does
/// any other end of this process.
///
/// No Pod runs, because there is no kubelet.
#[derive(Debug)]
pub struct ControlPlane {
    binaries: PathBuf,
    directory: PathBuf,
    port: u16,
    certificate: String,
    token: String,
    components: Vec<Component>,
}

impl ControlPlane {
    /// Starts etcd and kube-apiserver and waits until the server is ready.
    ///
    /// # Errors
    ///
    /// When a binary is missing, or a component ends or is not ready within 60 s; the message then contains
    /// the end of its log.
    pub fn start() -> Result<Self> {
        Self::start_with(&Options::default())
    }

    /// Like [`start`](Self::start), with [`Options`].
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_with(options: &Options) -> Result<Self> {
        let binaries = binaries::find(options)?;
        let mut attempts = 0..5;
        loop {
            let mut control_plane = Self::prepare(binaries.clone())?;
            let result = control_plane.run(options);
            // Another process took the port between `free_port` and the server's bind.
            let taken = |error: &anyhow::Error| error.to_string().contains("already in use");
            if !result.as_ref().is_err_and(taken) || attempts.next().is_none() {
                return result.map(|()| control_plane);
            }
        }
    }

    /// The URL of the server: `https://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The CA certificate for clients, as PEM.
    pub fn ca_pem(&self) -> &str {
        &self.certificate
    }

    /// The bearer token of an administrator, a member of `system:masters`.
    pub fn admin_token(&self) -> &str {
        &self.token
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("admin.kubeconfig")
    }

    /// Writes a kubeconfig with a bearer token, such as the output of `kubectl create token` for a
    /// ServiceAccount. The file exists as long as the control plane.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn kubeconfig_for(&self, name: &str, token: &str) -> Result<PathBuf> {
        let path = self.directory.join(format!("{name}.kubeconfig"));
        let (url, ca) = (self.url(), self.directory.join("ca.crt"));
        let text = format!(
            r#"apiVersion: v1
kind: Config
clusters:
- name: envtest
  cluster: {{server: "{url}", certificate-authority: {ca:?}}}
users:
- name: {name:?}
  user: {{token: {token:?}}}
contexts:
- name: {name:?}
  context: {{cluster: envtest, user: {name:?}}}
current-context: {name:?}
"#
        );
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(path)
    }

    /// The file with the events of [`Options::audit_policy`], one JSON object per line.
    pub fn audit_log(&self) -> PathBuf {
        self.directory.join(AUDIT_LOG)
    }

    /// `kubectl` as the administrator, independent of the user's own configuration.
    pub fn kubectl(&self) -> Command {
        let mut kubectl = Command::new(self.binaries.join("kubectl"));
        kubectl
            .env("KUBECONFIG", self.kubeconfig())
            .env("KUBECACHEDIR", self.directory.join("cache"))
            .env("KUBECTL_KUBERC", "false");
        kubectl
    }

    /// Creates the directory with the keys, and chooses a free port.
    fn prepare(binaries: PathBuf) -> Result<Self> {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let tls = rcgen::generate_simple_self_signed(names)?;
        let tokens = rcgen::KeyPair::generate()?;
        let directory = env::temp_dir().join(format!("control-plane-{:032x}", random()?));
        // Only this user may enter: the directory contains private keys and the sockets of etcd.
        DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .with_context(|| format!("cannot create `{}`", directory.display()))?;
        let control_plane = Self {
            binaries,
            directory,
            port: free_port()?,
            certificate: tls.cert.pem(),
            token: format!("{:032x}", random()?),
            components: Vec::new(),
        };
        let file = |name: &str, text: &str| fs::write(control_plane.directory.join(name), text);
        file("ca.crt", &control_plane.certificate)?;
        file("tls.key", &tls.signing_key.serialize_pem())?;
        file("sa.key", &tokens.serialize_pem())?;
        file("sa.pub", &tokens.public_key_pem())?;
        file("tokens.csv", &format!("{},{ADMIN}\n", control_plane.token))?;
        control_plane.kubeconfig_for("admin", &control_plane.token)?;
        Ok(control_plane)
    }

    fn run(&mut self, options: &Options) -> Result<()> {
        self.start_component("etcd", ETCD)?;
        let port = format!("--secure-port={}", self.port);
        let audit_log = format!("--audit-log-path={AUDIT_LOG}");
        let mut own = vec![&*port];
        if let Some(policy) = &options.audit_policy {
            fs::write(self.directory.join("audit.yaml"), policy)?;
            own.extend(["--audit-policy-file=audit.yaml", &audit_log]);
        }
        own.extend(options.api_server_flags.iter().map(String::as_str));
        self.start_component("kube-apiserver", &[APISERVER, &own].concat())?;
        self.wait_for("/readyz")?;
        self.wait_for("/api/v1/namespaces/default")?;
        if options.controller_manager {
            self.start_component("kube-controller-manager", CONTROLLER_MANAGER)?;
            // The controllers run once this object of theirs exists.
            self.wait_for("/api/v1/namespaces/default/serviceaccounts/default")?;
        }
        Ok(())
    }

    fn start_component(&mut self, name: &'static str, arguments: &[&str]) -> Result<()> {
        let component = Component::start(name, arguments, &self.binaries, &self.directory)?;
        self.components.push(component);
        Ok(())
    }

    /// Waits until the server answers `path` with success.
    fn wait_for(&mut self, path: &str) -> Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !self.answers(path)? {
            let ended = |component: &mut Component| {
                matches!(component.watchdog.try_wait(), Ok(Some(_))).then_some(component.name)
            };
            if let Some(name) = self.components.iter_mut().find_map(ended) {
                bail!("{name} ended:\n{}", log_tail(name, &self.directory));
            }
            if Instant::now() > deadline {
                let newest = self
                    .components
                    .last()
                    .map_or("", |component| component.name);
                let log = log_tail(newest, &self.directory);
                bail!("{newest} did not come up within {START_TIMEOUT:?}:\n{log}");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn answers(&self, path: &str) -> Result<bool> {
        // Cheaper than a kubectl call to a closed port.
        if TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            return Ok(false);
        }
        let output = self
            .kubectl()
            .args(["get", "--request-timeout=5s", "--raw", path])
            .output()
            .context("cannot run kubectl")?;
        Ok(output.status.success())
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for component in &mut self.components {
            drop(component.watchdog.stdin.take());
        }
        for component in &mut self.components {
            // An error means that the watchdog is already gone.
            _ = component.watchdog.wait();
        }
        // Still present if nothing was started, or if all processes ended by themselves.
        _ = fs::remove_dir_all(&self.directory);
    }
}

/// An unpredictable number, from the random generator of the key crate.
fn random() -> Result<u128> {
    let key = rcgen::KeyPair::generate()?;
    Ok(u128::from_be_bytes(key.public_key_raw()[1..17].try_into()?))
}
