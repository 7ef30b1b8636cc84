//! The kinds of objects that a chart renders over all branches of its templates, and what else it asks of a cluster: what it looks up,
//! and what its roles grant.
//!
//! Nothing is asked of a cluster. The templates are read, and the chart is rendered again and again: with its own values, with everything
//! on and off, and with values that let one condition after the other hold. What no rendering reaches is taken from the text.

mod attempt;
mod calls;
mod document;
mod found;
mod reference;
mod roles;
mod scan;
mod scope;
mod search;
mod shape;
mod wishes;

use std::{collections::BTreeSet, thread};

use helm_render::{STACK, chart::Chart, values::Table, yaml};

use self::{found::Found, search::Search};
pub use self::{found::RenderedKind, roles::Grant};

/// What a chart asks of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kinds {
    /// The kinds of objects that it renders, sorted by group and kind.
    pub rendered: Vec<RenderedKind>,
    /// The kinds that its templates look up, sorted in the same way. That takes `get` and `list`.
    pub looked_up: Vec<RenderedKind>,
    /// Whether it has files in `crds/`: who installs them needs rights on CustomResourceDefinitions.
    pub has_crds: bool,
    /// What its roles grant. Who creates them has to hold these rights, or `escalate`. Each is there once for each role and template.
    pub granted: Vec<Grant>,
    /// The roles that its bindings refer to and that it does not bring, `Role` or `ClusterRole` and the name. It takes `bind` on each.
    pub bound: Vec<(String, String)>,
    /// What could not be found out, each in a sentence.
    pub notes: Vec<String>,
    /// How many renderings it took.
    pub renderings: usize,
}

/// Finds what a chart asks of a cluster. `samples` are values that are tried besides those of the chart and those in its files
/// `ci/*-values.yaml`.
///
/// The result is the same each time. A chart gets a number of renderings, and each of them has bounds.
pub fn of(chart: &Chart, samples: &[Table]) -> Kinds {
    let failed = |what: String| Kinds {
        notes: vec![what],
        ..Kinds::default()
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("chart-api".to_owned());
        let thread = thread
            .stack_size(STACK)
            .spawn_scoped(scope, || searched(chart, samples));
        match thread {
            Err(error) => failed(format!("There is no thread to search in: {error}.")),
            Ok(thread) => {
                let kinds = thread.join();
                kinds.unwrap_or_else(|_| {
                    failed("The search for kinds has a fault and ended.".to_owned())
                })
            }
        }
    })
}

fn searched(chart: &Chart, samples: &[Table]) -> Kinds {
    let mut search = Search::of(chart, samples);
    let crds = chart.crds();
    for crd in &crds {
        add_crds(&mut search.found, &crd.file.text());
    }
    search.run();
    let Search {
        mut found,
        renderer,
        scan,
        mut notes,
        ..
    } = search;
    for goal in &scan.goals {
        if let Some(kind) = &goal.kind
            && !found.has(&goal.template, kind)
        {
            found.add_unrendered(&goal.template, kind);
        }
    }
    let asked: BTreeSet<_> = renderer
        .looked_up()
        .union(&scan.looked_up)
        .cloned()
        .collect();
    let (rendered, looked_up) = (found.kinds(), found.looked_up(&asked));
    notes.extend(
        scan.objects_from_values
            .iter()
            .map(|template| objects_from_values(template)),
    );
    notes.extend(scan.unread);
    if let Some(error) = renderer.error() {
        notes.push(format!("The chart cannot be rendered: {error}"));
    }
    let failed = renderer.failed();
    notes.extend(
        failed
            .map(|(path, error)| format!("{path} fails with all values that were tried: {error}")),
    );
    notes.extend(found.notes());
    if renderer.is_spent() {
        notes.push("Not all branches were tried: the chart has too many.".to_owned());
    }
    Kinds {
        rendered,
        looked_up,
        has_crds: !crds.is_empty(),
        granted: found.roles.grants(),
        bound: found.roles.bound(),
        notes,
        renderings: renderer.renderings(),
    }
}

fn objects_from_values(template: &str) -> String {
    format!(
        "Values give whole objects to {template}: `.needs::<Kind>(&[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, \
         Verb::Delete])` at the controller lets it install those of a kind."
    )
}

fn add_crds(found: &mut Found, text: &str) {
    for document in helm_render::manifest::split(text) {
        if let Ok(crd) = yaml::read(document) {
            found.crd(&crd);
        }
    }
}

#[cfg(test)]
mod tests;
