//! Fields of an API as flags.

use crate::{
    advice::{Advice, Flag},
    error::{Failure, Result},
    field::{self, Field},
    prompt::Prompt,
};

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

/// The fields of the spec that a person on a terminal answers, a line each.
pub fn ask(prompt: Prompt<'_>) -> Result<Vec<Field>> {
    let question = "Field of the spec, such as size:int32:min=1; none to go on";
    let example = ("size:int32", field::complete as fn(&str) -> Option<String>);
    prompt.each("--field", question, "Another field", example, |text| {
        read("--field", &[text.to_owned()]).map(|mut fields| fields.remove(0))
    })
}
