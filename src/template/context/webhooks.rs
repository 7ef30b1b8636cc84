//! What templates see of webhooks.

use serde::Serialize;

use super::{Names, foreign_path, in_tests};
use crate::{
    name::{Version, kubernetes, rust},
    project::{Admission, KindView, Project, WebhookView},
    syntax::Conversion,
};

/// `server`: the webhook server of the project.
#[derive(Clone, Debug, Serialize)]
pub struct ServerContext {
    /// Whether the project has webhooks at all.
    pub exists: bool,
    /// Whether any of them defaults objects.
    pub defaulting: bool,
    /// Whether any of them validates objects.
    pub validation: bool,
    /// The names of the CRDs with conversion.
    pub converted: Vec<String>,
    /// Where the certificate comes from: `self-managed`, `cert-manager` or `mounted`.
    pub certificates: String,
}

/// An item of `webhook_modules` and `tested_webhook_modules`: a Rust module, in the order of the files.
#[derive(Clone, Debug, Serialize)]
pub struct ModuleContext {
    /// The module.
    pub module: String,
    /// The modules in it; none for a file.
    pub inner: Vec<ModuleContext>,
}

/// `webhook`: an entry with admission webhooks.
#[derive(Clone, Debug, Serialize)]
pub struct WebhookContext {
    /// The names.
    #[serde(flatten)]
    pub names: Names,
    /// The path of the type in the file's `use`, perhaps with another name for it.
    pub import: String,
    /// The same in an integration test.
    pub test_import: String,
    /// Whether this project defines the type.
    pub own: bool,
    /// Whether another project defines the type. Any other type is `Default` and `PartialEq`.
    pub external: bool,
    /// The fields of a smallest object beside its metadata, if they are known.
    pub sample: Option<String>,
    /// Whether it has an integration test: a smallest object is known, or follows from a CRD of another project.
    pub tested: bool,
    /// Whether it defaults objects.
    pub defaulting: bool,
    /// Whether it validates objects.
    pub validation: bool,
}

/// An item of `admissions`: one admission webhook.
#[derive(Clone, Debug, Serialize)]
pub struct AdmissionContext {
    /// The path, from `src/webhooks.rs`, of the function that declares it.
    pub function: String,
    /// The URL path that `PROJECT` gives it.
    pub path: Option<String>,
}

/// An item of `conversions`: a kind whose versions are converted to a hub.
#[derive(Clone, Debug, Serialize)]
pub struct ConversionContext {
    /// The full path of the hub's type.
    pub hub: String,
    /// The other versions, by age.
    pub spokes: Vec<SpokeContext>,
}

/// `spoke`: a version that is converted to the hub and back.
#[derive(Clone, Debug, Serialize)]
pub struct SpokeContext {
    /// The names.
    #[serde(flatten)]
    pub names: Names,
    /// The version of the hub.
    pub hub: String,
    /// The file's name for this version: the version, or `spoke` where that would make lines too long.
    pub name: String,
    /// The file's name for the hub: its version, or `hub`.
    pub hub_name: String,
    /// Whether the hub is imported first.
    pub hub_first: bool,
    /// How each field is converted; the fields of new types, unless a copy is asked for.
    pub fields: Conversion,
}

/// The server of the project's webhooks.
pub fn server(project: &Project) -> ServerContext {
    let views = project.webhooks();
    let any = |wanted: fn(&WebhookView<'_>) -> bool| views.iter().any(wanted);
    let defaulting = any(|view| view.webhooks.defaulting.is_some());
    let validation = any(|view| view.webhooks.validation.is_some());
    let hubs = views.iter().filter(|view| view.webhooks.is_hub());
    let mut converted: Vec<_> = hubs
        .map(|view| format!("{}.{}", view.resource.plural, view.key.api_group(false)))
        .collect();
    converted.sort();
    let certificates = project.settings.certificates.unwrap_or_default();
    ServerContext {
        exists: defaulting || validation || !converted.is_empty(),
        defaulting,
        validation,
        converted,
        certificates: certificates.word().to_owned(),
    }
}

/// The entries with admission webhooks, in the order of `PROJECT`.
pub fn webhooks(project: &Project, library: &str) -> Vec<WebhookContext> {
    let views = project.webhooks().into_iter();
    let admission = views.filter(|view| view.webhooks.is_asked());
    admission.map(|view| webhook(view, library)).collect()
}

fn webhook(view: WebhookView<'_>, library: &str) -> WebhookContext {
    let WebhookView {
        key,
        resource,
        webhooks,
    } = view;
    let mut names = Names::of(key, resource);
    let path = foreign_path(key, resource).unwrap_or_else(|| names.own_path());
    let (type_name, import) = rust::import_beside_webhooks(&path);
    names.type_name = type_name;
    let core = || kubernetes::find(key.group.as_str(), key.version, &key.kind);
    let sample = match &resource.api {
        Some(_) => Some("\"spec\": {},"),
        None if resource.core => core().and_then(|core| core.sample()),
        None => None,
    };
    WebhookContext {
        names,
        test_import: in_tests(&import, library),
        import,
        own: resource.api.is_some(),
        external: resource.external.is_some(),
        tested: sample.is_some() || resource.external.is_some(),
        sample: sample.map(str::to_owned),
        defaulting: webhooks.defaulting.is_some(),
        validation: webhooks.validation.is_some(),
    }
}

/// The admission webhooks in the order of `PROJECT`; of one entry, defaulting first.
pub fn admissions(project: &Project) -> Vec<AdmissionContext> {
    let of_entry = |view: WebhookView<'_>| {
        let names = Names::of(view.key, view.resource);
        let modules = [names.group_module, names.version, names.module].join("::");
        let admission = |webhook: &Option<Admission>, file: &str| {
            webhook.as_ref().map(|webhook| AdmissionContext {
                function: format!("{modules}::{file}::webhook"),
                path: webhook.path.as_ref().map(ToString::to_string),
            })
        };
        [
            admission(&view.webhooks.defaulting, "default"),
            admission(&view.webhooks.validation, "validate"),
        ]
    };
    let views = project.webhooks().into_iter();
    views.flat_map(of_entry).flatten().collect()
}

