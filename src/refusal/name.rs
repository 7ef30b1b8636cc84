//! Names that are not valid.

use crate::{advice::Advice, error::Failure, name::Invalid};

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        let flag = match invalid.what {
            "domain" => "--domain",
            "group" => "--group",
            "version" => "--version",
            "kind" => "--kind",
            "plural" => "--plural",
            "shortName" => "--short-name",
            "name" => "--controller-name",
            "projectName" => "--project-name",
            "path" => "--defaulting-path",
            "type" => "--external-api-path",
            "license" => "--license",
            "owner" => "--owner",
            "header" => "--license-file",
            _ => "--runtime",
        };
        of_flag(flag, invalid)
    }
}

/// The refusal of a flag's value, for names that several flags take.
pub fn of_flag(flag: &'static str, invalid: Invalid) -> Failure {
    let Invalid { found, fault, .. } = invalid;
    Failure::usage(format!("invalid value `{found}` for `{flag}`: {fault}"))
        .note(invalid.rule)
        .advise(match invalid.suggestion {
            Some(suggestion) => Advice::set(flag, suggestion),
            None => Advice::Help,
        })
}
