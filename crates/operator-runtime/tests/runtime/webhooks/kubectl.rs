//! The output of kubectl.

use std::{io::Write, process::Stdio};

use anyhow::{Context, Result, ensure};

use crate::webhooks::cluster;

/// The standard output and error of `kubectl` with this input.
fn kubectl(arguments: &[&str], input: &str) -> Result<String> {
    let mut kubectl = cluster()?.control_plane().kubectl();
    let kubectl = kubectl.args(arguments).stdin(Stdio::piped());
    let mut child = kubectl
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("its input")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    Ok(String::from_utf8(output.stdout)? + std::str::from_utf8(&output.stderr)?)
}

fn gadget(name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: test.example.com/v1, kind: Gadget, metadata: {{name: {name}}}, spec: {spec}}}"
    )
}

#[test]
fn kubectl_shows_every_invalid_field() -> Result<()> {
    let shown = kubectl(
        &["create", "-f", "-"],
        &gadget("seen-wrong", "{size: 4, mode: odd}"),
    )?;
    let expected = "The Gadget \"seen-wrong\" is invalid: \n\
                    * spec.size: Invalid value: 4: must be odd\n\
                    * spec.mode: Unsupported value: \"odd\": supported values: \"fast\", \"slow\", \"owned\"\n";
    ensure!(shown == expected, "{shown}");
    let shown = kubectl(&["create", "-f", "-"], &gadget("seen-text", "{size: many}"))?;
    let expected = "The Gadget \"seen-text\" is invalid: spec.size: Invalid value: \
                    invalid type: string \"many\", expected i32\n";
    ensure!(shown == expected, "{shown}");
    Ok(())
}

#[test]
fn kubectl_shows_warnings_and_defaults() -> Result<()> {
    let shown = kubectl(&["create", "-f", "-"], &gadget("seen-slow", "{size: 101}"))?;
    let expected = "gadget.test.example.com/seen-slow created\n\
                    Warning: spec.size: more than 100 is slow\n";
    ensure!(shown == expected, "{shown}");
    let shown = kubectl(
        &["get", "gadget", "seen-slow", "-o", "jsonpath={.spec}"],
        "",
    )?;
    ensure!(
        shown == r#"{"mode":"fast","parts":[],"size":101}"#,
        "{shown}"
    );
    let dry = ["create", "--dry-run=server", "-f", "-"];
    let shown = kubectl(&dry, &gadget("seen-dry", "{}"))?;
    let expected = "gadget.test.example.com/seen-dry created (server dry run)\n\
                    Warning: nothing will be stored\n";
    ensure!(shown == expected, "{shown}");
    Ok(())
}

#[test]
fn kubectl_shows_the_reason_of_a_denial() -> Result<()> {
    let kept = "{apiVersion: test.example.com/v1, kind: Gadget, spec: {}, \
                metadata: {name: seen-kept, annotations: {keep: 'yes'}}}";
    kubectl(&["create", "-f", "-"], kept)?;
    let shown = kubectl(&["delete", "gadget", "seen-kept"], "")?;
    let expected = "Error from server (Forbidden): admission webhook \
                    \"validate.gadget.v1.test.example.com\" denied the request: \
                    admin may not delete it, it is to be kept\n";
    ensure!(shown == expected, "{shown}");
    Ok(())
}
