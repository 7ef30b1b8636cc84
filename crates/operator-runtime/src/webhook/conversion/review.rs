//! The ConversionReview: request and response.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    str::from_utf8,
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use parking_lot::Mutex;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{json, value::RawValue};

use super::{
    Conversion,
    object::Fields,
    text::{Found, Text},
    version::Reason,
};
use crate::error::panic_message;

const API_VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// The part of a response before its objects.
const HEAD: &str = r#"{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"convertedObjects":["#;

/// The limit of a message, in characters: an error may quote a value of any size.
const MESSAGE: usize = 1 << 10;

/// The interval between logged messages. The API server retries for every client that lists and watches.
const COMPLAINTS: Duration = Duration::from_secs(10);

/// A ConversionReview without its objects.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outline {
    api_version: String,
    kind: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    /// May follow the objects.
    uid: Option<String>,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    objects: Vec<IgnoredAny>,
}

impl Request {
    fn read(outline: &[u8]) -> Result<Self, StatusCode> {
        let text = from_utf8(outline).map_err(|_| StatusCode::BAD_REQUEST)?;
        let Ok(outline) = serde_json::from_str::<Outline>(text) else {
            return Err(StatusCode::BAD_REQUEST);
        };
        let is_review = outline.api_version == API_VERSION && outline.kind == KIND;
        match is_review && outline.request.objects.is_empty() {
            true => Ok(outline.request),
            false => Err(StatusCode::BAD_REQUEST),
        }
    }
}

/// A ConversionReview that is read and answered object by object, so that it takes the memory of one
/// object. The objects must follow `desiredAPIVersion`, as the API server writes them.
pub(crate) struct Review {
    text: Text,
    /// The limit of an object, in bytes, for its text and for its memory during the conversion.
    most: usize,
    memory: usize,
    /// Known when the objects start.
    desired: String,
    objects: usize,
    answer: Vec<u8>,
    /// Whether the current object exceeds the limit, and is not kept.
    is_oversize: bool,
    /// Whether a part of the response was already sent.
    is_sent: bool,
    failure: Option<String>,
}

impl Review {
    pub(crate) fn new(most: usize, memory: usize) -> Self {
        Self {
            text: Text::default(),
            most,
            memory,
            desired: String::new(),
            objects: 0,
            answer: HEAD.into(),
            is_oversize: false,
            is_sent: false,
            failure: None,
        }
    }

    /// Reads the next part of the body, and converts the objects that end in it. Calls `panicked` after a
    /// panic of a conversion.
    ///
    /// # Errors
    /// If the body is not a ConversionReview.
    pub(crate) fn read(
        &mut self,
        conversions: &[Conversion],
        mut part: &[u8],
        panicked: &dyn Fn(),
    ) -> Result<(), StatusCode> {
        while let Some(found) = self.text.next(&mut part) {
            match found {
                Found::List => {
                    let head = [&self.text.outline[..], b"]}}"].concat();
                    self.desired = Request::read(&head)?.desired_api_version;
                }
                Found::End if self.objects == 0 && self.text.is_blank() => {}
                Found::Object | Found::End => self.convert(conversions, panicked)?,
            }
            self.text.clear();
            self.is_oversize = false;
        }
        if self.text.object.len() > self.most {
            self.is_oversize = true;
            let (index, most) = (self.objects, self.most);
            self.fail(format!(
                "object {index} exceeds {most} bytes, the limit that follows from `--webhook-memory`"
            ));
        }
        if self.is_oversize {
            self.text.object.clear();
        }
        match self.text.outline.len() > self.most {
            true => Err(StatusCode::PAYLOAD_TOO_LARGE),
            false => Ok(()),
        }
    }

    /// The read bytes of the current object.
    pub(crate) fn pending(&self) -> usize {
        self.text.object.len()
    }

    /// The bytes of the response that were not taken yet.
    pub(crate) fn written(&self) -> usize {
        self.answer.len()
    }

