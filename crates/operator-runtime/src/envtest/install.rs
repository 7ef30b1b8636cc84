//! What a cluster holds before the operator starts: CRDs, a ServiceAccount, a role.

use std::{fmt::Debug, time::Duration};

use anyhow::{Context as _, Result};
use k8s_openapi::{
    api::{
        authentication::v1::TokenRequest,
        core::v1::ServiceAccount,
        rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    runtime::wait::{await_condition, conditions::is_crd_established},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::NAMESPACE;
use crate::manager::{ManagerOptions, WatchScope};

const ESTABLISHED: Duration = Duration::from_secs(30);

/// Installs everything; returns the configuration of a client that is the operator.
pub(super) async fn all(
    admin: Config,
    options: &ManagerOptions,
    crds: Vec<CustomResourceDefinition>,
    rules: &[PolicyRule],
) -> Result<Config> {
    let client = Client::try_from(admin.clone())?;
    self::crds(&client, crds).await?;
    allow(&client, options, rules).await?;

    let accounts: Api<ServiceAccount> = Api::namespaced(client, NAMESPACE);
    let request = TokenRequest::default();
    let params = PostParams::default();
    let request = accounts
        .create_token_request(options.name, &params, &request)
        .await?;
    let token = request
        .status
        .context("the API server gave no token")?
        .token;
    let mut config = admin;
    config.auth_info = serde_json::from_value(json!({ "token": token }))?;
    Ok(config)
}

/// Installs the CRDs, and waits until the API server serves them.
pub(super) async fn crds(client: &Client, crds: Vec<CustomResourceDefinition>) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in &crds {
        apply(&definitions, crd).await?;
    }
    for crd in crds {
        let name = crd.name_any();
        let established = await_condition(definitions.clone(), &name, is_crd_established());
        let late = || format!("CRD {name} is not established after {ESTABLISHED:?}");
        timeout(ESTABLISHED, established)
            .await
            .with_context(late)??;
    }
    Ok(())
}

/// Makes the ServiceAccount and binds the rules to it, as `config/rbac` does.
async fn allow(client: &Client, options: &ManagerOptions, rules: &[PolicyRule]) -> Result<()> {
    let metadata = json!({ "name": options.name });
    let role = |kind| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": metadata,
            "rules": rules,
        })
    };
    let binding = |kind, role| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": options.name},
            "subjects": [{"kind": "ServiceAccount", "name": options.name, "namespace": NAMESPACE}],
        })
    };
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    let namespaced = client.clone();
    apply_value::<ServiceAccount>(Api::namespaced(namespaced.clone(), NAMESPACE), account).await?;
    match options.scope {
        WatchScope::Cluster => {
            let (role, binding) = (
                role("ClusterRole"),
                binding("ClusterRoleBinding", "ClusterRole"),
            );
            apply_value::<ClusterRole>(Api::all(client.clone()), role).await?;
            apply_value::<ClusterRoleBinding>(Api::all(client.clone()), binding).await
        }
        WatchScope::Namespaces => {
            let (role, binding) = (role("Role"), binding("RoleBinding", "Role"));
            apply_value::<Role>(Api::namespaced(namespaced.clone(), NAMESPACE), role).await?;
            apply_value::<RoleBinding>(Api::namespaced(namespaced, NAMESPACE), binding).await
        }
    }
}

async fn apply_value<K>(api: Api<K>, object: Value) -> Result<()>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    apply(&api, &serde_json::from_value(object)?).await
}

/// Makes `object` what is in the cluster.
pub(super) async fn apply<K>(api: &Api<K>, object: &K) -> Result<()>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let params = PatchParams::apply("envtest").force();
    api.patch(&object.name_any(), &params, &Patch::Apply(object))
        .await?;
    Ok(())
}
