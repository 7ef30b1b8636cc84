//! The embedded templates, each with its scope and the owner of its file.
//!
//! Invariants: every template has a scope and an owner; a User template depends only on the key of its own entry, on settings
//! that never change, and on the definition of its types; no optional file is Tool.

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};

use crate::{
    project::Plugin,
    tree::{Digest, Owner},
};

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The files of `crates/operator-runtime` and of the crates that install charts, from the build script.
static RUNTIME: Dir<'_> = include_dir!("$OUT_DIR/runtime");

/// The digests of the copied templates, by name.
static DIGESTS: &[(&str, [u8; 32])] = &include!(concat!(env!("OUT_DIR"), "/digests.rs"));

/// The subjects that a template is rendered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every project.
    Project,
    /// Each version of a kind that the project defines, but those with a chart, a role or a playbook.
    Api,
    /// Each kind with a chart.
    ChartApi,
    /// Each kind with an Ansible role or playbook.
    AnsibleApi,
    /// Each version whose types need schemas beside them.
    Schemas,
    /// Each CRD that external types are generated from.
    ExternalCrd,
    /// Each controller but those with an image, a chart, a role or a playbook.
    Controller,
    /// Each controller that installs a chart.
    ChartController,
    /// Each controller that runs an Ansible role or playbook.
    AnsibleController,
    /// Each controller that was generated with an image.
    DeployImage,
    /// A project with charts.
    Charts,
    /// A project with Ansible roles or playbooks.
    Ansible,
    /// A project with webhooks.
    Server,
    /// A project with webhooks and certificates that the operator makes.
    SelfManaged,
    /// A project with webhooks and certificates that cert-manager makes.
    CertManager,
    /// Each defaulting webhook.
    Default,
    /// Each validating webhook.
    Validate,
    /// Each version that is converted to the hub of its kind.
    Convert,
    /// A project with a plugin.
    Plugin(Plugin),
    /// A project with a copy of the runtime: the files of `crates/operator-runtime` without its tests. With a plugin: the files that
    /// only its projects need.
    Runtime(Option<Plugin>),
    /// A project with charts, roles or playbooks and a copy of the runtime: the files of the crates that all of them need.
    RecipeRuntime,
    /// A project with charts and a copy of the runtime: the files of the crates that install charts.
    ChartRuntime,
    /// A project with Ansible roles or playbooks and a copy of the runtime: the files of the crates that run Ansible.
    AnsibleRuntime,
}

impl Scope {
    /// Whether it is a version of a kind, whose templates are the types and a sample.
    pub fn is_api(self) -> bool {
        matches!(self, Self::Api | Self::ChartApi | Self::AnsibleApi)
    }

    /// Whether it is a controller.
    pub fn is_controller(self) -> bool {
        matches!(
            self,
            Self::Controller | Self::ChartController | Self::AnsibleController | Self::DeployImage
        )
    }

    /// Whether it is a part of a kind with a chart, a role or a playbook.
    pub fn has_recipe(self) -> bool {
        matches!(
            self,
            Self::ChartApi | Self::ChartController | Self::AnsibleApi | Self::AnsibleController
        )
    }

    /// Whether its templates are the sources of crates.
    pub fn is_runtime(self) -> bool {
        matches!(
            self,
            Self::Runtime(_) | Self::RecipeRuntime | Self::ChartRuntime | Self::AnsibleRuntime
        )
    }
}

/// One embedded template.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Its subjects.
    pub scope: Scope,
    /// The path of the template: `api/src/api/{group}/{version}/{kind}.rs.tera`.
    pub name: &'static str,
    /// The path of its file, with variables: `src/api/{group}/{version}/{kind}.rs`.
    pub target: &'static str,
    /// Whether it is rendered; other templates are copied byte for byte.
    pub rendered: bool,
    /// The owner of its file.
    pub owner: Owner,
    /// Whether the build needs its file, because a Tool file names it.
    pub named: bool,
    /// Its targets in older template sets, the newest first.
    pub former: &'static [&'static str],
    /// The bytes of the template.
    pub content: &'static [u8],
    /// The digest of the bytes, unless it is rendered.
    pub digest: Option<Digest>,
}

