//! The ConversionReview: what the API server asks, and the answer.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    str::from_utf8,
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{Conversion, object::Fields, version::Reason};
use crate::{error::panic_message, webhook::memory::room};

const API_VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// How long a message may be, in characters: an error may quote a value of any size.
const MESSAGE: usize = 1 << 10;

/// How often one is logged. The API server asks again and again for those who list and watch.
const COMPLAINTS: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    request: Request<'a>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow, rename = "desiredAPIVersion")]
    desired_api_version: Cow<'a, str>,
    #[serde(borrow)]
    objects: Vec<&'a RawValue>,
}

/// The answer to a ConversionReview: all objects in their order, or which one does not convert, and
/// why. Calls `panicked` when the code of a conversion has panicked.
///
/// # Errors
/// If `body` is no ConversionReview.
pub(crate) fn convert(
    conversions: &[Conversion],
    body: &[u8],
    panicked: &dyn Fn(),
) -> Result<Vec<u8>, StatusCode> {
    let text = from_utf8(body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let review: Review = serde_json::from_str(text).map_err(|_| StatusCode::BAD_REQUEST)?;
    if review.api_version != API_VERSION || review.kind != KIND {
        return Err(StatusCode::BAD_REQUEST);
    }
    let request = review.request;
    let uid = json!(request.uid);
    let head =
        format!(r#"{{"kind":"{KIND}","apiVersion":"{API_VERSION}","response":{{"uid":{uid},"#);
    let mut answer = room(body.len() + body.len() / 8 + 512);
    answer.extend(head.as_bytes());
    answer.extend(br#""convertedObjects":["#);
    for (index, object) in request.objects.iter().enumerate() {
        if index > 0 {
            answer.push(b',');
        }
        let result = convert_object(
            conversions,
            object,
            &request.desired_api_version,
            &mut answer,
            panicked,
        );
        if let Err(reason) = result {
            let what = describe(object, index, &request);
            let message = format!("cannot convert {what}: {reason}");
            let message: String = message.chars().take(MESSAGE).collect();
            complain(&message);
            let result = json!({ "status": "Failure", "message": message });
            return Ok(
                format!(r#"{head}"convertedObjects":[],"result":{result}}}}}"#).into_bytes(),
            );
        }
    }
    answer.extend(br#"],"result":{"status":"Success"}}}"#);
    Ok(answer)
}

fn convert_object(
    conversions: &[Conversion],
    object: &RawValue,
    desired: &str,
    answer: &mut Vec<u8>,
    panicked: &dyn Fn(),
) -> Result<(), Reason> {
    let fields: Fields = serde_json::from_str(object.get()).map_err(|error| error.to_string())?;
    let kind = fields.text("kind").ok_or("it has no kind")?;
    let api_version = fields.text("apiVersion").ok_or("it has no apiVersion")?;
    let (group, from) = split(&api_version);
    let conversion = conversions
        .iter()
        .find(|conversion| conversion.group_kind() == (group, &kind));
    let conversion = conversion.ok_or("this operator does not convert its kind")?;
    let (desired_group, to) = split(desired);
    if desired_group != group {
        return Err(format!("it is in the group {group}"));
    }
    for version in [from, to] {
        if !conversion.has(version) {
            return Err(format!("this operator does not know {kind} in {version}"));
        }
    }
    if from == to {
        answer.extend(object.get().as_bytes());
        return Ok(());
    }
    let convert = || {
        conversion
            .versions
            .convert(&fields, (from, to), desired, answer)
    };
    catch_unwind(AssertUnwindSafe(convert)).unwrap_or_else(|panic| {
        panicked();
        Err(format!(
            "the conversion panicked: {}",
            panic_message(&*panic)
        ))
    })
}

/// Logs a message, unless one was logged a moment ago.
fn complain(message: &str) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let mut last = LAST.lock();
    if last.is_none_or(|last| last.elapsed() >= COMPLAINTS) {
        tracing::error!("{message}");
        *last = Some(Instant::now());
    }
}

/// The group and the version of an apiVersion.
fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// The object in words, such as `Widget default/a from v1 to v2`.
fn describe(object: &RawValue, index: usize, request: &Request) -> String {
    let fields = serde_json::from_str::<Fields>(object.get()).unwrap_or(Fields(Vec::new()));
    let metadata = fields.get("metadata").map_or("{}", RawValue::get);
    let metadata = serde_json::from_str::<Fields>(metadata).unwrap_or(Fields(Vec::new()));
    let name = match (metadata.text("namespace"), metadata.text("name")) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
        (None, Some(name)) => name.into_owned(),
        (_, None) => format!("object {index}"),
    };
    let kind = fields.text("kind").unwrap_or_default();
    let from = fields.text("apiVersion").unwrap_or_default();
    let to = &request.desired_api_version;
    format!("{kind} {name} from {from} to {to}")
        .trim_start()
        .to_owned()
}
