//! Who owns which slot: one object, written by compare-and-swap.

mod text;

use super::identity::Identity;
use crate::slots::{Slot, Slots};

pub(crate) use text::Unreadable;

/// The owners of all slots, after one write of the object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Assignment {
    number: u64,
    shares: Vec<Share>,
}

/// What an assignment says about a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Share {
    /// Grows by one whenever the slot gets an owner. No two owners have the same one.
    pub(crate) epoch: u64,
    pub(crate) phase: Phase,
}

/// Whether a slot rests with its owner, or is on its way. The order is that of the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    /// The owner serves the slot.
    Held { owner: Identity },
    /// The owner still serves the slot; `to` fills its cache.
    Filling {
        owner: Identity,
        to: Identity,
        /// The number of the assignment that began this phase.
        since: u64,
    },
    /// The owner stops, and says when it has stopped; then `to` becomes the owner.
    Moving {
        owner: Identity,
        to: Identity,
        /// The number of the assignment that began this phase.
        since: u64,
    },
    /// The slot has never had an owner.
    Free,
}

impl Phase {
    pub(crate) fn owner(&self) -> Option<&Identity> {
        match self {
            Self::Held { owner } | Self::Filling { owner, .. } | Self::Moving { owner, .. } => {
                Some(owner)
            }
            Self::Free => None,
        }
    }

    /// The next owner, if the slot is on its way.
    pub(crate) fn to(&self) -> Option<&Identity> {
        match self {
            Self::Filling { to, .. } | Self::Moving { to, .. } => Some(to),
            Self::Held { .. } | Self::Free => None,
        }
    }

    /// The owner in the end, if nothing changes.
    pub(crate) fn heir(&self) -> Option<&Identity> {
        self.to().or(self.owner())
    }

    /// Whether the owner serves the slot.
    pub(crate) fn serves(&self) -> bool {
        matches!(self, Self::Held { .. } | Self::Filling { .. })
    }
}

impl Share {
    /// The same slot with its next owner.
    pub(crate) fn pass(&self, owner: Identity) -> Self {
        Self {
            epoch: self.epoch + 1,
            phase: Phase::Held { owner },
        }
    }
}

impl Assignment {
    /// A new object: the first `count` slots, all free.
    pub(crate) fn new(count: u8) -> Self {
        let free = Share {
            epoch: 0,
            phase: Phase::Free,
        };
        let shares = vec![free; Slots::first(count).len()];
        Self { number: 1, shares }
    }

    /// The assignment that the next write of the object brings.
    pub(crate) fn next(&self, shares: Vec<Share>) -> Self {
        Self {
            number: self.number + 1,
            shares,
        }
    }

    /// Grows by one with each write of the object.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// What the assignment says about a slot, if it has that slot.
    #[cfg(test)]
    pub(crate) fn share(&self, slot: Slot) -> Option<&Share> {
        self.shares.get(usize::from(slot.number()))
    }

    /// All slots, in ascending order.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (Slot, &Share)> {
        let slots = (0..).map_while(Slot::new);
        slots.zip(&self.shares)
    }

    /// The slots whose phase is such.
    pub(crate) fn slots(&self, is: impl Fn(&Phase) -> bool) -> Slots {
        let shares = self.shares().filter(|(_, share)| is(&share.phase));
        shares.map(|(slot, _)| slot).collect()
    }

    /// The slots of this owner, those included that move away.
    pub(crate) fn owned_by(&self, identity: &Identity) -> Slots {
        self.slots(|phase| phase.owner() == Some(identity))
    }
}
