//! Runs in a real fork server, without a cluster.

use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::*;
use crate::program;

/// The Python of the tests; `tests/ansible/build.sh` makes it.
fn python() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ansible/build.sh");
    let made = Command::new(script).output().expect("the script runs");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    PathBuf::from(String::from_utf8(made.stdout).expect("a path").trim())
}

fn runs(workers: usize) -> Runs {
    Runs::new(AnsibleOptions {
        python: python(),
        workers: NonZero::new(workers).expect("a worker"),
        environment: vec![("ANSIBLE_GATHERING".to_owned(), "explicit".to_owned())],
        ..AnsibleOptions::default()
    })
}

fn role(name: &str, vars: Value) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/roles")
        .join(name);
    json!({ "kind": "role", "path": path, "vars": vars })
}

const LONG: Duration = Duration::from_secs(60);

/// The directory of a server, from its environment.
fn directory(server: &Server) -> PathBuf {
    let environment = fs::read(format!("/proc/{}/environ", server.pid)).expect("a process");
    let mark = format!("{}=", program::MARK);
    let mut all = environment.split(|byte| *byte == 0);
    let found = all.find_map(|it| std::str::from_utf8(it).ok()?.strip_prefix(&mark));
    PathBuf::from(found.expect("a mark"))
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "not within {LONG:?}: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until no process but the server runs from its directory, and no run has files.
async fn nothing_is_left(server: &Server) {
    let directory = directory(server);
    until("only the server is left", || {
        let left = program::marked(&directory);
        let files = fs::read_dir(directory.join("runs")).map_or(0, Iterator::count);
        left.iter().map(|pid| pid.as_raw_pid()).eq([server.pid]) && files == 0
    })
    .await;
}

/// Waits until nothing is left of a server, and no process of it is a zombie.
async fn is_gone(directory: &Path, pid: i32) {
    until("nothing is left", || {
        program::marked(directory).is_empty()
            && !directory.exists()
            && !Path::new(&format!("/proc/{pid}")).exists()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_in_what_an_object_says_are_not_evaluated() {
    let runs = runs(1);
    let hacked =
        std::env::temp_dir().join(format!("operator-ansible-hacked-{}", std::process::id()));
    for template in [
        format!("{{{{ lookup('pipe', 'touch {}') }}}}", hacked.display()),
        "{{ 7 * 7 }}".to_owned(),
        "{% set x = 1 %}{{ x }}".to_owned(),
        "{# nothing #}".to_owned(),
        "!unsafe '{{ 1 }}'".to_owned(),
    ] {
        let spec = json!({ "text": template, "deep": { "list": [{ "text": template }] } });
        let mut vars = spec.clone();
        vars["_apps_example_com_app"] = json!({ "spec": spec });
        vars["_apps_example_com_app_spec"] = spec;
        let mut request = role("hostile", vars);
        // What the author says is evaluated, and may use what the object says.
        request["trusted"] = json!({ "greeting": "{{ 6 * 7 }} {{ text }}" });
        let outcome = runs.run(request, LONG, |_| {}).await.unwrap();
        let text = &outcome.failures[0].message;
        let seen: Vec<String> = serde_json::from_str(text).expect(text);
        let said = format!("{template} {template} {template}");
        let own = format!("42 {template}");
        let expected: [&str; 6] = [&template, &template, &template, &template, &said, &own];
        assert_eq!(seen, expected);
        assert!(!hacked.exists());
    }
    // The same spec, as operator-sdk passes it without `markUnsafe`: only the author of the operator can ask for it.
    let mut request = role("hostile", json!({}));
    let text = "{{ 7 * 7 }}";
    let spec = json!({ "text": text, "deep": { "list": [{ "text": text }] } });
    request["trusted"] = spec.clone();
    request["trusted"]["_apps_example_com_app"] = json!({ "spec": spec });
    request["trusted"]["_apps_example_com_app_spec"] = spec;
    request["trusted"]["greeting"] = "x".into();
    let outcome = runs.run(request, LONG, |_| {}).await.unwrap();
    assert!(
        outcome.failures[0].message.starts_with("[49, 49, 49, 49"),
        "{outcome:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_events_all_come() {
    let runs = runs(1);
    let items = AtomicU64::new(0);
    let mut request = role("many", json!({ "count": 10_000 }));
    request["trusted"] = json!({});
    let outcome = runs
        .run(request, LONG * 5, |event| {
            if matches!(event, RunEvent::ItemOk { .. }) {
                items.fetch_add(1, Ordering::Relaxed);
            }
        })
        .await
        .unwrap();
    assert_eq!(outcome.failures, []);
    assert_eq!(items.load(Ordering::Relaxed), 10_000);
    // The two tasks begin and end, and the run ends.
    assert_eq!(outcome.events, 10_005);
    nothing_is_left(&runs.server().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_hangs_is_ended_with_all_that_it_started() {
    let runs = runs(1);
    let limit = Duration::from_secs(3);
    let error = runs
        .run(role("hang", json!({})), limit, |_| {})
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.ends_with("longer than 3s, in the task `hang : hang`"),
        "{text}"
    );
    nothing_is_left(&runs.server().await.unwrap()).await;
}

/// Starts a run that hangs, and returns when it does.
async fn hang(runs: &Arc<Runs>) -> tokio::task::JoinHandle<Result<Outcome, Error>> {
    let (send, mut hangs) = tokio::sync::mpsc::unbounded_channel();
    let own = runs.clone();
    let task = tokio::spawn(async move {
        let hear = |event: &RunEvent| {
            if matches!(event, RunEvent::Task { task, .. } if task == "hang : hang") {
                _ = send.send(());
            }
        };
        own.run(role("hang", json!({})), LONG, hear).await
    });
    hangs.recv().await.expect("it begins");
    let directory = directory(&runs.server().await.unwrap());
    // The server, the run, its worker, its module, and the two programs.
    until("it sleeps", || program::marked(&directory).len() >= 6).await;
    task
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_dropped_is_ended() {
    let runs = Arc::new(runs(1));
    let task = hang(&runs).await;
    task.abort();
    nothing_is_left(&runs.server().await.unwrap()).await;
    // Its worker is free again.
    let outcome = runs
        .run(role("many", json!({ "count": 1 })), LONG, |_| {})
        .await;
    assert_eq!(outcome.unwrap().failures, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_killed_fails_and_the_next_one_succeeds() {
    let runs = Arc::new(runs(1));
    let task = hang(&runs).await;
    let server = runs.server().await.unwrap();
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", server.pid)).unwrap();
    let run = Pid::from_raw(children.trim().parse().expect(&children)).unwrap();
    kill_process(run, Signal::KILL).unwrap();
    let error = task.await.unwrap().unwrap_err().to_string();
    assert_eq!(
        error,
        "the process of the run was killed by signal 9, in the task `hang : hang`"
    );
    nothing_is_left(&server).await;
    let outcome = runs
        .run(role("many", json!({ "count": 1 })), LONG, |_| {})
        .await;
    assert_eq!(outcome.unwrap().failures, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_takes_its_runs_along_and_another_one_starts() {
    let runs = Arc::new(runs(2));
    let task = hang(&runs).await;
    let server = runs.server().await.unwrap();
    let (pid, directory) = (server.pid, directory(&server));
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let error = task.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Gone), "{error}");
    is_gone(&directory, pid).await;
    let outcome = runs
        .run(role("many", json!({ "count": 1 })), LONG, |_| {})
        .await;
    assert_eq!(outcome.unwrap().failures, []);
    assert_ne!(runs.server().await.unwrap().pid, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_nobody_needs_ends() {
    let runs = Arc::new(runs(1));
    let task = hang(&runs).await;
    let server = runs.server().await.unwrap();
    let (pid, directory) = (server.pid, directory(&server));
    drop(server);
    task.abort();
    _ = task.await;
    drop(runs);
    is_gone(&directory, pid).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_only_so_many_runs_at_once() {
    let runs = Arc::new(runs(1));
    let first = hang(&runs).await;
    let own = runs.clone();
    let second = tokio::spawn(async move {
        let request = role("many", json!({ "count": 1 }));
        own.run(request, LONG, |_| {}).await
    });
    sleep(Duration::from_secs(1)).await;
    assert!(!second.is_finished());
    first.abort();
    assert_eq!(second.await.unwrap().unwrap().failures, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_not_understood_says_where() {
    let runs = runs(1);
    let outcome = runs
        .run(role("broken", json!({})), LONG, |_| {})
        .await
        .unwrap();
    let error = outcome
        .error
        .unwrap_or_else(|| outcome.failures[0].message.clone());
    assert!(error.contains("no_such_module"), "{error}");
    nothing_is_left(&runs.server().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_playbook_runs_and_warnings_and_facts_stay_inside() {
    let runs = runs(1);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playbooks/app.yml");
    let request = json!({ "kind": "playbook", "path": path, "vars": { "size": 3 } });
    let mut said = Vec::new();
    let outcome = runs
        .run(request, LONG, |event| {
            if let RunEvent::Ok { of, .. } = event {
                said.push(of.message.clone());
            }
        })
        .await
        .unwrap();
    assert_eq!((outcome.stats.unwrap().ok, said), (1, vec!["3".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inventory_of_the_author_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let inventory = directory.path().join("hosts");
    let text = "[all]\nlocalhost size=4\nother ansible_connection=local size=5\n";
    fs::write(&inventory, text).unwrap();
    let runs = Runs::new(AnsibleOptions {
        environment: vec![(
            "ANSIBLE_INVENTORY".to_owned(),
            inventory.to_string_lossy().into_owned(),
        )],
        ..runs(1).options
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playbooks/hosts.yml");
    let mut said = Vec::new();
    let outcome = runs
        .run(json!({ "kind": "playbook", "path": path }), LONG, |event| {
            if let RunEvent::Ok { of, .. } = event {
                said.push(of.message.clone());
            }
        })
        .await
        .unwrap();
    said.sort();
    assert_eq!(said, ["4", "5"], "{outcome:?}");
    // The counts are those of all hosts.
    assert_eq!(outcome.stats.unwrap().ok, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_without_space_fails_a_run_and_no_later_one() {
    // The limit of a process for the size of a file, which its runs inherit, stands for the disk.
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("python");
    let text = format!(
        "#!/bin/sh\nulimit -S -f 1\nexec {} \"$@\"\n",
        python().display()
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let runs = Runs::new(AnsibleOptions {
        python: program,
        ..runs(1).options
    });
    let large = json!({ "size": "x".repeat(1 << 20) });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playbooks/write.yml");
    let mut request = json!({ "kind": "playbook", "path": path, "vars": large });
    let outcome = runs.run(request.clone(), LONG, |_| {}).await.unwrap();
    let why = outcome.error.clone();
    let why = why.or_else(|| Some(outcome.failures.first()?.message.clone()));
    assert!(
        why.as_ref().is_some_and(|it| it.contains("File too large")),
        "{outcome:?}"
    );
    nothing_is_left(&runs.server().await.unwrap()).await;
    // There is space again.
    let pid = runs.server().await.unwrap().pid.to_string();
    let lifted = Command::new("prlimit")
        .args(["--fsize=unlimited:unlimited", "--pid", &pid])
        .status();
    if !lifted.is_ok_and(|it| it.success()) {
        request["vars"] = json!({ "size": "x" });
    }
    let outcome = runs.run(request, LONG, |_| {}).await.unwrap();
    assert_eq!((outcome.error, outcome.failures), (None, vec![]));
    nothing_is_left(&runs.server().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ansible_that_is_too_old_says_so() {
    let old = tempfile::tempdir().unwrap();
    fs::create_dir(old.path().join("ansible")).unwrap();
    fs::write(old.path().join("ansible/__init__.py"), "").unwrap();
    let release = "__version__ = '2.18.9'\n";
    fs::write(old.path().join("ansible/release.py"), release).unwrap();
    let path = old.path().display().to_string();
    let runs = Runs::new(AnsibleOptions {
        python: python(),
        environment: vec![("PYTHONPATH".to_owned(), path)],
        ..AnsibleOptions::default()
    });
    let run = runs.run(role("many", json!({})), LONG, |_| {}).await;
    assert_eq!(
        run.unwrap_err().to_string(),
        "Ansible does not start: ansible-core 2.18.9 is too old: 2.19 or newer is needed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_without_ansible_says_so() {
    let runs = Runs::new(AnsibleOptions {
        python: PathBuf::from("/usr/bin/false"),
        ..AnsibleOptions::default()
    });
    let error = runs
        .run(role("many", json!({})), LONG, |_| {})
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("Ansible does not start"),
        "{error}"
    );
    let missing = Runs::new(AnsibleOptions {
        python: PathBuf::from("/nowhere/python"),
        ..AnsibleOptions::default()
    });
    let error = missing
        .run(role("many", json!({})), LONG, |_| {})
        .await
        .unwrap_err();
    assert!(error.to_string().contains("/nowhere/python"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_again_and_again_is_started_after_ever_longer_pauses() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("python");
    let text = "#!/bin/sh\necho '{\"ready\": {\"pid\": 1, \"ansible\": \"0\"}}'\nexit 1\n";
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let runs = Runs::new(AnsibleOptions {
        python: program,
        ..AnsibleOptions::default()
    });
    let mut pauses = Vec::new();
    for _ in 0..4 {
        let begin = Instant::now();
        let error = runs
            .run(role("many", json!({})), LONG, |_| {})
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Gone), "{error}");
        pauses.push(begin.elapsed());
    }
    let least = [0, 100, 200, 400].map(Duration::from_millis);
    let are_longer = pauses
        .iter()
        .zip(least)
        .all(|(pause, least)| *pause >= least);
    assert!(are_longer, "{pauses:?}");
}
