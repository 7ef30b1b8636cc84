//! The slots, and how a key finds its slot.

use std::{
    fmt::{self, Display, Formatter},
    str::FromStr,
};

/// The number of slots in production. A model of the protocol has fewer.
pub(crate) const SLOTS: u8 = 64;

/// The bits of a hash that do not choose the slot.
const LOW_BITS: u32 = u64::BITS - SLOTS.ilog2();

/// A contiguous range of the hashes of all keys: what one member serves at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u8);

impl Slot {
    /// The slot of this number, if there is one.
    pub(crate) fn new(number: u8) -> Option<Self> {
        (number < SLOTS).then_some(Self(number))
    }

    /// The slot of a key: the highest bits of its hash, which is FNV-1a with 64 bits, as that of the API server.
    ///
    /// The last characters of a key hardly reach these bits. UIDs spread evenly; namespaces that differ in
    /// their last one or two characters only share a slot.
    pub(crate) fn of(key: &str) -> Self {
        Self((fnv(key) >> LOW_BITS) as u8)
    }

    /// From 0 to [`SLOTS`], exclusive.
    pub(crate) fn number(self) -> u8 {
        self.0
    }
}

/// The hash of a text: FNV-1a with 64 bits.
pub(super) fn fnv(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

impl Display for Slot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of slots. As text, it is `0-15,40`; the empty set is the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slots(u64);

impl Slots {
    /// No slot.
    pub(crate) const NONE: Self = Self(0);

    /// All slots in production.
    pub(crate) fn all() -> Self {
        Self(u64::MAX)
    }

    /// The first `count` slots.
    pub(crate) fn first(count: u8) -> Self {
        (0..count).filter_map(Slot::new).collect()
    }

    /// Adds the slot; says whether it is new.
    pub(crate) fn insert(&mut self, slot: Slot) -> bool {
        let new = !self.contains(slot);
        self.0 |= 1 << slot.0;
        new
    }

    /// Removes the slot; says whether it was there.
    #[cfg(test)]
    pub(crate) fn remove(&mut self, slot: Slot) -> bool {
        let old = self.contains(slot);
        self.0 &= !(1 << slot.0);
        old
    }

    pub(crate) fn contains(self, slot: Slot) -> bool {
        self.0 & 1 << slot.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The slots of either set.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The slots that `other` lacks.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The slots of both sets.
    pub(crate) fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The slots of all these sets.
    pub(crate) fn of_all<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        sets.into_iter()
            .fold(Self::all(), |all, set| all.within(*set))
    }

    /// In ascending order.
    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = Slot> {
        let all = (0..SLOTS).filter_map(Slot::new);
        all.filter(move |slot| self.contains(*slot))
    }

    /// The fewest runs of neighbours: their first and last slots.
    fn runs(self) -> Vec<(Slot, Slot)> {
        let mut runs: Vec<(Slot, Slot)> = Vec::new();
        for slot in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if last.0 + 1 == slot.0 => *last = slot,
                _ => runs.push((slot, slot)),
            }
        }
        runs
    }

    /// The `shardSelector` of a list or watch for the objects whose `field` is in one of these slots.
    ///
    /// `None` for no slot: an empty selector would select everything.
    pub(crate) fn selector(self, field: &str) -> Option<String> {
        let runs = self.runs();
        let terms: Vec<_> = runs
            .into_iter()
            .map(|(first, last)| {
                let (start, end) = (bound(first.0), bound(last.0 + 1));
                format!("shardRange({field}, '{start}', '{end}')")
            })
            .collect();
        (!terms.is_empty()).then(|| terms.join(" || "))
    }
}

/// The first hash of a slot, as the API server wants it: 16 digits, and one more for the end of the last slot.
fn bound(number: u8) -> String {
    format!("{:#018x}", u128::from(number) << LOW_BITS)
}

impl FromIterator<Slot> for Slots {
    fn from_iter<T: IntoIterator<Item = Slot>>(slots: T) -> Self {
        let mut set = Self::NONE;
        set.extend(slots);
        set
    }
}

impl Extend<Slot> for Slots {
    fn extend<T: IntoIterator<Item = Slot>>(&mut self, slots: T) {
        for slot in slots {
            self.insert(slot);
        }
    }
}

