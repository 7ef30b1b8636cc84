//! The change of an object in an admission request.

/// The change that a validating webhook allows or denies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// Creates the object.
    Create(K),
    /// Updates the object.
    Update {
        /// The stored object. Fields that do not decode have the values of `new`: rules about changes apply
        /// to all other fields, and users can repair these. The response contains a warning for each.
        old: K,
        /// The new object.
        new: K,
    },
    /// Deletes this stored object.
    Delete(K),
}
