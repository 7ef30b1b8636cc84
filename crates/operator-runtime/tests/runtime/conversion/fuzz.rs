//! Every input gets a well-formed response or is refused, and only the intended conversion panics.

use fastrand::Rng;
use operator_runtime::{fake::convert, webhook::Conversion};
use serde_json::{Value, json};

use crate::{conversion::types::fallible, random};

#[test]
fn every_input_gets_a_well_formed_answer_or_is_refused() {
    let conversion = fallible().into();
    let inputs = random::inputs();
    let mut rng = Rng::with_seed(random::seed());
    let seeds = seeds(&conversion);
    let (mut success, mut failure, mut refused, mut panics) = (0, 0, 0, 0);
    for _ in 0..inputs {
        let mut review = rng.choice(&seeds).unwrap().clone();
        let whole = rng.bool();
        if whole {
            for _ in 0..rng.u32(1..4) {
                let objects = review
                    .pointer_mut("/request/objects")
                    .and_then(Value::as_array_mut);
                let object = objects.and_then(|objects| rng.choice(objects));
                match object.filter(|_| rng.u8(..8) > 0) {
                    Some(object) => change_value(&mut rng, object, 0),
                    None => change_value(&mut rng, &mut review, 0),
                }
            }
        }
        let mut body = review.to_string().into_bytes();
        if !whole {
            for _ in 0..rng.u32(1..4) {
                change_bytes(&mut rng, &mut body);
            }
        }
        let answer = match convert(&conversion, &body) {
            Ok(answer) => answer,
            Err(status) => {
                assert!(status.is_client_error());
                refused += 1;
                continue;
            }
        };
        let show = String::from_utf8_lossy(&body);
        let request: Value = serde_json::from_slice(&body).expect("it was read");
        let answer: Value =
            serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{error}: {show}"));
        assert_eq!(answer["kind"], "ConversionReview");
        let response = &answer["response"];
        assert_eq!(response["uid"], request["request"]["uid"], "{show}");
        let converted = response["convertedObjects"].as_array().expect("a list");
        if response["result"]["status"] == "Failure" {
            let message = response["result"]["message"].as_str().expect("a message");
            panics += u32::from(message.contains("the conversion panicked"));
            assert!(converted.is_empty());
            failure += 1;
            continue;
        }
        assert_eq!(response["result"]["status"], "Success");
        let objects = request["request"]["objects"].as_array().expect("a list");
        assert_eq!(objects.len(), converted.len());
        for (before, after) in objects.iter().zip(converted) {
            assert_eq!(
                after["apiVersion"], request["request"]["desiredAPIVersion"],
                "{show}"
            );
            assert_eq!(after["kind"], before["kind"], "{show}");
            assert_eq!(
                after["metadata"]["name"], before["metadata"]["name"],
                "{show}"
            );
        }
        success += 1;
    }
    // The seeds and the mutations make all of these common.
    for (what, count) in [
        ("success", success),
        ("failure", failure),
        ("refused", refused),
    ] {
        assert!(count > inputs / 20, "{what}: {count}");
    }
    assert!(panics > 0);
}

fn seeds(conversion: &Conversion) -> Vec<Value> {
    let mut full = widget(
        "v1",
        &json!({
            "displayName": "1", "options": { "o": "p" }, "unknown": [{ "x": null }],
            "parts": [{ "name": "x", "color": "red" }, { "name": "y", "more": 1.5 }],
        }),
    );
    full["metadata"]["labels"] = json!({ "a": "é\u{1f600}\n" });
    full["metadata"]["managedFields"] = json!([{ "manager": "m", "fieldsV1": { "f:spec": {} } }]);
    full["status"] = json!({ "ready": true });
    let number = widget("v2", &json!({ "number": 12 }));
    let down = review("v1alpha1", &[full.clone(), number.clone()]);
    let answer = convert(conversion, down.to_string().as_bytes()).expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let spoke = answer["response"]["convertedObjects"][0].clone();
    let panic = widget("v1", &json!({ "displayName": "panic" }));
    vec![
        down,
        review("v1", &[spoke.clone(), full, number]),
        review("v2", &[spoke]),
        review("v2", &[panic]),
    ]
}

fn widget(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("test.example.com/{version}"),
        "kind": "Widget",
        "metadata": { "name": "a", "namespace": "default", "uid": "1" },
        "spec": spec,
    })
}

fn review(desired: &str, objects: &[Value]) -> Value {
    json!({
        "kind": "ConversionReview",
        "apiVersion": "apiextensions.k8s.io/v1",
        "request": {
            "uid": "705ab4f5",
            "desiredAPIVersion": format!("test.example.com/{desired}"),
            "objects": objects,
        },
    })
}

/// Changes or removes a value at a random place.
fn change_value(rng: &mut Rng, value: &mut Value, depth: u32) {
    let here = depth > 0 && rng.u8(..5) == 0;
    match value {
        Value::Object(fields) if !here && !fields.is_empty() => {
            let index = rng.usize(..fields.len());
            let key = fields.keys().nth(index).expect("a key").clone();
            match rng.u8(..16) {
                0 => drop(fields.remove(&key)),
                1 => drop(fields.insert("new".to_owned(), any(rng))),
                _ => change_value(rng, fields.get_mut(&key).expect("a value"), depth + 1),
            }
        }
        Value::Array(items) if !here && !items.is_empty() => {
            let index = rng.usize(..items.len());
            match rng.u8(..16) {
                0 => drop(items.remove(index)),
                1 => items.push(items[index].clone()),
                _ => change_value(rng, &mut items[index], depth + 1),
            }
        }
        _ => *value = any(rng),
    }
}

fn any(rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("v1"),
        json!("test.example.com/v1alpha1"),
        json!("\u{0}\"\\"),
        json!([]),
        json!([{ "path": ["spec"], "kept": 1 }]),
        json!({}),
        json!({ "name": { "name": [] } }),
    ];
    rng.choice(values).expect("one of them")
}

/// Changes the text, which often makes it invalid JSON.
fn change_bytes(rng: &mut Rng, body: &mut Vec<u8>) {
    if body.is_empty() {
        return;
    }
    let index = rng.usize(..body.len());
    let end = (index + rng.usize(..40)).min(body.len());
    match rng.u8(..8) {
        0 => body.truncate(index),
        1 => drop(body.drain(index..end)),
        2 => {
            let part = body[index..end].to_vec();
            body.extend_from_slice(&part);
        }
        3 => body.insert(index, rng.u8(..)),
        4 => body[index] = rng.u8(..),
        5 => {
            let nested = [b"[".repeat(200), b"]".repeat(200)].concat();
            body.splice(index..index, nested);
        }
        // A change of one digit or letter keeps it valid more often.
        _ => body[index] = rng.alphanumeric() as u8,
    }
}
