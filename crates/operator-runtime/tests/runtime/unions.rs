//! What serde writes for an enum with different variants is what the API server stores.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use kube::{
    Api, CustomResource, KubeSchema,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Crds,
    envtest::{Cluster, NAMESPACE},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The types of a kind `Union`, with an attribute above its spec or without.
macro_rules! union {
    ($module:ident, $derive:ident $(, #[$attribute:meta])?) => {
        mod $module {
            use super::*;

            #[derive(Clone, Debug, CustomResource, Deserialize, $derive, Serialize)]
            #[kube(group = "test.example.com", version = "v1", kind = "Union", namespaced)]
            $(#[$attribute])?
            pub struct UnionSpec {
                pub tagged: Vec<Tagged>,
                pub some_tagged: Option<Tagged>,
                pub no_tagged: Option<Tagged>,
                pub by_name: BTreeMap<String, Tagged>,
                pub adjacent: Vec<Adjacent>,
                pub mixed: Vec<Mixed>,
                pub some_mixed: Option<Mixed>,
                pub no_mixed: Option<Mixed>,
                pub half_unit: Vec<HalfUnit>,
                pub no_half_unit: Option<HalfUnit>,
                pub number_or_text: NumberOrText,
                pub some_number_or_text: Option<NumberOrText>,
                pub no_number_or_text: Option<NumberOrText>,
                pub beside: Beside,
                pub values: Vec<Value>,
                pub lists: Vec<Vec<Value>>,
                pub lists_by_name: BTreeMap<String, Vec<Value>>,
            }
        }
    };
}

union!(above, JsonSchema, #[schemars(transform = operator_runtime::structural)]);
union!(above_rules, KubeSchema, #[schemars(transform = operator_runtime::structural)]);
union!(without, JsonSchema);

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Tagged {
    /// Has one number, and another with a default that is not for the other variants.
    Small {
        size: u8,
        #[serde(default = "three")]
        step: u8,
    },
    /// Has names, some of which CEL reserves.
    #[serde(rename = "very \"large\"")]
    Large {
        size: String,
        namespace: String,
        #[serde(rename = "a-b.c/d__e")]
        odd: Vec<u8>,
        rest: Option<bool>,
    },
    Own(Own),
    None,
}

fn three() -> u8 {
    3
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Own {
    /// Another description.
    namespace: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(tag = "type", content = "value")]
pub enum Adjacent {
    Text(String),
    Number(u8),
    Object { size: u8 },
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Mixed {
    Text(String),
    Number(u8),
    Object { size: u8 },
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub enum HalfUnit {
    Off,
    On { size: u8 },
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum NumberOrText {
    Number(i32),
    Text(String),
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Beside {
    name: String,
    #[serde(flatten)]
    tagged: Tagged,
}

fn spec() -> above::UnionSpec {
    let large = || Tagged::Large {
        size: "xl".to_owned(),
        namespace: "a".to_owned(),
        odd: vec![1],
        rest: Some(true),
    };
    let own = Own {
        namespace: "b".to_owned(),
    };
    let small = || Tagged::Small { size: 1, step: 2 };
    let mixed = || {
        vec![
            Mixed::Text("a".to_owned()),
            Mixed::Number(1),
            Mixed::Object { size: 1 },
        ]
    };
    let values = || vec![json!({ "a": { "b": [1, "two"] } }), json!("text"), json!(1)];
    above::UnionSpec {
        tagged: vec![small(), large(), Tagged::Own(own), Tagged::None],
        some_tagged: Some(large()),
        no_tagged: None,
        by_name: [("a".to_owned(), small())].into(),
        adjacent: vec![
            Adjacent::Text("a".to_owned()),
            Adjacent::Number(1),
            Adjacent::Object { size: 1 },
        ],
        mixed: mixed(),
        some_mixed: mixed().pop(),
        no_mixed: None,
        half_unit: vec![HalfUnit::Off, HalfUnit::On { size: 1 }],
        no_half_unit: None,
        number_or_text: NumberOrText::Number(1),
        some_number_or_text: Some(NumberOrText::Text("a".to_owned())),
        no_number_or_text: None,
        beside: Beside {
            name: "a".to_owned(),
            tagged: large(),
        },
        values: values(),
        lists: vec![values(), Vec::new()],
        lists_by_name: [("a".to_owned(), values())].into(),
    }
}

#[tokio::test]
async fn what_serde_writes_for_variants_comes_back_whole() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<above::Union>();
    let crds = crds.merge();
    let mut with_rules = Crds::default();
    with_rules.add_storage::<above_rules::Union>();
    ensure!(crds.as_ref().ok() == with_rules.merge().as_ref().ok());
    cluster.install(crds).await?;

    let resource = ApiResource::erase::<above::Union>(&());
    let client = cluster.client()?;
    let raw: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &resource);
    let typed: Api<above::Union> = Api::namespaced(client, NAMESPACE);
    let written = serde_json::to_value(spec())?;
    typed
        .create(
            &PostParams::default(),
            &above::Union::new("created", spec()),
        )
        .await?;
    let patch = Patch::Apply(above::Union::new("applied", spec()));
    typed
        .patch("applied", &PatchParams::apply("test"), &patch)
        .await?;
    for name in ["created", "applied"] {
        let stored = &raw.get(name).await?.data["spec"];
        for (field, value) in written.as_object().into_iter().flatten() {
            ensure!(
                stored[field] == *value,
                "{field}: {value} is stored as {}",
                stored[field]
            );
        }
        let read = serde_json::to_value(typed.get(name).await?.spec)?;
        ensure!(read == written, "{name}: {read}");
    }

    for (tagged, message) in [
        (json!({ "size": 1 }), "tagged[0].type: Required value"),
        (json!({ "type": "Huge" }), "Unsupported value: \"Huge\""),
        (json!({ "type": "Own" }), "type Own needs namespace"),
        (
            json!({ "type": "very \"large\"", "size": "a", "namespace": "b" }),
            "type very \"large\" needs a-b.c/d__e, namespace",
        ),
    ] {
        let mut spec = written.clone();
        spec["tagged"] = json!([tagged]);
        let object = DynamicObject::new("refused", &resource).data(json!({ "spec": spec }));
        let error = raw.create(&PostParams::default(), &object).await.err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        ensure!(error.contains(message), "{tagged}: {error}");
    }
    Ok(())
}

#[test]
fn an_enum_with_different_variants_needs_an_attribute() {
    let mut crds = Crds::default();
    crds.add_storage::<without::Union>();
    let error = crds
        .merge()
        .expect_err("kube cannot describe it")
        .to_string();
    let expected = "no CRD can describe `spec.adjacent[]` of Union v1: the field `type` differs in its variants\n\
                    help: `#[schemars(transform = operator_runtime::structural)]` above `UnionSpec`";
    assert_eq!(error, expected);
}
