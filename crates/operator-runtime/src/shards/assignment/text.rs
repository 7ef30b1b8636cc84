//! The `data` of the ConfigMap, for programs and for people.
//!
//! ```yaml
//! check: 5c1d2a90b4e7f638
//! number: "8"
//! object: 9b2f64b0-1f0a-4c44-9f52-6a2f8f0f2f4e
//! owners: |
//!   pod-a_8f…: 0-15@3 40@7
//!   pod-b_77…: 16-31@2
//!   pod-a_8f… -> pod-b_77…, filling since 7: 5-7@3
//!   pod-a_8f… -> pod-c_02…, moving since 8: 9@4
//! slots: "64"
//! ```
//!
//! An object is unreadable unless it is exactly what a member wrote to that very object. A text that somebody
//! edited, and a copy that a backup brought back, could name owners to whom nobody passed their slots. The
//! leader deletes such an object, by its UID and its resource version, and makes a new one. That is safe: in a
//! new object all slots are free, and none gets an owner before every member has seen that object and has
//! stopped what it did under the old one. Until then, each member goes on with the last text that it could read.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use super::{Assignment, Phase, Share, Slots};
use crate::slots::{SLOTS, fnv};

const CHECK: &str = "check";
const NUMBER: &str = "number";
const OBJECT: &str = "object";
const OWNERS: &str = "owners";
const COUNT: &str = "slots";
const FREE: &str = "(free)";

/// Why nobody can act on an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("`data.{0}` is missing")]
    Missing(&'static str),
    #[error("`data.{key}` is `{text}`, which is no number that can be there")]
    Number { key: &'static str, text: String },
    #[error("`data.owners` has the line `{0}`, which is not written as `OWNER: SLOTS@EPOCH`")]
    Line(String),
    #[error("`data.owners` does not have each slot once: see slot {0}")]
    Slot(u8),
    #[error("it was written to another object, whose UID was `{0}`")]
    Copied(String),
    #[error("somebody changed it by hand")]
    Changed,
}

impl Assignment {
    /// The `data` of the object with the UID `object`; `None` for the object that is to be made.
    pub(crate) fn write(&self, object: Option<&str>) -> BTreeMap<String, String> {
        let mut data = BTreeMap::from([
            (NUMBER.to_owned(), self.number.to_string()),
            (OWNERS.to_owned(), self.owners()),
            (COUNT.to_owned(), self.shares.len().to_string()),
        ]);
        data.extend(object.map(|uid| (OBJECT.to_owned(), uid.to_owned())));
        let whole: String = data
            .iter()
            .map(|(key, text)| format!("{key}={text}\n"))
            .collect();
        data.insert(CHECK.to_owned(), format!("{:016x}", fnv(&whole)));
        data
    }

    /// Reads the `data` of the object with the UID `object`.
    pub(crate) fn read(object: &str, data: &BTreeMap<String, String>) -> Result<Self, Unreadable> {
        let get = |key| data.get(key).ok_or(Unreadable::Missing(key));
        let number = parse(NUMBER, get(NUMBER)?, 1..=u64::MAX)?;
        let count = parse(COUNT, get(COUNT)?, 1..=SLOTS.into())?;
        let mut shares = vec![None; count as usize];
        for line in get(OWNERS)?.lines() {
            for (slots, share) in shares_of(line)? {
                for slot in slots.iter() {
                    let place = shares.get_mut(usize::from(slot.number()));
                    match place {
                        Some(place @ None) => *place = Some(share.clone()),
                        _ => return Err(Unreadable::Slot(slot.number())),
                    }
                }
            }
        }
        let missing = shares.iter().position(Option::is_none);
        if let Some(missing) = missing {
            return Err(Unreadable::Slot(missing as u8));
        }
        let shares = shares.into_iter().flatten().collect();
        let assignment = Self { number, shares };
        let written_to = data.get(OBJECT).map(String::as_str);
        if let Some(other) = written_to.filter(|uid| *uid != object) {
            return Err(Unreadable::Copied(other.to_owned()));
        }
        // Who makes an object does not know its UID yet.
        let new = Self::new(count as u8) == assignment;
        if written_to.is_none() && !new {
            return Err(Unreadable::Missing(OBJECT));
        }
        // One assignment has one text. Keys that somebody added do not matter.
        let mut written = assignment.write(written_to).into_iter();
        if written.any(|(key, text)| data.get(&key) != Some(&text)) {
            return Err(Unreadable::Changed);
        }
        Ok(assignment)
    }

    /// One line a phase, in the order of [`Phase`], with its slots by epoch.
    fn owners(&self) -> String {
        let mut lines: BTreeMap<&Phase, BTreeMap<u64, Slots>> = BTreeMap::new();
        for (slot, Share { epoch, phase }) in self.shares() {
            let line = lines.entry(phase).or_default();
            line.entry(*epoch).or_default().insert(slot);
        }
        let line = |(phase, slots): (&Phase, BTreeMap<u64, Slots>)| {
            let slots = slots
                .iter()
                .map(|(epoch, slots)| format!(" {slots}@{epoch}"));
            format!("{phase}:{}\n", slots.collect::<String>())
        };
        lines.into_iter().map(line).collect()
    }
}

fn parse(
    key: &'static str,
    text: &str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<u64, Unreadable> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    let text = || text.to_owned();
    number.ok_or_else(|| Unreadable::Number { key, text: text() })
}

fn shares_of(line: &str) -> Result<Vec<(Slots, Share)>, Unreadable> {
    let error = || Unreadable::Line(line.to_owned());
    let (phase, slots) = line.split_once(": ").ok_or_else(error)?;
    let phase: Phase = phase.parse().map_err(|()| error())?;
    let share = |text: &str| {
        let (slots, epoch) = text.split_once('@')?;
        let share = Share {
            epoch: epoch.parse().ok()?,
            phase: phase.clone(),
        };
        Some((slots.parse().ok()?, share))
    };
    let shares: Option<_> = slots.split(' ').map(share).collect();
    shares.ok_or_else(error)
}

impl Display for Phase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { owner } => write!(f, "{owner}"),
            Self::Filling { owner, to, since } => {
                write!(f, "{owner} -> {to}, filling since {since}")
            }
            Self::Moving { owner, to, since } => write!(f, "{owner} -> {to}, moving since {since}"),
            Self::Free => f.write_str(FREE),
        }
    }
}

