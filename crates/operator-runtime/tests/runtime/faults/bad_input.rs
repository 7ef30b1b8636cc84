//! An operator's errors for invalid input.

use std::{fs, net::TcpListener, path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use operator_runtime::envtest::free_port;

use crate::faults::{
    kubeconfig,
    operator::{FAULT, Process, get},
    table::row,
    until,
};

fn file(name: &str, text: &str) -> Result<PathBuf> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text)?;
    Ok(path)
}

/// Runs an operator to its end; returns the exit code, and the line with the reason.
async fn refused(flags: &[String], fault: &str) -> Result<(Option<i32>, String)> {
    let process = Process::spawn(flags, &[(FAULT, fault)])?;
    let (status, log) = process.end(20).await?;
    let lines: Vec<_> = log.lines().filter(|line| !line.starts_with('{')).collect();
    if status.code() == Some(1) {
        ensure!(lines.len() == 1, "not one line: {log}");
    }
    Ok((status.code(), lines.join("\n")))
}

#[tokio::test]
async fn one_clear_line() -> Result<()> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let taken = taken.local_addr()?;
    let nowhere = kubeconfig("nowhere", &format!("http://127.0.0.1:{}", free_port()?), "")?;
    let config = |path: &std::path::Path| format!("--kubeconfig={}", path.display());
    let good = config(&nowhere);
    let garbage = config(&file("garbage.kubeconfig", "{ this is: [no kubeconfig")?);
    let missing = "--kubeconfig=/nonexistent/kubeconfig".to_owned();
    let port = format!("--health-probe-bind-address={taken}");
    let metrics = format!("--metrics-bind-address={taken}");
    let off = [
        "--health-probe-bind-address=0",
        "--metrics-bind-address=0",
        "--log-format=json",
    ];
    let cases: [(&str, Vec<&str>, &str, i32, &str); 16] = [
        (
            "a port in use",
            vec![&good, &port],
            "",
            1,
            "cannot listen on 127.0.0.1:",
        ),
        (
            "a port in use for metrics",
            vec![&good, &metrics],
            "",
            1,
            "cannot listen on 127.0.0.1:",
        ),
        (
            "no kubeconfig there",
            vec![&missing],
            "",
            1,
            "No such file or directory",
        ),
        (
            "an unreadable kubeconfig",
            vec![&garbage],
            "",
            1,
            "cannot use kubeconfig `",
        ),
        (
            "two controllers with the same name",
            vec![&good],
            "same-name",
            1,
            "two controllers are named `widgets`",
        ),
        (
            "a trigger of an unknown controller",
            vec![&good],
            "unknown-trigger",
            1,
            "a trigger or a dynamic watch names controller `gadgets`",
        ),
        (
            "two controllers with the same condition",
            vec![&good],
            "same-condition",
            1,
            "controllers `widgets` and `others` both show failures of Widget as `Ready`",
        ),
        (
            "a cluster that was not added",
            vec![&good],
            "unknown-cluster",
            1,
            "cluster `elsewhere`",
        ),
        (
            "shares of a controller that runs in every replica",
            vec![&good],
            "shared-by-all",
            1,
            "controller `others` cannot have `.sharded(..)`: with `.without_leadership()`, every",
        ),
        (
            "shares by a namespace that the objects lack",
            vec![&good],
            "shared-nodes",
            1,
            "controller `nodes` cannot have `.sharded(..)`: a Node is in no namespace, so one",
        ),
        (
            "shares without an election",
            vec![&good, "--shards=auto"],
            "",
            1,
            "--shards needs an election: add --leader-elect",
        ),
        (
            "more replicas with a share than there are shares",
            vec![&good, "--leader-elect", "--shards=65"],
            "",
            2,
            "expected `auto`, or a number from 1 to 64",
        ),
        (
            "an unknown flag",
            vec![&good, "--wrong"],
            "",
            2,
            "unexpected argument '--wrong'",
        ),
        (
            "an invalid address",
            vec![&good, "--metrics-bind-address=8080"],
            "",
            2,
            "expected `IP:PORT`",
        ),
        (
            "an invalid period",
            vec![&good, "--sync-period=10"],
            "",
            2,
            "expected a duration such as `15s`",
        ),
        (
            "no concurrency",
            vec![&good, "--max-concurrent-reconciles=0"],
            "",
            2,
            "--max-concurrent-reconciles",
        ),
    ];
    for (what, flags, fault, code, expected) in cases {
        let name = |flag: &str| flag.split('=').next().unwrap_or_default().to_owned();
        let given: Vec<_> = flags.iter().map(|flag| name(flag)).collect();
        let off = off.iter().filter(|flag| !given.contains(&name(flag)));
        let flags: Vec<_> = off.chain(&flags).map(ToString::to_string).collect();
        let (found, text) = refused(&flags, fault).await?;
        ensure!(found == Some(code), "{what}: exit {found:?}: {text}");
        ensure!(text.contains(expected), "{what}: {text}");
        let line = text.lines().next().unwrap_or_default();
        row(what, &format!("exit {code}: `{line}`"), Duration::ZERO);
    }

    let process = Process::start(&nowhere, &[])?;
    let mut report = String::new();
    until("readiness says what it waits for", 20, async || {
        let answer = get(process.health, "/readyz").await.unwrap_or_default();
        Ok(
            answer.contains("waiting for widgets in test.example.com/v1: ")
                && answer.contains("refused"),
        )
    })
    .await?;
    let answer = get(process.health, "/readyz").await?;
    if let Some(line) = answer.lines().find(|line| line.contains("widgets")) {
        report.push_str(line);
    }
    ensure!(
        get(process.health, "/healthz")
            .await?
            .starts_with("HTTP/1.1 200")
    );
    row(
        "a kubeconfig that points nowhere",
        &format!("alive, not ready: `{report}`"),
        Duration::ZERO,
    );
    Ok(())
}
