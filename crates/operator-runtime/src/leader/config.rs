//! The flags of leader election, with component-base's names and defaults.

use std::{env, fs, num::NonZeroU8, str::FromStr, time::Duration};

use crate::{
    client::NAMESPACE_FILE,
    crypto::provider,
    duration::duration,
    error::{ElectionError, JITTER},
    slots::SLOTS,
};

/// Flags of leader election.
#[derive(Clone, Debug, clap::Args)]
pub struct LeaderElectionFlags {
    /// Run one active replica, the holder of a Lease; the others wait, or share objects with --shards
    #[arg(
        long,
        value_name = "BOOL",
        default_value = "false",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub leader_elect: bool,

    /// How long the other replicas wait before they take over a lease that was not renewed
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration)]
    pub leader_elect_lease_duration: Duration,

    /// How long a leader that cannot renew its lease keeps leading; less than the lease duration
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub leader_elect_renew_deadline: Duration,

    /// Interval at which the leader renews its lease, and the others check it
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration)]
    pub leader_elect_retry_period: Duration,

    /// Namespace of the lease [default: the pod's]
    #[arg(long, value_name = "NAMESPACE")]
    pub leader_elect_resource_namespace: Option<String>,

    /// Name of the lease [default: that of the manager]
    #[arg(long, value_name = "NAME")]
    pub leader_elect_resource_name: Option<String>,

    /// Share the objects of sharded controllers among all replicas (auto), or among at most this many; the
    /// others wait. Needs --leader-elect [default: the leader reconciles them all]
    #[arg(long, value_name = "auto|NUMBER")]
    pub shards: Option<ShardLimit>,
}

/// How many replicas share the objects of sharded controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardLimit {
    /// All that there are.
    Auto,
    /// At most this many.
    AtMost(NonZeroU8),
}

impl FromStr for ShardLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let number = text.parse().ok();
        let number = number.filter(|number: &NonZeroU8| number.get() <= SLOTS);
        number.map(Self::AtMost).ok_or_else(|| {
            format!("expected `auto`, or a number from 1 to {SLOTS}, as many as there are shares")
        })
    }
}

impl ShardLimit {
    pub(crate) fn most(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::AtMost(replicas) => Some(replicas.get().into()),
        }
    }
}

/// The durations of an election.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) lease: Duration,
    pub(crate) renew: Duration,
    pub(crate) retry: Duration,
    /// The retry period of a candidate, with a jitter that differs between replicas.
    pub(crate) poll: Duration,
}

impl Timing {
    /// The timeout of one call, which leaves a leader a second try before its deadline.
    pub(crate) fn call(&self) -> Duration {
        Duration::from_secs(1).max(self.renew / 2)
    }

    /// The time that a request sent before the deadline may spend in flight before another replica can
    /// lead.
    pub(crate) fn margin(&self) -> Duration {
        self.lease - self.renew
    }
}

/// A candidate in the election.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The name of the Lease.
    pub(crate) lease: String,
    pub(crate) namespace: String,
    /// Unique among all processes that ever take part.
    pub(crate) identity: String,
    pub(crate) timing: Timing,
    pub(crate) shards: Option<ShardLimit>,
}

impl LeaderElectionFlags {
    /// This process' candidate for the Lease of the manager `name`, unless the flags name another one; `None` without election.
    pub(crate) fn candidate(&self, name: &str) -> Result<Option<Candidate>, ElectionError> {
        if !self.leader_elect {
            return match self.shards {
                Some(_) => Err(ElectionError::Shards),
                None => Ok(None),
            };
        }
        let lease = self.leader_elect_resource_name.as_deref().unwrap_or(name);
        let random = random()?;
        let timing = self.timing((random >> 96) as f64 / f64::from(u32::MAX))?;
        let pod = ["POD_NAME", "HOSTNAME"].map(|name| env::var(name).ok());
        let pod = pod.into_iter().flatten().find(|name| !name.is_empty());
        Ok(Some(Candidate {
            lease: lease.to_owned(),
            namespace: self.namespace(NAMESPACE_FILE)?,
            identity: self.identity(pod.as_deref().unwrap_or(lease), random)?,
            timing,
            shards: self.shards,
        }))
    }

    /// The identity of this process in the pod of this name.
    fn identity(&self, pod: &str, random: u128) -> Result<String, ElectionError> {
        match self.shards {
            Some(_) if !names_a_member(pod) => Err(ElectionError::Member(pod.to_owned())),
            _ => Ok(identity(pod, random)),
        }
    }

    /// `fraction` is this process' share of the jitter, from 0 to 1.
    fn timing(&self, fraction: f64) -> Result<Timing, ElectionError> {
        let lease = self.leader_elect_lease_duration;
        let renew = self.leader_elect_renew_deadline;
        let retry = self.leader_elect_retry_period;
        if lease <= renew {
            return Err(ElectionError::Lease(lease, renew));
        }
        if renew <= retry.mul_f64(JITTER) {
            return Err(ElectionError::Renew(renew, retry));
        }
        Ok(Timing {
            lease,
            renew,
            retry,
            poll: retry.mul_f64(1.0 + JITTER * fraction),
        })
    }

