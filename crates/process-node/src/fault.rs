//! Faults: what a test does to Pods and to the control plane. The state is that of the machine, in its directory.

use std::{
    env, fs,
    io::{self, ErrorKind},
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::{network, pod};

/// A container of a Pod.
#[derive(Args)]
pub(crate) struct ContainerName {
    pod: String,
    container: String,
    #[arg(short, long, default_value = "default")]
    namespace: String,
}

/// One fault, or what ends it. All run inside `process-node run`.
#[derive(Subcommand)]
pub(crate) enum Fault {
    /// Kill the processes of a container; the node starts it again
    Kill(ContainerName),
    /// Stop the processes of a container, without ending them
    Pause(ContainerName),
    /// Let the processes of a paused container go on
    Resume(ContainerName),
    /// Lose all packets between two Pods
    Partition {
        pod: String,
        other: String,
        #[arg(short, long, default_value = "default")]
        namespace: String,
    },
    /// Lose all packets from and to a Pod
    Isolate {
        pod: String,
        #[arg(short, long, default_value = "default")]
        namespace: String,
    },
    /// End all partitions and isolations
    Heal,
    /// Empty the disk of a PersistentVolumeClaim, and kill the containers that use it
    LoseDisk {
        claim: String,
        #[arg(short, long, default_value = "default")]
        namespace: String,
    },
    /// Kill the API server; it starts again with the same port and data
    RestartApiServer,
    /// Print what a container wrote
    Log(ContainerName),
}

impl Fault {
    /// Does it.
    ///
    /// # Errors
    /// Outside `process-node run`, or if the Pod, container or disk does not exist.
    pub(crate) async fn run(self) -> Result<()> {
        let machine = env::var_os("PROCESS_NODE_DIR");
        let machine = PathBuf::from(machine.context("this is not inside `process-node run`")?);
        match self {
            Self::Kill(name) => signal(&machine, &name, Signal::KILL),
            Self::Pause(name) => signal(&machine, &name, Signal::STOP),
            Self::Resume(name) => signal(&machine, &name, Signal::CONT),
            Self::Partition {
                pod,
                other,
                namespace,
            } => {
                let (pod, other) = (
                    facts(&machine, &namespace, &pod)?,
                    facts(&machine, &namespace, &other)?,
                );
                network::lose(holder(&pod)?, address(&other)?).await?;
                network::lose(holder(&other)?, address(&pod)?).await
            }
            Self::Isolate { pod, namespace } => {
                let pod = facts(&machine, &namespace, &pod)?;
                network::disconnect(address(&pod)?).await
            }
            Self::Heal => {
                for pod in entries(&machine.join("pods"))? {
                    for pod in entries(&pod)? {
                        // A Pod that begins or ends has no network to heal.
                        if let (Ok(holder), Ok(address)) = (holder(&pod), address(&pod)) {
                            network::heal(holder, address).await?;
                        }
                    }
                }
                Ok(())
            }
            Self::LoseDisk { claim, namespace } => lose_disk(&machine, &namespace, &claim),
            Self::RestartApiServer => {
                let server = process(&machine.join("kube-apiserver.pid"))?;
                Ok(kill_process(server, Signal::KILL)?)
            }
            Self::Log(name) => {
                let log = machine.join("logs").join(name.namespace).join(name.pod);
                let log = fs::File::open(log.join(format!("{}.log", name.container)));
                let mut log = log.context("the container never ran")?;
                io::copy(&mut log, &mut io::stdout())?;
                Ok(())
            }
        }
    }
}

fn signal(machine: &Path, name: &ContainerName, signal: Signal) -> Result<()> {
    let pod = facts(machine, &name.namespace, &name.pod)?;
    let id = process(&pod.join(format!("{}.pid", name.container)));
    let id = id.with_context(|| format!("the container `{}` does not run", name.container))?;
    Ok(kill_process_group(id, signal)?)
}

/// A container that has the disk has it as a mount whose root is a directory of the file system of all disks.
fn lose_disk(machine: &Path, namespace: &str, claim: &str) -> Result<()> {
    let disk = machine.join("volumes").join(namespace).join(claim);
    let entries_of_disk = entries(&disk)?;
    anyhow::ensure!(disk.is_dir(), "the claim `{claim}` has no disk");
    let root = Path::new("/").join(namespace).join(claim);
    for pod in entries(&machine.join("pods").join(namespace))? {
        for file in entries(&pod)? {
            // A file that is gone, or that holds no process ID.
            let Ok(id) = process(&file) else { continue };
            let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", id.as_raw_nonzero()));
            let mounts = mounts.unwrap_or_default();
            let mut roots = mounts.lines().filter_map(|line| line.split(' ').nth(3));
            if roots.any(|it| Path::new(it).starts_with(&root)) {
                kill_process_group(id, Signal::KILL)?;
            }
        }
    }
    for entry in entries_of_disk {
        let removed = match entry.symlink_metadata() {
            Ok(entry_data) if entry_data.is_dir() => fs::remove_dir_all(&entry),
            _ => fs::remove_file(&entry),
        };
        if removed
            .as_ref()
            .is_err_and(|error| error.kind() != ErrorKind::NotFound)
        {
            removed?;
        }
    }
    Ok(())
}

fn facts(machine: &Path, namespace: &str, name: &str) -> Result<PathBuf> {
    let directory = pod::facts(machine, namespace, name);
    anyhow::ensure!(directory.is_dir(), "the Pod `{name}` does not run");
    Ok(directory)
}

fn process(file: &Path) -> Result<Pid> {
    let id = fs::read_to_string(file)?.parse()?;
    Pid::from_raw(id).context("0 is no process ID")
}

/// The process that holds the network of a Pod.
fn holder(pod: &Path) -> Result<u32> {
    Ok(fs::read_to_string(pod.join("network.pid"))?.parse()?)
}

fn address(pod: &Path) -> Result<Ipv4Addr> {
    Ok(fs::read_to_string(pod.join("address"))?.parse()?)
}

/// The entries of a directory; none if there is no directory.
fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
