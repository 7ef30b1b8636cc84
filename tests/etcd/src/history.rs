//! Whether a history of writes and reads of one register is linearizable.
//!
//! Each write has a value of its own, so each read names the write that it saw. For such histories the question has a
//! direct answer (Gibbons and Korach, "Testing Shared Memories", SIAM J. Comput. 26, 1997): a write and its reads are a
//! cluster, which spans from the first end of its operations to the last begin. If the first end is before the last begin,
//! the value must be there all that time: the zone is forward. Otherwise it is there at one moment at least: the zone is
//! backward. The history is linearizable if no two forward zones overlap, no backward zone is inside a forward one, and no
//! read ends before its write begins.

use std::{collections::BTreeMap, fmt};

/// A time: nanoseconds since the start of the history.
pub type Time = u64;

/// An operation that a client called, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// What the client wanted, with the value.
    pub kind: Kind,
    /// When it called.
    pub begin: Time,
    /// When it had the answer; never, if the outcome is unknown: the operation may still happen.
    pub end: Option<Time>,
}

/// Reads and writes. No two writes have the same value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A read that returned this value.
    Read(u64),
    /// A write of this value.
    Write(u64),
}

/// Why a history is not linearizable.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// A value was read that nobody wrote before.
    FromNowhere(u64),
    /// Both values had to be there at the same time: a read was stale, or an acknowledged write was lost.
    Overlap(u64, u64),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromNowhere(value) => write!(f, "{value} was read before it was written"),
            Self::Overlap(one, other) => write!(
                f,
                "{one} and {other} cannot be ordered: a read was stale, or an acknowledged write was lost"
            ),
        }
    }
}

/// The write of a value and its reads.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    value: u64,
    first_end: Time,
    last_begin: Time,
}