    fn namespace(&self, file: &str) -> Result<String, ElectionError> {
        let flag = self.leader_elect_resource_namespace.clone();
        let pod = || fs::read_to_string(file).ok();
        flag.or_else(pod)
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .ok_or(ElectionError::Namespace)
    }
}

/// Whether a text can be the identity of a replica that shares objects: no other character stands in their assignment.
pub(crate) fn names_a_member(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.chars().all(fits)
}

fn random() -> Result<u128, ElectionError> {
    let mut bytes = [0; 16];
    let filled = provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| ElectionError::Random)?;
    Ok(u128::from_be_bytes(bytes))
}

/// `pod` and a random UUID (version 4), so that a restarted container is a new candidate.
fn identity(pod: &str, random: u128) -> String {
    let uuid = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{uuid:032x}");
    let (a, b, c, d, e) = (
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    );
    format!("{pod}_{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Args {
        #[command(flatten)]
        election: LeaderElectionFlags,
    }

    fn parse(flags: &str) -> LeaderElectionFlags {
        let flags = ["operator"].into_iter().chain(flags.split_whitespace());
        Args::try_parse_from(flags).unwrap().election
    }

    #[test]
    fn defaults_are_client_gos() {
        let flags = parse("");
        assert!(!flags.leader_elect);
        assert!(flags.candidate("lease").unwrap().is_none());
        let timing = flags.timing(1.0).unwrap();
        let expected = [15_000, 10_000, 2_000, 4_400].map(Duration::from_millis);
        let Timing {
            lease,
            renew,
            retry,
            poll,
        } = timing;
        assert_eq!([lease, renew, retry, poll], expected);
        assert_eq!(timing.call(), Duration::from_secs(5));
        assert!(parse("--leader-elect").leader_elect);
        assert!(!parse("--leader-elect=false").leader_elect);
    }

    #[test]
    fn shards_need_an_election() {
        let limit = |flags| parse(flags).shards.unwrap().most();
        assert_eq!(limit("--leader-elect --shards auto"), None);
        assert_eq!(limit("--leader-elect --shards=3"), Some(3));
        let error = parse("--shards auto").candidate("lease").unwrap_err();
        assert!(error.to_string().contains("--leader-elect"), "{error}");
        assert_eq!(limit("--leader-elect --shards=64"), Some(64));
        for text in ["", "0", "-1", "65", "256", "all"] {
            let error = text.parse::<ShardLimit>().unwrap_err();
            assert!(error.contains("from 1 to 64"), "{text}: {error}");
        }
    }

    #[test]
    fn flags_that_contradict_each_other() {
        let cases = [
            ("15s", "10s", "2s", ""),
            ("1m30s", "1m", "500ms", ""),
            (
                "10s",
                "10s",
                "2s",
                "--leader-elect-lease-duration (10s) must be longer than",
            ),
            (
                "5s",
                "10s",
                "2s",
                "--leader-elect-lease-duration (5s) must be longer than",
            ),
            (
                "15s",
                "12s",
                "10s",
                "--leader-elect-renew-deadline (12s) must be longer than 1.2",
            ),
        ];
        for (lease, renew, retry, expected) in cases {
            let flags = parse(&format!(
                "--leader-elect-lease-duration={lease} --leader-elect-renew-deadline={renew} \
                 --leader-elect-retry-period={retry}"
            ));
            let error = flags.timing(0.0).err().map(|error| error.to_string());
            let error = error.unwrap_or_default();
            assert!(
                error.starts_with(expected),
                "{lease} {renew} {retry}: {error}"
            );
            assert_eq!(error.is_empty(), expected.is_empty(), "{error}");
        }
        for text in ["", "15", "-1s", "soon"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn namespaces() {
        let file = env::temp_dir().join(format!("namespace-{}", std::process::id()));
        fs::write(&file, "from-pod\n").unwrap();
        let file = file.to_str().unwrap();
        let flag = parse("--leader-elect-resource-namespace=from-flag");
        assert_eq!(flag.namespace(file).unwrap(), "from-flag");
        assert_eq!(parse("").namespace(file).unwrap(), "from-pod");
        fs::remove_file(file).unwrap();
        let error = parse("").namespace(file).unwrap_err().to_string();
        assert!(
            error.contains("--leader-elect-resource-namespace"),
            "{error}"
        );
    }

    #[test]
    fn identities() {
        let expected = "pod-0_ffffffff-ffff-4fff-bfff-ffffffffffff";
        assert_eq!(identity("pod-0", u128::MAX), expected);
        let expected = "pod-0_00000000-0000-4000-8000-000000000000";
        assert_eq!(identity("pod-0", 0), expected);
        assert_ne!(random().unwrap(), random().unwrap());
        let own = |flags, pod| parse(flags).identity(pod, 0);
        assert!(own("--leader-elect", "my host").is_ok());
        for pod in ["my host", "a:b", ""] {
            let error = own("--leader-elect --shards auto", pod)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("`{pod}`: set the environment variable POD_NAME")),
                "{error}"
            );
        }
    }
}
