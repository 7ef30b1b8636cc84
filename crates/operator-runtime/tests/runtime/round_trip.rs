//! The round-trip test reports conversions that lose values.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use k8s_openapi::{
    api::{batch::v1::JobTemplateSpec, core::v1::PodTemplateSpec},
    apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString},
};
use kube::{CustomResource, CustomResourceExt};
use operator_runtime::{TypedObject, fake::round_trip, webhook::Spoke};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two versions of a kind with these specs, and the conversions of the specs.
macro_rules! versions {
    ($name:ident, $spoke:tt, $hub:tt, $up:expr, $down:expr) => {
        mod $name {
            use super::*;

            pub mod v1alpha1 {
                use super::super::*;

                #[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
                #[kube(group = "test.example.com", version = "v1alpha1", kind = "Widget", namespaced)]
                #[serde(rename_all = "camelCase")]
                pub struct WidgetSpec $spoke
            }

            pub mod v1 {
                use super::super::*;

                #[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
                #[kube(group = "test.example.com", version = "v1", kind = "Widget", namespaced)]
                #[serde(rename_all = "camelCase")]
                pub struct WidgetSpec $hub
            }

            impl From<v1alpha1::Widget> for v1::Widget {
                fn from(old: v1alpha1::Widget) -> Self {
                    let up: fn(v1alpha1::WidgetSpec) -> v1::WidgetSpec = $up;
                    Self { metadata: old.metadata, spec: up(old.spec) }
                }
            }

            impl From<v1::Widget> for v1alpha1::Widget {
                fn from(new: v1::Widget) -> Self {
                    let down: fn(v1::WidgetSpec) -> v1alpha1::WidgetSpec = $down;
                    Self { metadata: new.metadata, spec: down(new.spec) }
                }
            }

            pub fn spoke() -> Spoke<v1::Widget> {
                Spoke::of::<v1alpha1::Widget>()
            }
        }
    };
}

