#![doc = include_str!("../README.md")]

mod code;
mod definitions;
mod entries;
mod files;
mod libraries;
mod marker;
mod project;
mod tally;
#[cfg(test)]
mod tests;
mod tokens;

pub use self::code::{Built, Code};
pub use self::definitions::{Definitions, Found, PLACES, is_place};
pub use self::entries::{Settled, settle};
pub use self::files::{Files, MANAGER, is_main, renamed};
pub use self::libraries::Library;
pub use self::marker::{Admission, Rule, Setting};
pub use self::project::{Controller, Entry, Error, GoProject, Webhooks};
pub use self::tally::{Count, Tally};