/// The kinds with conversion, by group and kind.
pub fn conversions(project: &Project) -> Vec<ConversionContext> {
    let kinds = project.kinds().into_iter();
    let converted = kinds.filter(|kind| !kind.spokes.is_empty());
    let conversion = |kind: KindView<'_>| {
        let hub = kind.apis.iter().find(|api| api.storage);
        let hub = hub.unwrap_or(&kind.apis[0]);
        let spokes = kind.apis.iter();
        let spokes = spokes.filter(|api| kind.spokes.contains(&api.key.version));
        ConversionContext {
            hub: Names::of(hub.key, hub.resource).own_path(),
            spokes: spokes
                .map(|api| spoke(Names::of(api.key, api.resource), kind.storage))
                .collect(),
        }
    };
    converted.map(conversion).collect()
}

/// The longest version and type with which every line of a conversion is as short as rustfmt wants it.
const FITTING: usize = "spoke".len() + crate::name::Kind::MAX;

fn spoke(names: Names, hub: Version) -> SpokeContext {
    let hub_first = hub.spelled() < names.key.version.spelled();
    let hub = hub.to_string();
    let fits = names.version.len().max(hub.len()) + names.type_name.len() <= FITTING;
    let (name, hub_name) = match fits {
        true => (names.version.clone(), hub.clone()),
        false => ("spoke".to_owned(), "hub".to_owned()),
    };
    SpokeContext {
        names,
        hub,
        name,
        hub_name,
        hub_first,
        fields: Conversion::of_new_types(),
    }
}

/// The modules of all webhooks, and of those with an integration test.
pub fn modules(
    webhooks: &[WebhookContext],
    conversions: &[ConversionContext],
) -> (Vec<ModuleContext>, Vec<ModuleContext>) {
    let (mut all, mut tested) = (Vec::new(), Vec::new());
    let mut add = |names: &Names, file: &str, is_tested: bool| {
        let (group, version) = (names.group_module.as_str(), names.version.as_str());
        let path = [group, version, &names.module, file].map(str::to_owned);
        if is_tested {
            tested.push(path.clone());
        }
        all.push(path);
    };
    for webhook in webhooks {
        if webhook.defaulting {
            add(&webhook.names, "default", webhook.tested);
        }
        if webhook.validation {
            add(&webhook.names, "validate", webhook.tested);
        }
    }
    for spoke in conversions.iter().flat_map(|it| &it.spokes) {
        add(&spoke.names, "convert", true);
    }
    (tree(all), tree(tested))
}

/// Paths of modules as a tree, in the order of the files.
fn tree(mut paths: Vec<[String; 4]>) -> Vec<ModuleContext> {
    paths.sort_by_cached_key(|path| path.each_ref().map(|module| module.replace("r#", "")));
    below(&paths, 0)
}

/// The names at `depth` of sorted paths, each with the tree below it.
fn below(paths: &[[String; 4]], depth: usize) -> Vec<ModuleContext> {
    if depth == 4 {
        return Vec::new();
    }
    paths
        .chunk_by(|a, b| a[depth] == b[depth])
        .map(|within| ModuleContext {
            module: within[0][depth].clone(),
            inner: below(within, depth + 1),
        })
        .collect()
}