/// A directory of templates: its scope, the owner of its files, and the files with another owner, by the start of their target.
type Row = (&'static str, Scope, Owner, &'static [(&'static str, Owner)]);

const TABLE: [Row; 26] = [
    ("project/", Scope::Project, Owner::Shared, &OF_PROJECT),
    ("api/", Scope::Api, Owner::User, &[]),
    ("chart/api/", Scope::ChartApi, Owner::User, &[]),
    (
        "chart/controller/",
        Scope::ChartController,
        Owner::User,
        &[],
    ),
    ("chart/project/", Scope::Charts, Owner::Shared, &[]),
    ("ansible/api/", Scope::AnsibleApi, Owner::User, &[]),
    (
        "ansible/controller/",
        Scope::AnsibleController,
        Owner::User,
        &[],
    ),
    ("ansible/project/", Scope::Ansible, Owner::Shared, &[]),
    ("schemas/", Scope::Schemas, Owner::User, &[]),
    ("external/", Scope::ExternalCrd, Owner::User, &[]),
    ("controller/", Scope::Controller, Owner::User, &[]),
    ("deploy-image/", Scope::DeployImage, Owner::User, &[]),
    ("webhook/server/", Scope::Server, Owner::Shared, &[]),
    (
        "webhook/self-managed/",
        Scope::SelfManaged,
        Owner::Shared,
        &[],
    ),
    (
        "webhook/cert-manager/",
        Scope::CertManager,
        Owner::Shared,
        &[("config/certmanager/kustomization.yaml", Owner::Tool)],
    ),
    ("webhook/default/", Scope::Default, Owner::User, &[]),
    ("webhook/validate/", Scope::Validate, Owner::User, &[]),
    ("webhook/convert/", Scope::Convert, Owner::User, &[]),
    (
        "plugin/grafana/",
        Scope::Plugin(Plugin::Grafana),
        Owner::Shared,
        &[("grafana/custom-metrics/config.yaml", Owner::User)],
    ),
    (
        "plugin/helm/",
        Scope::Plugin(Plugin::Helm),
        Owner::Shared,
        &OF_CHART,
    ),
    (
        "plugin/olm/",
        Scope::Plugin(Plugin::Olm),
        Owner::Shared,
        &[("config/manifests/", Owner::User)],
    ),
    (
        "plugin/release/",
        Scope::Plugin(Plugin::Release),
        Owner::Shared,
        &[],
    ),
    ("runtime/", Scope::Runtime(None), Owner::Tool, &[]),
    ("recipe-runtime/", Scope::RecipeRuntime, Owner::Tool, &[]),
    ("chart-runtime/", Scope::ChartRuntime, Owner::Tool, &[]),
    ("ansible-runtime/", Scope::AnsibleRuntime, Owner::Tool, &[]),
];

/// The modules of the runtime that a feature adds, which projects with a plugin have, by the start of their files.
const OF_RUNTIME: [(&str, Plugin); 2] = [
    ("vendor/operator-runtime/src/manifests/bundle", Plugin::Olm),
    ("vendor/operator-runtime/src/manifests/chart", Plugin::Helm),
];

/// The files of the chart that follow from nothing but the name of the project.
const OF_CHART: [(&str, Owner); 4] = [
    ("dist/chart/.helmignore", Owner::User),
    ("dist/chart/Chart.yaml", Owner::User),
    ("dist/chart/templates/NOTES.txt", Owner::User),
    ("dist/chart/templates/tests/", Owner::User),
];

const OF_PROJECT: [(&str, Owner); 17] = [
    ("src/api.rs", Owner::Tool),
    ("src/controllers.rs", Owner::Tool),
    ("src/webhooks.rs", Owner::Tool),
    ("src/bin/", Owner::Tool),
    ("examples/", Owner::Tool),
    ("tests/main.rs", Owner::Tool),
    ("tests/shared/", Owner::User),
    ("Cargo.lock", Owner::User),
    ("README.md", Owner::User),
    // `make manifests` replaces it.
    ("config/crd/", Owner::User),
    // People edit these two. They name the Tool files with everything that follows from the project.
    ("config/default/kustomization.yaml", Owner::User),
    ("config/rbac/kustomization.yaml", Owner::User),
    ("config/default/replacements.yaml", Owner::Tool),
    ("config/rbac/api_roles.yaml", Owner::Tool),
    ("config/samples/", Owner::Tool),
    ("config/network-policy/kustomization.yaml", Owner::Tool),
    ("config/webhook/", Owner::Tool),
];

/// The templates that moved, with their former targets. The user's files move with their edits.
const FORMER: [(&str, &[&str]); 0] = [];

/// All templates, by path.
pub fn all() -> &'static [Template] {
    static ALL: LazyLock<Vec<Template>> = LazyLock::new(|| {
        let mut templates = Vec::new();
        collect(&TEMPLATES, &mut templates);
        collect(&RUNTIME, &mut templates);
        templates.sort_by_key(|template| template.name);
        templates
    });
    &ALL
}

/// The templates of a scope.
pub fn of(scope: Scope) -> impl Iterator<Item = &'static Template> {
    all().iter().filter(move |template| template.scope == scope)
}

fn collect(directory: &'static Dir<'static>, templates: &mut Vec<Template>) {
    let files = directory.files();
    templates.extend(files.filter_map(|file| classify(file.path().to_str()?, file.contents())));
    for inner in directory.dirs() {
        collect(inner, templates);
    }
}

/// The template with this path; `None` if the table has no row for it.
fn classify(name: &'static str, content: &'static [u8]) -> Option<Template> {
    let (path, (_, scope, owner, others)) = TABLE
        .iter()
        .find_map(|row| Some((name.strip_prefix(row.0)?, row)))?;
    let target = path.strip_suffix(".tera").unwrap_or(path);
    let other = others.iter().find(|(start, _)| target.starts_with(start));
    let owner = other.map_or(*owner, |(_, owner)| *owner);
    let of_plugin = OF_RUNTIME.iter().find(|it| target.starts_with(it.0));
    let scope = match (scope, of_plugin) {
        (Scope::Runtime(_), Some((_, plugin))) => Scope::Runtime(Some(*plugin)),
        _ => *scope,
    };
    let is_code = target.ends_with(".rs") || target == "Cargo.toml";
    let named = owner != Owner::Tool && is_code;
    Some(Template {
        scope,
        name,
        target,
        rendered: target.len() < path.len(),
        owner,
        named,
        former: FORMER
            .iter()
            .find(|(moved, _)| *moved == name)
            .map_or(&[], |(_, former)| former),
        content,
        digest: DIGESTS
            .binary_search_by_key(&name, |(name, _)| *name)
            .ok()
            .map(|at| Digest::embedded(DIGESTS[at].1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::RelPath;

    #[test]
    fn every_file_is_a_template() {
        fn count(directory: &Dir<'_>) -> usize {
            directory.files().count() + directory.dirs().map(count).sum::<usize>()
        }
        assert_eq!(all().len(), count(&TEMPLATES) + count(&RUNTIME));
    }

    #[test]
    fn the_digests_of_the_build_script_are_right() {
        for template in all() {
            let path = template.target.parse::<RelPath>().unwrap();
            let digest = (!template.rendered).then(|| Digest::of(&path, template.content));
            assert_eq!(template.digest, digest, "{}", template.name);
        }
    }

    #[test]
    fn every_row_of_the_table_is_used() {
        for (_, scope, _, others) in TABLE {
            let first = |target: &str| others.iter().find(|(start, _)| target.starts_with(start));
            let used: Vec<_> = of(scope).filter_map(|it| first(it.target)).collect();
            assert!(of(scope).next().is_some(), "{scope:?}");
            assert!(others.iter().all(|row| used.contains(&row)), "{scope:?}");
        }
    }

    #[test]
    fn no_template_has_the_former_target_of_another() {
        let templates = all();
        for (name, former) in FORMER {
            assert!(
                templates.iter().any(|template| template.name == name),
                "{name}"
            );
            let gone = |target: &&str| templates.iter().all(|template| template.target != *target);
            assert!(former.iter().all(gone), "{former:?}");
        }
    }

    #[test]
    fn one_rust_version_everywhere() {
        let text = |target: &str| {
            let is = |template: &&Template| template.target == target;
            std::str::from_utf8(all().iter().find(is).unwrap().content).unwrap()
        };
        let image = text("Dockerfile").split_once(" rust:").unwrap().1;
        let version = image.split_once('-').unwrap().0;
        for workflow in [".github/workflows/ci.yml", ".github/workflows/release.yml"] {
            let wanted = format!("\n  RUST: \"{version}\"\n");
            assert!(text(workflow).contains(&wanted), "{workflow}");
        }
        let container = text(".devcontainer/devcontainer.json");
        assert!(container.contains(&format!("\"image\": \"rust:{version}-")));
    }

    /// Tests and printer columns must use the condition of the controller.
    #[test]
    fn only_controllers_name_their_conditions() {
        for template in all().iter().filter(|it| !it.scope.is_runtime()) {
            let text = std::str::from_utf8(template.content).unwrap();
            let names = |word| text.contains(word) || text.contains("controller.condition");
            let directories = [
                // A column shows the condition of the only controller that installs a chart, which is `Ready`.
                "chart/api/src/",
                "chart/controller/src/",
                "ansible/api/src/",
                "ansible/controller/src/",
                "controller/src/",
                "deploy-image/src/",
            ];
            let is_controller = directories.iter().any(|it| template.name.starts_with(it));
            let found = ["\"Ready", "=Ready"].into_iter().any(names);
            assert_eq!(found, is_controller, "{}", template.name);
        }
    }

    #[test]
    fn user_templates_know_only_their_own_entry() {
        for template in all()
            .iter()
            .filter(|template| template.owner == Owner::User)
        {
            let text = std::str::from_utf8(template.content).unwrap();
            for shared in [
                " in groups %}",
                " in kinds %}",
                " in controller_groups %}",
                " in webhooks %}",
                " in conversions %}",
                "server.",
                "project.namespaced",
                "api.storage",
            ] {
                assert!(
                    !text.contains(shared),
                    "{} depends on `{shared}`",
                    template.name
                );
            }
        }
    }
}
