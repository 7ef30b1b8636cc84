//! What a takeover leaves to a person: settings that have another place, and the steps in the cluster.

use std::collections::BTreeSet;

use serde_yaml::Value;

use super::{
    Takeover,
    sdk::{CRDS, Names, WATCHES},
    watches::Watch,
};
use crate::{
    command::{
        checklist::{Item, Title},
        port::names::{KUSTOMIZATION, Names as OfOperator},
    },
    engine::derived::CRDS as BASES,
    error::Result,
    project::Key,
    template::{Former, Part},
};

/// A kind that was taken over.
pub struct OfKind<'a> {
    pub key: Key,
    pub watch: &'a Watch,
    pub former: Former,
    /// What its CRD says, if there is one.
    pub names: Option<Names>,
}

pub type Kinds<'a> = Vec<OfKind<'a>>;

/// The role of the former operator.
const ROLE: &str = "config/rbac/role.yaml";

impl Takeover<'_> {
    /// Lists settings and steps, and takes the names of the operator over.
    pub fn list(&mut self, kinds: &Kinds<'_>) -> Result<()> {
        for kind in kinds {
            self.unknown(kind.watch);
            self.crd(kind);
            self.settings(kind);
        }
        for path in self.sdk.manifests_with("WATCH_NAMESPACE") {
            self.setting(match self.project.namespaced {
                true => format!("`{path}` sets `WATCH_NAMESPACE`, as `config/manager/manager.yaml` here does: compare the two"),
                false => format!(
                    "`{path}` sets `WATCH_NAMESPACE`, and this operator watches the whole cluster: `operator-forge edit --namespaced` makes it \
                     watch selected namespaces"
                ),
            });
        }
        if let Some(path) = self.sdk.first(&["main.go", "cmd/main.go"]) {
            self.left_out(format!("the Go code of `{path}` is left out"));
        }
        let names = OfOperator::of(&self.project);
        let text = self.sdk.text(KUSTOMIZATION);
        let (names, odd) = match names.found(text.as_deref()) {
            Some(found) => found,
            None => (names, Vec::new()),
        };
        for sentence in odd {
            self.setting(sentence);
        }
        let kustomization = names.kustomization(&self.project)?;
        self.named.created.extend(kustomization);
        self.steps(kinds, &names);
        Ok(())
    }

    fn setting(&mut self, what: String) {
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
    fn crd(&mut self, kind: &OfKind<'_>) {
        let OfKind { watch, names, .. } = kind;
        let title = watch.title();
        let Some(names) = names else {
            let plural = self
                .project
                .resource(&kind.key)
                .map(|it| it.plural.to_string());
            let plural = plural.unwrap_or_default();
            return self.setting(format!(
                "no CRD of `{title}` in `{}`: compare the plural `{plural}`, the scope and the short names with `kubectl get crd`",
                CRDS[0]
            ));
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
    }

    /// Lists the fields of an entry that have another place.
    fn settings(&mut self, kind: &OfKind<'_>) {
        let OfKind { watch, former, .. } = kind;
        let title = watch.title();
        let parts = former.values.iter().flat_map(|(_, parts)| parts);
        let variables = parts.filter_map(|part| match part {
            Part::Variable(name) => Some(format!("`{name}`")),
            Part::Text(_) => None,
        });
        let variables: BTreeSet<String> = variables.collect();
        if !variables.is_empty() {
            let names: Vec<String> = variables.into_iter().collect();
            let names = names.join(", ");
            self.remarks.push(format!(
                "values of `{title}` come from the environment: set {names} in `config/manager/manager.yaml`"
            ));
            self.setting(format!(
                "values of `{title}` come from the environment: set {names} in `config/manager/manager.yaml`, and where `make test` runs"
            ));
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

    /// Lists the steps in the cluster.
    fn steps(&mut self, kinds: &Kinds<'_>, names: &OfOperator) {
        let OfOperator { namespace, prefix } = names;
        let deployment = format!("{prefix}controller-manager");
        let compare = match self.sdk.first(&CRDS) {
            Some(crds) => format!(
                "`make manifests`, then `operator-forge check --crds DIR`, where `DIR` is `{crds}` of the former project: that CRD took any value, \
                 and each field of `.spec` in the report has a type now. Compare the types with the objects that exist; `values.schema.json` of a \
                 chart corrects a type"
            ),
            None => format!(
                "`make manifests`, then compare `{BASES}` with the CRDs in the cluster: the new schemas may refuse values that the former \
                 operator took"
            ),
        };
        let resources = kinds.iter().filter_map(|kind| {
            let resource = self.project.resource(&kind.key)?;
            Some(format!("{}.{}", resource.plural, kind.watch.group))
        });
        let resources: BTreeSet<String> = resources.collect();
        let resources: Vec<String> = resources.into_iter().collect();
        let resources = resources.join(",");
        let mut steps = vec![compare];
        if self.sdk.first(&[ROLE]).is_some() {
            steps.push(format!(
                "compare `{ROLE}` of both projects: a permission that you added there, and that does not follow from the chart, is \
                 `.needs::<…>(…)` at the controller"
            ));
        }
        steps.extend([
            "`make test`, then `make docker-build docker-push IMG=…`".to_owned(),
            format!(
                "stop the former operator, and wait until its Pods are gone: `kubectl delete deployment {deployment} -n {namespace}`. Never run \
                 `make undeploy` in its project: that deletes the CRDs, with all objects and what they installed"
            ),
            "`make deploy IMG=…`".to_owned(),
            format!(
                "wait until every object has a revision: `kubectl get {resources} --all-namespaces`. Then remove `.needs::<Secret>(…)` from the \
                 controllers"
            ),
            "the Secrets `sh.helm.release.v1.…` stay until their object is deleted; nothing reads them any more".to_owned(),
            "look for what only the former operator has, such as its Service for metrics: compare `kubectl kustomize config/default` of both \
             projects"
                .to_owned(),
            format!(
                "to go back: `kubectl delete deployment {deployment} -n {namespace}`, then `make deploy IMG=…` in the former project. Objects keep \
                 the finalizer `operator-helm/uninstall`, which has to be removed by hand then"
            ),
        ]);
        for step in steps {
            self.checklist.add(Title::Takeover, Item::of(step));
        }
    }
}
