//! A Kubernetes control plane for one test process: etcd and kube-apiserver, started from local
//! binaries, reachable through loopback only, gone when the process is.

use std::fs::{self, DirBuilder, File};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context, Result, bail};

/// How long a component may take to come up. A healthy one needs about 3 s.
const START_TIMEOUT: Duration = Duration::from_secs(60);

const AUDIT_LOG: &str = "audit.log";

/// The name under which the server knows the bearer of the admin token.
const ADMIN: &str = "admin,admin,system:masters";

/// Runs one component and ends it when standard input closes, which the operating system does for
/// a parent that is killed or never drops its statics. Arguments: the directory to remove then, and
/// the command.
const WATCHDOG: &str = r#"
directory=$1
shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
trap 'kill -9 $child; wait $child; rm -rf "$directory"; exit' TERM
{ read -r _ <&3; kill $$; } &
wait $child
kill $!
"#;

/// What to start, and from where.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory of the binaries. By default the one that `KUBEBUILDER_ASSETS` names, or else
    /// `bin/k8s`, where `make envtest` puts them, beside or above the current directory.
    pub binaries: Option<PathBuf>,
    /// Also runs kube-controller-manager: garbage collection, Deployments, namespaces that can be
    /// deleted. `make envtest` does not fetch it.
    pub controller_manager: bool,
    /// What kube-apiserver records of requests, as YAML of a `Policy` of audit.k8s.io/v1, in
    /// [`ControlPlane::audit_log`]. By default nothing.
    pub audit_policy: Option<String>,
}

/// A running control plane. Dropping it stops every process and removes its temporary directory;
/// the same happens when this process ends in any other way.
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

#[derive(Debug)]
struct Component {
    name: &'static str,
    watchdog: Child,
}

impl ControlPlane {
    /// Starts etcd and kube-apiserver and waits until the server is ready.
    ///
    /// # Errors
    ///
    /// When a binary is missing, or a component ends or is not ready within 60 s; the message then
    /// holds the end of its log.
    pub fn start() -> Result<Self> {
        Self::start_with(&Options::default())
    }

