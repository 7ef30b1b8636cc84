//! Drift: types whose `#[kube(…)]` attribute contradicts `PROJECT`, and controllers that use a spoke. The files are the user's: the
//! CRD is generated from the types, and a controller keeps its version when another one becomes the hub.
//!
//! Invariant: lenient where rustc is strict: a value that is no literal is not compared.

mod spokes;

use super::snapshot::Snapshot;
use crate::{
    advice::NextStep,
    change::ChangeSet,
    error::Result,
    name::plural,
    project::ApiView,
    report::{Drift, DriftKind},
    syntax::{self, Item},
    template,
    tree::{Owner, RelPath, unix_line_ends},
};

/// The types whose attributes contradict `PROJECT`, and the controllers that use a spoke.
pub fn drifts(snapshot: &Snapshot<'_>) -> Result<Vec<Drift>> {
    let inputs = &snapshot.inputs;
    // A file as it was rendered from `PROJECT` cannot contradict it.
    let edited = |path: &RelPath| {
        let (bytes, file) = (inputs.on_disk(path)?, inputs.desired.get(path)?);
        (file.owner == Owner::User && **bytes != *file.content).then_some(bytes)
    };
    if !inputs.desired.keys().any(|path| edited(path).is_some()) {
        return Ok(Vec::new());
    }
    let project = &snapshot.request.project;
    let source = |path: &RelPath| {
        let text = edited(path).map(|bytes| unix_line_ends(bytes));
        text.map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let types = template::all_types(project)?;
    let of_types = types.iter().flat_map(|(path, api)| {
        source(path).map_or_else(Vec::new, |source| compare(path, &source, api))
    });
    let mut drifts: Vec<Drift> = of_types.collect();
    for controller in project.controllers() {
        let path: RelPath = controller.path().parse()?;
        drifts.extend(source(&path).map_or_else(Vec::new, |source| {
            spokes::of_controller(&path, &source, project)
        }));
    }
    Ok(drifts)
}

/// Remarks about drift, and the steps that mend it. Without `sync`, only about controllers that use a spoke, which erase fields.
/// With `sync`, also remarks about generated lines that files lack.
pub fn steps(snapshot: &Snapshot<'_>, set: &ChangeSet) -> Result<(Vec<String>, Vec<NextStep>)> {
    let is_sync = snapshot.request.is_sync;
    let lacking = is_sync.then(|| snapshot.lacking(set)).flatten();
    let mut remarks: Vec<String> = lacking.into_iter().collect();
    let mut steps: Vec<NextStep> = Vec::new();
    for drift in drifts(snapshot)? {
        if !is_sync && !drift.is_spoke() {
            continue;
        }
        remarks.push(drift.note());
        let step = NextStep::new(drift.purpose(), drift.help());
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    Ok((remarks, steps))
}

/// Compares the attribute in `source` with `PROJECT`. A file without one has nothing to compare; a missing part of it has the line
/// of the kind.
fn compare(path: &RelPath, source: &str, api: &ApiView<'_>) -> Vec<Drift> {
    let drift = |line, what| Drift {
        path: path.clone(),
        line,
        what,
    };
    let items = match syntax::items(source, api.key.kind.as_str()) {
        Ok(items) => items,
        Err(syntax::Error::Unparsable { line, column, why }) => {
            return vec![drift(line, DriftKind::Unparsable { column, why })];
        }
        Err(_) => return Vec::new(),
    };
    let all = |name: &'static str| items.iter().filter(move |item| item.name == name);
    let Some(kind_line) = all("kind").next().map(|item| item.line) else {
        return Vec::new();
    };
    let mut drifts = Vec::new();
    let mut compare = |attribute, line, found: String, expected: String, paste: String| {
        if found != expected {
            let what = DriftKind::Differs {
                attribute,
                found,
                expected,
                paste,
            };
            drifts.push(drift(line, what));
        }
    };
    let kind = api.key.kind.as_str();
    for (name, expected) in [
        ("group", api.key.api_group(false)),
        ("version", api.key.version.to_string()),
        ("kind", kind.to_owned()),
        ("plural", api.resource.plural.to_string()),
    ] {
        let paste = format!("{name} = \"{expected}\"");
        match all(name).next() {
            Some(item) => {
                if let Some(text) = item.text() {
                    compare(name, item.line, text.to_owned(), expected, paste);
                }
            }
            // Without the attribute, kube's derive guesses the plural.
            None if name == "plural" => {
                let guess = plural::by_kube(&kind.to_lowercase());
                compare(name, kind_line, guess, expected, paste);
            }
            None => {}
        }
    }
    let scope = |namespaced| if namespaced { "Namespaced" } else { "Cluster" }.to_owned();
    let flag = all("namespaced").next();
    if let Some(namespaced) = flag.map_or(Some(false), Item::is_set) {
        let line = flag.map_or(kind_line, |item| item.line);
        let expected = api.api.namespaced;
        let paste = if expected { "namespaced" } else { "" }.to_owned();
        compare("scope", line, scope(namespaced), scope(expected), paste);
    }
    let list = |mut names: Vec<String>| {
        names.sort_unstable();
        names.join(", ")
    };
    let names = all("shortname").map(|item| item.text().map(str::to_owned));
    if let Some(names) = names.collect::<Option<Vec<_>>>() {
        let line = all("shortname").next().map_or(kind_line, |item| item.line);
        let expected = &api.api.short_names;
        let paste = expected.iter().map(|it| format!("shortname = \"{it}\""));
        let paste = paste.collect::<Vec<_>>().join(", ");
        let expected = expected.iter().map(ToString::to_string).collect();
        compare("short names", line, list(names), list(expected), paste);
    }
    drifts.sort_by_key(|drift| drift.line);
    drifts
}

#[cfg(test)]
mod tests;
