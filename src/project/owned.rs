//! Owned files: generated files that the user took over, which no command rewrites.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Project;
use super::edit::list;
use crate::advice::Script;
use crate::error::{Failure, Result};
use crate::tree::{self, RelPath};

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error| {
            let why = match &error {
                tree::Error::InvalidPath { why, .. } => format!("\nnote: {why}"),
                tree::Error::Unreadable { .. } => String::new(),
            };
            de::Error::custom(format!(
                "{error}{why}\nnote: it is relative, with `/` between its parts"
            ))
        })
    }
}

impl Project {
    /// Makes the file at `path` an owned file.
    pub fn own(&self, path: &RelPath) -> Result<Self> {
        let mut project = self.clone();
        match project.settings.owned.insert(path.clone()) {
            true => Ok(project),
            false => Err(Failure::refused(format!("`{path}` is yours already"))
                .note("`PROJECT` lists it under `owned`, and no command rewrites it")
                .note("`disown` gives it back")
                .advise(Script::forge("status --all"))),
        }
    }

    /// Makes the owned files at `paths` generated files again.
    pub fn disown(&self, paths: &BTreeSet<RelPath>) -> Result<Self> {
        let owned = &self.settings.owned;
        if let Some(path) = paths.difference(owned).next() {
            let owned = list(owned.iter().map(|path| format!("`{path}`")));
            return Err(Failure::refused(format!("`{path}` was not taken over"))
                .note(match owned.is_empty() {
                    true => "`PROJECT` lists no file under `owned`".to_owned(),
                    false => format!("`PROJECT` lists under `owned`: {owned}"),
                })
                .note("`own` takes it over")
                .advise(Script::forge("status --all")));
        }
        let mut project = self.clone();
        project.settings.owned = owned - paths;
        Ok(project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::testing::empty;

    #[test]
    fn disown_is_the_inverse_of_own() {
        let before = empty("example.com", false);
        let path = |text: &str| text.parse::<RelPath>().unwrap();
        let owned = before.own(&path("src/controllers.rs")).unwrap();
        let owned = owned.own(&path("src/api.rs")).unwrap();
        let text = owned.write();
        assert!(
            text.contains("    owned:\n    - src/api.rs\n    - src/controllers.rs\n"),
            "{text}"
        );
        assert_eq!(Project::read(text.as_bytes()).unwrap(), owned);
        assert!(owned.own(&path("src/api.rs")).is_err());
        let both = [path("src/api.rs"), path("src/controllers.rs")].into();
        let back = owned.disown(&both).unwrap();
        assert_eq!(back, before);
        assert!(back.disown(&both).is_err());
    }

    #[test]
    fn the_refusal_of_a_file_that_is_not_owned_lists_the_owned_files() {
        let path = |text: &str| text.parse::<RelPath>().unwrap();
        let project = empty("example.com", false).own(&path("Makefile")).unwrap();
        let failure = project.disown(&[path("Makefile"), path("deny.toml")].into());
        let failure = failure.unwrap_err();
        assert_eq!(failure.what, "`deny.toml` was not taken over");
        assert_eq!(
            failure.notes[0],
            "`PROJECT` lists under `owned`: `Makefile`"
        );
    }

    #[test]
    fn a_path_out_of_the_project_is_refused_with_its_line() {
        let text = empty("example.com", false)
            .own(&RelPath::constant("src/api.rs"))
            .unwrap()
            .write();
        let failure = Project::read(text.replace("src/api.rs", "../api.rs").as_bytes());
        let failure = failure.unwrap_err();
        assert!(failure.what.contains("`../api.rs`"), "{failure}");
        assert!(failure.what.starts_with("`PROJECT:"), "{failure}");
    }
}
