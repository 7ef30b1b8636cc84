//! The requests of operators in the audit log, with the API server's responses.

use std::{collections::BTreeSet, fs};

use anyhow::Result;
use serde_json::Value;

use super::site::Site;

/// Logs user, request and response status, without bodies.
pub const POLICY: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ['system:serviceaccounts']
  - level: None
";

/// `verb resource status` of each request by the operators of a site.
pub fn requests(site: &Site) -> Result<Vec<String>> {
    let account = site.name("controller-manager");
    let user = format!("system:serviceaccount:{}:{account}", site.namespace);
    let mut requests = Vec::new();
    for line in fs::read_to_string(site.cluster.control_plane().audit_log())?.lines() {
        let event: Value = serde_json::from_str(line)?;
        if event["user"]["username"] != user.as_str() {
            continue;
        }
        let (verb, resource) = (&event["verb"], &event["objectRef"]["resource"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let status = &event["responseStatus"]["code"];
        requests.push(format!("{} {} {status}", text(verb), text(resource)));
    }
    Ok(requests)
}

/// The allowed requests, without the status.
pub fn allowed(site: &Site) -> Result<BTreeSet<String>> {
    let requests = requests(site)?;
    let allowed = requests.iter().filter_map(|request| {
        let (request, status) = request.rsplit_once(' ')?;
        (status != "403").then(|| request.to_owned())
    });
    Ok(allowed.collect())
}
