//! What is asked, and what has to be answered.

use anyhow::{Context, Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// Of every review, so that a server without any logic can answer, too.
const UID: &str = "705ab4f5-6393-11e8-b7cc-42010a800002";

const V1: &str = "bench.example.com/v1";
const V2: &str = "bench.example.com/v2";

/// A request with what its answer must hold.
pub struct Question {
    pub request: Vec<u8>,
    answer: Answer,
}

enum Answer {
    Allowed,
    /// Allowed, with one change of one field.
    Replicas,
    /// For these fields.
    Denied(&'static [&'static str]),
    Converted {
        api_version: &'static str,
        first: Value,
        objects: usize,
    },
}

/// An object of 4 KB as the API server would send it.
fn cache() -> Value {
    serde_json::from_str(include_str!("cache.json")).expect("it is JSON")
}

/// One review for each webhook: an object that is created and gets a default, one that is updated and stays as it is,
/// and one that is updated and checked.
pub fn admissions() -> [Question; 3] {
    let (old, mut created) = (cache(), cache());
    if let Some(spec) = created["spec"].as_object_mut() {
        spec.remove("replicas");
    }
    let mut new = cache();
    new["metadata"]["generation"] = json!(8);
    new["spec"]["image"] = json!("registry.example.com/cache/server:1.6.40-alpine");
    [
        admission("/default", &Value::Null, &created, Answer::Replicas),
        admission("/leave", &old, &new, Answer::Allowed),
        admission("/validate", &old, &new, Answer::Allowed),
    ]
}

/// An update that must be denied, for all of its mistakes at once.
pub fn mistaken() -> Question {
    let (old, mut new) = (cache(), cache());
    new["spec"]["port"] = json!(0);
    new["spec"]["memoryMiB"] = json!(1);
    new["spec"]["backup"]["bucket"] = json!("s3://elsewhere");
    let fields = &["spec.port", "spec.memoryMiB", "spec.backup.bucket"];
    admission("/validate", &old, &new, Answer::Denied(fields))
}

fn admission(path: &str, old: &Value, new: &Value, answer: Answer) -> Question {
    let (operation, options) = match old {
        Value::Null => ("CREATE", "CreateOptions"),
        _ => ("UPDATE", "UpdateOptions"),
    };
    let kind = json!({"group": "bench.example.com", "version": "v1", "kind": "Cache"});
    let resource = json!({"group": "bench.example.com", "version": "v1", "resource": "caches"});
    let review = json!({
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": UID,
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "name": new["metadata"]["name"],
            "namespace": new["metadata"]["namespace"],
            "operation": operation,
            "userInfo": {
                "username": "system:serviceaccount:shop-production:deployer",
                "uid": "1c0fd2b5-4a8b-4c0e-8a8e-6f2ff3b4c1d7",
                "groups": [
                    "system:serviceaccounts",
                    "system:serviceaccounts:shop-production",
                    "system:authenticated",
                ],
                "extra": {
                    "authentication.kubernetes.io/credential-id": ["JTI=0c8f6d7e-6b0c-4f5e-9a51-b1b7a2a0f0de"],
                },
            },
            "object": new,
            "oldObject": old,
            "dryRun": false,
            "options": {
                "kind": options,
                "apiVersion": "meta.k8s.io/v1",
                "fieldManager": "helm",
                "fieldValidation": "Strict",
            },
        },
    });
    Question::new(path, &review, answer)
}

/// Two reviews that ask for as many objects as a list may hold in another version, each from the one to the other.
pub fn conversions(objects: usize) -> [Question; 2] {
    let named = |cache: &Value, number: usize| {
        let mut cache = cache.clone();
        cache["metadata"]["name"] = json!(name(number));
        cache
    };
    let (v1, v2) = (cache(), second(cache()));
    [(&v1, &v2, V2), (&v2, &v1, V1)].map(|(from, to, api_version)| {
        let review = json!({
            "kind": "ConversionReview",
            "apiVersion": "apiextensions.k8s.io/v1",
            "request": {
                "uid": UID,
                "desiredAPIVersion": api_version,
                "objects": (0..objects).map(|number| named(from, number)).collect::<Vec<_>>(),
            },
        });
        let first = named(to, 0);
        let answer = Answer::Converted {
            api_version,
            first,
            objects,
        };
        Question::new("/convert", &review, answer)
    })
}

fn name(number: usize) -> String {
    format!("cache-{number:05}")
}

