//! Fields of an API as flags.

use crate::{
    advice::{Advice, Flag},
    error::{Failure, Result},
    field::Field,
    project::Fields,
};

/// The fields of `--field` and `--status-field`.
pub fn of(spec: &[String], status: &[String]) -> Result<Fields> {
    Ok(Fields {
        spec: read("--field", spec)?,
        status: read("--status-field", status)?,
    })
}

/// The fields of a flag that may be repeated.
///
/// Errors: a field is wrong. The advice has all of them, each corrected.
pub fn read(flag: &str, texts: &[String]) -> Result<Vec<Field>> {
    let read: Result<Vec<Field>, _> = texts.iter().map(|text| text.parse()).collect();
    read.map_err(|invalid| {
        let corrected = |text: &String| match text.parse::<Field>() {
            Ok(_) => Some(text.clone()),
            Err(invalid) => invalid.suggestion,
        };
        let corrected: Option<Vec<String>> = texts.iter().map(corrected).collect();
        let flags = |texts: Vec<String>| texts.into_iter().map(|text| Flag::new(flag, Some(text)));
        Failure::usage(format!(
            "invalid value `{}` for `{flag}`: {}",
            invalid.found, invalid.fault
        ))
        .note(invalid.rule)
        .advise(match corrected {
            Some(texts) => Advice::set_all(flags(texts)),
            None => Advice::Help,
        })
    })
}
