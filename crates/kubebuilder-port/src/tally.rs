//! How much of a Go project is in the new one.

use std::fmt;

/// The number of things of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Kinds with a CRD.
    pub kinds: Count,
    /// Admission webhooks: one for a type and a purpose.
    pub webhooks: Count,
    /// Versions that are converted to the hub.
    pub conversions: Count,
    /// Resources of the RBAC markers of a file.
    pub permissions: Count,
}

/// How many there are, and how many of them are in the new project, or in `PORTING.md` as a call to paste.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    done: usize,
    all: usize,
}

impl Count {
    /// Counts one.
    pub fn add(&mut self, is_done: bool) {
        self.done += usize::from(is_done);
        self.all += 1;
    }

    /// Whether there are some, and none is done.
    pub fn has_failed(self) -> bool {
        self.done == 0 && self.all > 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sorts = [
            (self.kinds, "kind", ""),
            (self.webhooks, "webhook", ""),
            (self.conversions, "conversion", ""),
            // A person adds them.
            (self.permissions, "permission", " as calls"),
        ];
        let counted: Vec<_> = sorts
            .into_iter()
            .filter(|(count, ..)| count.all > 0)
            .collect();
        let texts = counted.iter().map(|(Count { done, all }, sort, form)| {
            let plural = if *all == 1 { "" } else { "s" };
            format!("{done} of {all} {sort}{plural}{form}")
        });
        f.write_str(&texts.collect::<Vec<_>>().join(", "))?;
        let left = counted.iter().map(|(count, ..)| count.all - count.done);
        match left.sum() {
            0 => Ok(()),
            left => write!(f, "; {left} to do by hand"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_that_there_are() {
        let count = |done, all| Count { done, all };
        let check = |tally: Tally, expected: &str| assert_eq!(tally.to_string(), expected);
        let whole = Tally {
            kinds: count(12, 12),
            webhooks: count(1, 1),
            ..Tally::default()
        };
        check(whole, "12 of 12 kinds, 1 of 1 webhook");
        let rest = Tally {
            permissions: count(31, 33),
            conversions: count(0, 1),
            ..whole
        };
        check(
            rest,
            "12 of 12 kinds, 1 of 1 webhook, 0 of 1 conversion, 31 of 33 permissions as calls; 3 to do by hand",
        );
        check(Tally::default(), "");
    }
}