impl FromStr for Phase {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == FREE {
            return Ok(Self::Free);
        }
        let identity = |text: &str| text.parse().map_err(|_| ());
        let Some((owner, rest)) = text.split_once(" -> ") else {
            let owner = identity(text)?;
            return Ok(Self::Held { owner });
        };
        let (to, rest) = rest.split_once(", ").ok_or(())?;
        let (kind, since) = rest.split_once(" since ").ok_or(())?;
        let (owner, to) = (identity(owner)?, identity(to)?);
        let since = since.parse().map_err(|_| ())?;
        match kind {
            "filling" => Ok(Self::Filling { owner, to, since }),
            "moving" => Ok(Self::Moving { owner, to, since }),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::identity::Identity;

    fn held(owner: &str) -> Phase {
        let owner = owner.parse().unwrap();
        Phase::Held { owner }
    }

    fn sample() -> Assignment {
        let name = |text: &str| text.parse::<Identity>().unwrap();
        let mut shares = vec![
            Share {
                epoch: 3,
                phase: held("pod-b_2")
            };
            64
        ];
        shares[40] = Share {
            epoch: 7,
            phase: held("pod-b_2"),
        };
        shares[..16].fill(Share {
            epoch: 2,
            phase: held("pod-a_1"),
        });
        shares[5] = Share {
            epoch: 4,
            phase: Phase::Filling {
                owner: name("pod-a_1"),
                to: name("pod-b_2"),
                since: 7,
            },
        };
        shares[9] = Share {
            epoch: 2,
            phase: Phase::Moving {
                owner: name("pod-a_1"),
                to: name("free"),
                since: 8,
            },
        };
        shares[63] = Share {
            epoch: 0,
            phase: Phase::Free,
        };
        Assignment { number: 8, shares }
    }

    #[test]
    fn an_assignment_is_readable_and_comes_back() {
        let data = sample().write(Some("uid"));
        assert_eq!(
            data["owners"],
            "pod-a_1: 0-4,6-8,10-15@2\n\
             pod-b_2: 16-39,41-62@3 40@7\n\
             pod-a_1 -> pod-b_2, filling since 7: 5@4\n\
             pod-a_1 -> free, moving since 8: 9@2\n\
             (free): 63@0\n"
        );
        assert_eq!((&*data["number"], &*data["slots"]), ("8", "64"));
        assert_eq!(Assignment::read("uid", &data), Ok(sample()));
        let new = Assignment::new(64);
        let data = new.write(None);
        assert_eq!(data["owners"], "(free): 0-63@0\n");
        assert_eq!(Assignment::read("any", &data), Ok(new.clone()));
        // The first write after the creation.
        let next = new.next(sample().shares);
        assert_eq!(Assignment::read("uid", &next.write(Some("uid"))), Ok(next));
        // Somebody's own key.
        let mut more = sample().write(Some("uid"));
        more.insert("note".to_owned(), "mine".to_owned());
        assert_eq!(Assignment::read("uid", &more), Ok(sample()));
    }

    #[test]
    fn a_text_that_nobody_wrote_to_this_object_is_refused() {
        let changed = |key: &str, from: &str, to: &str| {
            let mut data = sample().write(Some("uid"));
            let text = data.get_mut(key).unwrap();
            assert!(text.contains(from), "{text}");
            *text = text.replace(from, to);
            Assignment::read("uid", &data).unwrap_err().to_string()
        };
        let cases = [
            ("number", "8", "-1", "`data.number` is `-1`, which"),
            ("number", "8", "0", "`data.number` is `0`, which"),
            ("number", "8", "7", "somebody changed it"),
            ("number", "8", "08", "somebody changed it"),
            ("slots", "64", "65", "`data.slots` is `65`, which"),
            (
                "slots",
                "64",
                "63",
                "`data.owners` does not have each slot once: see slot 63",
            ),
            (
                "owners",
                "63@0",
                "62@0",
                "`data.owners` does not have each slot once: see slot 62",
            ),
            (
                "owners",
                "(free): 63@0\n",
                "",
                "`data.owners` does not have each slot once: see slot 63",
            ),
            (
                "owners",
                "63@0",
                "63",
                "`data.owners` has the line `(free): 63`, which",
            ),
            (
                "owners",
                "5@4",
                "5@x",
                "`data.owners` has the line `pod-a_1 -> pod-b_2, filling",
            ),
            (
                "owners",
                "filling",
                "failing",
                "`data.owners` has the line `pod-a_1 -> pod-b_2, fail",
            ),
            ("owners", "pod-b_2:", "pod-c_3:", "somebody changed it"),
            ("owners", "@7", "@8", "somebody changed it"),
            ("owners", "\n", "\r\n", "somebody changed it"),
            (
                "object",
                "uid",
                "old",
                "it was written to another object, whose UID was `old`",
            ),
        ];
        for (key, from, to, expected) in cases {
            let error = changed(key, from, to);
            assert!(error.starts_with(expected), "{key} {to}: {error}");
        }
        for key in ["number", "slots", "owners", "object"] {
            let mut data = sample().write(Some("uid"));
            data.remove(key);
            let error = Assignment::read("uid", &data).unwrap_err().to_string();
            assert_eq!(error, format!("`data.{key}` is missing"));
        }
        let mut data = sample().write(Some("uid"));
        data.remove("check");
        assert_eq!(Assignment::read("uid", &data), Err(Unreadable::Changed));
        // A backup that was restored has the owners of another object.
        let data = sample().write(Some("uid"));
        let copied = Unreadable::Copied("uid".to_owned());
        assert_eq!(Assignment::read("new", &data), Err(copied));
    }
}
