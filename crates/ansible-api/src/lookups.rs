//! The objects that expressions look up: `lookup('kubernetes.core.k8s', kind='Service', …)`.

use crate::{
    expression::arguments,
    found::Collected,
    place::Place,
    scope::{Found, Scope, UNKNOWN},
    tokens::tokens,
    verb::{Verb, needs},
    yaml::Node,
};

const PLUGINS: &[&str] = &["k8s", "kubernetes.core.k8s", "community.kubernetes.k8s"];

/// The longest call that is read.
const LONGEST: usize = 2_000;

/// Adds what a text looks up.
pub fn add(text: &str, path: &str, scope: &Scope<'_>, found: &mut Collected) {
    for (at, _) in text.match_indices('(') {
        let before = text[..at].trim_end();
        let is_call = ["lookup", "query", "q"].iter().any(|name| {
            let rest = before.strip_suffix(name);
            rest.is_some_and(|rest| !rest.ends_with(|it: char| it.is_alphanumeric() || it == '_'))
        });
        let from = &text[at..];
        if !is_call || !PLUGINS.iter().any(|plugin| names(&from[1..], plugin)) {
            continue;
        }
        let mut end = from.len().min(LONGEST);
        while !from.is_char_boundary(end) {
            end -= 1;
        }
        let line = text[..at].matches('\n').count() + 1;
        call(&from[..end], &Place::of_line(path, line), scope, found);
    }
}

/// Whether arguments begin with this plugin, in quotes, which may be escaped.
fn names(arguments: &str, plugin: &str) -> bool {
    let arguments = arguments.trim_start().trim_start_matches('\\');
    ['\'', '"'].iter().any(|quote| {
        let rest = arguments.strip_prefix(*quote);
        let rest = rest.and_then(|it| it.strip_prefix(plugin));
        rest.is_some_and(|it| it.trim_start_matches('\\').starts_with(*quote))
    })
}

fn call(text: &str, place: &Place, scope: &Scope<'_>, found: &mut Collected) {
    // In a text in double quotes, those of the expression are escaped.
    let tokens = tokens(&text.replace("\\\"", "\""));
    let mut kinds = Vec::new();
    let mut api_versions = vec!["v1".to_owned()];
    for (name, values) in arguments(&tokens, scope) {
        let texts = values
            .iter()
            .map(|it| it.as_text().map_or(UNKNOWN.to_string(), str::to_owned));
        match name.as_deref() {
            Some("kind") => kinds = texts.collect(),
            Some("api_version") => api_versions = texts.collect(),
            Some("resource_definition") => {
                for value in &values {
                    let Found::Node(node) = value else { continue };
                    let text = |key| node.get(key).and_then(Node::text).map(str::to_owned);
                    kinds.extend(text("kind"));
                    if let Some(api_version) = text("apiVersion") {
                        api_versions = vec![api_version];
                    }
                }
            }
            _ => {}
        }
    }
    let verbs = [Verb::Get, Verb::List];
    if kinds.is_empty() && !text.contains("cluster_info") {
        found.notes.insert(format!(
            "{place}: a lookup names no kind, so that no permission follows from it: {} grants it.",
            needs(&verbs)
        ));
    }
    for kind in &kinds {
        for api_version in &api_versions {
            found.add(api_version, kind, None, &verbs, place);
        }
    }
}
