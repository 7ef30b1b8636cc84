//! The processes of a control plane, each watched by a shell that ends it in time.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};

/// Unix sockets in a private directory: no port collisions, and no access for other users.
pub(super) const ETCD: &[&str] = &[
    "--data-dir=etcd",
    "--listen-client-urls=unix://client.sock",
    "--advertise-client-urls=unix://client.sock",
    "--listen-peer-urls=unix://peer.sock",
    "--initial-advertise-peer-urls=unix://peer.sock",
    "--initial-cluster=default=unix://peer.sock",
    "--unsafe-no-fsync",
];

/// The flags without the port.
pub(super) const APISERVER: &[&str] = &[
    "--etcd-servers=unix://client.sock",
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
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
    // The plugin waits for ServiceAccounts that only the controller manager creates.
    "--disable-admission-plugins=ServiceAccount",
];

pub(super) const CONTROLLER_MANAGER: &[&str] = &[
    "--kubeconfig=admin.kubeconfig",
    "--service-account-private-key-file=sa.key",
    "--root-ca-file=ca.crt",
    "--leader-elect=false",
    "--secure-port=0",
];

/// Runs one component and ends it when standard input closes. The operating system closes it even if the
/// parent is killed or never drops its statics. Arguments: the directory to remove at the end, and the
/// command.
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

/// A running process.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) name: &'static str,
    pub(super) watchdog: Child,
}

impl Component {
    /// Starts `name` from `binaries` in `directory`, with its log file there.
    pub(super) fn start(
        name: &'static str,
        arguments: &[&str],
        binaries: &Path,
        directory: &Path,
    ) -> Result<Self> {
        let log = File::create(directory.join(format!("{name}.log")))?;
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "sh"])
            .arg(directory)
            .arg(binaries.join(name))
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Ctrl-C reaches only the test, and the watchdog then cleans up.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Self { name, watchdog })
    }
}

/// The last lines of the log of `name`.
pub(super) fn log_tail(name: &str, directory: &Path) -> String {
    let log = fs::read(directory.join(format!("{name}.log"))).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}
