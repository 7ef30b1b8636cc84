//! The names that the Go operator has in a cluster. The new one takes them over, so that the two are one operator: they hold the
//! same Lease, and never lead at once.

use guarded_yaml as yaml;
use kubebuilder_port::MANAGER;
use serde_yaml::Value;

use super::Port;
use crate::{
    command::checklist::{Item, Title},
    error::Result,
    name::LeaseName,
    project::Project,
    template,
    tree::{Content, RelPath},
};

/// The kustomization that gives every object its namespace and the prefix of its name.
pub const KUSTOMIZATION: &str = "config/default/kustomization.yaml";

/// The field manager of Go operators whose binary has the name that kubebuilder gives it, and of the argument in [`MANAGER`].
const FIELD_MANAGER: &str = "manager";

/// The first release of controller-runtime whose leader election holds a Lease, at least beside a ConfigMap.
const WITH_LEASE: (u64, u64) = (0, 7);

/// The names of an operator in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The namespace.
    pub namespace: String,
    /// What the names of its objects start with.
    pub prefix: String,
}

impl Names {
    /// Those of a new project.
    pub fn of(project: &Project) -> Self {
        Self {
            namespace: format!("{}-system", project.name),
            prefix: format!("{}-", project.name),
        }
    }

    /// The names that the kustomization `text` of a former project sets; these where it sets none. Also a sentence for each name that has
    /// no fixed value. `None` if the former project has no such kustomization.
    pub fn found(&self, text: Option<&str>) -> Option<(Self, Vec<String>)> {
        let value: Value = yaml::read(text?).ok()?;
        let field = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut names = self.clone();
        let mut odd = Vec::new();
        for (found, ours, what) in [
            (field("namespace"), &mut names.namespace, "namespace"),
            (field("namePrefix"), &mut names.prefix, "name prefix"),
        ] {
            match found {
                Some(found) if is_plain(&found) => *ours = found,
                Some(found) => odd.push(format!(
                    "the {what} of the former operator, `{found}`, has no fixed value: this project has `{ours}`"
                )),
                None => {}
            }
        }
        Some((names, odd))
    }

    /// The kustomization with these names, if they are not those of a new project.
    pub fn kustomization(&self, project: &Project) -> Result<Option<(RelPath, Content)>> {
        let own = Self::of(project);
        if *self == own {
            return Ok(None);
        }
        let path = RelPath::constant(KUSTOMIZATION);
        let tree = template::tree(project)?;
        let text = String::from_utf8_lossy(&tree[&path].content).into_owned();
        let text = text
            .replace(
                &format!("\nnamespace: {}\n", own.namespace),
                &format!("\nnamespace: {}\n", self.namespace),
            )
            .replace(
                &format!("\nnamePrefix: {}\n", own.prefix),
                &format!("\nnamePrefix: {}\n", self.prefix),
            );
        Ok(Some((path, text.into_bytes().into())))
    }
}

impl Port<'_> {
    /// Takes the names over, and lists how one operator takes the place of the other. Returns the files that
    /// have other names than those of a new project.
    pub fn names(&mut self) -> Result<Vec<(RelPath, Content)>> {
        let text = self.files.texts.get(KUSTOMIZATION);
        let found = Names::of(&self.project).found(text.map(String::as_str));
        let Some((names, odd)) = found else {
            return Ok(Vec::new());
        };
        for text in odd {
            self.checklist.add(Title::Switch, Item::of(text));
        }
        let lease = self.files.code.values().find_map(|code| code.lease.clone());
        let lease: Option<LeaseName> = lease.and_then(|lease| lease.parse().ok());
        let is_other = |lease: &LeaseName| lease.as_str() != self.project.operator();
        self.project.settings.lease = lease.clone().filter(is_other);
        self.switch(&names, lease.as_ref());
        Ok(names.kustomization(&self.project)?.into_iter().collect())
    }

    /// The field manager of the Go operator's writes: client-go takes the name of the binary.
    fn field_manager(&self) -> String {
        let name = self.files.binary();
        name.filter(|it| is_plain(it))
            .unwrap_or_else(|| FIELD_MANAGER.to_owned())
    }

    /// Lists the steps of the switch.
    fn switch(&mut self, names: &Names, lease: Option<&LeaseName>) {
        let Names { namespace, prefix } = names;
        let old = self.files.controller_runtime();
        let old = old.filter(|it| *it < WITH_LEASE);
        let has_webhooks = !self.project.webhooks().is_empty();
        let argument = match (self.field_manager(), &self.project.settings.lease) {
            (former, Some(_)) if former == FIELD_MANAGER => {
                format!("`{MANAGER}` has the argument `--former-field-manager={former}`")
            }
            (former, _) => {
                format!(
                    "give the manager in `{MANAGER}` the argument `--former-field-manager={former}`"
                )
            }
        };
        let mut add = |text: String| self.checklist.add(Title::Switch, Item::of(text));
        let of_lease = match lease {
            Some(lease) => format!(", and the Lease `{lease}`"),
            None => String::new(),
        };
        add(format!(
            "compare the names, which both operators have: the namespace `{namespace}`, the name prefix `{prefix}`{of_lease}"
        ));
        let deployment = format!("{prefix}controller-manager");
        let one_at_a_time = match (lease, old) {
            (Some(_), None) => {
                "the one that starts waits until the other one has released the Lease, or has not renewed it".to_owned()
            }
            (Some(_), Some((major, minor))) => format!(
                "the Go operator has controller-runtime {major}.{minor}, which holds a ConfigMap and no Lease: only this stops it from \
                 leading beside the new one"
            ),
            (None, _) => "no Lease of the Go operator was found: only this stops it from leading beside the new one".to_owned(),
        };
        add(format!(
            "stop the Go operator, and wait until its Pods are gone ({one_at_a_time}): `kubectl delete deployment {deployment} -n \
             {namespace}`. Objects stay; requests that a webhook with `failurePolicy: Fail` gets fail until the new operator serves it"
        ));
        add("start this operator: `make deploy IMG=…`".to_owned());
        add(format!(
            "{argument}: it gives this operator what the Go operator wrote, so that fields which it does not want are removed; keep it, unless \
             another operator with this field manager writes to the objects that this one applies"
        ));
        add(
            "look for objects that only the Go operator has, such as its Service for metrics and the roles for users: compare `kubectl \
             kustomize config/default` in both projects, move what refers to them, and delete them"
                .to_owned(),
        );
        if has_webhooks {
            add(format!(
                "look at the webhooks in `{prefix}mutating-webhook-configuration` and `{prefix}validating-webhook-configuration`: those of \
                 the Go operator have other names, and stay if something else than `kubectl apply` has put them there; delete them"
            ));
        }
        add(format!(
            "to go back, do the same the other way round: `kubectl delete deployment {deployment} -n {namespace}`, then `make deploy \
             IMG=…` in the Go project"
        ));
        let finalizers = self.files.code.iter();
        let finalizers =
            finalizers.flat_map(|(file, code)| code.finalizers.iter().map(move |it| (it, file)));
        let finalizers: Vec<_> = finalizers
            .map(|(it, file)| (it.clone(), file.clone()))
            .collect();
        for (finalizer, file) in finalizers {
            let text = format!(
                "objects have the finalizer `{finalizer}` (`{file}`): remove it under this name, or none of them can be deleted"
            );
            self.checklist.add(Title::Switch, Item::of(text));
        }
    }
}

/// Whether a value is a name, and no variable that a program replaces.
fn is_plain(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= 63 && !text.is_empty() && text.chars().all(is_of_name) && !text.starts_with('-')
}
