//! Mutated reviews: each gets a valid response, or is refused as the sender's fault.

use std::{collections::BTreeMap, thread, time::Instant};

use axum::http::StatusCode;
use fastrand::Rng;
use k8s_openapi::{ByteString, api::core::v1::ConfigMap};
use operator_runtime::webhook::{Change, Denied, FieldErrors, Operation, Request, Webhook};
use serde_json::{Value, from_slice, from_value, json};

use crate::{random, webhooks::gadget::Gadget};

async fn default(gadget: &mut Gadget, request: &Request, _: &()) -> Result<(), Denied> {
    let spec = &mut gadget.spec;
    let size = *spec.size.get_or_insert(1);
    spec.mode = spec.mode.take().filter(|_| size % 2 == 0);
    spec.parts.retain(|part| !part.name.is_empty());
    spec.parts.reverse();
    for part in &mut spec.parts {
        part.weight.get_or_insert(size);
        request.warn(&*part.name);
    }
    Ok(())
}

async fn validate(change: &Change<Gadget>, _: &Request, _: &()) -> Result<(), Denied> {
    let (Change::Create(new) | Change::Update { new, .. } | Change::Delete(new)) = change;
    let mut errors = FieldErrors::default();
    for part in &new.spec.parts {
        errors.invalid("spec.parts", part, "is none");
    }
    errors.into_result()
}

async fn allow(_: &Change<ConfigMap>, _: &Request, _: &()) -> Result<(), Denied> {
    Ok(())
}

/// Valid reviews.
fn corpus() -> Vec<Value> {
    let gadget = |spec: Value| {
        let managed = json!([{"manager": "kubectl", "fieldsV1": {"f:spec": {"f:size": {}}}}]);
        json!({
            "apiVersion": "test.example.com/v1",
            "kind": "Gadget",
            "metadata": {"name": "a", "uid": "1", "labels": {"x/y": "z"}, "managedFields": managed},
            "spec": spec,
            "status": null,
        })
    };
    let parts = json!([{"name": "p", "color": "\u{e9}\u{1f600}"}, {"name": "q", "weight": 1}]);
    let old = gadget(json!({}));
    let new = gadget(json!({"size": 3, "mode": "fast", "parts": parts, "color": "red"}));
    let review = |operation: &str, old: &Value, new: &Value| {
        json!({
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": "705ab4f5",
                "kind": {"group": "test.example.com", "version": "v1", "kind": "Gadget"},
                "resource": {"group": "test.example.com", "version": "v1", "resource": "gadgets"},
                "name": "a",
                "namespace": "b",
                "operation": operation,
                "userInfo": {"username": "admin", "groups": ["g"]},
                "object": new,
                "oldObject": old,
                "dryRun": false,
                "options": {"kind": "CreateOptions"},
            },
        })
    };
    vec![
        review("CREATE", &Value::Null, &new),
        review("UPDATE", &old, &new),
        review("UPDATE", &new, &old),
        review("DELETE", &new, &Value::Null),
        review("CONNECT", &Value::Null, &new),
    ]
}

/// A value to replace another one.
fn odd(random: &mut Rng) -> Value {
    match random.u8(..10) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => json!(""),
        4 => json!(random.i64(..)),
        5 => json!(random.f64() * 1e300),
        6 => json!(["\u{0}\u{7f}\u{fffd}\"\\", true]),
        7 => json!("\u{1f600}".repeat(random.usize(..200))),
        8 => (0..random.u8(..140)).fold(json!(1), |inner, _| json!([inner])),
        _ => json!({"name": "a", "spec": {"parts": [{"name": ""}, 1, null]}}),
    }
}

/// Changes a random place in a document.
fn change(value: &mut Value, random: &mut Rng) {
    let here = random.u8(..6) == 0;
    match value {
        Value::Object(map) if !map.is_empty() && !here => {
            let key = map
                .keys()
                .nth(random.usize(..map.len()))
                .cloned()
                .unwrap_or_default();
            match random.u8(..8) {
                0 => _ = map.remove(&key),
                1 => _ = map.insert(key.to_uppercase() + "\u{e9}", odd(random)),
                _ => change(&mut map[&key], random),
            }
        }
        Value::Array(list) if !list.is_empty() && !here => {
            let at = random.usize(..list.len());
            match random.u8(..8) {
                0 => _ = list.remove(at),
                1 => list.insert(at, odd(random)),
                2 => list.push(list[at].clone()),
                _ => change(&mut list[at], random),
            }
        }
        value => *value = odd(random),
    }
}

