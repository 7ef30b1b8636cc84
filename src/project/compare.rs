//! The fields that may not change once a project was applied.

use serde::Deserialize;
use serde_yaml::Mapping;

use super::error::{Refused, Result};
use super::{LAYOUT, Library, Project, file};
use crate::yaml;

/// These fields, whatever else is wrong with the file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unchanging {
    domain: Option<String>,
    version: Option<serde_yaml::Value>,
    project_name: Option<String>,
    #[serde(default)]
    plugins: Mapping,
}

impl Unchanging {
    /// The template set, if it is a number.
    fn templates(&self) -> Option<String> {
        let set = self.plugins.get(LAYOUT)?.get("templates")?.as_u64()?;
        Some(set.to_string())
    }

    /// The field `library`, if it is there.
    fn library(&self) -> Option<&str> {
        self.plugins.get(LAYOUT)?.get("library")?.as_str()
    }
}

/// Refuses the text of a `PROJECT` whose domain, name or template set is not that of the project that was last applied.
///
/// The domain is part of every stored object's API group, and the name of every object in a cluster, so changing one
/// would not rename what exists but leave it behind. The template set is what `update` counts from. It is checked before
/// everything else, because other rules would advise to make the rest of the file agree. Where `merged`, two branches were
/// put together, and one of them may have been updated.
pub fn check_unchanging(text: &[u8], applied: &Project, merged: bool) -> Result<()> {
    let text = file::text(text).ok();
    let Some(now) = text.and_then(|text| yaml::read::<Unchanging>(text).ok()) else {
        return Ok(());
    };
    // Its last line: a file that was cut off deserves that answer.
    if now.version.is_none() {
        return Ok(());
    }
    let fields = Fields {
        domain: now.domain.as_deref().unwrap_or_default(),
        name: now.project_name.as_deref(),
        templates: now.templates(),
        library: now.library(),
    };
    fields.check(applied, merged)
}

impl Project {
    /// The same check of a text that was read. YAML has many ways to write a value, and this one is what commands use.
    ///
    /// Errors: those of [`check_unchanging`].
    pub fn check_unchanged(&self, applied: &Self, merged: bool) -> Result<()> {
        let fields = Fields {
            domain: self.domain.as_str(),
            name: Some(self.name.as_str()),
            templates: Some(self.settings.templates.to_string()),
            library: self.settings.library.map(Library::word),
        };
        fields.check(applied, merged)
    }
}

/// The fields that may not change, as they are now.
struct Fields<'a> {
    domain: &'a str,
    name: Option<&'a str>,
    templates: Option<String>,
    library: Option<&'a str>,
}

impl Fields<'_> {
    fn check(self, applied: &Project, merged: bool) -> Result<()> {
        let name = applied.name.as_str();
        let set = applied.settings.templates.to_string();
        let set_now = self.templates.filter(|_| !merged);
        let library = applied.settings.library.map_or("", Library::word);
        // A branch that was updated says so, and another one does not yet.
        let library_now = match merged {
            true => library,
            false => self.library.unwrap_or_default(),
        };
        let fields = [
            ("domain", self.domain, applied.domain.as_str()),
            ("projectName", self.name.unwrap_or(name), name),
            ("templates", set_now.as_deref().unwrap_or(&set), &set),
            ("library", library_now, library),
        ];
        let changed = fields.into_iter().find(|(_, now, then)| now != then);
        match changed {
            None => Ok(()),
            Some((field, now, then)) => Err(Refused::Changed {
                field,
                now: now.to_owned(),
                then: then.to_owned(),
            }
            .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "domain: example.com\nlayout:\n- LAYOUT\nplugins:\n  LAYOUT:\n    library: operator\n    templates: 5\n\
                        projectName: demo\nversion: \"3\"\n";

    fn of(text: &str) -> String {
        text.replace("LAYOUT", LAYOUT)
    }

    /// Whether a command refuses `text` for a project that was applied as `TEXT`; `None` where it is no project.
    fn refused(text: &str) -> Option<bool> {
        let applied = Project::read(of(TEXT).as_bytes()).unwrap();
        let now = Project::read(text.as_bytes()).ok()?;
        let first = check_unchanging(text.as_bytes(), &applied, false);
        Some(
            first
                .and_then(|()| now.check_unchanged(&applied, false))
                .is_err(),
        )
    }

    #[test]
    fn a_value_counts_as_the_project_is_read() {
        assert_eq!(refused(&of(TEXT)), Some(false));
        for value in ["null", "~", "Null", "0x10", "1e3", "!!str x", "|\n  x"] {
            let text = of(TEXT).replace("projectName: demo", &format!("projectName: {value}"));
            assert_ne!(refused(&text), Some(false), "{value}");
        }
        for value in ["demo", "'demo'", "\"d\\x65mo\"", "&a demo", "|-\n  demo"] {
            let text = of(TEXT).replace("projectName: demo", &format!("projectName: {value}"));
            assert_eq!(refused(&text), Some(false), "{value}");
        }
    }

    proptest! {
        #[test]
        fn no_other_value_passes(field in 0..4usize, value in "[ -~]{0,6}|[a-z]{1,6}|null|~|operator|5|3") {
            let line = ["domain: example.com", "projectName: demo", "library: operator", "templates: 5"][field];
            let name = line.split(':').next().unwrap();
            let text = of(TEXT).replace(line, &format!("{name}: {value}"));
            if refused(&text) == Some(false) {
                let read = |text: &str| {
                    let project = Project::read(text.as_bytes()).unwrap();
                    let settings = project.settings;
                    (project.domain, project.name, settings.library, settings.templates)
                };
                prop_assert_eq!(read(&text), read(&of(TEXT)));
            }
        }
    }
}
