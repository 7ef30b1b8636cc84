//! `init` and `edit`: the settings of the whole project.

use std::collections::BTreeMap;

use serde_yaml::Mapping;

use crate::name::{Domain, ProjectName};
use crate::project::error::{Refused, Result};
use crate::project::rules::{self, is_namespaced};
use crate::project::{
    Certificates, CopyrightHolder, Error, Header, Key, LAYOUT, License, Project, Resource, Runtime,
    Settings, TEMPLATES,
};

/// The flags of `init`.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// `--domain`; may be empty.
    pub domain: Domain,
    /// `--project-name`, or the name of the directory.
    pub name: ProjectName,
    /// `--owner`; may be empty.
    pub owner: CopyrightHolder,
    /// `--license`. With a header it becomes [`License::Custom`].
    pub license: License,
    /// The text of `--license-file`.
    pub header: Option<Header>,
    /// `--namespaced`.
    pub namespaced: bool,
    /// `--runtime`.
    pub runtime: Runtime,
}

/// The flags of `edit`; what is absent stays.
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
    /// A new project without resources. Total: its parts were checked when they were parsed.
    pub fn init(options: InitOptions) -> Self {
        let license = match options.header {
            Some(_) => License::Custom,
            None => options.license,
        };
        Self {
            domain: options.domain,
            name: options.name,
            namespaced: options.namespaced,
            settings: Settings {
                templates: TEMPLATES,
                license,
                owner: options.owner,
                header: options.header,
                certificates: None,
                runtime: options.runtime,
                library: None,
                owned: Default::default(),
                options: Vec::new(),
                extra: Mapping::new(),
            },
            layout: vec![LAYOUT.to_owned()],
            resources: BTreeMap::new(),
            plugins: Mapping::new(),
            extra: Mapping::new(),
        }
    }

    /// Changes settings.
    ///
    /// Errors: no change is given, or an entry contradicts it.
    pub fn edit(&self, edit: &EditSettings) -> Result<Self> {
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
            return Err(Refused::NoEdit.into());
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
                let api = self.apis().first().map(|api| api.key.clone());
                return Err(Refused::NothingCertified { api, wanted }.into());
            }
            if wanted != self.settings.certificates.unwrap_or_default() {
                settings.certificates = Some(wanted);
            }
        }
        rules::check(&project, None)?;
        Ok(project)
    }

    /// Refuses a cluster-scoped type that is watched or defined.
    fn check_namespaced(&self) -> Result<(), Refused> {
        let wide =
            |(key, entry): &(&Key, &Resource)| entry.is_watched() && !is_namespaced(key, entry);
        match self.resources().find(wide) {
            Some((key, entry)) => Err(Refused::WideEntry {
                key: key.clone(),
                own: entry.api.is_some(),
            }),
            None => Ok(()),
        }
    }
}

/// The answer to `edit --domain`.
pub fn domain_stays(project: &Project, wanted: &str) -> Error {
    let (domain, name) = (project.domain.clone(), project.name.clone());
    let wanted = wanted.to_owned();
    Refused::DomainStays {
        domain,
        name,
        wanted,
    }
    .into()
}

/// The answer to `edit --project-name`.
pub fn name_stays(project: &Project, wanted: &str) -> Error {
    let (domain, name) = (project.domain.clone(), project.name.clone());
    let wanted = wanted.to_owned();
    Refused::NameStays {
        domain,
        name,
        wanted,
    }
    .into()
}
