//! Tests that a conversion loses nothing.

mod difference;

use std::{collections::BTreeMap, slice};

use http::StatusCode;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};
use kube::CustomResourceExt;
use serde_json::{Value, json};

use self::difference::differences;
use super::schema::inputs;
use crate::{
    object::TypedObject,
    webhook::{Conversion, Spoke, conversion},
};

/// A field that no type has, as from a newer version of the operator.
const UNKNOWN: &str = "fieldOfANewerVersion";

/// The number of differences that are shown.
const SHOWN: usize = 20;

/// The response to a ConversionReview, as from the webhook.
///
/// # Errors
/// The HTTP status, if `review` is not a ConversionReview.
pub fn convert(conversion: &Conversion, review: &[u8]) -> Result<Vec<u8>, StatusCode> {
    conversion::convert(slice::from_ref(conversion), review, &|| {})
}

/// Generates objects from the schemas of both versions, and converts them there and back.
///
/// An object of either version must come back unchanged, except for the fields that [`Spoke::drops`] names.
/// A field that the types do not know must be preserved. For a [fallible](Spoke::fallible) spoke, objects
/// that do not convert are skipped. The inputs are the same in every run.
///
/// # Panics
/// If a value is lost. The message lists the fields and their values.
pub fn round_trip<H: TypedObject + CustomResourceExt>(spoke: &Spoke<H>) {
    let (hub_schema, spoke_schema) = (schema(H::crd()), schema(spoke.crd()));
    let mut trip = Trip {
        spoke,
        hub: H::version(&()).into_owned(),
        group_kind: (H::group(&()).into_owned(), H::kind(&()).into_owned()),
        failures: BTreeMap::new(),
    };
    let (of_spoke, of_hub) = (inputs(&spoke_schema), inputs(&hub_schema));
    trip.there_and_back(&of_spoke, Side::Spoke);
    trip.there_and_back(&of_hub, Side::Hub);
    trip.unknown(&of_spoke, Side::Spoke);
    trip.unknown(&of_hub, Side::Hub);

    let lines: Vec<_> = trip
        .failures
        .values()
        .take(SHOWN)
        .map(|line| format!("  {line}"))
        .collect();
    let (count, hub) = (trip.failures.len(), &trip.hub);
    assert!(
        lines.is_empty(),
        "{count} {} between {} and {hub}:\n{}\n\
         help: convert the missing fields in both directions, or name those that may be lost in \
         `.drops(&[..])`\n",
        if count == 1 {
            "value does not survive the round trip"
        } else {
            "values do not survive the round trip"
        },
        spoke.name(),
        lines.join("\n"),
    );
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Hub,
    Spoke,
}

struct Trip<'a, H> {
    spoke: &'a Spoke<H>,
    hub: String,
    group_kind: (String, String),
    /// One line per place, however many inputs show it.
    failures: BTreeMap<String, String>,
}

impl<H: TypedObject> Trip<'_, H> {
    fn there_and_back(&mut self, inputs: &[Value], from: Side) {
        let (here, there) = self.names(from);
        let way = format!("{here} → {there} → {here}");
        let mut through = 0;
        for input in inputs {
            let object = self.object(input, from);
            let Ok(before) = self.spoke.normalize(&object, from == Side::Hub) else {
                // The schema allows more than the type.
                continue;
            };
            let arrived = self.spoke.convert(&object, from == Side::Spoke);
            let back = arrived.and_then(|arrived| self.spoke.convert(&arrived, from == Side::Hub));
            let after = back.and_then(|back| self.spoke.normalize(&back, from == Side::Hub));
            match after {
                Ok(after) => {
                    through += 1;
                    let lost = differences(&before, &after).into_iter();
                    for lost in lost.filter(|lost| !self.spoke.may_lose_at(&lost.path)) {
                        let key = format!("{way} {:?}", lost.path);
                        self.failures
                            .entry(key)
                            .or_insert_with(|| format!("{way}: {lost}"));
                    }
                }
                Err(_) if self.spoke.is_fallible() => {}
                Err(reason) => {
                    let key = format!("{way} {reason}");
                    self.failures
                        .entry(key)
                        .or_insert_with(|| format!("{way}: {reason}: {input}"));
                }
            }
        }
        if through == 0 && self.failures.is_empty() {
            let reason = format!("{way}: none of {} objects converts", inputs.len());
            self.failures.insert(way, reason);
        }
    }

    fn unknown(&mut self, inputs: &[Value], from: Side) {
        let (here, there) = self.names(from);
        for input in inputs {
            let mut object = self.object(input, from);
            let known = self.spoke.convert(&object, from == Side::Spoke);
            let Some(spec) = object["spec"].as_object_mut() else {
                continue;
            };
            if !known.is_ok_and(|known| known["spec"].is_object()) {
                continue;
            }
            spec.insert(UNKNOWN.to_owned(), json!("kept"));
            let reason = match self.spoke.convert(&object, from == Side::Spoke) {
                Ok(after) if after["spec"][UNKNOWN] == "kept" => return,
                Ok(_) => "it is lost".to_owned(),
                Err(reason) => reason,
            };
            let line = format!("{here} → {there}: a field that the type does not know: {reason}");
            self.failures.insert(line.clone(), line);
            return;
        }
    }

    fn names(&self, from: Side) -> (&str, &str) {
        match from {
            Side::Hub => (&self.hub, self.spoke.name()),
            Side::Spoke => (self.spoke.name(), &self.hub),
        }
    }

    fn object(&self, input: &Value, side: Side) -> Value {
        let (group, kind) = &self.group_kind;
        let (version, _) = self.names(side);
        let mut object = input.clone();
        object["apiVersion"] = format!("{group}/{version}").into();
        object["kind"] = kind.as_str().into();
        object["metadata"] = json!({ "name": "round-trip", "namespace": "default", "uid": "1" });
        object
    }
}

fn schema(crd: CustomResourceDefinition) -> JSONSchemaProps {
    let version = crd.spec.versions.into_iter().next();
    let schema = version.and_then(|version| version.schema?.open_api_v3_schema);
    schema.expect("a CRD with a schema")
}
