//! The accepted writes of the API server, in order.

use std::{fs, io::Write, path::Path, time::Duration};

use anyhow::{Context, Result};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

/// Logs every write of the replicas' ServiceAccounts.
pub const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
  - level: RequestResponse
    userGroups: ["system:serviceaccounts"]
    verbs: [create, update, patch, delete]
    resources:
      - group: coordination.k8s.io
      - group: test.example.com
      - group: ""
        resources: [configmaps]
  - level: None
"#;

/// One accepted write.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its revision in etcd: the order of all writes.
    version: u64,
    /// The name of the ServiceAccount.
    pub user: String,
    /// For a write of the Lease: the new holder; empty if there is none.
    pub lease: Option<String>,
    pub received: Timestamp,
    pub answered: Timestamp,
}

/// The writes in a namespace, in order.
pub fn changes(log: &Path, namespace: &str) -> Result<Vec<Change>> {
    let text = fs::read_to_string(log)?;
    let mut changes = Vec::new();
    for line in text.lines() {
        // An incomplete line, or the last one of a killed API server.
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let code = event["responseStatus"]["code"].as_u64();
        let here = event["objectRef"]["namespace"] == namespace;
        if here && code.is_some_and(|code| code < 300) {
            changes.push(change(&event).with_context(|| line.to_owned())?);
        }
    }
    changes.sort_by_key(|change| change.version);
    Ok(changes)
}

/// Ends the last line of a killed API server.
pub fn end_line(log: &Path) -> Result<()> {
    let mut log = fs::File::options().append(true).open(log)?;
    Ok(log.write_all(b"\n")?)
}

fn change(event: &Value) -> Result<Change> {
    let text = |value: &Value| value.as_str().map(str::to_owned).context("no text");
    let object = &event["responseObject"];
    let holder = || {
        let holder = object["spec"]["holderIdentity"].as_str();
        holder.unwrap_or_default().to_owned()
    };
    let user = text(&event["user"]["username"])?;
    Ok(Change {
        version: text(&object["metadata"]["resourceVersion"])?.parse()?,
        user: user.rsplit(':').next().unwrap_or_default().to_owned(),
        lease: (event["objectRef"]["resource"] == "leases").then(holder),
        received: text(&event["requestReceivedTimestamp"])?.parse()?,
        answered: text(&event["stageTimestamp"])?.parse()?,
    })
}

/// The summary of the writes.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Writes of objects.
    pub writes: usize,
    /// The number of times that a replica acquired the Lease.
    pub elections: usize,
    /// Writes by a replica that did not hold the Lease.
    pub foreign: Vec<String>,
    /// The longest time between a renewal and a following write, both as received.
    pub latest: Duration,
}

pub fn judge(changes: &[Change]) -> Verdict {
    let mut verdict = Verdict::default();
    let mut leader: Option<&Change> = None;
    for change in changes {
        let held = leader.and_then(|leader| leader.lease.as_deref());
        if change.lease.is_some() {
            let taken = change.lease.as_deref() != Some("") && change.lease.as_deref() != held;
            verdict.elections += usize::from(taken);
            leader = Some(change);
            continue;
        }
        verdict.writes += 1;
        match leader {
            Some(leader) if held != Some("") && leader.user == change.user => {
                let since = between(leader.received, change.received);
                verdict.latest = verdict.latest.max(since);
            }
            _ => verdict.foreign.push(format!("{change:?} after {leader:?}")),
        }
    }
    verdict
}

/// The time of the first write by a replica other than the holder of the Lease at this time.
pub fn first_write_of_next(changes: &[Change], since: Timestamp) -> Option<Timestamp> {
    let before = |change: &&Change| change.lease.is_some() && change.answered < since;
    let old = changes.iter().rev().find(before)?;
    let mut leader = old.lease.clone();
    for change in changes.iter().filter(|change| change.version > old.version) {
        if let Some(holder) = &change.lease {
            leader = Some(holder.clone());
        } else if leader != old.lease && leader.as_deref() != Some("") {
            return Some(change.answered);
        }
    }
    None
}

/// The time of the first write that was received after this time.
pub fn first_write(changes: &[Change], since: Timestamp) -> Option<Timestamp> {
    let is_next = |change: &&Change| change.lease.is_none() && change.received > since;
    changes.iter().find(is_next).map(|change| change.answered)
}

/// The time in which a replica held the Lease.
#[derive(Debug)]
pub struct Term {
    replica: String,
    from: Timestamp,
    to: Option<Timestamp>,
}

pub fn terms(changes: &[Change]) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for change in changes {
        let Some(holder) = &change.lease else {
            continue;
        };
        let replica = holder.split('_').next().unwrap_or_default();
        let last = terms.last_mut().filter(|term| term.to.is_none());
        if last.as_ref().is_some_and(|term| term.replica == replica) {
            continue;
        }
        if let Some(term) = last {
            term.to = Some(change.answered);
        }
        if !replica.is_empty() {
            terms.push(Term {
                replica: replica.to_owned(),
                from: change.received,
                to: None,
            });
        }
    }
    terms
}

impl Term {
    /// Whether this replica held the Lease at some time between these two.
    pub fn includes(&self, replica: &str, from: Timestamp, to: Timestamp) -> bool {
        self.replica == replica && self.from <= to && self.to.is_none_or(|end| end >= from)
    }
}

pub fn between(from: Timestamp, to: Timestamp) -> Duration {
    // Zero if it is the other way round.
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}
