//! Reviews as the API server sends them, and their responses.

mod fields;
mod keeping;
mod reviews;
pub(in crate::webhook) mod types;

use std::cell::Cell;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Conversion, Review, convert};

/// Sends a review and returns the response with the number of panics.
fn send(conversion: impl Into<Conversion>, review: &Value) -> (Result<Value, StatusCode>, u32) {
    let panics = Cell::new(0);
    let count = || panics.set(panics.get() + 1);
    let answer = convert(&[conversion.into()], review.to_string().as_bytes(), &count);
    let answer = answer.map(|answer| serde_json::from_slice(&answer).expect("JSON"));
    (answer, panics.get())
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

/// One object in another version, or the error.
fn one(conversion: impl Into<Conversion>, desired: &str, object: &Value) -> Result<Value, String> {
    let (answer, _) = send(conversion, &review(desired, std::slice::from_ref(object)));
    let response = &answer.expect("an answer")["response"];
    match response["result"]["status"].as_str() {
        Some("Success") => Ok(response["convertedObjects"][0].clone()),
        _ => Err(response["result"]["message"]
            .as_str()
            .expect("a message")
            .to_owned()),
    }
}
