//! What users want, and what is in the cluster.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cluster::Cluster;

/// The finalizer that the Go operator gives its objects.
pub const FINALIZER: &str = "oncall.example.com/board";

/// Where the users have their Rotas. The board is in the first one.
const NAMESPACES: [&str; 2] = ["default", "night"];

/// A Rota as a user wants it.
pub struct Rota {
    /// `namespace/name`.
    pub name: String,
    members: Vec<String>,
    shift: String,
    replicas: u8,
}

impl Rota {
    pub fn new(name: &str, members: &[&str], shift: &str, replicas: u8) -> Self {
        Self {
            name: name.to_owned(),
            members: members.iter().map(|it| (*it).to_owned()).collect(),
            shift: shift.to_owned(),
            replicas,
        }
    }

    pub fn manifest(&self) -> String {
        let (namespace, name) = self.name.split_once('/').unwrap();
        let manifest = json!({
            "apiVersion": "oncall.example.com/v1",
            "kind": "Rota",
            "metadata": { "name": name, "namespace": namespace },
            "spec": { "members": self.members, "shift": self.shift, "replicas": self.replicas },
        });
        manifest.to_string()
    }

    /// What both operators make of it: the paths of values, in the objects.
    fn expected(&self) -> BTreeMap<String, Vec<(&'static str, Value)>> {
        let (namespace, name) = self.name.split_once('/').unwrap();
        let next = self.members.iter().cycle().skip(1);
        let turns = self.members.iter().zip(next);
        let turns = turns.map(|(it, next)| (it.clone(), format!("hands over to {next}")));
        let shift = ("shift".to_owned(), self.shift.clone());
        let turns: BTreeMap<_, _> = turns.chain([shift]).collect();
        let on_duty = self.members.first();
        let mut card = BTreeMap::from([("rota", &self.name)]);
        card.extend(on_duty.map(|it| ("onDuty", it)));
        let (staffed, reason) = match on_duty {
            Some(_) => ("True", "OnDuty"),
            None => ("False", "NoMembers"),
        };
        BTreeMap::from([
            (
                format!("rotas {}", self.name),
                vec![
                    ("/metadata/finalizers", json!([FINALIZER])),
                    ("/status/onDuty", json!(on_duty)),
                    ("/status/conditions/0/type", json!("Staffed")),
                    ("/status/conditions/0/status", json!(staffed)),
                    ("/status/conditions/0/reason", json!(reason)),
                    ("/status/conditions/1", Value::Null),
                ],
            ),
            (
                format!("configmaps {namespace}/{name}-turns"),
                vec![("/data", json!(turns))],
            ),
            (
                format!("configmaps default/card-{namespace}-{name}"),
                vec![("/data", json!(card))],
            ),
            (
                format!("deployments {namespace}/{name}-page"),
                vec![("/spec/replicas", json!(self.replicas))],
            ),
        ])
    }
}

/// The objects of the users and of the operators, without `managedFields`, by type and name.
#[derive(Debug)]
pub struct Snapshot(BTreeMap<String, Value>);

impl Snapshot {
    pub fn take(cluster: &Cluster) -> Self {
        let list = cluster.kubectl("get rotas,configmaps,deployments --all-namespaces -o json");
        let mut list: Value = serde_json::from_str(&list).unwrap();
        let mut objects = BTreeMap::new();
        for object in list["items"].as_array_mut().unwrap().drain(..) {
            let text = |path| object.pointer(path).unwrap().as_str().unwrap();
            let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
            let resource = format!("{}s", text("/kind").to_lowercase());
            // Kubernetes puts its certificate into each namespace.
            if NAMESPACES.contains(&namespace) && name != "kube-root-ca.crt" {
                objects.insert(format!("{resource} {namespace}/{name}"), object);
            }
        }
        Self(objects)
    }

    /// What is not yet as the Rotas say.
    pub fn difference(&self, rotas: &[Rota]) -> Option<String> {
        let mut expected = BTreeMap::new();
        for rota in rotas {
            expected.extend(rota.expected());
            let generation = |path| self.0.get(&format!("rotas {}", rota.name))?.pointer(path);
            let [newest, observed] = [
                "/metadata/generation",
                "/status/conditions/0/observedGeneration",
            ]
            .map(generation);
            if newest != observed {
                return Some(format!(
                    "{}: generation {observed:?} of {newest:?}",
                    rota.name
                ));
            }
        }
        let names = |all: Vec<&String>| -> BTreeSet<String> { all.into_iter().cloned().collect() };
        let (found, wanted) = (
            names(self.0.keys().collect()),
            names(expected.keys().collect()),
        );
        if found != wanted {
            let differing: Vec<_> = found.symmetric_difference(&wanted).collect();
            return Some(format!("missing or left: {differing:?}"));
        }
        let values = expected
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |it| (name, it)));
        values
            .map(|(name, (path, value))| {
                (
                    name,
                    path,
                    value,
                    self.0[name].pointer(path).unwrap_or(&Value::Null),
                )
            })
            .find(|(_, _, wanted, found)| wanted != found)
            .map(|(name, path, wanted, found)| format!("{name}: {path} is {found}, not {wanted}"))
    }

    /// Asserts that nothing differs but the `resourceVersion` of `written` objects.
    #[track_caller]
    pub fn assert_kept(&self, before: &Self, written: &BTreeSet<&str>) {
        let mut kept = self.0.clone();
        for (name, object) in &mut kept {
            let before = before
                .0
                .get(name)
                .map(|it| &it["metadata"]["resourceVersion"]);
            if written.contains(name.as_str()) {
                object["metadata"]["resourceVersion"] = before.cloned().unwrap_or_default();
            }
        }
        Self(kept).assert_same(before);
    }

    #[track_caller]
    pub fn assert_same(&self, before: &Self) {
        let names: Vec<_> = self.0.keys().collect();
        assert_eq!(names, before.0.keys().collect::<Vec<_>>());
        for (name, object) in &self.0 {
            assert_eq!(*object, before.0[name], "{name}");
        }
    }
}
