//! The functions of sprig, the library that Helm takes most of its functions from.

mod case;
mod cast;
mod certificates;
mod collections;
mod constraint;
mod crypto;
mod dates;
mod decimals;
mod deep;
pub(crate) mod durations;
mod encodings;
mod flow;
mod json;
mod keys;
mod layout;
mod layout_parse;
mod moment;
mod numbers;
mod paths;
mod pattern;
mod random;
mod regexes;
mod semver;
mod strings;
mod time;
mod urls;
mod versions;
mod words;

pub(crate) use self::keys::Reused;
use crate::function::Functions;

/// Adds them.
pub fn add(all: &mut Functions) {
    strings::add(all);
    numbers::add(all);
    collections::add(all);
    certificates::add(all);
    crypto::add(all);
    dates::add(all);
    decimals::add(all);
    encodings::add(all);
    flow::add(all);
    json::add(all);
    paths::add(all);
    random::add(all);
    regexes::add(all);
    urls::add(all);
    versions::add(all);
}

pub(crate) use self::{cast::parse_float, constraint::Constraints, semver::Version};

/// Whether a text is a time of a layout of Go.
///
/// # Errors
/// As those of `time.Parse`.
pub(crate) fn go_time(layout: &str, text: &str) -> Result<(), String> {
    layout_parse::parse(layout, text, &time::Zone::Utc).map(drop)
}

#[cfg(test)]
mod tests;
