//! Shards: several active replicas, each with its own share of the objects.
//!
//! The protocol is pure: no clock, no network, no task. `model` explores it exhaustively, and `simulation` runs it
//! with the clocks and the faults of the real world. The tasks around it are [`membership`], [`observe`], [`follow`]
//! and the [`dealer`]; controllers and watches know only
//! [`Shards`](crate::cache::Shards), and the client knows [permits](crate::client::permit).
//!
//! # The protocol
//!
//! The objects are divided into [`slots`](crate::slots) by the hash of a key. A process with an identity of its own is a
//! [`member`]: it renews a Lease, and may write as long as its permit lasts, which is until the renew deadline
//! after the last successful renewal was sent. The elected leader [deals](deal) the slots: it writes the
//! [`assignment`], one object, by compare-and-swap. Members act on it, and say so in the [`notes`] on their
//! Leases, which the leader keeps in its [`roll`].
//!
//! ```text
//! Held{a} -> Filling{a, to b} -> Moving{a, to b} -> Held{b}, epoch + 1
//!            b fills its cache   a stops            once a has said that it stopped, or is gone
//! ```
//!
//! # What always holds
//!
//! 1. No two processes serve a slot at once, or have an open fence for it.
//! 2. The epoch of a slot grows whenever the slot gets an owner: no two owners have the same epoch. A fence is of
//!    one slot and one epoch, and never opens again.
//! 3. Who has acted on an assignment serves no slot that this assignment gives to another.
//! 4. A slot changes its owner only if the old one has said that its fence is closed, or is gone for ever.
//! 5. When nothing fails any more, live members serve all slots in the end, each as many as the next, give or
//!    take one.
//!
//! # Why
//!
//! - The assignment is a chain: each number of an object is written once, on top of the one before. Two dealers
//!   cannot both go on from the same number, so it does not matter whether there is one leader.
//! - What members say only grows true: who acted on number 7 and had stopped slot 3 by then has stopped it for
//!   good, until a later number gives it back. A dealer may know less than is true, never more.
//! - A permit ends before anybody can find that its member is gone, and its identity never comes back. A process
//!   that does not know whether it has made its Lease, and does not find it, takes another identity
//!   ([`Birth`](crate::leader::Birth)); once it had a permit, it ends.
//! - A new object, whatever became of the one before, starts with all slots free. A free slot gets an owner when
//!   every member has acted on the new object and has stopped that slot: so nobody serves anything of the old one.
//! - A member gets a slot only after it has acted on the object. So an object that it leaves for another can
//!   never give it anything again that it would take.
//!
//! # What the tasks around it must do
//!
//! - Read forward only: a list without a resource version, then its watch. A member that is shown an object after a
//!   later one ends its process ([`Backwards`](member::Backwards)).
//! - Say on the Lease what a member has acted on only while it has a permit, so never in the request that creates
//!   the Lease. What it says may be old, and is always one text.
//! - Stop before saying so: first no reconcile of a slot starts, then its number is acted on. When the last
//!   reconcile has ended, the fence closes; when each of its requests was answered, or can no longer arrive because
//!   the lease duration minus the renew deadline is over since it was sent, the slot has stopped.
//! - A closed fence of a slot is dropped: the next renewal must not hold it again.
//! - Keep the roll in each process, also in one that does not lead, and while there is no object. Otherwise a new
//!   leader waits for another whole lease duration before it finds out who is gone.
//! - Renew at once when there is something to say ([`Elector::hurry`](crate::leader::elector::Elector::hurry)):
//!   otherwise each step of a hand-over waits for the retry period.
//!
//! # What is not covered
//!
//! Somebody deletes the object of the assignment *and* the Lease of a member that still runs, and no dealer has
//! ever seen that member: it may still serve its slots until its next renewal, at most until its permit is over.
//! An election of a leader whose Lease somebody deletes has the same gap.

#[cfg(feature = "leader-election")]
mod assignment;
#[cfg(feature = "leader-election")]
mod deal;
#[cfg(feature = "leader-election")]
mod dealer;
#[cfg(feature = "leader-election")]
mod follow;
#[cfg(feature = "leader-election")]
mod identity;
#[cfg(feature = "leader-election")]
mod member;
#[cfg_attr(not(feature = "leader-election"), path = "shards/off.rs")]
mod membership;
#[cfg(all(test, feature = "leader-election"))]
mod model;
#[cfg(feature = "leader-election")]
mod news;
#[cfg(feature = "leader-election")]
mod notes;
#[cfg(feature = "leader-election")]
mod observe;
#[cfg(feature = "leader-election")]
mod progress;
#[cfg(feature = "leader-election")]
mod roll;
#[cfg(all(test, feature = "leader-election"))]
mod simulation;
#[cfg(feature = "leader-election")]
mod takeover;

pub(crate) use membership::Membership;
#[cfg(not(feature = "leader-election"))]
pub(crate) use membership::Progress;
#[cfg(feature = "leader-election")]
pub(crate) use progress::Progress;

/// The name of the ConfigMap with the assignment, beside the Lease of this name.
#[cfg(feature = "leader-election")]
fn object(lease: &str) -> String {
    format!("{lease}-shards")
}
