//! From the webhooks of a project to what templates see of them.

use std::collections::BTreeMap;

use super::{
    AdmissionContext, ConversionContext, ModuleContext, ServerContext, SpokeContext, WebhookContext,
};
use crate::name::rust::{self, Module, order};
use crate::name::{Version, kubernetes};
use crate::project::{Admission, KindView, Project, WebhookView};
use crate::syntax::Conversion;

/// The server of the project's webhooks.
pub fn server(project: &Project) -> ServerContext {
    let views = project.webhooks();
    let any = |asks: fn(&WebhookView<'_>) -> bool| views.iter().any(asks);
    let defaulting = any(|view| view.webhooks.defaulting.is_some());
    let validation = any(|view| view.webhooks.validation.is_some());
    let converted = |view: &&WebhookView<'_>| view.webhooks.is_hub();
    let crd =
        |view: &WebhookView<'_>| format!("{}.{}", view.resource.plural, view.key.api_group(false));
    let mut converted: Vec<_> = views.iter().filter(converted).map(crd).collect();
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

/// The entries that are defaulted or validated, in the order of `PROJECT`.
pub fn webhooks(project: &Project) -> Vec<WebhookContext> {
    let views = project.webhooks();
    let asked = views.iter().filter(|view| view.webhooks.is_asked());
    asked.map(webhook).collect()
}

fn webhook(view: &WebhookView<'_>) -> WebhookContext {
    let WebhookView {
        key,
        resource,
        webhooks,
    } = view;
    let group = Module::of_group(&key.group, &key.domain);
    let module = Module::of_kind(&key.kind);
    let core =
        kubernetes::find(key.group.as_str(), key.version, &key.kind).filter(|_| resource.core);
    let path = match (&resource.external, core) {
        (Some(path), _) => path.to_string(),
        (None, Some(core)) => core.path(),
        (None, None) => format!(
            "crate::api::{}::{}::{}",
            group.ident,
            key.version,
            rust::type_name(&key.kind)
        ),
    };
    let (type_name, import) = rust::import_beside_webhooks(&path);
    let sample = match &resource.api {
        Some(_) => Some("\"spec\": {},"),
        None => core.and_then(|core| core.sample()),
    };
    WebhookContext {
        group_file: group.file().to_owned(),
        group_module: group.ident,
        version: key.version.to_string(),
        kind: key.kind.to_string(),
        file: module.file().to_owned(),
        module: module.ident,
        api_group: key.api_group(resource.core),
        type_name,
        import,
        own: resource.api.is_some(),
        external: resource.external.is_some(),
        tested: sample.is_some() || resource.external.is_some(),
        sample: sample.map(str::to_owned),
        defaulting: webhooks.defaulting.is_some(),
        validation: webhooks.validation.is_some(),
    }
}

/// Each webhook that is asked, in the order of `PROJECT`, defaulting first.
pub fn admissions(project: &Project) -> Vec<AdmissionContext> {
    let of = |view: &WebhookView<'_>| {
        let group = Module::of_group(&view.key.group, &view.key.domain).ident;
        let (version, kind) = (view.key.version, Module::of_kind(&view.key.kind).ident);
        let admission = |asked: &Option<Admission>, file: &str| {
            let Admission { path } = asked.as_ref()?;
            Some(AdmissionContext {
                function: format!("{group}::{version}::{kind}::{file}::webhook"),
                path: path.as_ref().map(ToString::to_string),
            })
        };
        [
            admission(&view.webhooks.defaulting, "default"),
            admission(&view.webhooks.validation, "validate"),
        ]
    };
    let asked = project.webhooks();
    asked.iter().flat_map(of).flatten().collect()
}

/// The kinds with conversions, by group and kind.
pub fn conversions(project: &Project) -> Vec<ConversionContext> {
    let kinds = project.kinds();
    let converted = kinds.iter().filter(|kind| !kind.spokes.is_empty());
    converted.map(conversion).collect()
}

fn conversion(kind: &KindView<'_>) -> ConversionContext {
    let key = kind.apis[0].key;
    let group = Module::of_group(&key.group, &key.domain);
    let type_name = rust::type_name(&key.kind);
    ConversionContext {
        hub: format!("crate::api::{}::{}::{type_name}", group.ident, kind.storage),
        spokes: kind
            .spokes
            .iter()
            .map(|spoke| self::spoke(kind, *spoke))
            .collect(),
    }
}

/// A version of this length with a type leaves every line of a conversion as short as rustfmt wants it.
const FITTING: usize = "spoke".len() + crate::name::Kind::MAX;

fn spoke(kind: &KindView<'_>, version: Version) -> SpokeContext {
    let key = kind.apis[0].key;
    let group = Module::of_group(&key.group, &key.domain);
    let module = Module::of_kind(&key.kind);
    let type_name = rust::type_name(&key.kind);
    let (spoke, hub) = (version.to_string(), kind.storage.to_string());
    let fits = spoke.len().max(hub.len()) + type_name.len() <= FITTING;
    let (name, hub_name) = match fits {
        true => (spoke.clone(), hub.clone()),
        false => ("spoke".to_owned(), "hub".to_owned()),
    };
    SpokeContext {
        group_file: group.file().to_owned(),
        group_module: group.ident,
        hub_first: order::imports(&hub, &spoke).is_lt(),
        version: spoke,
        hub,
        name,
        hub_name,
        kind: key.kind.to_string(),
        file: module.file().to_owned(),
        module: module.ident,
        api_group: key.api_group(false),
        type_name,
        fields: Conversion::of_new_types(),
    }
}

/// The modules of all files with webhooks, and of all files with their tests.
pub fn modules(
    webhooks: &[WebhookContext],
    conversions: &[ConversionContext],
) -> (Vec<ModuleContext>, Vec<ModuleContext>) {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut tested: Vec<Vec<&str>> = Vec::new();
    for webhook in webhooks {
        let files = [
            webhook.defaulting.then_some("default"),
            webhook.validation.then_some("validate"),
        ];
        for file in files.into_iter().flatten() {
            let path = vec![
                webhook.group_module.as_str(),
                &webhook.version,
                &webhook.module,
                file,
            ];
            if webhook.tested {
                tested.push(path.clone());
            }
            all.push(path);
        }
    }
    for spoke in conversions.iter().flat_map(|conversion| &conversion.spokes) {
        let path = vec![
            spoke.group_module.as_str(),
            &spoke.version,
            &spoke.module,
            "convert",
        ];
        tested.push(path.clone());
        all.push(path);
    }
    (tree(&all), tree(&tested))
}

/// Paths as a tree.
fn tree(paths: &[Vec<&str>]) -> Vec<ModuleContext> {
    let mut modules: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for path in paths {
        if let [first, rest @ ..] = &path[..] {
            modules.entry(first).or_default().push(rest.to_vec());
        }
    }
    let module = |(module, inner): (&str, Vec<Vec<&str>>)| ModuleContext {
        module: module.to_owned(),
        inner: tree(&inner),
    };
    let mut tree: Vec<_> = modules.into_iter().map(module).collect();
    tree.sort_by(|a, b| order::modules(&a.module, &b.module));
    tree
}
