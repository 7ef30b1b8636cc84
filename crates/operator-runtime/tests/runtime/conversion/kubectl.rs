//! The output of kubectl.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::conversion::setup::{apply, cluster, texts};

#[test]
fn an_object_exists_in_both_versions() -> Result<()> {
    let control_plane = cluster()?.control_plane();
    let old = json!({
        "apiVersion": "test.example.com/v1alpha1",
        "kind": "Widget",
        "metadata": { "name": "shown" },
        "spec": { "title": "Shown", "parts": [{ "name": "left" }, { "name": "right" }] },
    });
    ensure!(apply(control_plane, &old)? == "widget.test.example.com/shown created");

    let get = |version: &str, path: &str| {
        let path = format!("jsonpath={{.apiVersion}} {{{path}}}");
        let mut command = control_plane.kubectl();
        let resource = format!("widgets.{version}.test.example.com");
        let output = command
            .args(["get", &resource, "shown", "--output", &path])
            .output()?;
        anyhow::Ok(texts(&output).0)
    };
    ensure!(
        get("v1alpha1", ".spec")?
            == "test.example.com/v1alpha1 {\"parts\":[{\"name\":\"left\"},{\"name\":\"right\"}],\"title\":\"Shown\"}"
    );
    ensure!(get("v1", ".spec.displayName")? == "test.example.com/v1 Shown");
    ensure!(get("v1", ".spec.parts[*].name")? == "test.example.com/v1 left right");

    // A change in one version appears in the other.
    let patch = r#"{"spec":{"displayName":"Changed"}}"#;
    let arguments = [
        "patch",
        "widgets.v1.test.example.com",
        "shown",
        "--type=merge",
        "--patch",
        patch,
    ];
    let output = control_plane.kubectl().args(arguments).output()?;
    ensure!(
        texts(&output).0 == "widget.test.example.com/shown patched",
        "{output:?}"
    );
    ensure!(get("v1alpha1", ".spec.title")? == "test.example.com/v1alpha1 Changed");
    Ok(())
}
