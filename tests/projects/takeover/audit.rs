//! The accepted writes, as the API server has logged them: who led from when to when, and who wrote what.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

/// The Lease that both operators hold, the one after the other.
pub const LEASE: &str = "7c1d5e3a.example.com";

/// Whose token has which ID.
pub type Tokens = BTreeMap<String, Who>;

/// Logs every write of the operators, and those of others to the same types.
pub const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
  - level: RequestResponse
    userGroups: ["system:serviceaccounts:oncall-system"]
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
    resources:
      - group: ""
        resources: [configmaps]
      - group: apps
        resources: [deployments, deployments/status]
      - group: oncall.example.com
  - level: None
"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Go,
    Port,
    /// The users, and Kubernetes itself.
    Other,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Go => "go",
            Self::Port => "port",
            Self::Other => "other",
        })
    }
}

/// An accepted write. The times have one format, so that their order is that of their texts.
#[derive(Debug)]
struct Write {
    who: Who,
    /// `configmaps default/sre-turns`.
    object: String,
    received: String,
    answered: String,
}

/// An accepted write of the Lease.
#[derive(Debug)]
struct Hold {
    write: Write,
    /// Its revision in etcd: the order of all of them.
    version: u64,
    /// Nobody's, if it is empty.
    holder: String,
}

/// The time in which one process held the Lease.
#[derive(Debug)]
struct Term {
    who: Who,
    holder: String,
    from: String,
    /// When it was over, and whether the holder itself has said so.
    end: Option<(String, bool)>,
}

/// The audit log.
pub struct Log {
    writes: Vec<Write>,
    terms: Vec<Term>,
}

impl Log {
    pub fn read(text: &str, tokens: &Tokens) -> Self {
        let (mut writes, mut holds) = (Vec::new(), Vec::new());
        // The last line may be incomplete.
        let events = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for event in events {
            let code = event["responseStatus"]["code"].as_u64();
            if code.is_none_or(|code| code >= 300) {
                continue;
            }
            let resource = text_of(&event["objectRef"]["resource"]);
            match (resource, &event["responseObject"]) {
                // What an operator asks and tells, and no state of anything.
                ("events" | "tokenreviews" | "subjectaccessreviews", _) => {}
                ("leases", lease) => {
                    assert_eq!(lease["metadata"]["name"], LEASE, "there is one Lease");
                    holds.push(Hold {
                        write: Write::of(&event, tokens),
                        version: text_of(&lease["metadata"]["resourceVersion"])
                            .parse()
                            .unwrap(),
                        holder: text_of(&lease["spec"]["holderIdentity"]).to_owned(),
                    });
                }
                _ => writes.push(Write::of(&event, tokens)),
            }
        }
        holds.sort_by_key(|hold| hold.version);
        Self {
            writes,
            terms: terms(&holds),
        }
    }

    /// Who holds the Lease.
    pub fn leader(&self) -> Option<Who> {
        let last = self.terms.last()?;
        last.end.is_none().then_some(last.who)
    }

    /// The number of writes so far.
    pub fn written(&self) -> usize {
        self.writes.len()
    }

    /// The number of writes of an operator so far.
    pub fn written_by(&self, who: Who) -> usize {
        self.writes.iter().filter(|write| write.who == who).count()
    }

    /// The objects that the leader has written in its term.
    pub fn changed_in_term(&self) -> BTreeSet<&str> {
        let term = self.terms.last().expect("somebody leads");
        let of_term = self.writes.iter().filter(|write| term.has(write));
        of_term.map(|write| write.object.as_str()).collect()
    }

    /// Asserts that these operators led one after the other, each process once, and that no operator wrote anything outside of its
    /// terms.
    pub fn assert_one_leader_at_a_time(&self, expected: &[Who]) {
        let leaders: Vec<_> = self.terms.iter().map(|term| term.who).collect();
        assert_eq!(leaders, expected);
        let holders: BTreeSet<_> = self.terms.iter().map(|term| &term.holder).collect();
        assert_eq!(
            holders.len(),
            expected.len(),
            "each leads once: {holders:?}"
        );
        for pair in self.terms.windows(2) {
            let end = pair[0].end.as_ref();
            assert!(end.is_some_and(|(end, _)| *end <= pair[1].from), "{pair:?}");
        }
        for write in self.writes.iter().filter(|it| it.who != Who::Other) {
            let is_led = self.terms.iter().any(|term| term.has(write));
            assert!(
                is_led,
                "a write by an operator that does not lead: {write:?}\n{self}"
            );
        }
    }
}

/// A table: who led from when to when, and wrote how much.
impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "leader  from             to               the lease  writes"
        )?;
        for term in &self.terms {
            let (to, how) = match &term.end {
                Some((end, true)) => (time(end), "released"),
                Some((end, false)) => (time(end), "expired"),
                None => ("", "held"),
            };
            let writes = self.writes.iter().filter(|write| term.has(write)).count();
            let (who, from) = (term.who, time(&term.from));
            writeln!(f, "{who:<6}  {from:<15}  {to:<15}  {how:<9}  {writes:>6}")?;
        }
        Ok(())
    }
}

impl Write {
    fn of(event: &Value, tokens: &Tokens) -> Self {
        let id = &event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0];
        let what = &event["objectRef"];
        // The request of a create may name no object.
        let names = [&what["name"], &event["responseObject"]["metadata"]["name"]];
        let name = names.into_iter().map(text_of).find(|name| !name.is_empty());
        Self {
            who: tokens.get(text_of(id)).copied().unwrap_or(Who::Other),
            object: format!(
                "{} {}/{}",
                text_of(&what["resource"]),
                text_of(&what["namespace"]),
                name.unwrap_or_default()
            ),
            received: text_of(&event["requestReceivedTimestamp"]).to_owned(),
            answered: text_of(&event["stageTimestamp"]).to_owned(),
        }
    }
}

impl Term {
    /// Whether the leader has begun and ended this write in its term.
    fn has(&self, write: &Write) -> bool {
        let is_over = |(end, _): &(String, bool)| write.answered > *end;
        write.who == self.who
            && write.received >= self.from
            && !self.end.as_ref().is_some_and(is_over)
    }
}

fn terms(holds: &[Hold]) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for Hold { write, holder, .. } in holds {
        let open = terms.last_mut().filter(|term| term.end.is_none());
        if open.as_ref().is_some_and(|term| term.holder == *holder) {
            continue;
        }
        if let Some(term) = open {
            let is_released = holder.is_empty();
            assert!(
                !is_released || term.who == write.who,
                "released for another: {write:?}"
            );
            // From here on, the next one may write.
            term.end = Some((write.received.clone(), is_released));
        }
        if !holder.is_empty() {
            terms.push(Term {
                who: write.who,
                holder: holder.clone(),
                from: write.received.clone(),
                end: None,
            });
        }
    }
    terms
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The time of day, of `2026-11-28T09:12:24.952866Z`.
fn time(timestamp: &str) -> &str {
    let (_, time) = timestamp.split_once('T').unwrap_or_default();
    time.trim_end_matches('Z')
}
