//! JSON.

use super::strings::string;
use crate::{
    function::{Functions, Kind},
    json::{self, Layout},
};

pub fn add(all: &mut Functions) {
    all.add("fromJson", &[Kind::String], |_, given| {
        Ok(json::read(string(&given[0])).0)
    });
    all.add(
        "mustFromJson",
        &[Kind::String],
        |_, given| match json::read(string(&given[0])) {
            (value, None) => Ok(value),
            (_, Some(error)) => Err(error),
        },
    );
    for (name, layout) in [
        ("toJson", Layout::COMPACT),
        ("toPrettyJson", Layout::PRETTY),
        ("toRawJson", Layout::RAW),
    ] {
        let must = format!("mustT{}", &name[1..]);
        all.add(&must, &[Kind::Any], move |_, given| {
            Ok(json::write(&given[0], layout)?.into())
        });
        // What cannot be written is an empty text, or a panic in the last of these.
        let fails = name == "toRawJson";
        all.add(name, &[Kind::Any], move |_, given| {
            match json::write(&given[0], layout) {
                Err(error) if fails => Err(error),
                result => Ok(result.unwrap_or_default().into()),
            }
        });
    }
}
