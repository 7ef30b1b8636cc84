//! The operator's name and scope.

use std::collections::BTreeSet;

use crate::error::Error;

/// The constants of an operator, the same wherever it runs.
#[derive(Clone, Copy, Debug)]
pub struct ManagerOptions {
    /// Unique in a cluster, such as `project.example.com`. The name of the Lease, the field manager, and
    /// the reporting controller of events.
    pub name: &'static str,
    /// The scope of its permissions.
    pub scope: WatchScope,
}

/// The namespaces in which an operator may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchScope {
    /// The whole cluster, by a ClusterRole. `WATCH_NAMESPACE` may restrict the watches.
    Cluster,
    /// The namespaces of `WATCH_NAMESPACE`, by a Role in each.
    Namespaces,
}

/// The namespaces to watch, without duplicates; `None` means all.
pub(super) fn watched(
    scope: WatchScope,
    namespaces: &[String],
) -> Result<Vec<Option<String>>, Error> {
    let names = namespaces
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty());
    let names: BTreeSet<&str> = names.collect();
    match scope {
        WatchScope::Namespaces if names.is_empty() => Err(Error::NoNamespace),
        WatchScope::Cluster if names.is_empty() => Ok(vec![None]),
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
        let cases: [(WatchScope, &[&str], &str); 5] = [
            (WatchScope::Cluster, &[], "Some([None])"),
            (WatchScope::Cluster, &[""], "Some([None])"),
            (
                WatchScope::Cluster,
                &["b", " a", "b"],
                r#"Some([Some("a"), Some("b")])"#,
            ),
            (WatchScope::Namespaces, &["a"], r#"Some([Some("a")])"#),
            (WatchScope::Namespaces, &["", " "], "None"),
        ];
        for (scope, names, expected) in cases {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            let watched = format!("{:?}", watched(scope, &names).ok());
            assert_eq!(watched, expected, "{scope:?} {names:?}");
        }
    }
}
