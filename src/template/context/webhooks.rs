//! The variables of the templates for webhooks.

use serde_json::{Value, json};

use super::{Names, Subject, foreign_path, in_tests, types};
use crate::{
    name::rust,
    project::{Admission, ApiView, KindView, Project, WebhookView},
    syntax::Conversion,
    template::catalogue::Scope,
};

/// `server`: the webhook server of the project.
pub fn server(project: &Project) -> Value {
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
    json!({
        // Whether the project has webhooks.
        "exists": defaulting || validation || !converted.is_empty(),
        // Whether any webhook defaults objects, and whether any validates them.
        "defaulting": defaulting,
        "validation": validation,
        // The names of the CRDs with conversion.
        "converted": converted,
        // The source of the certificate: `self-managed`, `cert-manager` or `mounted`.
        "certificates": certificates.word(),
    })
}

/// The admission webhooks, in the order of `PROJECT`; of one entry, defaulting first.
pub fn webhooks(project: &Project, library: &str) -> Vec<Subject> {
    let views = project.webhooks().into_iter();
    views.flat_map(|view| webhook(view, library)).collect()
}

fn webhook(view: WebhookView<'_>, library: &str) -> Vec<Subject> {
    let WebhookView {
        key,
        resource,
        webhooks,
    } = view;
    let mut names = Names::of(key, resource);
    let path = foreign_path(key, resource).unwrap_or_else(|| key.type_path());
    let (type_name, import) = rust::import_beside_webhooks(&path);
    names.type_name = type_name;
    let core = || key.core_type();
    let sample = match &resource.api {
        Some(_) => Some("\"spec\": {},"),
        None if resource.core => core().and_then(|core| core.sample()),
        None => None,
    };
    let modules = [&*names.group_module, &names.version, &names.module].join("::");
    let subject = |(scope, file, webhook): (Scope, &str, &Option<Admission>)| {
        let more = json!({
            // The path of the type in the file's `use`, perhaps with another name for it; and in an integration test.
            "import": import,
            "test_import": in_tests(&import, library),
            // Whether the project defines the type.
            "own": resource.api.is_some(),
            // Whether its spec is the values of a chart.
            "chart": resource.chart.is_some(),
            // Whether its spec is the variables of a role or playbook.
            "ansible": resource.ansible.is_some(),
            // Whether another project defines the type.
            "external": resource.external.is_some(),
            // Whether only the namespaces with a label have the webhook.
            "opt_in": view.is_opt_in(),
            // Whether the type is known to be `Default` and `PartialEq`.
            "comparable": resource.external.is_none() && resource.source.is_none(),
            // The fields of a minimal object besides its metadata, if they are known.
            "sample": sample,
            // The path, from `src/webhooks.rs`, of the function that declares the webhook.
            "function": format!("{modules}::{file}::webhook"),
            // The URL path that `PROJECT` gives it.
            "path": webhook.as_ref()?.path.as_ref().map(ToString::to_string),
        });
        let is_tested = sample.is_some() || resource.external.is_some();
        Some(Subject {
            // The CRD of another project gives an object, too.
            without: (!is_tested).then_some("tests/"),
            ..Subject::new(scope, names.clone(), more)
        })
    };
    let files = [
        (Scope::Default, "default", &webhooks.defaulting),
        (Scope::Validate, "validate", &webhooks.validation),
    ];
    files.into_iter().filter_map(subject).collect()
}

/// The kinds with conversion, by group and kind: the path of the hub's type, and the other versions by age.
pub fn conversions(project: &Project) -> Vec<(String, Vec<Subject>)> {
    let conversion = |kind: KindView<'_>| {
        let hub = kind.apis.iter().find(|api| api.storage);
        let hub = hub.unwrap_or(&kind.apis[0]);
        let spokes = kind.apis.iter();
        let spokes = spokes.filter(|api| kind.spokes.contains(&api.key.version));
        let spokes = spokes.map(|api| spoke(api, hub));
        (hub.key.type_path(), spokes.collect())
    };
    let kinds = project.kinds().into_iter();
    let converted = kinds.filter(|kind| !kind.spokes.is_empty());
    converted.map(conversion).collect()
}

/// The longest version and type with which no line of a conversion is wider than rustfmt allows.
const FITTING: usize = "spoke".len() + crate::name::Kind::MAX;

/// The conversion between two versions, as their types are generated; `module` is its name of the hub's module.
pub fn generated(spoke: &ApiView<'_>, hub: &ApiView<'_>, module: &str) -> Option<Conversion> {
    let name = rust::type_name(&hub.key.kind);
    Conversion::between(
        &types::source(spoke, &name),
        &types::source(hub, &name),
        &name,
        module,
    )
}

fn spoke(api: &ApiView<'_>, hub: &ApiView<'_>) -> Subject {
    let names = Names::of(api.key, api.resource);
    let version = hub.key.version.to_string();
    let fits = names.version.len().max(version.len()) + names.type_name.len() <= FITTING;
    let (name, hub_name) = match fits {
        true => (names.version.as_str(), version.as_str()),
        false => ("spoke", "hub"),
    };
    let fields = generated(api, hub, hub_name).unwrap_or_else(Conversion::of_new_types);
    let more = json!({
        // The version of the hub.
        "hub": version,
        // The file's names for this version and for the hub: the versions, or `spoke` and `hub` where lines would be too wide.
        "name": name,
        "hub_name": hub_name,
        // Whether the hub is imported first.
        "hub_first": hub.key.version.spelled() < names.key.version.spelled(),
        // The conversion of each field, unless `template::conversion` replaces it.
        "fields": fields,
    });
    Subject::new(Scope::Convert, names, more)
}
