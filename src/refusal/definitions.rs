//! Definitions that cannot be read.

use crate::{
    advice::{Advice, Script},
    definitions::{API_VERSION, DefinitionError, Error, YamlError},
    error::Failure,
};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::refused(error.to_string());
        match error {
            Error::Definition { why, .. } => of_definition(failure, why),
            Error::Yaml { why, .. } => of_yaml(failure, why),
        }
    }
}

fn of_definition(failure: Failure, why: DefinitionError) -> Failure {
    match why {
        DefinitionError::ApiVersion(version) => failure
            .note(format!(
                "it is of `{version}`, which no Kubernetes since 1.22 serves"
            ))
            .note(format!(
                "compare with a release whose definitions are of {API_VERSION}"
            ))
            .advise(Script::forge("check --help")),
        DefinitionError::Field(what) => failure.note(what).advise(Script::anywhere(
            "kubectl explain customresourcedefinition.spec",
        )),
        DefinitionError::Twice => failure
            .note("a definition of that name was read before")
            .note("name the file or the directory of one release")
            .advise(Script::forge("check --help")),
    }
}

fn of_yaml(failure: Failure, why: YamlError) -> Failure {
    const MISSED: &str = "a definition in it would be missed, so nothing was compared: mend it, or name files of definitions alone";
    let failure = match why {
        YamlError::Utf16 => failure.note(MISSED).note("`iconv -f UTF-16 -t UTF-8` makes it UTF-8"),
        YamlError::Template => failure.note(
            "it has to hold CustomResourceDefinitions, as they are applied to a cluster: render templates first (`helm template CHART | operator-forge check --crds -`)",
        ),
        YamlError::MergeKey => failure.note("a merge key `<<` names a mapping, or a list of them"),
        YamlError::Syntax => failure.note(MISSED),
    };
    failure.advise(Advice::from(Script::forge("check --help")))
}