    /// Takes the written bytes.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.is_sent = true;
        mem::take(&mut self.answer)
    }

    /// The rest of the response: success, or which object does not convert, and why. The API server reads
    /// the result first.
    ///
    /// # Errors
    /// If the body was not a ConversionReview.
    pub(crate) fn end(mut self) -> Result<Vec<u8>, StatusCode> {
        let request = Request::read(&self.text.outline)?;
        let uid = json!(request.uid.ok_or(StatusCode::BAD_REQUEST)?);
        let result = match &self.failure {
            Some(message) => json!({ "status": "Failure", "message": message }),
            None => json!({ "status": "Success" }),
        };
        let tail = format!(r#"],"uid":{uid},"result":{result}}}}}"#);
        self.answer.extend(tail.as_bytes());
        Ok(self.answer)
    }

    /// Converts the object that has just ended.
    fn convert(
        &mut self,
        conversions: &[Conversion],
        panicked: &dyn Fn(),
    ) -> Result<(), StatusCode> {
        let index = self.objects;
        self.objects += 1;
        if self.is_oversize {
            return Ok(());
        }
        let weight = self.text.weight();
        let object = mem::take(&mut self.text.object);
        let object = from_utf8(&object).map_err(|_| StatusCode::BAD_REQUEST)?;
        if weight > self.memory {
            self.fail(format!(
                "object {index} may take up {weight} bytes, more than `--webhook-memory`"
            ));
        }
        if self.failure.is_some() {
            return expect_json(object);
        }
        let before = self.answer.len();
        if index > 0 {
            self.answer.push(b',');
        }
        let (desired, answer) = (&self.desired, &mut self.answer);
        if let Err(reason) = convert_object(conversions, object, desired, answer, panicked) {
            expect_json(object)?;
            answer.truncate(before);
            let what = describe(object, index, desired);
            self.fail(format!("cannot convert {what}: {reason}"));
        }
        Ok(())
    }

    /// Stops converting. The rest of the body is still read, because the client reads the response
    /// afterwards.
    fn fail(&mut self, message: String) {
        if self.failure.is_some() {
            return;
        }
        let message: String = message.chars().take(MESSAGE).collect();
        complain(&message);
        self.failure = Some(message);
        if !self.is_sent {
            self.answer.truncate(HEAD.len());
        }
    }
}

/// The response to a complete ConversionReview.
///
/// # Errors
/// If `body` is not a ConversionReview.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn convert(
    conversions: &[Conversion],
    body: &[u8],
    panicked: &dyn Fn(),
) -> Result<Vec<u8>, StatusCode> {
    let mut review = Review::new(usize::MAX, usize::MAX);
    review.read(conversions, body, panicked)?;
    review.end()
}

/// Refuses a body with an object that is no JSON.
fn expect_json(object: &str) -> Result<(), StatusCode> {
    let json = serde_json::from_str::<IgnoredAny>(object);
    json.map(drop).map_err(|_| StatusCode::BAD_REQUEST)
}

fn convert_object(
    conversions: &[Conversion],
    object: &str,
    desired: &str,
    answer: &mut Vec<u8>,
    panicked: &dyn Fn(),
) -> Result<(), Reason> {
    let fields: Fields = serde_json::from_str(object).map_err(|error| error.to_string())?;
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
        answer.extend(object.trim().as_bytes());
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

/// Logs a message, unless another one was logged just before.
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

/// Describes the object, such as `Widget default/a from v1 to v2`.
fn describe(object: &str, index: usize, to: &str) -> String {
    let fields = serde_json::from_str::<Fields>(object).unwrap_or(Fields(Vec::new()));
    let metadata = fields.get("metadata").map_or("{}", RawValue::get);
    let metadata = serde_json::from_str::<Fields>(metadata).unwrap_or(Fields(Vec::new()));
    let name = match (metadata.text("namespace"), metadata.text("name")) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
        (None, Some(name)) => name.into_owned(),
        (_, None) => format!("object {index}"),
    };
    let kind = fields.text("kind").unwrap_or_default();
    let from = fields.text("apiVersion").unwrap_or_default();
    format!("{kind} {name} from {from} to {to}")
        .trim_start()
        .to_owned()
}
