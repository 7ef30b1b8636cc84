//! The values of flags that several commands have, or the answers to questions in their place.

pub mod external;
pub mod fields;
pub mod kind;
pub mod plugins;
pub mod runtime;
pub mod type_of;
