//! The flags of the command line by the fields of `PROJECT`: a refusal is about a field, and its advice names the flag.

use std::str::FromStr;

use heck::ToKebabCase as _;

use super::Invalid;
use crate::advice::Advice;
use crate::error::{Failure, Result};

/// The flag that sets a field of an entry of `PROJECT`, or a value that [`Invalid`] names: `--short-name` for `shortNames`.
pub fn flag_of(field: &str) -> String {
    let name = match field {
        "api" => "resource",
        "controllers" | "name" => "controller-name",
        "finalizers" => "finalizer",
        "shortNames" => "short-name",
        "fields" => "field",
        "statusFields" => "status-field",
        "domain" => "external-api-domain",
        "path" | "type" => "external-api-path",
        "deployImage" => "image",
        "containerCommand" | "command" => "image-container-command",
        "containerPort" | "port" => "image-container-port",
        "user ID" => "run-as-user",
        "header" => "license-file",
        "plugin" => "plugins",
        "chart" => "helm-chart",
        "ansible" => "ansible-role",
        other => return format!("--{}", other.to_kebab_case()),
    };
    format!("--{name}")
}

/// The value of a flag, for names that several flags take.
pub fn parse_flag<T: FromStr<Err = Invalid>>(flag: &str, text: &str) -> Result<T> {
    text.parse()
        .map_err(|invalid: Invalid| invalid.of_flag(flag))
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        let flag = match invalid.what {
            // An entry has these fields for an external type, and another flag takes the value.
            "domain" => "--domain".to_owned(),
            "path" => "--defaulting-path".to_owned(),
            what => flag_of(what),
        };
        invalid.of_flag(&flag)
    }
}

impl Invalid {
    /// The refusal of a flag's value.
    fn of_flag(self, flag: &str) -> Failure {
        let Self { found, fault, .. } = self;
        Failure::usage(format!("invalid value `{found}` for `{flag}`: {fault}"))
            .note(self.rule)
            .advise(match self.suggestion {
                Some(suggestion) => Advice::set(flag, suggestion),
                None => Advice::Help,
            })
    }
}
