//! Plugins: optional parts of a project, like a Helm chart.

use std::{collections::BTreeSet, str::FromStr};

use serde_yaml::{Mapping, Value};

use super::{LAYOUT, Project};
use crate::name::Invalid;

/// A plugin, which adds files to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plugin {
    /// Dashboards and alerts.
    Grafana,
    /// A Helm chart.
    Helm,
    /// A bundle for the Operator Lifecycle Manager, and a catalog with it.
    Olm,
    /// A workflow that releases the image and the files that install it.
    Release,
}

/// A word of `--plugins`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginEdit {
    /// `helm`
    Add(Plugin),
    /// `-helm`
    Remove(Plugin),
}

impl Plugin {
    /// All plugins, by name.
    pub const ALL: [Self; 4] = [Self::Grafana, Self::Helm, Self::Olm, Self::Release];

    /// The name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Grafana => "grafana",
            Self::Helm => "helm",
            Self::Olm => "olm",
            Self::Release => "release",
        }
    }

    /// What it adds to a project.
    pub fn what(self) -> &'static str {
        match self {
            Self::Grafana => "Dashboards and alerts",
            Self::Helm => "A Helm chart",
            Self::Olm => "A bundle for the Operator Lifecycle Manager",
            Self::Release => "A workflow that releases the operator",
        }
    }

    /// The feature of operator-runtime with which the `manifests` binary writes what it adds.
    pub fn feature(self) -> Option<&'static str> {
        match self {
            Self::Helm => Some("chart"),
            Self::Olm => Some("bundle"),
            Self::Grafana | Self::Release => None,
        }
    }

    /// The key under `plugins` in `PROJECT`.
    fn key(self) -> Value {
        format!("{}.operator-forge/v1", self.word()).into()
    }
}

/// The start of the key of operator-sdk's plugin for operators that install charts. Ours packages an operator as a chart.
const OF_HELM_OPERATORS: &str = "helm.sdk.operatorframework.io";

impl FromStr for Plugin {
    type Err = Invalid;

    /// Parses a name, alone or as part of a plugin key, ours or kubebuilder's: `helm`, `helm/v2-alpha`,
    /// `helm.kubebuilder.io/v2-alpha`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let name = text.split(['.', '/']).next().unwrap_or_default();
        let is_operator = text.starts_with(OF_HELM_OPERATORS);
        let found = Self::ALL.into_iter().find(|it| it.word() == name);
        found.filter(|_| !is_operator).ok_or_else(|| Invalid {
            what: "plugin",
            found: text.to_owned(),
            fault: match is_operator {
                true => "it is operator-sdk's for operators that install charts, and `create api --helm-chart` makes those".to_owned(),
                false => "there is no such plugin".to_owned(),
            },
            rule: "it is `grafana`, `helm`, `olm` or `release`",
            suggestion: None,
        })
    }
}

impl PluginEdit {
    /// The changes that the words of `--plugins` ask for; the layout, which every project has, is none.
    pub fn parse(words: &[String]) -> Result<Vec<Self>, Invalid> {
        let is_layout = |word: &&String| *word != LAYOUT;
        let words = words.iter().filter(is_layout);
        words
            .map(|word| match word.strip_prefix('-') {
                Some(word) => Ok(Self::Remove(word.parse()?)),
                None => Ok(Self::Add(word.parse()?)),
            })
            .collect()
    }
}

impl Project {
    /// The plugins of the project.
    pub fn plugins(&self) -> BTreeSet<Plugin> {
        let all = Plugin::ALL.into_iter();
        all.filter(|it| self.plugins.contains_key(it.key()))
            .collect()
    }

    /// Adds and removes plugins. A plugin that is there keeps its settings in `PROJECT`.
    pub(super) fn edit_plugins(&mut self, edits: &[PluginEdit]) {
        for edit in edits {
            match edit {
                PluginEdit::Add(plugin) => {
                    let settings = self.plugins.entry(plugin.key());
                    settings.or_insert_with(|| Mapping::new().into());
                }
                PluginEdit::Remove(plugin) => {
                    self.plugins.remove(plugin.key());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::testing::empty;
    use crate::project::{EditSettings, Project};

    fn edit(project: &Project, words: &str) -> Project {
        let words: Vec<String> = words.split(',').map(str::to_owned).collect();
        let plugins = PluginEdit::parse(&words).unwrap();
        let edit = EditSettings {
            plugins,
            ..EditSettings::default()
        };
        project.edit(&edit).unwrap()
    }

    #[test]
    fn a_removed_plugin_leaves_nothing() {
        let before = empty("example.com", false);
        let both = edit(&before, "olm,helm");
        assert_eq!(both.plugins(), [Plugin::Helm, Plugin::Olm].into());
        let text = both.write();
        assert!(
            text.contains("  helm.operator-forge/v1: {}\n  olm.operator-forge/v1: {}\n"),
            "{text}"
        );
        assert_eq!(Project::read(text.as_bytes()).unwrap(), both);
        assert_eq!(edit(&both, "-helm,-olm"), before);
        assert_eq!(edit(&both, "helm,-grafana"), both);
    }

    #[test]
    fn settings_that_this_release_does_not_know_stay() {
        let text = edit(&empty("example.com", false), "helm").write();
        let text = text.replace("/v1: {}", "/v1:\n    later: true");
        let project = Project::read(text.as_bytes()).unwrap();
        assert_eq!(edit(&project, "helm,olm,-olm").write(), text);
    }

    #[test]
    fn kubebuilders_keys_name_the_same_plugins() {
        for word in [
            "helm",
            "helm/v2-alpha",
            "helm.kubebuilder.io/v2-alpha",
            "helm.operator-forge/v1",
        ] {
            assert_eq!(word.parse(), Ok(Plugin::Helm));
        }
        for word in ["", "helmet", "go/v4", "helm.sdk.operatorframework.io/v1"] {
            assert!(word.parse::<Plugin>().is_err(), "{word}");
        }
    }
}
