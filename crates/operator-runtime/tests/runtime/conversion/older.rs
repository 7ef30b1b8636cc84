//! Two versions of the kind as an older replica knows them: without the note.

use operator_runtime::webhook::{Conversion, Hub, Spoke};

pub mod v1 {
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
    #[serde(rename_all = "camelCase")]
    pub struct WidgetSpec {
        pub display_name: String,
    }
}

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
    pub struct WidgetSpec {
        pub title: String,
    }

    impl From<Widget> for v1::Widget {
        fn from(old: Widget) -> Self {
            let spec = v1::WidgetSpec {
                display_name: old.spec.title,
            };
            Self {
                metadata: old.metadata,
                spec,
            }
        }
    }

    impl From<v1::Widget> for Widget {
        fn from(new: v1::Widget) -> Self {
            let spec = WidgetSpec {
                title: new.spec.display_name,
            };
            Self {
                metadata: new.metadata,
                spec,
            }
        }
    }
}

pub fn conversion() -> Hub<v1::Widget> {
    let mut widget = Conversion::to::<v1::Widget>();
    widget.add(Spoke::of::<v1alpha1::Widget>());
    widget
}
