//! The type that a command is about: its flags, or what the prompt answered.

use crate::{
    cli::TypeFlags,
    error::Result,
    name::{Group, Kind, Version},
    project::Project,
    prompt::Prompt,
};

/// A type as it was named.
pub struct TypeOf {
    /// `--group`.
    pub group: Group,
    /// `--version`.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
}

/// Reads the flags, and asks for what is missing where it may. `example` is a whole command line for the refusals.
pub fn type_of(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt,
    example: &'static str,
) -> Result<TypeOf> {
    let group = match &flags.group {
        Some(text) => Group::parse(text)?,
        None if !project.domain.as_str().is_empty() && !prompt.is_allowed() => Group::parse("")?,
        None => {
            let missing = (
                "it may only be left out in a project with a domain",
                example,
            );
            prompt.value("--group", "API group", None, missing, |text| {
                Ok(Group::parse(text)?)
            })?
        }
    };
    let missing = ("every API has a version, such as v1alpha1", example);
    let version = flags.version.as_deref();
    let version = prompt.value("--version", "API version", version, missing, |text| {
        Ok(Version::parse(text)?)
    })?;
    let missing = ("it names the type, in CamelCase", example);
    let kind = flags.kind.as_deref();
    let kind = prompt.value("--kind", "Kind", kind, missing, |text| {
        Ok(Kind::parse(text)?)
    })?;
    Ok(TypeOf {
        group,
        version,
        kind,
    })
}
