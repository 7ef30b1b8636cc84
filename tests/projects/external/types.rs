//! Some of cert-manager's types, as a crate would have them.

pub mod v1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "cert-manager.io",
        version = "v1",
        kind = "Certificate",
        namespaced
    )]
    #[serde(rename_all = "camelCase")]
    pub struct CertificateSpec {
        pub dns_names: Option<Vec<String>>,
        pub issuer_ref: IssuerRef,
        pub secret_name: String,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    pub struct IssuerRef {
        pub name: String,
    }
}