/// Damages the text.
fn damage(text: &mut Vec<u8>, random: &mut Rng) {
    let at = random.usize(..=text.len());
    match random.u8(..5) {
        0 => text.truncate(at),
        1 => text.insert(at, random.u8(..)),
        2 => text
            .splice(at..at, b"\"{}[]:,\\u00e".repeat(random.usize(1..20)))
            .for_each(drop),
        3 if at < text.len() => text[at] ^= 1 << random.u8(..8),
        _ => {
            let piece = text[at..text.len().min(at + 40)].to_vec();
            let to = random.usize(..=text.len());
            text.splice(to..to, piece).for_each(drop);
        }
    }
}

/// The properties of a response to any body; `review` is null if the body is not JSON.
fn verify(
    review: &Value,
    body: &[u8],
    answer: Result<Vec<u8>, (StatusCode, String)>,
) -> &'static str {
    let show = || String::from_utf8_lossy(body).into_owned();
    let answer: Value = match answer {
        Ok(answer) => from_slice(&answer).expect("an answer is JSON"),
        Err((status, text)) => {
            assert!(
                status.is_client_error() && !text.is_empty(),
                "{status} {text}: {}",
                show()
            );
            return "refused";
        }
    };
    assert_eq!(answer["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(answer["kind"], "AdmissionReview");
    let response = &answer["response"];
    if !review.is_null() {
        assert_eq!(response["uid"], review["request"]["uid"], "{}", show());
    }
    if response["allowed"] == false {
        let status = &response["status"];
        assert!(
            status["code"].as_u64() >= Some(400),
            "{response}: {}",
            show()
        );
        assert!(
            !status["message"].as_str().unwrap_or_default().is_empty(),
            "{response}"
        );
        assert!(response["patch"].is_null());
        return "denied";
    }
    assert_eq!(response["allowed"], true, "{}", show());
    if response["patch"].is_null() {
        return "allowed";
    }
    if review.is_null() {
        return "changed";
    }
    assert_eq!(response["patchType"], "JSONPatch");
    let patch: ByteString = from_value(response["patch"].clone()).expect("base64");
    let patch: json_patch::Patch = from_slice(&patch.0).expect("a patch");
    let mut object = review["request"]["object"].clone();
    json_patch::patch(&mut object, &patch).unwrap_or_else(|error| panic!("{error}: {}", show()));
    let spec = &object["spec"];
    assert!(spec["size"].is_i64(), "{spec}: {}", show());
    "changed"
}

/// The results by kind.
type Counts = BTreeMap<&'static str, usize>;

#[tokio::main(flavor = "current_thread")]
async fn fuzz(seed: u64, inputs: usize) -> Counts {
    let all = [
        Operation::Create,
        Operation::Update,
        Operation::Delete,
        Operation::Connect,
    ];
    let defaulting = Webhook::defaulting(default).operations(&all[..2]);
    let validating = Webhook::validating(validate).operations(&all);
    let other = Webhook::validating(allow);
    let (corpus, mut random, mut counts) = (corpus(), Rng::with_seed(seed), Counts::new());
    for _ in 0..inputs {
        let mut review = random.choice(&corpus).cloned().unwrap_or_default();
        for _ in 0..random.u8(..4) {
            let place = match random.u8(..16) {
                0 => "",
                1 => "/request",
                2..6 => "/request/oldObject",
                _ => "/request/object",
            };
            if let Some(value) = review.pointer_mut(place) {
                change(value, &mut random);
            }
        }
        let mut body = review.to_string().into_bytes();
        if random.u8(..4) == 0 {
            damage(&mut body, &mut random);
            // Parts that no webhook reads may nest too deeply, or not be UTF-8, for this test.
            review = from_slice(&body).unwrap_or_default();
        }
        let answer = match random.u8(..8) {
            0 => other.admit(&body, &()).await,
            1..4 => validating.admit(&body, &()).await,
            _ => defaulting.admit(&body, &()).await,
        };
        *counts.entry(verify(&review, &body, answer)).or_default() += 1;
    }
    counts
}

#[test]
fn every_input_is_answered_or_refused() {
    let begin = Instant::now();
    let (inputs, seed) = (random::inputs() as usize, random::seed());
    let threads = [seed, !seed].map(|seed| thread::spawn(move || fuzz(seed, inputs / 2)));
    let mut counts = Counts::new();
    for thread in threads {
        for (what, count) in thread.join().expect("no input is answered badly") {
            *counts.entry(what).or_default() += count;
        }
    }
    println!("{inputs} inputs in {:?}: {counts:?}", begin.elapsed());
    let each = ["refused", "denied", "allowed", "changed"];
    assert!(
        each.iter().all(|kind| counts[kind] > inputs / 50),
        "{counts:?}"
    );
}
