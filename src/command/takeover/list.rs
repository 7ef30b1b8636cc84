//! What a takeover leaves to a person: settings that have another place.

use std::collections::{BTreeMap, BTreeSet};

use helm_render::values::Table;
use kubebuilder_port::MANAGER;
use serde_yaml::Value;

use super::{
    Takeover,
    manager::{self, Container, NAMESPACES, Namespaces},
    sdk::{CRDS, Names, WATCHES},
    watches::Watch,
};
use crate::{
    command::{
        checklist::{Item, Title},
        port::names::{KUSTOMIZATION, Names as OfOperator},
    },
    error::Result,
    plan::Rewritten,
    project::Key,
    reconcile::LastApplied,
    template::{self, Former, Part},
    tree::{self, Found, RelPath, Tree},
};

/// A kind that was taken over.
pub struct OfKind<'a> {
    pub key: Key,
    pub watch: &'a Watch,
    pub former: Former,
    /// What its CRD says, if there is one.
    pub names: Option<Names>,
    /// The values of its chart.
    pub defaults: Table,
}

impl OfKind<'_> {
    /// The environment variables that its values come from.
    fn variables(&self) -> BTreeSet<String> {
        let parts = self.former.values.iter().flat_map(|(_, parts)| parts);
        let variables = parts.filter_map(|part| match part {
            Part::Variable(name) => Some(name.clone()),
            Part::Text(_) => None,
        });
        variables.collect()
    }
}

pub type Kinds<'a> = Vec<OfKind<'a>>;

