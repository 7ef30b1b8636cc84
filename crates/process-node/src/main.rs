//! A Kubernetes control plane and one node that runs Pods as processes. See the README.

mod container;
mod control_plane;
mod fault;
mod host;
mod image;
mod network;
mod node;
mod pod;
mod probe;
mod service;
mod variables;
mod volume;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use kube::{Api, Client};
use tokio::{
    io::AsyncWriteExt,
    process::Command,
    select,
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};

use fault::Fault;
use host::Host;
use image::NamedImage;

/// Runs a Kubernetes control plane and a node that runs Pods as processes
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Start both, run a command beside them, and stop everything when it ends
    Run(Run),
    /// What `run` starts inside the namespaces
    #[command(hide = true)]
    Inside {
        #[arg(long)]
        directory: PathBuf,
        #[command(flatten)]
        run: Run,
    },
    #[command(flatten)]
    Fault(Fault),
}

/// Makes the directory of the machine, ends the machine if the program is killed, and removes the directory in any case.
/// Standard input closes without a line when the program is killed.
const WATCHDOG: &str = r#"
mkdir -p "$2"
read -r _ || kill -9 "$1"
# Processes that are being killed may still write.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    ! rm -rf "$2" 2>/dev/null || exit 0
    sleep 0.2
done
exit 1
"#;

#[derive(clap::Args, Clone)]
struct Run {
    /// Image of containers: `NAME=DIRECTORY[,ENTRYPOINT]`; may be repeated
    #[arg(long = "image", value_name = "IMAGE")]
    images: Vec<NamedImage>,
    /// Directory of etcd, kube-apiserver, kube-controller-manager and kubectl
    #[arg(long, value_name = "DIRECTORY", env = "KUBEBUILDER_ASSETS")]
    assets: PathBuf,
    /// Command to run; it has KUBECONFIG, kubectl in its PATH, and PROCESS_NODE_DIR
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

fn main() -> Result<ExitCode> {
    // Only fails if another provider is installed already.
    _ = rustls::crypto::ring::default_provider().install_default();
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        match arguments.command {
            Subcommands::Run(_) => outside().await,
            Subcommands::Inside { directory, run } => inside(&directory, run).await,
            Subcommands::Fault(fault) => fault.run().await.map(|()| ExitCode::SUCCESS),
        }
    })
}

/// Runs this program again in namespaces of its own. All processes in them end with it, whatever ends it.
async fn outside() -> Result<ExitCode> {
    let directory = env::temp_dir().join(format!("process-node-{:016x}", fastrand::u64(..)));
    let mut child = Command::new("unshare")
        .args([
            "--map-root-user",
            "--net",
            "--mount",
            "--pid",
            "--uts",
            "--fork",
        ])
        .args(["--kill-child", "--mount-proc"])
        .arg(env::current_exe()?)
        .args(["inside", "--directory"])
        .arg(&directory)
        .args(env::args_os().skip(2))
        .spawn()
        .context("cannot run `unshare`, of util-linux")?;
    let id = child.id().context("`unshare` ended at once")?.to_string();
    let mut watchdog = Command::new("sh")
        .args(["-c", WATCHDOG, "sh", &id])
        .arg(&directory)
        .stdin(Stdio::piped())
        // Ctrl-C does not reach it.
        .process_group(0)
        .spawn()?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let status = select! {
        status = child.wait() => status?,
        _ = terminate.recv() => { child.kill().await?; child.wait().await? }
        _ = interrupt.recv() => { child.kill().await?; child.wait().await? }
    };
    if let Some(mut ended) = watchdog.stdin.take() {
        ended.write_all(b"\n").await?;
    }
    ensure!(
        watchdog.wait().await?.success(),
        "cannot remove {}",
        directory.display()
    );
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn inside(directory: &Path, run: Run) -> Result<ExitCode> {
    // If the program is killed before it starts the watchdog, nothing would end the machine.
    let watched = async {
        while !directory.is_dir() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    let watched = timeout(Duration::from_secs(10), watched).await;
    watched.context("nobody watches over the machine")?;
    let hosts = directory.join("hosts");
    fs::write(&hosts, "127.0.0.1 localhost\n")?;
    fs::write(directory.join("resolv.conf"), "")?;
    mount(&["--bind"], &hosts, Path::new("/etc/hosts")).await?;
    mount(
        &["--bind"],
        &directory.join("resolv.conf"),
        Path::new("/etc/resolv.conf"),
    )
    .await?;
    // Databases that share a slow disk would wait for each other.
    let disks = directory.join("volumes");
    fs::create_dir(&disks)?;
    mount(&["-t", "tmpfs"], Path::new("tmpfs"), &disks).await?;
    network::prepare().await?;
    let client = control_plane::start(&run.assets, directory).await?;
    node::run(Arc::new(Host {
        client: client.clone(),
        directory: directory.to_owned(),
        images: run
            .images
            .into_iter()
            .map(|NamedImage(name, image)| (name, image))
            .collect(),
    }));
    let (services, file) = (client.clone(), hosts.clone());
    tokio::spawn(async move {
        node::forever("Services", || service::run(services.clone(), &file)).await;
    });
    ready(client).await?;
    let path = env::var("PATH").unwrap_or_default();
    let (program, arguments) = run.command.split_first().context("there is no command")?;
    let status = Command::new(program)
        .args(arguments)
        .env("KUBECONFIG", directory.join("kubeconfig"))
        .env("PATH", format!("{}:{path}", run.assets.display()))
        .env("PROCESS_NODE_DIR", directory)
        .stdin(Stdio::inherit())
        .status()
        .await
        .with_context(|| format!("cannot run `{program}`"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn mount(options: &[&str], source: &Path, target: &Path) -> Result<()> {
    let mount = Command::new("mount")
        .args(options)
        .arg(source)
        .arg(target)
        .status();
    ensure!(mount.await?.success(), "cannot mount {}", target.display());
    Ok(())
}

/// Waits until Pods can be created.
async fn ready(client: Client) -> Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    let nodes: Api<Node> = Api::all(client);
    while accounts.get_opt("default").await?.is_none() || nodes.get_opt(node::NAME).await?.is_none()
    {
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
