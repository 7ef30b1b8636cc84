//! The fields that may not change once a project was applied.

use super::correction::{self, FILE};
use super::file::{self, ProjectFile};
use super::{Project, Resource, Settings};
use crate::error::{Failure, Result};
use crate::name::{Domain, ProjectName};

/// Refuses the text of a `PROJECT` whose domain, name or template set is not that of the project that was last applied.
///
/// The domain is part of every stored object's API group, and the name of every object in a cluster, so a change would not
/// rename the objects but leave them behind. `update` counts from the template set. The check comes before the rules, because
/// the rules would advise to make the rest of the file agree. A text that is no project passes. If two branches were `merged`,
/// one of them may have been updated.
pub fn check_unchanging(text: &[u8], applied: &Project, merged: bool) -> Result<()> {
    let Ok(ProjectFile {
        domain,
        project_name,
        plugins,
        ..
    }) = file::text(text).and_then(file::parse)
    else {
        return Ok(());
    };
    let fields = |domain: &Domain, name: &ProjectName, settings: &Settings| {
        [
            ("domain", domain.to_string()),
            ("projectName", name.to_string()),
            ("templates", settings.templates.to_string()),
        ]
    };
    let settings = plugins.ours.as_ref().unwrap_or(&applied.settings);
    let now = fields(&domain, &project_name, settings).into_iter();
    let then = fields(&applied.domain, &applied.name, &applied.settings);
    for ((field, now), (_, then)) in now.zip(then).take(if merged { 2 } else { 3 }) {
        if now != then {
            return Err(changed(field, &now, &then));
        }
    }
    Ok(())
}

impl Project {
    /// Refuses another chart, role or playbook of a kind in `PROJECT` than that of the last command.
    pub fn check_recipes(&self, applied: &Self) -> Result<()> {
        for (key, now) in self.resources() {
            let then = applied.resource(key).filter(|then| then.api.is_some());
            let Some(then) = then.filter(|_| now.api.is_some()) else {
                continue;
            };
            for field in ["chart", "ansible"] {
                let text = |resource: &Resource| {
                    let recipe = resource.recipe().filter(|it| it.field() == field);
                    recipe.map_or_else(String::new, |it| it.path().to_owned())
                };
                let (now, then) = (text(now), text(then));
                if now != then {
                    return Err(changed(field, &now, &then));
                }
            }
        }
        Ok(())
    }
}

/// The refusal of another value, `now`, of a field that cannot change.
pub fn changed(field: &str, now: &str, then: &str) -> Failure {
    Failure::refused(match (now, then) {
        ("", _) => format!("`{FILE}` has no `{field}`, which was `{then}`"),
        (_, "") => format!("`{field}: {now}` was added to `{FILE}`"),
        _ => format!("`{field}` was changed from `{then}` to `{now}` in `{FILE}`"),
    })
    .note(format!(
        "it cannot change in a project that exists: {}",
        why_fixed(field)
    ))
    .note(match then {
        "" => format!("take the line out again: `{field}: {now}`"),
        _ => format!("put the line back: `{field}: {then}`"),
    })
    .advise(correction::edit())
}

/// The reason that a field of a project cannot change.
pub fn why_fixed(field: &str) -> &'static str {
    match field {
        "domain" => "the API group of every stored object ends with it",
        "projectName" => "every object in a cluster is named by it",
        "templates" => {
            "it says which templates made the files, and only `operator-forge update` makes them anew"
        }
        "chart" | "ansible" => "the types and the controller are yours, and name it",
        "image" | "containerCommand" | "containerPort" | "runAsUser" => {
            "the file of the controller is yours, and has it"
        }
        _ => "your tests name the library by it",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::project::LAYOUT;

    const TEXT: &str = "domain: example.com\nlayout:\n- LAYOUT\nplugins:\n  LAYOUT:\n    templates: 5\n\
                        projectName: demo\nversion: \"3\"\n";

    fn of(text: &str) -> String {
        text.replace("LAYOUT", LAYOUT)
    }

    /// Whether a command refuses `text` for a project that was applied as `TEXT`; `None` where it is no project.
    fn refused(text: &str) -> Option<bool> {
        let applied = Project::read(of(TEXT).as_bytes()).unwrap();
        Project::read(text.as_bytes()).ok()?;
        Some(check_unchanging(text.as_bytes(), &applied, false).is_err())
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
        fn no_other_value_passes(field in 0..3usize, value in "[ -~]{0,6}|[a-z]{1,6}|null|~|5|3") {
            let line = ["domain: example.com", "projectName: demo", "templates: 5"][field];
            let name = line.split(':').next().unwrap();
            let text = of(TEXT).replace(line, &format!("{name}: {value}"));
            if refused(&text) == Some(false) {
                let read = |text: &str| {
                    let project = Project::read(text.as_bytes()).unwrap();
                    let settings = project.settings;
                    (project.domain, project.name, settings.templates)
                };
                prop_assert_eq!(read(&text), read(&of(TEXT)));
            }
        }
    }
}
