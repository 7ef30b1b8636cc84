//! The operator of these tests in a process of its own, with its flags.

use std::{
    env, fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use operator_ansible::{Ansible, AnsibleFlags, Automation};
use operator_runtime::{
    Flags, Manager,
    envtest::{Cluster, free_port},
};

use crate::app::{self, App, NAME};

/// The processes with this in their environment. That of a zombie is empty.
pub fn processes(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_marked = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        let mut all = environment.split(|byte| *byte == 0);
        all.any(|it| it == mark.as_bytes())
    };
    let marked = processes.filter(|it| is_marked(&it.path()));
    let pids = marked.filter_map(|it| it.file_name().to_str()?.parse().ok());
    pids.collect()
}

pub fn signal(name: &str, pid: u32) -> Result<()> {
    let sent = Command::new("kill")
        .args([name, &pid.to_string()])
        .status()?;
    ensure!(sent.success());
    Ok(())
}

/// An operator, which is killed when this is dropped.
pub struct Process {
    pub child: Child,
    /// What is in the environment of all its processes.
    pub mark: String,
    metrics: u16,
    /// Whether what it leaves stays.
    pub leaves: bool,
}

impl Process {
    /// Starts an operator that runs this role. Its files are in `tmp` in `place`, and its log is `log`.
    pub fn start(cluster: &Cluster, place: &Path, role: &str) -> Result<Self> {
        Self::start_with(cluster, place, role, "", &[])
    }

    /// Like [`start`](Self::start), with more flags, and more variables of the environment.
    pub fn start_with(
        cluster: &Cluster,
        place: &Path,
        role: &str,
        flags: &str,
        environment: &[(&str, &str)],
    ) -> Result<Self> {
        let metrics = free_port()?;
        fs::create_dir_all(place.join("tmp"))?;
        let flags = format!(
            "operator --health-probe-bind-address=0 --graceful-shutdown-timeout=4s --metrics-bind-address=127.0.0.1:{metrics} \
             --metrics-secure=false --max-concurrent-reconciles=2 --ansible-workers=2 {flags}"
        );
        let options = app::options();
        let child = Command::new(env::current_exe()?)
            .args(["--exact", "process::operator", "--ignored", "--nocapture"])
            .env("KUBECONFIG", cluster.control_plane().kubeconfig())
            .env("TMPDIR", place.join("tmp"))
            .env("ANSIBLE_PYTHON", options.python)
            .env("ANSIBLE_COLLECTIONS_PATH", &options.collections_path[0])
            .env("ANSIBLE_ROLES_PATH", &options.roles_path[0])
            .env("ANSIBLE_GATHERING", "explicit")
            .env("OF_TEST_MARK", place)
            .env("OF_TEST_ROLE", role)
            .env("OF_TEST_FLAGS", flags)
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(fs::File::create(place.join("log"))?)
            .spawn()?;
        Ok(Self {
            child,
            mark: format!("OF_TEST_MARK={}", place.display()),
            metrics,
            leaves: false,
        })
    }

    /// The operator's metrics.
    pub fn metrics(&self) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.metrics))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, text) = answer.split_once("\r\n\r\n").context("no head")?;
        ensure!(head.contains(" 200 "), "{head}");
        Ok(text.to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if !self.leaves {
            for pid in processes(&self.mark) {
                _ = signal("-KILL", pid);
            }
        }
    }
}

/// The process of [`Process`], which is no test.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the operator of other tests"]
async fn operator() -> Result<()> {
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Arguments {
        #[command(flatten)]
        flags: Flags,
        #[command(flatten)]
        ansible: AnsibleFlags,
    }
    let Ok(flags) = env::var("OF_TEST_FLAGS") else {
        return Ok(());
    };
    let arguments = Arguments::parse_from(flags.split_whitespace());
    let manager = Manager::new(&app::OPTIONS, arguments.flags).await?;
    let mut ansible = Ansible::new(&manager, arguments.ansible.options())?;
    let automation = Automation::role(&env::var("OF_TEST_ROLE")?);
    ansible.add::<App>(&manager, NAME, automation);
    let context = app::Context::of(ansible);
    manager
        .controllers(app::controllers(&app::DECLARED), context)
        .run()
        .await?;
    Ok(())
}
