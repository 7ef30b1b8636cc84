//! Who may write what, by the audit log alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::leadership::audit::between;

/// The judgement of a history.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Writes of objects.
    pub writes: usize,
    /// Writes by a replica that did not own the slot of the object.
    pub foreign: Vec<String>,
    /// How often a slot got another owner.
    pub moves: usize,
    /// The longest time between two writes of one object, without the times in which no API server answered.
    pub longest_rest: Duration,
    /// When that was, and which object.
    pub rested: Option<(String, Timestamp)>,
}

/// The hash of the API server for shards: FNV-1a with 64 bits.
fn slot(uid: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in uid.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash >> 58
}

struct Event {
    version: u64,
    user: String,
    received: Timestamp,
    answered: Timestamp,
    resource: String,
    object: Value,
}

fn events(log: &Path, namespace: &str) -> Result<Vec<Event>> {
    let text = fs::read_to_string(log)?;
    let mut events = Vec::new();
    for line in text.lines() {
        // An incomplete line, or the last one of a killed API server.
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let code = event["responseStatus"]["code"].as_u64();
        let deletes = event["verb"] == "delete";
        if event["objectRef"]["namespace"] != namespace
            || deletes
            || code.is_none_or(|code| code >= 300)
        {
            continue;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned).context("no text");
        let object = event["responseObject"].clone();
        let user = text(&event["user"]["username"])?;
        events.push(Event {
            version: text(&object["metadata"]["resourceVersion"])?.parse()?,
            user: user.rsplit(':').next().unwrap_or_default().to_owned(),
            received: text(&event["requestReceivedTimestamp"])?.parse()?,
            answered: text(&event["stageTimestamp"])?.parse()?,
            resource: text(&event["objectRef"]["resource"])?,
            object,
        });
    }
    events.sort_by_key(|event| event.version);
    Ok(events)
}

/// The users that own the slots in an assignment, and their epochs.
fn owners(text: &str) -> Result<BTreeMap<u64, (String, u64)>> {
    let mut owners = BTreeMap::new();
    for line in text.lines() {
        let (who, slots) = line.split_once(": ").context("no owner")?;
        let identity = who.split(' ').next().unwrap_or_default();
        let user = identity.split('_').next().unwrap_or_default();
        for part in slots.split(' ') {
            let (slots, epoch) = part.split_once('@').context("no epoch")?;
            for range in slots.split(',') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                for slot in first.parse()?..=last.parse()? {
                    let owner = (user.to_owned(), epoch.parse()?);
                    if owners.insert(slot, owner).is_some() {
                        bail!("slot {slot} twice: {text}");
                    }
                }
            }
        }
    }
    Ok(owners)
}

/// Judges the writes in a namespace; `outages` are the times in which no API server answered.
pub fn judge(log: &Path, namespace: &str, outages: &[(Timestamp, Timestamp)]) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let mut current: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let mut written: BTreeMap<String, Timestamp> = BTreeMap::new();
    for event in events(log, namespace)? {
        match event.resource.as_str() {
            "configmaps" => {
                let text = event.object["data"]["owners"].as_str().unwrap_or_default();
                let new = owners(text)?;
                for (slot, (user, epoch)) in &new {
                    let old = current.get(slot);
                    verdict.moves += usize::from(old.is_some_and(|(old, _)| old != user));
                    let falls = old.is_some_and(|(_, old)| old > epoch);
                    // A new object begins anew.
                    if falls && event.object["data"]["number"] != "1" {
                        bail!("the epoch of slot {slot} falls: {text}");
                    }
                }
                current = new;
            }
            "widgets" => {
                let name = event.object["metadata"]["name"]
                    .as_str()
                    .unwrap_or_default();
                let uid = event.object["metadata"]["uid"].as_str().unwrap_or_default();
                let owner = current.get(&slot(uid)).map(|(user, _)| user.as_str());
                if owner != Some(event.user.as_str()) {
                    let (user, at) = (&event.user, event.received);
                    verdict
                        .foreign
                        .push(format!("{user} wrote {name} of {owner:?} at {at}"));
                }
                verdict.writes += 1;
                if let Some(last) = written.insert(name.to_owned(), event.answered) {
                    let lost: Duration = outages
                        .iter()
                        .map(|out| common(*out, last, event.received))
                        .sum();
                    let rest = between(last, event.received).saturating_sub(lost);
                    if rest > verdict.longest_rest {
                        verdict.longest_rest = rest;
                        verdict.rested = Some((name.to_owned(), last));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(verdict)
}

/// The part of an outage between two times.
fn common((from, to): (Timestamp, Timestamp), begin: Timestamp, end: Timestamp) -> Duration {
    between(from.max(begin), to.min(end))
}

/// The users that own a slot at the end.
pub fn last_owners(log: &Path, namespace: &str) -> Result<BTreeSet<String>> {
    let events = events(log, namespace)?;
    let last = events
        .iter()
        .rev()
        .find(|event| event.resource == "configmaps");
    let text = last.and_then(|event| event.object["data"]["owners"].as_str());
    let owners = owners(text.unwrap_or_default())?;
    Ok(owners.into_values().map(|(user, _)| user).collect())
}