    /// Like [`start`](Self::start), with a choice of binaries and components.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_with(options: &Options) -> Result<Self> {
        let binaries = find_binaries(options)?;
        let mut attempts = 0..5;
        loop {
            let mut control_plane = Self::prepare(binaries.clone())?;
            let result = control_plane.run(options);
            // Somebody took the port between our asking for a free one and the server's bind.
            let taken = |error: &anyhow::Error| error.to_string().contains("already in use");
            if !result.as_ref().is_err_and(taken) || attempts.next().is_none() {
                return result.map(|()| control_plane);
            }
        }
    }

    /// Where the server listens: `https://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The certificate that clients trust, as PEM.
    pub fn ca_pem(&self) -> &str {
        &self.certificate
    }

    /// The bearer token of a member of `system:masters`, who may do everything.
    pub fn admin_token(&self) -> &str {
        &self.token
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("admin.kubeconfig")
    }

    /// Writes a kubeconfig for the bearer of `token`, such as `kubectl create token` prints for a
    /// ServiceAccount. It lives as long as the control plane.
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

    /// The events that [`Options::audit_policy`] asks for, one JSON object a line.
    pub fn audit_log(&self) -> PathBuf {
        self.directory.join(AUDIT_LOG)
    }

    /// `kubectl` as the administrator, independent of the user's own settings.
    pub fn kubectl(&self) -> Command {
        let mut kubectl = Command::new(self.binaries.join("kubectl"));
        kubectl
            .env("KUBECONFIG", self.kubeconfig())
            .env("KUBECACHEDIR", self.directory.join("cache"))
            .env("KUBECTL_KUBERC", "false");
        kubectl
    }

    /// Makes the directory with the keys, and chooses a free port.
    fn prepare(binaries: PathBuf) -> Result<Self> {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let tls = rcgen::generate_simple_self_signed(names)?;
        let tokens = rcgen::KeyPair::generate()?;
        let directory = env::temp_dir().join(format!("control-plane-{:032x}", random()?));
        // Only this user may enter: it holds private keys and the sockets of etcd.
        DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .with_context(|| format!("cannot create `{}`", directory.display()))?;
        let control_plane = Self {
            binaries,
            directory,
            port: TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
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
        // Sockets in our private directory: no ports to collide on, and nobody else can connect.
        self.spawn(
            "etcd",
            &[
                "--data-dir=etcd",
                "--listen-client-urls=unix://client.sock",
                "--advertise-client-urls=unix://client.sock",
                "--listen-peer-urls=unix://peer.sock",
                "--initial-advertise-peer-urls=unix://peer.sock",
                "--initial-cluster=default=unix://peer.sock",
                "--unsafe-no-fsync",
            ],
        )?;
        let port = format!("--secure-port={}", self.port);
        let audit_log = format!("--audit-log-path={AUDIT_LOG}");
        let mut audit = vec![];
        if let Some(policy) = &options.audit_policy {
            fs::write(self.directory.join("audit.yaml"), policy)?;
            audit = vec!["--audit-policy-file=audit.yaml", &audit_log];
        }
        let apiserver = [
            "--etcd-servers=unix://client.sock",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            &port,
            "--tls-cert-file=ca.crt",
            "--tls-private-key-file=tls.key",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=sa.pub",
            "--service-account-signing-key-file=sa.key",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
            "--allow-privileged=true",
            // It would wait for ServiceAccounts that only the controller manager makes.
            "--disable-admission-plugins=ServiceAccount",
        ];
        self.spawn("kube-apiserver", &[&apiserver[..], &audit].concat())?;
        self.wait_for("/readyz")?;
        self.wait_for("/api/v1/namespaces/default")?;
        if options.controller_manager {
            self.spawn(
                "kube-controller-manager",
                &[
                    "--kubeconfig=admin.kubeconfig",
                    "--service-account-private-key-file=sa.key",
                    "--root-ca-file=ca.crt",
                    "--leader-elect=false",
                    "--secure-port=0",
                ],
            )?;
            // The controllers run as soon as one of them has done something.
            self.wait_for("/api/v1/namespaces/default/serviceaccounts/default")?;
        }
        Ok(())
    }

    fn spawn(&mut self, name: &'static str, arguments: &[&str]) -> Result<()> {
        let log = File::create(self.log(name))?;
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "sh"])
            .arg(&self.directory)
            .arg(self.binaries.join(name))
            .args(arguments)
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Ctrl-C reaches the test only, and the watchdog then cleans up after it.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        self.components.push(Component { name, watchdog });
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
                bail!("{name} ended:\n{}", self.log_tail(name));
            }
            if Instant::now() > deadline {
                let newest = self
                    .components
                    .last()
                    .map_or("", |component| component.name);
                let log = self.log_tail(newest);
                bail!("{newest} did not come up within {START_TIMEOUT:?}:\n{log}");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn answers(&self, path: &str) -> Result<bool> {
        // Cheaper than a kubectl that finds nobody listening.
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

    fn log(&self, component: &str) -> PathBuf {
        self.directory.join(format!("{component}.log"))
    }

    fn log_tail(&self, component: &str) -> String {
        let log = fs::read(self.log(component)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for component in &mut self.components {
            drop(component.watchdog.stdin.take());
        }
        for component in &mut self.components {
            // An error means that the watchdog is gone already.
            _ = component.watchdog.wait();
        }
        // Still there if nothing was started, or everything ended by itself.
        _ = fs::remove_dir_all(&self.directory);
    }
}

/// The directory with every binary that is needed, as an absolute path.
fn find_binaries(options: &Options) -> Result<PathBuf> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty());
    let directory = match options.binaries.clone().or(assets.map(PathBuf::from)) {
        Some(directory) => std::path::absolute(directory)?,
        None => env::current_dir()?
            .ancestors()
            .map(|ancestor| ancestor.join("bin/k8s"))
            .find(|directory| directory.is_dir())
            .context("no control plane to test with; run `make envtest`")?,
    };
    let manager = options
        .controller_manager
        .then_some("kube-controller-manager");
    for name in ["etcd", "kube-apiserver", "kubectl"]
        .into_iter()
        .chain(manager)
    {
        if !directory.join(name).is_file() {
            let directory = directory.display();
            bail!("`{directory}` holds no `{name}`; run `make envtest` or set KUBEBUILDER_ASSETS");
        }
    }
    Ok(directory)
}

/// Any number that nobody can guess will do, and the generator of keys is at hand.
fn random() -> Result<u128> {
    let key = rcgen::KeyPair::generate()?;
    Ok(u128::from_be_bytes(key.public_key_raw()[1..17].try_into()?))
}
