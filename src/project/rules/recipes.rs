//! Rules of kinds with a Helm chart, an Ansible role or a playbook: what else they can have, and the names that their files share.

use super::{Entry, clash};
use crate::name::rust::{self, Module};
use crate::name::{ChartPath, Recipe};
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
    if resource.helm_storage && resource.chart.is_none() {
        let broken = violation!(key => "`{key}` has `helmStorage`, but no chart",
            "it says how the releases of a chart are kept");
        return Some(broken.in_file("remove `helmStorage`"));
    }
    if let (Some(chart), Some(path)) = (&resource.chart, &resource.ansible) {
        let word = path.word();
        let broken = violation!(key => "`{key}` has both the chart `{chart}` and the {word} `{path}`",
            "its default controller runs one of the two");
        return Some(broken.in_file("remove one of `chart` and `ansible`"));
    }
    let recipe = resource.recipe()?;
    let word = recipe.word();
    let remove = || format!("remove `{}`", recipe.field());
    let is_chart = matches!(recipe, Recipe::Chart(_));
    let Some(api) = &resource.api else {
        if is_chart {
            let broken = violation!(key => "`{key}` has {recipe}, but no `api`",
                "the objects of an API that the project defines are releases of a chart");
            return Some(broken.in_file(remove()));
        }
        // The kind of another project, for whose objects Ansible runs.
        return (!resource.has_default_controller()).then(|| {
            violation!(key => "`{key}` has {recipe}, but no default controller", "the default controller runs it")
                .in_file(format!("controller: true, or {}", remove()))
        });
    };
    let kind = &key.kind;
    if rust::is_recipe_import(recipe, &rust::type_name(kind)) {
        let broken = violation!(key => "the kind `{kind}` cannot have a {word}",
            "the file with the types of such a kind imports a `{kind}`");
        return Some(broken.another_kind());
    }
    let has_finalizer = || resource.controllers_of(key).iter().any(|it| it.finalizer);
    let (field, what, why) = if resource.source.is_some() {
        let why = match is_chart {
            true => "its types are generated from one of the two",
            false => "its fields are whatever the tasks take",
        };
        ("crd", "a CRD", why)
    } else if resource.image().is_some() {
        let why = match is_chart {
            true => "its controller installs the chart",
            false => "its controller runs Ansible",
        };
        ("deployImage", "an image", why)
    } else if !api.fields.spec.is_empty() {
        let why = match is_chart {
            true => "its fields are the values of the chart",
            false => "its fields are whatever the tasks take; its types are yours to write",
        };
        ("fields", "fields", why)
    } else if !api.fields.status.is_empty() {
        let why = match is_chart {
            true => "its status is that of a release",
            false => "its status is that of a run, and whatever the tasks write with `k8s_status`",
        };
        ("statusFields", "fields of a status", why)
    } else if has_finalizer() {
        let why = match is_chart {
            true => {
                "a controller that installs a chart uninstalls it, too, with a finalizer of its own; another controller of the kind \
                 gets none"
            }
            false => {
                "`Automation::finalizer` in its controller says what runs before an object is deleted; another controller of the kind \
                 gets none"
            }
        };
        ("finalizers", "a finalizer", why)
    } else {
        return None;
    };
    let broken = violation!(key => "`{key}` has both {recipe} and {what}").note(why);
    let broken = broken.in_file(format!("remove `{field}`"));
    Some(match field {
        "crd" => broken,
        _ => broken.by_command(Remedy::Drop(vec![field])),
    })
}

/// A kind with a chart, a role or a playbook has one version.
fn versions(entries: &[Entry<'_>]) -> Option<Violation> {
    let recipe = |kind: &Key| {
        let mut of_kind = entries.iter().filter(|(key, _)| key.is_same_kind(kind));
        of_kind.find_map(|(_, resource)| resource.recipe())
    };
    let defined = entries
        .iter()
        .filter(|(_, resource)| resource.api.is_some());
    let with_recipe: Vec<_> = defined.filter(|(key, _)| recipe(key).is_some()).collect();
    let (first, it, _) = clash(
        &with_recipe,
        |(key, _)| key.full_kind(),
        |(key, _)| key.version,
    )?;
    let (kind, version, other) = (&it.0.kind, it.0.version, first.0.version);
    let recipe = recipe(it.0)?;
    let word = recipe.word();
    let broken =
        violation!(it.0 => "`{kind}` has a {word}, and the versions {other} and {version}");
    let broken = match recipe {
        Recipe::Chart(_) => broken
            .note("a kind with a chart has one version: its fields are the values of the chart, and no other version has the same")
            .note("optional values need no version; for another chart, take another kind"),
        Recipe::Ansible(_) => broken
            .note(format!("a kind with a {word} has one version: its fields are the variables of the tasks"))
            .note(format!("optional variables need no version; for another {word}, take another kind")),
    };
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
