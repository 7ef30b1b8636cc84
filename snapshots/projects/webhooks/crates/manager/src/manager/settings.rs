//! What an operator is called, and where it works.

use std::collections::BTreeSet;

use super::Error;

/// What stays the same wherever the operator runs.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Unique in a cluster, such as `project.example.com`.
    pub name: &'static str,
    /// Where its permissions reach.
    pub scope: Scope,
}

/// Where an operator may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the whole cluster, by a ClusterRole; `WATCH_NAMESPACE` may restrict what it watches.
    Cluster,
    /// In the namespaces of `WATCH_NAMESPACE`, by a Role in each.
    Namespace,
}

/// The namespaces to watch, each once; `None` is all.
pub(super) fn watched(scope: Scope, namespaces: &[String]) -> Result<Vec<Option<String>>, Error> {
    let names = namespaces
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty());
    let names: BTreeSet<&str> = names.collect();
    match scope {
        Scope::Namespace if names.is_empty() => Err(Error::NoNamespace),
        Scope::Cluster if names.is_empty() => Ok(vec![None]),
        _ => Ok(names
            .into_iter()
            .map(|name| Some(name.to_owned()))
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_to_watch() {
        let cases: [(Scope, &[&str], &str); 5] = [
            (Scope::Cluster, &[], "Some([None])"),
            (Scope::Cluster, &[""], "Some([None])"),
            (
                Scope::Cluster,
                &["b", " a", "b"],
                r#"Some([Some("a"), Some("b")])"#,
            ),
            (Scope::Namespace, &["a"], r#"Some([Some("a")])"#),
            (Scope::Namespace, &["", " "], "None"),
        ];
        for (scope, names, expected) in cases {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            let watched = format!("{:?}", watched(scope, &names).ok());
            assert_eq!(watched, expected, "{scope:?} {names:?}");
        }
    }
}