/// Checks a history that begins with the value `initial`.
///
/// # Errors
/// The first violation, if the history is not linearizable.
pub fn check(initial: u64, history: &[Operation]) -> Result<(), Violation> {
    let mut clusters = BTreeMap::from([(
        initial,
        Cluster {
            value: initial,
            first_end: 0,
            last_begin: 0,
        },
    )]);
    let mut written = BTreeMap::from([(initial, 0)]);
    for operation in history {
        if let Kind::Write(value) = operation.kind {
            let (begin, end) = (operation.begin, operation.end.unwrap_or(Time::MAX));
            written.insert(value, begin);
            clusters.insert(
                value,
                Cluster {
                    value,
                    first_end: end,
                    last_begin: begin,
                },
            );
        }
    }
    let mut was_read = Vec::new();
    for operation in history {
        let (Kind::Read(value), Some(end)) = (operation.kind, operation.end) else {
            continue;
        };
        match (clusters.get_mut(&value), written.get(&value)) {
            (Some(cluster), Some(begin)) if *begin <= end => {
                cluster.first_end = cluster.first_end.min(end);
                cluster.last_begin = cluster.last_begin.max(operation.begin);
                was_read.push(value);
            }
            _ => return Err(Violation::FromNowhere(value)),
        }
    }
    was_read.sort_unstable();
    // A write of unknown outcome that nobody saw may not have happened.
    let counts =
        |it: &Cluster| it.first_end < Time::MAX || was_read.binary_search(&it.value).is_ok();
    let clusters = clusters.into_values().filter(counts);
    let (mut forward, backward): (Vec<_>, Vec<_>) =
        clusters.partition(|it| it.first_end < it.last_begin);
    forward.sort_by_key(|it| it.first_end);
    for pair in forward.windows(2) {
        if pair[1].first_end < pair[0].last_begin {
            return Err(Violation::Overlap(pair[0].value, pair[1].value));
        }
    }
    for inner in backward {
        // Forward zones do not overlap, so only the last one that begins before can contain it.
        let before = forward.partition_point(|it| it.first_end < inner.last_begin);
        if let Some(outer) = before.checked_sub(1).map(|index| forward[index])
            && inner.first_end < outer.last_begin
        {
            return Err(Violation::Overlap(outer.value, inner.value));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: u64, begin: Time, end: Time) -> Operation {
        Operation {
            kind: Kind::Read(value),
            begin,
            end: Some(end),
        }
    }

    fn write(value: u64, begin: Time, end: impl Into<Option<Time>>) -> Operation {
        Operation {
            kind: Kind::Write(value),
            begin,
            end: end.into(),
        }
    }

    /// Tries every order: slow, and obviously right.
    fn by_trying(history: &[Operation]) -> bool {
        fn extend(history: &[Operation], done: u32, value: u64) -> bool {
            let open = |index: &usize| done & 1 << index == 0;
            let left: Vec<usize> = (0..history.len()).filter(open).collect();
            // An operation may come next if none that is left ended before it began.
            let first_end = left.iter().filter_map(|&index| history[index].end).min();
            if first_end.is_none() {
                return true;
            }
            left.iter().any(|&index| {
                let next = history[index];
                let may = first_end.is_none_or(|end| next.begin <= end);
                let after = match next.kind {
                    Kind::Read(read) => (read == value).then_some(value),
                    Kind::Write(written) => Some(written),
                };
                may && after.is_some_and(|value| extend(history, done | 1 << index, value))
            })
        }
        extend(history, 0, 0)
    }

    #[test]
    fn histories() {
        for (what, history, linearizable) in [
            ("nothing", vec![], true),
            (
                "the value before the first write",
                vec![read(0, 1, 2)],
                true,
            ),
            (
                "a write and its read",
                vec![write(1, 1, 2), read(1, 3, 4)],
                true,
            ),
            ("a stale read", vec![write(1, 1, 2), read(0, 3, 4)], false),
            (
                "a read beside the write",
                vec![write(1, 1, 5), read(0, 2, 3), read(1, 4, 6)],
                true,
            ),
            (
                "a value seen and gone",
                vec![write(1, 1, 9), read(1, 2, 3), read(0, 4, 5)],
                false,
            ),
            (
                "a lost write",
                vec![write(1, 1, 2), write(2, 3, 4), read(1, 5, 6)],
                false,
            ),
            (
                "an unknown write that came",
                vec![write(1, 1, None), read(1, 3, 4)],
                true,
            ),
            (
                "an unknown write that never came",
                vec![write(1, 1, None), read(0, 3, 4)],
                true,
            ),
            (
                "an unknown write that came late",
                vec![
                    write(1, 1, None),
                    write(2, 2, 3),
                    read(2, 4, 5),
                    read(1, 6, 7),
                ],
                true,
            ),
            (
                "an unknown write that came and went",
                vec![write(1, 1, None), read(1, 2, 3), read(0, 4, 5)],
                false,
            ),
            (
                "a read of the future",
                vec![read(1, 1, 2), write(1, 3, 4)],
                false,
            ),
            ("a read of nothing", vec![read(7, 1, 2)], false),
        ] {
            assert_eq!(check(0, &history).is_ok(), linearizable, "{what}");
            assert_eq!(by_trying(&history), linearizable, "{what}, by trying");
        }
    }

    #[test]
    fn agrees_with_trying_every_order() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut counts = [0; 2];
        for _ in 0..50_000 {
            let length = random.usize(1..7);
            let mut times: Vec<Time> = (1..=2 * length as Time).collect();
            random.shuffle(&mut times);
            let history: Vec<Operation> = (0..length)
                .map(|index| {
                    let (one, other) = (times[2 * index], times[2 * index + 1]);
                    let (begin, end) = (one.min(other), one.max(other));
                    match random.u8(0..5) {
                        0 => write(index as u64 + 1, begin, None),
                        1 | 2 => write(index as u64 + 1, begin, end),
                        _ => read(random.u64(0..=length as u64), begin, end),
                    }
                })
                .collect();
            let linearizable = check(0, &history).is_ok();
            assert_eq!(linearizable, by_trying(&history), "{history:?}");
            counts[usize::from(linearizable)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
    }
}
