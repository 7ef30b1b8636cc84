//! What is to happen to an object.

/// A change that a validating webhook is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// The object does not exist yet. Also an update of an object whose old version does not decode,
    /// so that it can be repaired; the user is warned then.
    Create(K),
    /// The object exists, and changes.
    Update {
        /// As it is.
        old: K,
        /// As it is to be.
        new: K,
    },
    /// The object, as it is, goes away.
    Delete(K),
}
