//! Three versions of a kind, of which `v1` is the hub.

use serde_json::{Value, json};

use crate::webhook::{Conversion, Hub, Spoke};

pub(in crate::webhook) mod v1 {
    use std::collections::BTreeMap;

    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1",
        kind = "Widget",
        namespaced,
        status = "Status"
    )]
    #[serde(rename_all = "camelCase")]
    pub struct WidgetSpec {
        pub display_name: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub parts: Vec<Part>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limits: Option<Limits>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub options: BTreeMap<String, String>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Part {
        pub name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub color: Option<String>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Limits {
        pub max: u32,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Status {
        pub ready: bool,
    }
}

/// `name` instead of `displayName`; a part is only its name; no limits and no options.
pub(in crate::webhook) mod v1alpha1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::v1;

    #[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1alpha1",
        kind = "Widget",
        namespaced,
        status = "v1::Status"
    )]
    pub struct WidgetSpec {
        #[serde(alias = "title")]
        pub name: String,
        #[serde(default)]
        pub parts: Vec<Part>,
        /// A value that a conversion drops on purpose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub legacy: Option<Legacy>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Part {
        pub name: String,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Legacy {
        #[serde(default)]
        pub mode: String,
    }

    impl From<Widget> for v1::Widget {
        fn from(old: Widget) -> Self {
            if old.spec.name == "panic" {
                // Like a panic, without a message in the output of the tests.
                std::panic::resume_unwind(Box::new("of this name"));
            }
            let part = |part: Part| v1::Part {
                name: part.name,
                color: None,
            };
            let spec = v1::WidgetSpec {
                display_name: old.spec.name,
                parts: old.spec.parts.into_iter().map(part).collect(),
                ..Default::default()
            };
            Self {
                metadata: old.metadata,
                spec,
                status: old.status,
            }
        }
    }

    impl From<v1::Widget> for Widget {
        fn from(new: v1::Widget) -> Self {
            let part = |part: v1::Part| Part { name: part.name };
            let spec = WidgetSpec {
                name: new.spec.display_name,
                parts: new.spec.parts.into_iter().map(part).collect(),
                legacy: None,
            };
            Self {
                metadata: new.metadata,
                spec,
                status: new.status,
            }
        }
    }
}

/// Has only a number; not every name is one.
pub(in crate::webhook) mod v2 {
    use std::num::ParseIntError;

    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::v1;

    #[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v2",
        kind = "Widget",
        namespaced
    )]
    pub struct WidgetSpec {
        pub number: u32,
    }

    impl From<Widget> for v1::Widget {
        fn from(new: Widget) -> Self {
            let display_name = new.spec.number.to_string();
            let spec = v1::WidgetSpec {
                display_name,
                ..Default::default()
            };
            Self {
                metadata: new.metadata,
                spec,
                status: None,
            }
        }
    }

    impl TryFrom<v1::Widget> for Widget {
        type Error = ParseIntError;

        fn try_from(hub: v1::Widget) -> Result<Self, ParseIntError> {
            let number = hub.spec.display_name.parse()?;
            Ok(Self {
                metadata: hub.metadata,
                spec: WidgetSpec { number },
            })
        }
    }
}

pub(in crate::webhook) fn all() -> Hub<v1::Widget> {
    let mut widget = Conversion::to::<v1::Widget>();
    widget.add(Spoke::of::<v1alpha1::Widget>());
    widget.add(Spoke::fallible::<v2::Widget>());
    widget
}

pub(in crate::webhook) fn widget(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("test.example.com/{version}"),
        "kind": "Widget",
        "metadata": { "name": "a", "namespace": "default", "uid": "1" },
        "spec": spec,
    })
}
