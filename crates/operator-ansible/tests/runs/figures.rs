//! What runs cost, beside those of `ansible-playbook`. `cargo test -p operator-ansible --test runs -- --ignored --nocapture figures::`

use std::{
    collections::HashMap,
    fs,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use kube::api::PostParams;
use operator_ansible::Automation;
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::json;

use crate::app::{self, App, Subject};

const OBJECTS: usize = 100;

/// The sum of the proportional set sizes of all processes below this one whose command has this word, in KiB, and their number.
fn memory(word: &str) -> (u64, u64) {
    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|it| it.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(") ")
            .and_then(|(_, it)| it.split(' ').nth(1)?.parse::<u32>().ok());
        parents.insert(pid, parent.unwrap_or_default());
    }
    let own = std::process::id();
    let is_below = |mut pid: u32| {
        while let Some(parent) = parents.get(&pid) {
            if *parent == own {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let (mut sum, mut count) = (0, 0);
    for pid in parents.keys().filter(|pid| is_below(**pid)) {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if !command.contains(word) {
            continue;
        }
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let pss = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let pss = pss.and_then(|it| it.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        sum += pss.unwrap_or_default();
        count += 1;
    }
    (sum, count)
}

/// The highest memory while something is done.
struct Highest {
    stop: Arc<AtomicBool>,
    most: Arc<AtomicU64>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Highest {
    fn of(word: &'static str) -> Self {
        let (stop, most) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (stopped, highest) = (stop.clone(), most.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                highest.fetch_max(memory(word).0, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(20));
            }
        });
        Self {
            stop,
            most,
            thread: Some(thread),
        }
    }

    fn end(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
        self.most.load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures, for a minute"]
async fn a_run_costs_a_fraction_of_one_of_ansible_playbook() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, Automation::role("one"))?;
    let first = Subject::new(&cluster, "first")?;
    first.create(json!({ "size": 1 })).await?;
    first.condition("Ready", "True", "").await?;
    let (idle, _) = memory("operator_ansible/server.py");

    let apps = first.apps();
    let highest = Highest::of("operator_ansible/server.py");
    let begin = Instant::now();
    for index in 0..OBJECTS {
        let mut app = App::new(&format!("app-{index}"), Default::default());
        app.spec.0.insert("size".to_owned(), index.into());
        apps.create(&PostParams::default(), &app).await?;
    }
    eventually(Duration::from_secs(300), async || {
        let all = apps.list(&Default::default()).await?;
        let ready = all.iter().filter(|it| {
            let status = it.status.as_ref().map(|it| it.0["conditions"].to_string());
            status.is_some_and(|it| it.contains("Last reconciliation succeeded"))
        });
        let count = ready.count();
        ensure!(count > OBJECTS, "{count} are ready");
        Ok(())
    })
    .await?;
    let took = begin.elapsed();
    let most = highest.end();
    operator.stop()?;

    // The same task, by `ansible-playbook`.
    let directory = tempfile::tempdir()?;
    let playbook = directory.path().join("play.yml");
    let roles = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/roles");
    fs::write(
        &playbook,
        "- hosts: localhost\n  gather_facts: false\n  roles: [one]\n",
    )?;
    let options = app::options();
    let python = options.python.parent().context("a directory")?;
    let highest = Highest::of("ansible");
    let begin = Instant::now();
    let runs = 5_u32;
    for index in 0..runs {
        let vars = json!({ "size": index, "ansible_operator_meta": { "name": "play", "namespace": NAMESPACE } });
        let done = Command::new(python.join("python"))
            .args([
                "-m",
                "ansible",
                "playbook",
                "-i",
                "localhost,",
                "-c",
                "local",
                "-e",
            ])
            .arg(vars.to_string())
            .arg(&playbook)
            .env("ANSIBLE_ROLES_PATH", roles)
            .env("ANSIBLE_COLLECTIONS_PATH", &options.collections_path[0])
            .env("ANSIBLE_PYTHON_INTERPRETER", python.join("python"))
            .env("K8S_AUTH_KUBECONFIG", cluster.control_plane().kubeconfig())
            .output()?;
        ensure!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stdout)
        );
    }
    let plain = begin.elapsed() / runs;
    let plain_memory = highest.end();
    let workers = u32::try_from(options.workers.get())?;
    let each = took * workers / u32::try_from(OBJECTS)?;
    let memory = most.saturating_sub(idle) / u64::from(workers);
    println!(
        "{OBJECTS} objects, {workers} workers: {took:?}, {each:?} a run (ansible-playbook: {plain:?})"
    );
    println!(
        "fork server at idle: {idle} KiB; at most {most} KiB; {memory} KiB a run more (ansible-playbook: {plain_memory} KiB)"
    );
    ensure!(
        each < plain / 2,
        "a run takes {each:?}, and one of ansible-playbook {plain:?}"
    );
    ensure!(
        memory < plain_memory / 3,
        "a run takes {memory} KiB, and one of ansible-playbook {plain_memory} KiB"
    );
    Ok(())
}
