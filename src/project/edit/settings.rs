//! `init` and `edit`: the settings of the project.

use crate::name::{Domain, ProjectName, kubernetes::KubernetesVersion};
use crate::project::error::{Refused, Result};
use crate::project::rules::{self, is_namespaced};
use crate::project::{
    Certificates, CopyrightHolder, Crypto, Error, Extra, Header, LAYOUT, License, PluginEdit,
    Project, Runtime, Settings, TEMPLATES,
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
    /// `--kubernetes`.
    pub kubernetes: Option<KubernetesVersion>,
    /// `--crypto`.
    pub crypto: Crypto,
    /// `--plugins`.
    pub plugins: Vec<PluginEdit>,
}

/// The flags of `edit`; an absent flag changes nothing.
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
    /// `--kubernetes`.
    pub kubernetes: Option<KubernetesVersion>,
    /// `--crypto`.
    pub crypto: Option<Crypto>,
    /// `--crd-description-length`.
    pub description_length: Option<u32>,
    /// `--plugins`.
    pub plugins: Vec<PluginEdit>,
}

impl Project {
    /// Makes a project without resources. Total, because parsing has checked its parts.
    pub fn init(options: InitOptions) -> Self {
        let license = match options.header {
            Some(_) => License::Custom,
            None => options.license,
        };
        let mut project = Self {
            domain: options.domain,
            name: options.name,
            namespaced: options.namespaced,
            settings: Settings {
                templates: TEMPLATES,
                license,
                owner: options.owner,
                header: options.header,
                runtime: options.runtime,
                kubernetes: options.kubernetes,
                crypto: options.crypto,
                ..Settings::default()
            },
            layout: vec![LAYOUT.to_owned()],
            resources: Default::default(),
            plugins: Extra::new(),
            extra: Extra::new(),
        };
        project.edit_plugins(&options.plugins);
        project
    }

    /// Changes settings.
    ///
    /// Errors: no change is given, or an entry contradicts it.
    pub fn edit(&self, edit: &EditSettings) -> Result<Self> {
        if *edit == EditSettings::default() {
            return Err(Refused::NoEdit.into());
        }
        let mut project = self.clone();
        let edit = edit.clone();
        if edit.namespaced == Some(true) {
            let mut entries = self.resources();
            let wide = entries.find(|(key, it)| it.is_watched() && !is_namespaced(key, it));
            if let Some((key, entry)) = wide {
                let (key, own) = (key.clone(), entry.api.is_some());
                return Err(Refused::WideEntry { key, own }.into());
            }
        }
        project.edit_plugins(&edit.plugins);
        project.namespaced = edit.namespaced.unwrap_or(self.namespaced);
        let settings = &mut project.settings;
        settings.owner = edit.owner.unwrap_or_else(|| self.settings.owner.clone());
        settings.runtime = edit
            .runtime
            .unwrap_or_else(|| self.settings.runtime.clone());
        settings.crypto = edit.crypto.unwrap_or(self.settings.crypto);
        settings.kubernetes = edit.kubernetes.or(self.settings.kubernetes);
        settings.description_length = edit.description_length.or(self.settings.description_length);
        if let Some(license) = edit.license {
            (settings.license, settings.header) = (license, None);
        }
        if let Some(header) = edit.header {
            (settings.license, settings.header) = (License::Custom, Some(header));
        }
        if let Some(wanted) = edit.certificates {
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
}

/// The refusal of another value for a field that cannot change: `domain` or `projectName`.
pub fn fixed(project: &Project, field: &'static str, wanted: &str) -> Error {
    Refused::Fixed {
        field,
        domain: project.domain.clone(),
        name: project.name.clone(),
        wanted: wanted.to_owned(),
    }
    .into()
}
