//! The API server accepts the output of `make manifests`.

use std::{env, fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use crate::webhooks::cluster;

/// The `manifests` binary of a project whose webhooks use every declaration.
fn manifests() -> Command {
    let tests = env::current_exe().expect("a test is a program");
    let target = tests.ancestors().nth(2).expect("it is in `deps`");
    Command::new(target.join("examples/manifests"))
}

#[test]
fn the_api_server_accepts_the_manifests() -> Result<()> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("webhook-manifests");
    _ = fs::remove_dir_all(&directory);
    let path = directory.to_str().context("a path")?;
    let written = manifests().args(["--dir", path]).output()?;
    ensure!(written.status.success(), "{written:?}");
    let checked = manifests().args(["--dir", path, "--check"]).status()?;
    ensure!(checked.success());

    let file = directory.join("webhook/manifests.yaml");
    let text = fs::read_to_string(&file)?;
    ensure!(text.starts_with("# generated"), "{text}");
    let role = fs::read_to_string(directory.join("rbac/role.yaml"))?;
    ensure!(role.contains("- configmaps"), "{role}");

    let mut kubectl = cluster()?.control_plane().kubectl();
    let apply = [
        "apply",
        "--server-side",
        "--dry-run=server",
        "--validate=strict",
        "-f",
    ];
    let applied = kubectl.args(apply).arg(&file).output()?;
    let shown = String::from_utf8(applied.stdout)? + std::str::from_utf8(&applied.stderr)?;
    let expected = "mutatingwebhookconfiguration.admissionregistration.k8s.io/mutating-webhook-configuration \
                    serverside-applied (server dry run)\n\
                    validatingwebhookconfiguration.admissionregistration.k8s.io/validating-webhook-configuration \
                    serverside-applied (server dry run)\n";
    ensure!(shown == expected, "{shown}");
    Ok(())
}

#[test]
fn two_webhooks_at_one_path_are_an_error() -> Result<()> {
    let mut manifests = manifests();
    let output = manifests
        .args(["--dir", "nowhere"])
        .env("TWO_AT_ONE_PATH", "")
        .output()?;
    let expected = "error: two webhooks have the path `/validate-apps-v1-deployment`: \
                    give one of them another `.path(..)`\n";
    let shown = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(1) && shown == expected,
        "{shown}"
    );
    Ok(())
}
