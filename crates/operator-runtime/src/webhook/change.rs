//! The change of an object in an admission request.

/// The change that a validating webhook allows or denies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// Creates the object. Also an update whose old object does not decode, so that users can repair it;
    /// the response then contains a warning.
    Create(K),
    /// Updates the object.
    Update {
        /// The stored object.
        old: K,
        /// The new object.
        new: K,
    },
    /// Deletes this stored object.
    Delete(K),
}
