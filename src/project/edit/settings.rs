//! `edit`: settings of the whole project that may change, and the reasons for those that may not.

use crate::error::Failure;
use crate::project::rules::{self, is_namespaced};
use crate::project::{
    Certificates, CopyrightHolder, Header, Key, License, Project, Resource, Runtime,
};

/// What `edit` takes; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditSettings {
    /// `--namespaced`.
    pub namespaced: Option<bool>,
    /// `--owner`.
    pub owner: Option<CopyrightHolder>,
    /// `--license`.
    pub license: Option<License>,
    /// The text of `--license-file`.
    pub header: Option<Header>,
    /// `--certificates`.
    pub certificates: Option<Certificates>,
    /// `--runtime`.
    pub runtime: Option<Runtime>,
}

impl Project {
    /// This project with other settings.
    ///
    /// Errors: none is given, or the project has something that does not go with it.
    pub fn edit(&self, edit: &EditSettings) -> Result<Self, Failure> {
        let mut project = self.clone();
        let EditSettings {
            namespaced,
            owner,
            license,
            header,
            certificates,
            runtime,
        } = edit.clone();
        if *edit == EditSettings::default() {
            return Err(Failure::usage("there is nothing to edit")
                .note("`edit` changes settings of the project, `edit api` those of one kind")
                .note("they are `--namespaced`, `--owner`, `--license`, `--license-file`, `--certificates` and `--runtime`")
                .advise("operator-forge edit --help"));
        }
        if namespaced == Some(true) {
            self.check_namespaced()?;
        }
        project.namespaced = namespaced.unwrap_or(self.namespaced);
        let settings = &mut project.settings;
        settings.owner = owner.unwrap_or_else(|| self.settings.owner.clone());
        settings.runtime = runtime.unwrap_or_else(|| self.settings.runtime.clone());
        if let Some(license) = license {
            (settings.license, settings.header) = (license, None);
        }
        if let Some(header) = header {
            (settings.license, settings.header) = (License::Custom, Some(header));
        }
        if let Some(wanted) = certificates {
            if self.webhooks().is_empty() {
                return Err(Failure::refused(
                    "the project has no webhooks, and nothing else has a certificate of its own",
                )
                .note("the first webhook brings the setting, the last one takes it along")
                .advise(match self.apis().first() {
                    Some(api) => format!(
                        "operator-forge create webhook {} --validation --certificates {}",
                        api.key.flags(),
                        wanted.word()
                    ),
                    None => "operator-forge create webhook --help".to_owned(),
                }));
            }
            if wanted != self.settings.certificates.unwrap_or_default() {
                settings.certificates = Some(wanted);
            }
        }
        rules::check(&project, None)?;
        Ok(project)
    }

    /// Nothing cluster-scoped is watched or defined.
    fn check_namespaced(&self) -> Result<(), Failure> {
        let wide = |(key, entry): &(&Key, &Resource)| {
            let watched = entry.api.is_some() || entry.has_controllers();
            watched && !is_namespaced(key, entry)
        };
        let Some((key, entry)) = self.resources().find(wide) else {
            return Ok(());
        };
        let failure = Failure::refused(format!("`{key}` is cluster-scoped, so the project cannot be namespaced"))
            .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
        let flags = key.flags();
        Err(match entry.api {
            Some(_) => failure.advise(format!(
                "operator-forge edit api {flags} --namespaced --force"
            )),
            None => failure
                .note("it has to go from the project first")
                .advise(format!("operator-forge delete api {flags} --dry-run")),
        })
    }
}

/// The answer to `edit --domain`.
pub fn domain_stays(project: &Project, wanted: &str) -> Failure {
    Failure::refused(format!("the domain of a project cannot change from `{}` to `{wanted}`", project.domain))
        .note("the API group of every stored object ends with it, so another one would leave all of them behind")
        .note("a project of its own may have it")
        .advise(format!("operator-forge init ../{wanted} --domain {wanted} --project-name {}", project.name))
}

/// The answer to `edit --project-name`.
pub fn name_stays(project: &Project, wanted: &str) -> Failure {
    Failure::refused(format!(
        "the name of a project cannot change from `{}` to `{wanted}`",
        project.name
    ))
    .note("every object in a cluster is named by it, so another one would leave all of them behind")
    .note("a project of its own may have it")
    .advise(format!(
        "operator-forge init ../{wanted} --domain {} --project-name {wanted}",
        project.domain
    ))
}