/// The report of the round trip.
fn lost<H: TypedObject + CustomResourceExt>(spoke: &Spoke<H>) -> String {
    let result = catch_unwind(AssertUnwindSafe(|| round_trip(spoke)));
    let panic = result.expect_err("something is lost");
    panic.downcast_ref::<String>().expect("a text").clone()
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    Always {},
    Rolling { most: u32 },
    Named(Part),
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Level {
    #[default]
    Low,
    High,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Part {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    #[serde(flatten)]
    pub more: More,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct More {
    #[serde(default)]
    pub enabled: bool,
    #[serde(default)]
    pub ratio: f32,
}

fn ten() -> i64 {
    10
}

versions!(
    renamed,
    {
        pub title: String,
        pub strategy: Strategy,
        pub level: Option<Level>,
        #[serde(default = "ten")]
        pub replicas: i64,
        #[serde(default)]
        pub parts: Vec<Part>,
        #[serde(default)]
        pub labels: BTreeMap<String, BTreeMap<String, String>>,
        #[schemars(schema_with = "anything")]
        pub raw: Option<serde_json::Value>,
        #[schemars(regex(pattern = "^[a-z]+-[0-9]+$"))]
        pub code: String,
    },
    {
        pub display_name: String,
        pub strategy: Strategy,
        pub level: Option<Level>,
        #[serde(default = "ten", skip_serializing_if = "is_ten")]
        pub replicas: i64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub components: Vec<Part>,
        #[serde(default)]
        pub labels: BTreeMap<String, BTreeMap<String, String>>,
        #[schemars(schema_with = "anything")]
        pub raw: Option<serde_json::Value>,
        pub code: Code,
    },
    |old| v1::WidgetSpec {
        display_name: old.title,
        strategy: old.strategy,
        level: old.level,
        replicas: old.replicas,
        components: old.parts,
        labels: old.labels,
        raw: old.raw,
        code: old.code.split_once('-').map(|(letters, digits)| Code {
            letters: letters.to_owned(),
            digits: digits.parse().expect("as in the schema"),
        }).expect("as in the schema"),
    },
    |new| v1alpha1::WidgetSpec {
        title: new.display_name,
        strategy: new.strategy,
        level: new.level,
        replicas: new.replicas,
        parts: new.components,
        labels: new.labels,
        raw: new.raw,
        code: format!("{}-{}", new.code.letters, new.code.digits),
    }
);

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Code {
    #[schemars(regex(pattern = "^[a-z]+$"))]
    pub letters: String,
    pub digits: u64,
}

fn is_ten(value: &i64) -> bool {
    *value == 10
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

#[test]
fn a_whole_conversion_passes() {
    round_trip(&renamed::spoke());
}

versions!(
    forgotten,
    { pub size: i32, pub name: Option<String>, pub parts: Vec<Part> },
    { pub size: i32, pub name: Option<String>, pub parts: Vec<Part> },
    |old| v1::WidgetSpec { size: old.size, name: None, parts: old.parts },
    |new| v1alpha1::WidgetSpec {
        size: new.size.max(0),
        name: new.name,
        parts: new.parts.into_iter().map(|part| Part { since: None, ..part }).collect(),
    }
);

#[test]
fn lost_fields_are_named() {
    let expected = "\
4 values do not survive the round trip between v1alpha1 and v1:
  v1alpha1 → v1 → v1alpha1: `spec.name` was \"text-1\" and came back as nothing
  v1alpha1 → v1 → v1alpha1: `spec.parts[0].since` was \"2026-01-02T03:04:16Z\" and came back as nothing
  v1alpha1 → v1 → v1alpha1: `spec.parts[1].since` was \"2026-01-02T03:04:21Z\" and came back as nothing
  v1alpha1 → v1 → v1alpha1: `spec.size` was -2147483648 and came back as 0
help: convert the missing fields in both directions, or name those that may be lost in `.drops(&[..])`
";
    assert_eq!(lost(&forgotten::spoke()), expected);
}

versions!(
    grown,
    { pub level: Level, #[serde(default = "ten")] pub size: i64 },
    { pub level: Wide, pub new: Option<String>, pub size: Option<i64> },
    |old| v1::WidgetSpec {
        size: Some(old.size),
        level: match old.level { Level::Low => Wide::Low, Level::High => Wide::High },
        new: None,
    },
    |new| v1alpha1::WidgetSpec {
        size: new.size.unwrap_or(10),
        level: match new.level { Wide::Low => Level::Low, _ => Level::High },
    }
);

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Wide {
    #[default]
    Low,
    High,
    Highest,
}

#[test]
fn fields_that_the_spoke_cannot_hold_are_kept() {
    round_trip(&grown::spoke());
}

versions!(
    templated,
    { pub template: PodTemplateSpec, pub job: Option<JobTemplateSpec> },
    { pub template: PodTemplateSpec, pub job: Option<JobTemplateSpec> },
    |old| v1::WidgetSpec { template: old.template, job: old.job },
    |new| v1alpha1::WidgetSpec {
        template: new.template,
        job: new.job.map(|mut job| {
            if let Some(spec) = &mut job.spec {
                spec.suspend = None;
            }
            job
        }),
    }
);

/// Two thousand optional fields, in five levels of lists.
#[test]
fn a_type_with_pod_templates_is_tried_field_by_field() {
    let lost = lost(&templated::spoke());
    let expected = "\
1 value does not survive the round trip between v1alpha1 and v1:
  v1alpha1 → v1 → v1alpha1: `spec.job.spec.suspend` was true and came back as nothing
";
    assert!(lost.starts_with(expected), "{lost}");
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CronSchedule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<String>,
}

// The two versions of kubebuilder's multiversion tutorial, with two of the five fields.
versions!(
    taken_apart,
    { pub schedule: String },
    { pub schedule: CronSchedule },
    |old| {
        let mut parts = old.schedule.split(' ').map(str::to_owned);
        let mut part = || parts.next().filter(|part| part != "*");
        v1::WidgetSpec { schedule: CronSchedule { minute: part(), hour: part() } }
    },
    |new| {
        let or_any = |part: Option<String>| part.unwrap_or_else(|| "*".to_owned());
        let CronSchedule { minute, hour } = new.schedule;
        v1alpha1::WidgetSpec { schedule: format!("{} {}", or_any(minute), or_any(hour)) }
    }
);

/// `*` comes back as nothing, so the same apply changes the object each time.
#[test]
fn a_field_of_another_type_is_compared() {
    let lost = lost(&taken_apart::spoke());
    let line =
        "v1alpha1 → v1 → v1alpha1: `spec.schedule` was \"text-1\" and came back as \"text-1 *\"";
    assert!(lost.contains(line), "{lost}");
    round_trip(&taken_apart::spoke().drops(&["spec.schedule"]));
}

/// A string that must be a number, and a version that denies unknown fields.
mod narrow {
    use std::num::ParseIntError;

    use super::*;

    #[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1",
        kind = "Number",
        namespaced
    )]
    #[serde(deny_unknown_fields)]
    pub struct NumberSpec {
        pub number: u32,
    }

    #[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v2",
        kind = "Number",
        namespaced
    )]
    #[kube(root = "Text")]
    pub struct TextSpec {
        pub text: String,
    }

    impl TryFrom<Text> for Number {
        type Error = ParseIntError;

        fn try_from(text: Text) -> Result<Self, ParseIntError> {
            let spec = NumberSpec {
                number: text.spec.text.parse()?,
            };
            Ok(Self {
                metadata: text.metadata,
                spec,
            })
        }
    }

    impl TryFrom<Number> for Text {
        type Error = ParseIntError;

        fn try_from(number: Number) -> Result<Self, ParseIntError> {
            let spec = TextSpec {
                text: number.spec.number.to_string(),
            };
            Ok(Self {
                metadata: number.metadata,
                spec,
            })
        }
    }
}

#[test]
fn failing_conversions_and_denied_unknown_fields_are_reported() {
    let expected = "\
2 values do not survive the round trip between v2 and v1:
  v1 → v2: a field that the type does not know: spec: unknown field `fieldOfANewerVersion`, expected `number`
  v2 → v1 → v2: none of 4 objects converts
";
    let lost = lost(&Spoke::<narrow::Number>::fallible::<narrow::Text>());
    assert!(lost.starts_with(expected), "{lost}");
}
