//! Two API servers, one with a definition as it was read, the other with the one that the generated types write.

use std::{collections::BTreeSet, time::Duration};

use kube::Client;
use operator_runtime::envtest::Cluster;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::objects::{self, Case};

/// The API servers.
pub struct Servers {
    runtime: Runtime,
    clients: [Client; 2],
    _clusters: [Cluster; 2],
}

/// How the servers judge objects.
#[derive(Default)]
pub struct Report {
    /// The objects that both accept, as they give them back, with their versions.
    pub accepted: Vec<(String, Value)>,
    pub refused: usize,
    /// What the servers do not agree in.
    pub unlike: Vec<String>,
}

/// What a server answers.
#[derive(Debug, PartialEq)]
enum Answer {
    Accepted(Value),
    Refused(u16, BTreeSet<String>),
}

impl Servers {
    pub fn start() -> Servers {
        let clusters = [Cluster::start().unwrap(), Cluster::start().unwrap()];
        let runtime = Runtime::new().unwrap();
        let clients = runtime
            .block_on(async { clusters.each_ref().map(|cluster| cluster.client().unwrap()) });
        Servers {
            runtime,
            clients,
            _clusters: clusters,
        }
    }

    /// Has both servers judge objects made from the schemas of a definition.
    pub fn judge(&self, definition: &Value, written: &Value) -> Report {
        self.runtime.block_on(async {
            let mut report = Report::default();
            let [original, ours] = &self.clients;
            for (client, definition) in [(original, definition), (ours, written)] {
                if let Err(why) = install(client, definition).await {
                    report.unlike.push(why);
                    return report;
                }
            }
            for version in definition["spec"]["versions"]
                .as_array()
                .into_iter()
                .flatten()
            {
                if version["served"] != true {
                    continue;
                }
                for Case { what, object } in objects::cases(definition, version) {
                    let path = path(definition, version);
                    let (first, second) =
                        tokio::join!(ask(original, &path, &object), ask(ours, &path, &object));
                    let name = version["name"].as_str().unwrap_or_default();
                    match (first, second) {
                        (first, second) if first != second => {
                            report
                                .unlike
                                .push(format!("{name}, {what}: {first:?} and {second:?}"));
                        }
                        (Answer::Accepted(object), _) => {
                            report.accepted.push((name.to_owned(), object))
                        }
                        (Answer::Refused(..), _) => report.refused += 1,
                    }
                }
            }
            for client in [original, ours] {
                remove(client, definition).await;
            }
            report
        })
    }
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Applies a definition, strictly, and waits until its objects are served.
async fn install(client: &Client, definition: &Value) -> Result<(), String> {
    let mut definition = definition.clone();
    let name = definition["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let annotations = definition["metadata"]["annotations"].clone();
    definition["metadata"] = json!({ "name": name, "annotations": annotations });
    definition["spec"]["conversion"] = json!({ "strategy": "None" });
    if let Some(definition) = definition.as_object_mut() {
        definition.remove("status");
    }
    let apply = format!("{CRDS}/{name}?fieldManager=test&fieldValidation=Strict&force=true");
    request(client, "PATCH", &apply, Some(&definition))
        .await
        .map_err(|error| format!("{name}: {}", reasons(&error)))?;
    for _ in 0..300 {
        let found = request(client, "GET", &format!("{CRDS}/{name}"), None)
            .await
            .map_err(|it| it.to_string())?;
        let is = |type_: &str, status: &str| {
            let mut conditions = found["status"]["conditions"]
                .as_array()
                .into_iter()
                .flatten();
            conditions.any(|it| it["type"] == type_ && it["status"] == status)
        };
        if is("NonStructuralSchema", "True") || is("NamesAccepted", "False") {
            return Err(format!("{name}: {}", found["status"]["conditions"]));
        }
        let versions = definition["spec"]["versions"]
            .as_array()
            .into_iter()
            .flatten();
        let served = versions.filter(|version| version["served"] == true);
        if is("Established", "True") && all_listed(client, &definition, served).await {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{name}: not served within 15 s"))
}

/// Why a definition is refused, without the schemas that the API server prints.
fn reasons(error: &kube::Error) -> String {
    let kube::Error::Api(status) = error else {
        return error.to_string();
    };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let reasons = causes.map(|cause| {
        let reason = cause.message.rsplit("}: ").next().unwrap_or_default();
        format!(
            "{}: {}",
            cause.field,
            reason.chars().take(200).collect::<String>()
        )
    });
    reasons.collect::<Vec<_>>().join("\n")
}

async fn all_listed<'a>(
    client: &Client,
    definition: &Value,
    versions: impl Iterator<Item = &'a Value>,
) -> bool {
    for version in versions {
        if request(client, "GET", &path(definition, version), None)
            .await
            .is_err()
        {
            return false;
        }
    }
    true
}

async fn remove(client: &Client, definition: &Value) {
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    request(client, "DELETE", &format!("{CRDS}/{name}"), None)
        .await
        .unwrap();
}

/// The path of the objects.
fn path(definition: &Value, version: &Value) -> String {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let namespace = match spec["scope"] == "Namespaced" {
        true => "/namespaces/default",
        false => "",
    };
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    format!(
        "/apis/{group}/{}{namespace}/{plural}",
        text(&version["name"])
    )
}

/// Has a server judge an object, without storing it.
async fn ask(client: &Client, path: &str, object: &Value) -> Answer {
    let create = format!("{path}?dryRun=All&fieldValidation=Strict");
    match request(client, "POST", &create, Some(object)).await {
        Ok(mut object) => {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.retain(|key, _| ["name", "namespace"].contains(&key.as_str()));
            }
            Answer::Accepted(object)
        }
        Err(kube::Error::Api(status)) => {
            let causes = status.details.iter().flat_map(|details| &details.causes);
            let causes: BTreeSet<_> = causes
                .map(|cause| format!("{} {}", cause.field, cause.message))
                .collect();
            match causes.is_empty() {
                true => Answer::Refused(status.code, BTreeSet::from([status.message.clone()])),
                false => Answer::Refused(status.code, causes),
            }
        }
        Err(error) => panic!("{path}: {error}"),
    }
}

async fn request(
    client: &Client,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, kube::Error> {
    let mut request = http::Request::builder().method(method).uri(path);
    if body.is_some() {
        let type_ = match method {
            "PATCH" => "application/apply-patch+yaml",
            _ => "application/json",
        };
        request = request.header("Content-Type", type_);
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    client
        .request(request.body(body.into_bytes()).unwrap())
        .await
}
