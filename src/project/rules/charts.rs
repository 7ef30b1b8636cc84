//! Rules of kinds with a Helm chart: what else they can have, and the names that their files share.

use super::{Entry, clash};
use crate::name::ChartPath;
use crate::name::rust::{self, Module};
use crate::project::violation::{Remedy, Violation, violation};
use crate::project::{Key, Resource};

pub fn check(entries: &[Entry<'_>]) -> Option<Violation> {
    let mut alone = entries.iter();
    alone
        .find_map(|(key, resource)| of_entry(key, resource))
        .or_else(|| versions(entries))
        .or_else(|| functions(entries))
}

fn of_entry(key: &Key, resource: &Resource) -> Option<Violation> {
    let Some(chart) = &resource.chart else {
        let broken = resource.helm_storage.then(|| {
            violation!(key => "`{key}` has `helmStorage`, but no chart",
                "it says how the releases of a chart are kept")
        });
        return broken.map(|it| it.in_file("remove `helmStorage`"));
    };
    let Some(api) = &resource.api else {
        let broken = violation!(key => "`{key}` has the chart `{chart}`, but no `api`",
            "the objects of an API that the project defines are releases of a chart");
        return Some(broken.in_file("remove `chart`"));
    };
    let kind = &key.kind;
    if rust::is_chart_import(&rust::type_name(kind)) {
        let broken = violation!(key => "the kind `{kind}` cannot have a chart",
            "the file with the types of such a kind imports a `{kind}`");
        return Some(broken.another_kind());
    }
    let has_finalizer = || resource.controllers_of(key).iter().any(|it| it.finalizer);
    let (field, what, why) = if resource.source.is_some() {
        (
            "crd",
            "a CRD",
            "its types are generated from one of the two",
        )
    } else if resource.image().is_some() {
        let why = "its controller installs the chart";
        ("deployImage", "an image", why)
    } else if !api.fields.spec.is_empty() {
        ("fields", "fields", "its fields are the values of the chart")
    } else if !api.fields.status.is_empty() {
        let why = "its status is that of a release";
        ("statusFields", "fields of a status", why)
    } else if has_finalizer() {
        let why = "a controller that installs a chart uninstalls it, too, with a finalizer of its own; another controller of the \
                   kind gets none";
        ("finalizers", "a finalizer", why)
    } else {
        return None;
    };
    let broken = violation!(key => "`{key}` has both the chart `{chart}` and {what}").note(why);
    let broken = broken.in_file(format!("remove `{field}`"));
    Some(match field {
        "crd" => broken,
        _ => broken.by_command(Remedy::Drop(vec![field])),
    })
}

/// A kind with a chart has one version.
fn versions(entries: &[Entry<'_>]) -> Option<Violation> {
    let has_chart = |kind: &Key| {
        let mut of_kind = entries.iter().filter(|(key, _)| key.is_same_kind(kind));
        of_kind.any(|(_, resource)| resource.chart.is_some())
    };
    let defined = entries
        .iter()
        .filter(|(_, resource)| resource.api.is_some());
    let with_chart: Vec<_> = defined.filter(|(key, _)| has_chart(key)).collect();
    let (first, it, _) = clash(
        &with_chart,
        |(key, _)| key.full_kind(),
        |(key, _)| key.version,
    )?;
    let (kind, version, other) = (&it.0.kind, it.0.version, first.0.version);
    let broken = violation!(it.0 => "`{kind}` has a chart, and the versions {other} and {version}",
        "a kind with a chart has one version: its fields are the values of the chart, and no other version has the same",
        "optional values need no version; for another chart, take another kind");
    let broken = broken.by_command(Remedy::Inspect);
    Some(
        broken
            .in_file("remove one of the two versions")
            .beside(first.0),
    )
}

/// Two charts need two functions in `src/charts.rs`.
fn functions(entries: &[Entry<'_>]) -> Option<Violation> {
    let charts = entries.iter().filter_map(|(key, resource)| {
        let chart = resource.chart.as_ref()?;
        Some((*key, chart))
    });
    let charts: Vec<_> = charts.collect();
    let function = |(_, chart): &(&Key, &ChartPath)| Module::of_chart(chart).ident;
    let (first, it, function) = clash(&charts, function, |(_, chart)| *chart)?;
    let (other, chart) = (first.1, it.1);
    let broken = violation!(it.0 => "the charts `{other}` and `{chart}` would both be `charts::{function}()`",
        "each chart has a function in `src/charts.rs`, and the name of a chart is in its `Chart.yaml`");
    let broken = broken.by_command(Remedy::Inspect);
    Some(broken.in_file("rename one of the charts").beside(first.0))
}
