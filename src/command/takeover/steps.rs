//! The steps in the cluster: how this operator takes the place of the former one, and how that one comes back.

use super::{
    Takeover,
    list::{Kinds, OfKind},
    sdk::{CRDS, WATCHES},
};
use crate::{
    command::{
        checklist::{Item, Title},
        port::names::Names,
    },
    engine::derived::CRDS as BASES,
    project::Key,
};

/// The role of the former operator.
const ROLE: &str = "config/rbac/role.yaml";

/// What projects have that OLM installs.
const OF_OLM: [&str; 3] = ["config/manifests", "bundle", "deploy/olm-catalog"];

/// The finalizer of operator-sdk.
const FORMER_FINALIZER: &str = "helm.sdk.operatorframework.io/uninstall-release";

/// The step that finds what stays of the former operator.
const COMPARE: &str = "look for what only the former operator has, such as its Service for metrics: compare `kubectl kustomize \
                       config/default` of both projects";

impl Takeover<'_> {
    /// Lists the steps in the cluster.
    pub fn steps(&mut self, kinds: &Kinds<'_>, names: &Names) {
        let Names { namespace, prefix } = names;
        let deployment = format!("{prefix}controller-manager");
        let stop = format!("kubectl delete deployment {deployment} -n {namespace}");
        self.step(self.compare());
        if self.sdk.first(&[ROLE]).is_some() {
            self.step(format!(
                "compare `{ROLE}` of both projects: a permission that you added there, and that does not follow from the {}, is \
                 `.needs::<…>(…)` at the controller",
                match self.sdk.is_ansible() {
                    true => "tasks",
                    false => "chart",
                }
            ));
        }
        self.step("`make test`, then `make docker-build docker-push IMG=…`");
        self.step(format!(
            "stop the former operator, and wait until its Pods are gone: `{stop}`. Never run `make undeploy` in its project: that deletes the \
             CRDs, with all objects and what they installed"
        ));
        if self.sdk.first(&OF_OLM).is_some() {
            self.step(
                "if OLM installed the former operator, it would create the Deployment again. Instead of the step before, delete its \
                 Subscription, and then its ClusterServiceVersion: `kubectl get \
                 subscriptions.operators.coreos.com,clusterserviceversions.operators.coreos.com -n NAMESPACE` has their names, and `kubectl \
                 delete` leaves the CRDs and the objects. Never run `operator-sdk cleanup`: that deletes the CRDs, too",
            );
        }
        self.step("`make deploy IMG=…`");
        match self.sdk.is_ansible() {
            true => self.of_ansible(kinds, &stop),
            false => self.of_helm(kinds, &stop),
        }
    }

    /// Lists the steps after the installation where roles or playbooks run.
    fn of_ansible(&mut self, kinds: &Kinds<'_>, stop: &str) {
        self.step(format!(
            "wait until a run has succeeded for every object, which is `Ready` then: {}. What it creates, reads or changes belongs to the object \
             as before, and gets the label `operator-ansible/controller`, by which it is watched",
            self.gets(kinds)
        ));
        self.step(COMPARE);
        self.step(format!(
            "to go back: `{stop}`, then `make deploy IMG=…` in the former project. The finalizers have the same names, so nothing has to be \
             taken from the objects"
        ));
    }

    /// Lists the steps after the installation where charts are installed.
    fn of_helm(&mut self, kinds: &Kinds<'_>, stop: &str) {
        self.step(format!(
            "wait until every object has a revision: {}",
            self.gets(kinds)
        ));
        self.step(
            "remove `.needs::<Secret>(…)` and its comment from the controllers, then `make manifests docker-build docker-push deploy IMG=…`",
        );
        self.step(
            "the Secrets `sh.helm.release.v1.…` stay until their object is deleted; nothing reads them any more",
        );
        self.step(COMPARE);
        let patches = kinds.iter().map(|kind| self.patch(kind));
        let patches: Vec<String> = patches.collect();
        self.step(format!(
            "to go back: `{stop}`, then `make deploy IMG=…` in the former project. It does not know the finalizer `operator-helm/uninstall` of \
             this operator: take it from each object, or none of them can be deleted; a command replaces all finalizers, so name those of others, too: {}",
            patches.join(", ")
        ));
    }

    fn step(&mut self, what: impl Into<String>) {
        self.checklist.add(Title::Takeover, Item::of(what));
    }

    /// The step that compares the CRDs.
    fn compare(&self) -> String {
        match self.sdk.first(&CRDS) {
            Some(crds) if self.sdk.is_ansible() => format!(
                "`make manifests`, then `operator-forge check --crds DIR`, where `DIR` is `{crds}` of the former project. Anything but other columns \
                 of `kubectl get`, such as another scope, another plural or a missing version, needs a look at `{WATCHES}`"
            ),
            Some(crds) => format!(
                "`make manifests`, then `operator-forge check --crds DIR`, where `DIR` is `{crds}` of the former project. It exits with 1: that \
                 CRD took any value, and each field has a type now. Expected are `type-changed`, `preserve-unknown-removed` and `nullable-added` \
                 in `.spec` and `.status`, and other columns of `kubectl get`. Compare the types in `.spec` with the objects that exist; \
                 `values.schema.json` of a chart corrects a type. Anything else, such as another scope, another plural or a missing version, \
                 needs a look at `{WATCHES}`"
            ),
            None => format!(
                "`make manifests`, then compare `{BASES}` with the CRDs in the cluster: the new schemas may refuse values that the former \
                 operator took"
            ),
        }
    }

    /// The resource of a kind, as kubectl takes it.
    fn resource(&self, key: &Key, group: &str) -> String {
        let resource = self.project.resource(key);
        let plural = resource.map(|it| it.plural.to_string());
        format!("{}.{group}", plural.unwrap_or_default())
    }

    /// The commands that list all objects of the kinds of the project. Those of a kind with a selector are not all that are in the cluster.
    fn gets(&self, kinds: &Kinds<'_>) -> String {
        let of = |kind: &OfKind<'_>| self.resource(&kind.key, &kind.watch.group);
        let own = || kinds.iter().filter(|kind| !kind.watch.is_foreign());
        let plain = own().filter(|kind| kind.former.selector.is_none());
        let plain: Vec<String> = plain.map(of).collect();
        let selected = own().filter_map(|kind| {
            let selector = kind.former.selector.as_ref()?;
            Some(format!(
                "`kubectl get {} --all-namespaces --selector '{selector}'`",
                of(kind)
            ))
        });
        let all = (!plain.is_empty())
            .then(|| format!("`kubectl get {} --all-namespaces`", plain.join(",")));
        let all: Vec<String> = all.into_iter().chain(selected).collect();
        all.join(", ")
    }

    /// The command that takes the finalizer of this operator from an object.
    fn patch(&self, kind: &OfKind<'_>) -> String {
        let resource = self.resource(&kind.key, &kind.watch.group);
        let is_namespaced = kind.names.as_ref().is_none_or(|it| it.namespaced);
        let namespace = match is_namespaced {
            true => " -n NAMESPACE",
            false => "",
        };
        format!(
            "`kubectl patch {resource} NAME{namespace} --type=merge -p \
             '{{\"metadata\":{{\"finalizers\":[\"{FORMER_FINALIZER}\"]}}}}'`"
        )
    }
}
