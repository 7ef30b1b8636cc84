//! Whether the `#[kube(…)]` attribute of a type says what `PROJECT` says: the file is the user's, and the CRD comes from it.
//!
//! Invariant: pure, and lenient where rustc is strict: a value that is no literal is not judged.

use crate::{
    name::plural,
    project::ApiView,
    report::{Drift, DriftKind},
    syntax::{self, Item},
    tree::RelPath,
};

/// What an attribute should say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The API group as the API server knows it.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The resource name.
    pub plural: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl; their order means nothing.
    pub short_names: Vec<String>,
}

impl Expected {
    /// What `PROJECT` says of an API.
    pub fn of(api: &ApiView<'_>) -> Self {
        Self {
            group: api.key.api_group(false),
            version: api.key.version.to_string(),
            kind: api.key.kind.to_string(),
            plural: api.resource.plural.to_string(),
            namespaced: api.api.namespaced,
            short_names: api
                .api
                .short_names
                .iter()
                .map(ToString::to_string)
                .collect(),
        }
    }
}

/// Compares the attribute in `source` with what `PROJECT` says. A file without one has nothing to compare.
pub fn compare(path: &RelPath, source: &str, expected: &Expected) -> Vec<Drift> {
    let drift = |line, what| Drift {
        path: path.clone(),
        line,
        what,
    };
    let items = match syntax::items(source, &expected.kind) {
        Ok(items) => items,
        Err(syntax::Error::NoAttribute) => Vec::new(),
        Err(syntax::Error::Unparsable { line, column, why }) => {
            return vec![drift(line, DriftKind::Unparsable { column, why })];
        }
    };
    let Some(kind) = items.iter().find(|item| item.name == "kind") else {
        return Vec::new();
    };
    let mut drifts = differences(&items, kind.line, expected);
    drifts.sort_by_key(|(line, _)| *line);
    let drifts = drifts.into_iter();
    drifts.map(|(line, what)| drift(line, what)).collect()
}

/// The differences, each with its line; `line` is that of a missing attribute.
fn differences(items: &[Item], line: usize, expected: &Expected) -> Vec<(usize, DriftKind)> {
    let all = |name| items.iter().filter(move |item| item.name == name);
    let mut drifts = Vec::new();
    let mut tell = |attribute, line, found: String, expected: &str, paste: String| {
        if found != expected {
            let expected = expected.to_owned();
            drifts.push((
                line,
                DriftKind::Differs {
                    attribute,
                    found,
                    expected,
                    paste,
                },
            ));
        }
    };
    for (name, project) in [
        ("group", &expected.group),
        ("version", &expected.version),
        ("kind", &expected.kind),
        ("plural", &expected.plural),
    ] {
        let paste = format!("{name} = \"{project}\"");
        match all(name).next() {
            Some(item) => {
                if let Some(text) = item.text() {
                    tell(name, item.line, text.to_owned(), project, paste);
                }
            }
            // Without one, kube's derive takes its own guess.
            None if name == "plural" => {
                let guess = plural::by_kube(&expected.kind.to_lowercase());
                tell(name, line, guess, project, paste);
            }
            None => {}
        }
    }

    let scope = |namespaced| if namespaced { "Namespaced" } else { "Cluster" };
    let flag = all("namespaced").next();
    let paste = if expected.namespaced {
        "namespaced"
    } else {
        ""
    };
    if let Some(namespaced) = flag.map_or(Some(false), Item::is_set) {
        tell(
            "scope",
            flag.map_or(line, |item| item.line),
            scope(namespaced).to_owned(),
            scope(expected.namespaced),
            paste.to_owned(),
        );
    }

    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(", ")
    };
    let names: Option<Vec<&str>> = all("shortname").map(Item::text).collect();
    let pastes = expected.short_names.iter();
    let pastes: Vec<String> = pastes
        .map(|name| format!("shortname = \"{name}\""))
        .collect();
    if let Some(names) = names {
        tell(
            "short names",
            all("shortname").next().map_or(line, |item| item.line),
            sorted(names),
            &sorted(expected.short_names.iter().map(String::as_str).collect()),
            pastes.join(", "),
        );
    }
    drifts
}

#[cfg(test)]
mod tests;