/// The same object in the second version.
fn second(mut cache: Value) -> Value {
    let spec = cache["spec"].take();
    cache["apiVersion"] = json!(V2);
    cache["spec"] = json!({
        "replicas": spec["replicas"],
        "container": {
            "image": spec["image"],
            "port": spec["port"],
            "env": spec["env"],
            "resources": spec["resources"],
        },
        "memoryMiB": spec["memoryMiB"],
        "scheduling": {"nodeSelector": spec["nodeSelector"], "tolerations": spec["tolerations"]},
        "backup": spec["backup"],
    });
    cache
}

impl Question {
    fn new(path: &str, review: &Value, answer: Answer) -> Self {
        let body = review.to_string();
        let head = format!(
            "POST {path}?timeout=10s HTTP/1.1\r\n\
             Host: webhook-service.bench-system.svc:443\r\n\
             User-Agent: kube-apiserver-admission\r\n\
             Content-Length: {}\r\n\
             Accept: application/json, */*\r\n\
             Content-Type: application/json\r\n\
             Accept-Encoding: gzip\r\n\r\n",
            body.len()
        );
        let request = [head.into_bytes(), body.into_bytes()].concat();
        Self { request, answer }
    }

    /// # Errors
    /// If the body is not the answer to this question.
    pub fn check(&self, body: &[u8]) -> Result<()> {
        let check = match &self.answer {
            Answer::Allowed => admitted(body, None),
            Answer::Replicas => admitted(body, Some(3)),
            Answer::Denied(fields) => denied(body, fields),
            Answer::Converted {
                api_version,
                first,
                objects,
            } => converted(body, api_version, first, *objects),
        };
        check.with_context(|| {
            let text = String::from_utf8_lossy(body);
            format!(
                "wrong answer: {}",
                text.chars().take(2000).collect::<String>()
            )
        })
    }
}

#[derive(Deserialize)]
struct Review<R> {
    response: R,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Admission<'a> {
    #[serde(borrow)]
    uid: &'a str,
    allowed: bool,
    patch_type: Option<&'a str>,
    patch: Option<&'a str>,
    status: Option<Value>,
}

#[derive(Deserialize)]
struct Operation<'a> {
    op: &'a str,
    path: &'a str,
    value: i64,
}

fn admitted(body: &[u8], replicas: Option<i64>) -> Result<()> {
    let Review::<Admission> { response } = serde_json::from_slice(body)?;
    ensure!(response.uid == UID, "another uid");
    ensure!(response.allowed, "it is denied");
    let Some(replicas) = replicas else {
        ensure!(response.patch.is_none(), "there is a patch");
        return Ok(());
    };
    ensure!(
        response.patch_type == Some("JSONPatch"),
        "no type of the patch"
    );
    let patch = BASE64_STANDARD.decode(response.patch.context("there is no patch")?)?;
    let patch: Vec<Operation> = serde_json::from_slice(&patch)?;
    let [
        Operation {
            op: "add",
            path: "/spec/replicas",
            value,
        },
    ] = patch[..]
    else {
        anyhow::bail!("another patch");
    };
    ensure!(value == replicas, "another default");
    Ok(())
}

fn denied(body: &[u8], fields: &[&str]) -> Result<()> {
    let Review::<Admission> { response } = serde_json::from_slice(body)?;
    ensure!(response.uid == UID, "another uid");
    ensure!(!response.allowed, "it is allowed");
    let status = response.status.context("there is no status")?;
    ensure!(
        status["code"] == 422 && status["reason"] == "Invalid",
        "another reason"
    );
    let causes = status["details"]["causes"]
        .as_array()
        .context("no causes")?;
    let named: Vec<_> = causes.iter().map(|cause| &cause["field"]).collect();
    ensure!(named == fields, "other fields");
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Conversion<'a> {
    uid: &'a str,
    result: Outcome<'a>,
    #[serde(borrow)]
    converted_objects: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    status: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object<'a> {
    #[serde(borrow)]
    api_version: &'a str,
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    name: &'a str,
}

fn converted(body: &[u8], api_version: &str, first: &Value, objects: usize) -> Result<()> {
    let Review::<Conversion> { response } = serde_json::from_slice(body)?;
    ensure!(response.uid == UID, "another uid");
    ensure!(response.result.status == "Success", "it has failed");
    ensure!(
        response.converted_objects.len() == objects,
        "another number of objects"
    );
    for (number, object) in response.converted_objects.iter().enumerate() {
        let object: Object = serde_json::from_str(object.get())?;
        ensure!(object.api_version == api_version, "another version");
        ensure!(object.metadata.name == name(number), "another order");
    }
    let object: Value = serde_json::from_str(response.converted_objects[0].get())?;
    ensure!(object == *first, "another object");
    Ok(())
}
