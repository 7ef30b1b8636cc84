//! What runs cost, beside those of `ansible-playbook`. `cargo test -p operator-ansible --test runs -- --ignored --nocapture figures::`

use std::{
    collections::HashMap,
    env, fs,
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
use tokio::time::sleep;

use crate::{
    app::{self, App, Subject},
    process::Process,
};

const OBJECTS: usize = 100;

/// How long nothing changes.
const IDLE: Duration = Duration::from_secs(30);

/// What processes use.
#[derive(Clone, Copy, Default)]
struct Use {
    /// The sum of their proportional set sizes, in KiB.
    memory: u64,
    /// Their time on a processor, in hundredths of a second.
    time: u64,
    count: u64,
}

/// What all processes below this one use whose command has this word.
fn used(word: &str) -> Use {
    used_if(|_, command| command.contains(word))
}

/// What this process uses.
fn used_by(pid: u32) -> Use {
    used_if(|it, _| it == u64::from(pid))
}

fn used_if(is_one: impl Fn(u64, &str) -> bool) -> Use {
    let mut stats = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let fields: Vec<u64> = fields
            .split(' ')
            .map(|it| it.parse().unwrap_or_default())
            .collect();
        stats.insert(pid, fields);
    }
    let own = u64::from(std::process::id());
    let is_below = |mut pid: u64| {
        while let Some(parent) = stats.get(&pid).and_then(|fields| fields.get(1)) {
            if *parent == own {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let mut all = Use::default();
    for (pid, fields) in stats.iter().filter(|(pid, _)| is_below(**pid)) {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if !is_one(*pid, &command) {
            continue;
        }
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let pss = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let pss = pss.and_then(|it| it.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        all.memory += pss.unwrap_or_default();
        // `utime` and `stime`.
        all.time += fields.get(11).unwrap_or(&0) + fields.get(12).unwrap_or(&0);
        all.count += 1;
    }
    all
}

/// The time on a processor of the processes that this process, or its fork server, has waited for, in hundredths of a second.
fn waited(word: Option<&str>) -> u64 {
    let mut all = 0;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let read = |file| fs::read_to_string(entry.path().join(file)).unwrap_or_default();
        let is_it = match word {
            Some(word) => read("cmdline").contains(word),
            None => entry.file_name().to_str() == Some(&std::process::id().to_string()),
        };
        if is_it {
            let stat = read("stat");
            let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
            let times = fields.split(' ').skip(13).take(2);
            all += times.filter_map(|it| it.parse::<u64>().ok()).sum::<u64>();
        }
    }
    all
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
                highest.fetch_max(used(word).memory, Ordering::Relaxed);
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
    let idle = used("operator_ansible/server.py").memory;

    let apps = first.apps();
    let time = waited(Some("operator_ansible/server.py"));
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
    sleep(Duration::from_secs(5)).await;
    let time = (waited(Some("operator_ansible/server.py")) - time) / OBJECTS as u64;
    let before = used("operator_ansible/server.py");
    sleep(IDLE).await;
    let after = used("operator_ansible/server.py");
    let busy = after.time - before.time;
    println!(
        "{} process at idle, busy for {busy}0 ms of {IDLE:?}",
        after.count
    );
    ensure!(
        after.count == 1 && busy < 10,
        "{} processes, {busy}0 ms",
        after.count
    );
    operator.stop()?;

    // The same task, by `ansible-playbook`.
    sleep(Duration::from_secs(2)).await;
    let plain_time = waited(None);
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
    let plain_time = (waited(None) - plain_time) / u64::from(runs);
    let workers = u32::try_from(options.workers.get())?;
    let each = took * workers / u32::try_from(OBJECTS)?;
    let memory = most.saturating_sub(idle) / u64::from(workers);
    println!(
        "{OBJECTS} objects, {workers} workers: {took:?}, {each:?} a run (ansible-playbook: {plain:?})"
    );
    println!(
        "fork server at idle: {idle} KiB; at most {most} KiB; {memory} KiB a run more (ansible-playbook: {plain_memory} KiB)"
    );
    println!("on a processor: {time}0 ms a run (ansible-playbook: {plain_time}0 ms)");
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

/// The requests that an operator has sent to the API server.
fn requests(operator: &Process) -> Result<u64> {
    let text = operator.metrics()?;
    let lines = text.lines();
    let counts = lines.filter(|it| it.starts_with("rest_client_requests_total{"));
    let counts = counts.filter_map(|it| it.rsplit_once(' ')?.1.parse::<u64>().ok());
    Ok(counts.sum())
}

/// The lengths are in `OF_FIGURES_OBJECTS` (1000) and `OF_FIGURES_IDLE` (60 seconds).
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures, for some minutes"]
async fn a_thousand_objects_are_run_for_once_and_then_rest() -> Result<()> {
    let number = |name: &str, default: u64| {
        let value = env::var(name).ok().and_then(|it| it.parse().ok());
        value.unwrap_or(default)
    };
    let objects = number("OF_FIGURES_OBJECTS", 1000);
    let idle = Duration::from_secs(number("OF_FIGURES_IDLE", 60));
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let subject = Subject::new(&cluster, "figures")?;
    let apps = subject.apps();
    for index in 0..objects {
        let mut app = App::new(&format!("app-{index}"), Default::default());
        app.spec.0.insert("size".to_owned(), index.into());
        apps.create(&PostParams::default(), &app).await?;
    }
    let place = tempfile::tempdir()?;
    let begin = Instant::now();
    let operator = Process::start(&cluster, place.path(), "one")?;
    let most = AtomicU64::new(0);
    eventually(Duration::from_secs(3600), async || {
        most.fetch_max(used("operator_ansible/server.py").memory, Ordering::Relaxed);
        // A call at each of many looks would take a processor from the runs.
        sleep(Duration::from_millis(300)).await;
        let text = operator.metrics()?;
        let done = text.lines().find_map(|it| {
            let rest = it.strip_prefix("ansible_operator_reconcile_result{")?;
            let (labels, count) = rest.split_once("} ")?;
            let count = count.parse::<u64>().ok()?;
            labels.contains("succeeded").then_some(count)
        });
        ensure!(done >= Some(objects), "{done:?} of {objects} runs");
        Ok(())
    })
    .await?;
    let took = begin.elapsed();
    let most = most.into_inner();
    // The forks of the last run end, and its watch events come.
    sleep(Duration::from_secs(5)).await;
    let cpu = |of: Use| of.time;
    let (rust, python) = (
        used_by(operator.child.id()),
        used("operator_ansible/server.py"),
    );
    let run = waited(Some("operator_ansible/server.py"));
    let before = requests(&operator)?;
    sleep(idle).await;
    let (rust_after, python_after) = (
        used_by(operator.child.id()),
        used("operator_ansible/server.py"),
    );
    let asked = requests(&operator)? - before;
    println!(
        "{objects} objects, 2 workers: {took:?}, {:?} an object",
        took / u32::try_from(objects)?
    );
    println!("on a processor: operator {}0 ms, runs {run}0 ms", cpu(rust));
    println!("at most {most} KiB of Python");
    println!(
        "idle for {idle:?}: operator {} KiB and {}0 ms, {} processes of Python {} KiB and {}0 ms, {asked} requests",
        rust_after.memory,
        cpu(rust_after) - cpu(rust),
        python_after.count,
        python_after.memory,
        cpu(python_after) - cpu(python),
    );
    ensure!(python_after.count == 1, "{} processes", python_after.count);
    // Watches end after some minutes, and begin again.
    ensure!(asked <= 10 + idle.as_secs() / 20, "{asked} requests");
    Ok(())
}