impl Takeover<'_> {
    /// Lists settings and steps, and takes the names and the environment of the operator over. `desired` is the tree of the project.
    pub fn list(&mut self, kinds: &Kinds<'_>, desired: &Tree) -> Result<()> {
        let container = self.sdk.container();
        for kind in kinds {
            self.unknown(kind.watch);
            self.crd(kind)?;
            self.variables(kind, &container);
            self.settings(kind);
        }
        let names = OfOperator::of(&self.project);
        let text = self.sdk.text(KUSTOMIZATION);
        let (names, odd) = match names.found(text.as_deref()) {
            Some(found) => found,
            None => (names, Vec::new()),
        };
        self.environment(kinds, &container, &names, desired)?;
        for sentence in container.arguments(self.sdk.is_ansible()) {
            self.setting(sentence);
        }
        if !self.sdk.is_ansible() {
            self.setting(
                "the former operator rolled a failed upgrade back: `.with_rollback()` on `CHART` in the controllers does that \
             here. Without it, a dry run precedes each upgrade, and one that fails all the same stays as far as it came"
                    .to_owned(),
            );
        }
        if let Some(path) = self.sdk.first(&["main.go", "cmd/main.go"]) {
            self.left_out(format!("the Go code of `{path}` is left out"));
        }
        for sentence in odd {
            self.setting(sentence);
        }
        let kustomization = names.kustomization(&self.project)?;
        self.named.created.extend(kustomization);
        self.steps(kinds, &names);
        Ok(())
    }

    pub(super) fn setting(&mut self, what: String) {
        self.checklist.add(Title::Settings, Item::of(what));
    }

    /// Reports fields that operator-sdk does not know: it ignores them.
    fn unknown(&mut self, watch: &Watch) {
        for field in watch.unknown() {
            let sentence = format!(
                "the field `{field}` of `{}` is left out: `{WATCHES}` has no such field",
                watch.title()
            );
            self.left_out(sentence);
        }
    }

    /// Lists what is not known of the CRD, and its other versions.
    fn crd(&mut self, kind: &OfKind<'_>) -> Result<()> {
        let OfKind { watch, names, .. } = kind;
        if watch.is_foreign() {
            return Ok(());
        }
        let title = watch.title();
        let Some(names) = names else {
            let plural = self
                .project
                .resource(&kind.key)
                .map(|it| it.plural.to_string());
            let plural = plural.unwrap_or_default();
            self.setting(format!(
                "no CRD of `{title}` in `{}`: compare the plural `{plural}`, the scope and the short names with `kubectl get crd`",
                CRDS[0]
            ));
            return Ok(());
        };
        let others = names.versions.iter().filter(|it| **it != watch.version);
        let others: Vec<String> = others.map(|it| format!("`{it}`")).collect();
        if !others.is_empty() {
            self.setting(format!(
                "the CRD of `{title}` also has {}, which this project does not have: write its objects in `{}` first, and remove the others \
                 from `status.storedVersions` of the CRD",
                others.join(", "),
                watch.version
            ));
        }
        let arguments = names.arguments(&watch.version);
        if !arguments.is_empty() {
            let path = template::types_of(&self.project, &kind.key)?;
            let item = Item {
                calls: arguments,
                ..Item::of(format!(
                    "columns and categories of the CRD of `{title}`: add to `#[kube(…)]` in `{path}`"
                ))
            };
            self.checklist.add(Title::Settings, item);
        }
        Ok(())
    }

    /// Lists the variables that values come from. One that is not set gives an empty text, as for operator-sdk.
    fn variables(&mut self, kind: &OfKind<'_>, container: &Container) {
        let title = kind.watch.title();
        let (known, missing): (Vec<String>, Vec<String>) = kind
            .variables()
            .into_iter()
            .partition(|name| container.variables.contains_key(name));
        if !missing.is_empty() {
            let what = format!(
                "values of `{title}` come from the environment: set {} in `{MANAGER}`",
                quoted(&missing)
            );
            self.remarks.push(what.clone());
            let from = match container.has_sources {
                true => "the former operator may get them from its `envFrom`",
                false => "the former manifests do not set them",
            };
            self.setting(format!(
                "{what}, and where `make test` runs; {from}. A variable without a value gives an empty text, as for operator-sdk, and no error"
            ));
        }
        if !known.is_empty() {
            self.setting(format!(
                "values of `{title}` come from {}, with the value of the former operator in `{MANAGER}`: set the same where `make test` and \
                 `make run` run",
                quoted(&known)
            ));
        }
    }

    /// Writes the environment of the former operator into the manifest of the manager, as far as this operator reads it.
    fn environment(
        &mut self,
        kinds: &Kinds<'_>,
        container: &Container,
        names: &OfOperator,
        desired: &Tree,
    ) -> Result<()> {
        let variables = match self.sdk.is_ansible() {
            // Tasks may read any of them.
            true => container.for_tasks(),
            false => kinds.iter().flat_map(OfKind::variables).collect(),
        };
        if self.sdk.is_ansible() && container.has_sources {
            self.setting(format!(
                "the former operator has an `envFrom`: add it to the manager in `{MANAGER}` if tasks read its variables"
            ));
        }
        let mut entries = container.entries(&variables);
        let namespaces = container.namespaces();
        let is_taken = match namespaces {
            Some(Namespaces::These(_)) => true,
            // That is what a namespaced project has.
            Some(Namespaces::Own) => !self.project.namespaced,
            Some(Namespaces::Unknown) | None => false,
        };
        if is_taken {
            entries.extend(container.entries(&[NAMESPACES.to_owned()].into()));
        }
        if let Some(namespaces) = namespaces {
            self.namespaces(&namespaces, kinds, names);
        }
        self.manifest(&entries, desired)
    }

    /// The manifest of the manager with these entries. Where there is one already, the entries are listed.
    fn manifest(&mut self, entries: &BTreeMap<String, Value>, desired: &Tree) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let path = RelPath::constant(MANAGER);
        let file = &desired[&path];
        let text = String::from_utf8_lossy(&file.content);
        let text = manager::with_entries(&text, entries);
        let is_free = tree::find(self.root, &path)? == Found::Absent;
        match text.filter(|_| is_free) {
            Some(text) => {
                let written = Rewritten {
                    before: None,
                    after: Some(text.into_bytes().into()),
                    // It counts as an edit of what is generated.
                    row: Some(LastApplied::of_file(&path, file)),
                };
                self.named.rewritten.insert(path, written);
            }
            None => {
                let item = Item {
                    lines: entries.values().flat_map(manager::lines).collect(),
                    ..Item::of(format!("add to `env` of the manager in `{MANAGER}`:"))
                };
                self.checklist.add(Title::Settings, item);
            }
        }
        Ok(())
    }

    /// Lists what the watched namespaces need.
    fn namespaces(&mut self, namespaces: &Namespaces, kinds: &Kinds<'_>, names: &OfOperator) {
        let OfOperator { namespace, prefix } = names;
        let is_wide =
            |kind: &OfKind<'_>| kind.names.as_ref().is_some_and(|names| !names.namespaced);
        let wide = kinds.iter().find(|kind| is_wide(kind));
        let watched: &[String] = match namespaces {
            Namespaces::These(all) => all,
            Namespaces::Own | Namespaces::Unknown => &[],
        };
        let shown = match namespaces {
            Namespaces::Own => "its own namespace".to_owned(),
            Namespaces::These(all) => quoted(all),
            Namespaces::Unknown => {
                return self.setting(format!(
                    "the former operator gets `{NAMESPACES}` from somewhere else, such as OLM: set it in `{MANAGER}`; without it, this \
                     operator watches {}",
                    match self.project.namespaced {
                        true => "its own namespace",
                        false => "the whole cluster",
                    }
                ));
            }
        };
        let grant = |target: &str| {
            format!(
                "`kubectl apply -n {target} -f config/rbac/role.yaml` and `kubectl create rolebinding {prefix}manager-rolebinding -n {target} \
                 --role=manager-role --serviceaccount={namespace}:{prefix}controller-manager`"
            )
        };
        let others = watched.iter().filter(|it| *it != namespace);
        let grants: Vec<String> = others.map(|it| grant(it)).collect();
        let needs = match grants.is_empty() {
            true => String::new(),
            false => format!(
                "; each other namespace needs a Role and a RoleBinding: {}",
                grants.join(", ")
            ),
        };
        let watches =
            format!("`{NAMESPACES}` in `{MANAGER}` names {shown}, as in the former operator");
        self.setting(match (self.project.namespaced, wide) {
            (true, _) if watched.is_empty() => return,
            (true, _) => format!("{watches}{needs}"),
            (false, Some(kind)) => format!(
                "{watches}. The role is a ClusterRole, because objects of `{}` are in no namespace",
                kind.watch.title()
            ),
            (false, None) => format!(
                "{watches}. The role is a ClusterRole; with a Role instead: `operator-forge edit --namespaced --on-conflict keep`, then `make manifests`{needs}"
            ),
        });
    }

    /// Lists the fields of an entry that have another place.
    fn settings(&mut self, kind: &OfKind<'_>) {
        let OfKind { watch, .. } = kind;
        let title = watch.title();
        if watch.is_ansible() {
            if watch.max_runner_artifacts.is_some() {
                self.setting(format!(
                    "`maxRunnerArtifacts` of `{title}` is left out: a run keeps nothing on disk"
                ));
            }
            return;
        }
        let shown = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => guarded_yaml::text(other).trim_end().to_owned(),
        };
        if let Some(period) = &watch.reconcile_period {
            self.setting(format!(
                "`reconcilePeriod: {}` of `{title}`: a change is seen at once, so drift needs no period; the annotation \
                 `helm.sdk.operatorframework.io/reconcile-period` of an object still sets one",
                shown(period)
            ));
        }
        if watch.watch_dependent_resources == Some(false) {
            self.setting(format!(
                "`watchDependentResources: false` of `{title}`: this operator always watches what it installed, and corrects it"
            ));
        }
        if let Some(option) = &watch.dry_run_option {
            self.setting(format!(
                "`dryRunOption: {option}` of `{title}`: here, `lookup` always asks the API server"
            ));
        }
        if let Some(number) = &watch.max_concurrent_reconciles {
            self.setting(format!(
                "`maxConcurrentReconciles: {}` of `{title}`: `--max-concurrent-reconciles` of the manager, or `.concurrency(…)` at the controller",
                shown(number)
            ));
        }
    }
}

fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