impl Display for Slots {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.runs().into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// A text is not a set of slots as [`Slots`] writes it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of slots such as `0-15,40`")]
pub(crate) struct NotSlots(String);

impl FromStr for Slots {
    type Err = NotSlots;

    fn from_str(text: &str) -> Result<Self, NotSlots> {
        let number = |text: &str| text.parse().ok().and_then(Slot::new);
        let mut slots = Self::NONE;
        for run in text.split(',').filter(|_| !text.is_empty()) {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err(NotSlots(text.to_owned()));
            };
            slots.extend((first.0..=last.0).filter_map(Slot::new));
        }
        // One set has one text.
        if slots.to_string() != text {
            return Err(NotSlots(text.to_owned()));
        }
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(text: &str) -> Slots {
        text.parse().unwrap()
    }

    #[test]
    fn texts_of_sets() {
        for text in ["", "0", "63", "0-63", "0-15,40", "1,3,5-6,62-63"] {
            assert_eq!(slots(text).to_string(), text);
        }
        assert_eq!(slots("0-15,40").len(), 17);
        assert_eq!(Slots::first(64), slots("0-63"));
        assert_eq!(Slots::first(2), slots("0-1"));
        for text in [
            "64", "1,0", "0,1", "3-1", "1-1", "01", "+1", "-1", "1-", ",", "0,", " 0", "a", "0-64",
        ] {
            let error = text.parse::<Slots>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn sets() {
        let mut set = slots("1-3");
        assert!(set.insert(Slot(5)) && !set.insert(Slot(5)) && set.remove(Slot(2)));
        assert!(!set.remove(Slot(2)) && set.contains(Slot(3)) && !set.contains(Slot(2)));
        assert_eq!(set, slots("1,3,5"));
        assert_eq!(set.and(slots("2")), slots("1-3,5"));
        assert_eq!(set.without(slots("3-9")), slots("1"));
        assert_eq!(set.within(slots("3-9")), slots("3,5"));
        assert_eq!(Slots::of_all(&[set, slots("1-3")]), slots("1,3"));
        assert_eq!(Slots::of_all([]), Slots::all());
        assert_eq!(set.iter().next_back(), Slot::new(5));
    }

    #[test]
    fn keys_have_the_hashes_of_fnv() {
        // Published values: FNV-1a of these texts begins with af, 85, and cb.
        assert_eq!(Slot::of("a").number(), 0xaf >> 2);
        assert_eq!(Slot::of("foobar").number(), 0x85 >> 2);
        assert_eq!(Slot::of("").number(), 0xcb >> 2);
    }

    #[test]
    fn uids_spread_evenly_and_names_that_end_alike_do_not() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut counts = [0; SLOTS as usize];
        for _ in 0..6400 {
            let (high, low) = (random.u64(..), random.u64(..) | 1 << 63);
            let uid = format!(
                "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
                high >> 32,
                high >> 16 & 0xffff,
                high & 0xfff,
                low >> 48,
                low & 0xffff_ffff_ffff
            );
            counts[usize::from(Slot::of(&uid).0)] += 1;
        }
        assert!(
            counts.iter().all(|count| (60..140).contains(count)),
            "{counts:?}"
        );
        let tenants: Slots = (0..10).map(|n| Slot::of(&format!("tenant-{n}"))).collect();
        assert_eq!(tenants.len(), 1);
    }

    #[test]
    fn selectors() {
        let field = "object.metadata.uid";
        let of = |text: &str| slots(text).selector(field);
        assert_eq!(of(""), None);
        let term = |start, end| format!("shardRange({field}, '{start}', '{end}')");
        let all = term("0x0000000000000000", "0x10000000000000000");
        assert_eq!(of("0-63").unwrap(), all);
        let last = term("0xfc00000000000000", "0x10000000000000000");
        assert_eq!(of("63").unwrap(), last);
        let two = format!(
            "{} || {last}",
            term("0x0000000000000000", "0x0c00000000000000")
        );
        assert_eq!(of("0-2,63").unwrap(), two);
        // A key is in the range of its slot.
        assert_eq!(bound(Slot::of("a").0), "0xac00000000000000");
    }
}
