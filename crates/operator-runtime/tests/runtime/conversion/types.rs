//! A kind in four versions, of which `v1` is the hub.

use std::num::ParseIntError;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{
    CrdError, Crds,
    webhook::{Conversion, Hub, Spoke},
};

pub mod v1 {
    use std::collections::BTreeMap;

    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1",
        kind = "Widget",
        namespaced
    )]
    #[kube(status = "WidgetStatus")]
    #[serde(rename_all = "camelCase")]
    pub struct WidgetSpec {
        pub display_name: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub parts: Vec<Part>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub options: BTreeMap<String, String>,
        /// Unknown to an older replica.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Part {
        pub name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub color: Option<String>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct WidgetStatus {
        pub ready: bool,
    }
}

/// Has `title` instead of `displayName`, parts of one color, and no options.
pub mod v1alpha1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::v1;

    #[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1alpha1",
        kind = "Widget",
        namespaced
    )]
    #[kube(status = "v1::WidgetStatus")]
    pub struct WidgetSpec {
        pub title: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub parts: Vec<Part>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub struct Part {
        pub name: String,
    }

    impl From<Widget> for v1::Widget {
        fn from(old: Widget) -> Self {
            let WidgetSpec { title, parts, note } = old.spec;
            let part = |part: Part| v1::Part {
                name: part.name,
                color: None,
            };
            let parts = parts.into_iter().map(part).collect();
            let spec = v1::WidgetSpec {
                display_name: title,
                parts,
                options: [].into(),
                note,
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
            let v1::WidgetSpec {
                display_name,
                parts,
                options: _,
                note,
            } = new.spec;
            let parts = parts
                .into_iter()
                .map(|part| Part { name: part.name })
                .collect();
            let spec = WidgetSpec {
                title: display_name,
                parts,
                note,
            };
            Self {
                metadata: new.metadata,
                spec,
                status: new.status,
            }
        }
    }
}

/// Has a number, which not every name is; and a conversion that panics.
pub mod v2 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::{ParseIntError, v1};

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
            if hub.spec.display_name == "panic" {
                // Like a panic, without a message in the output of the tests.
                std::panic::resume_unwind(Box::new("of this name"));
            }
            let number = hub.spec.display_name.parse()?;
            Ok(Self {
                metadata: hub.metadata,
                spec: WidgetSpec { number },
            })
        }
    }
}

/// Added later: the name is one of several.
pub mod v1beta1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::v1;

    #[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1beta1",
        kind = "Widget",
        namespaced
    )]
    #[kube(status = "v1::WidgetStatus")]
    pub struct WidgetSpec {
        pub names: Vec<String>,
    }

    impl From<Widget> for v1::Widget {
        fn from(old: Widget) -> Self {
            let display_name = old.spec.names.join(" ");
            let spec = v1::WidgetSpec {
                display_name,
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
            let names = new
                .spec
                .display_name
                .split(' ')
                .map(str::to_owned)
                .collect();
            Self {
                metadata: new.metadata,
                spec: WidgetSpec { names },
                status: new.status,
            }
        }
    }
}

/// Two versions, of which the older one keeps the fields that it cannot hold.
pub fn conversion() -> Hub<v1::Widget> {
    let mut widget = Conversion::to::<v1::Widget>();
    widget.add(Spoke::of::<v1alpha1::Widget>());
    widget
}

/// With the version that does not always convert.
pub fn fallible() -> Hub<v1::Widget> {
    let mut widget = conversion();
    widget.add(Spoke::fallible::<v2::Widget>());
    widget
}

/// The versions of [`conversion`], with this storage version.
pub fn crds(stored: &str) -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    if stored == "v1" {
        crds.add_storage::<v1::Widget>();
        crds.add_served::<v1alpha1::Widget>();
    } else {
        crds.add_storage::<v1alpha1::Widget>();
        crds.add_served::<v1::Widget>();
    }
    crds.merge()
}
