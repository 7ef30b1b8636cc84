//! `init` and `edit`: the settings of the project.

use crate::advice::{Advice, Script};
use crate::error::{Failure, Result};
use crate::name::{Domain, ProjectName, kubernetes::KubernetesVersion};
use crate::project::compare::why_fixed;
use crate::project::correction::init_beside;
use crate::project::rules::{self, is_namespaced};
use crate::project::{
    Certificates, CopyrightHolder, Crypto, Extra, Header, LAYOUT, License, PluginEdit, Project,
    Replicas, Runtime, Settings, TEMPLATES,
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
    /// `--shards`; 1 means none.
    pub shards: Option<u8>,
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
    /// `--shards`; 1 ends the sharing.
    pub shards: Option<u8>,
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
                shards: options.shards.and_then(|it| Replicas::try_from(it).ok()),
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
            return Err(Failure::usage("there is nothing to edit")
                .note("`edit` changes settings of the project, `edit api` those of one kind")
                .note("the flags are `--namespaced`, `--owner`, `--license`, `--license-file`, `--certificates`, `--runtime`, `--kubernetes`, `--crypto`, `--crd-description-length`, `--shards` and `--plugins`")
                .advise(Advice::Help));
        }
        let mut project = self.clone();
        let edit = edit.clone();
        if edit.namespaced == Some(true) {
            let mut entries = self.resources();
            let wide = entries.find(|(key, it)| it.is_watched() && !is_namespaced(key, it));
            if let Some((key, entry)) = wide {
                let failure = Failure::refused(format!(
                    "`{key}` is cluster-scoped, so the project cannot be namespaced"
                ))
                .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
                return Err(match &entry.api {
                    Some(_) => {
                        let edit = Script::forge("edit api").flags(&key.flags());
                        failure.advise(edit.code("--namespaced --force"))
                    }
                    None => failure
                        .note("delete it from the project first")
                        .advise(key.deleted()),
                });
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
        if let Some(shards) = edit.shards {
            // The command line allows 1 to 64.
            settings.shards = Replicas::try_from(shards).ok();
        }
        if let Some(license) = edit.license {
            (settings.license, settings.header) = (license, None);
        }
        if let Some(header) = edit.header {
            (settings.license, settings.header) = (License::Custom, Some(header));
        }
        if let Some(wanted) = edit.certificates {
            if self.webhooks().is_empty() {
                let create = Script::forge("create webhook");
                return Err(Failure::refused(
                    "the project has no webhooks, so it has no certificates",
                )
                .note("the first webhook adds the setting, and the last one removes it")
                .advise(match self.apis().first() {
                    Some(api) => create
                        .flags(&api.key.flags())
                        .code("--validation --certificates")
                        .arg(wanted.word()),
                    None => create.code("--help"),
                }));
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
pub fn fixed(project: &Project, field: &'static str, wanted: &str) -> Failure {
    let (domain, name) = (project.domain.as_str(), project.name.as_str());
    let (what, now, beside) = match field {
        "domain" => ("domain", domain, init_beside(wanted, wanted, name)),
        _ => ("name", name, init_beside(wanted, domain, wanted)),
    };
    Failure::refused(format!(
        "the {what} of a project cannot change from `{now}` to `{wanted}`"
    ))
    .note(format!(
        "{}, so another one would leave all of them behind",
        why_fixed(field)
    ))
    .note("a project of its own may have it")
    .advise(beside)
}
