//! Installs the CRDs, the ServiceAccount and the roles before the operator starts.

use std::{fmt::Debug, fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, bail};
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
    api::{ObjectMeta, Patch, PatchParams, PostParams},
    runtime::wait::{await_condition, conditions::is_crd_established},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, from_value, json};
use tokio::time::timeout;

use super::NAMESPACE;
use crate::manager::{ManagerOptions, WatchScope};

const ESTABLISHED: Duration = Duration::from_secs(30);

/// A role of the operator.
#[derive(Clone, Debug)]
pub(super) enum BoundRole {
    Namespaced(Role),
    ClusterWide(ClusterRole),
}

/// The roles in a YAML file, without cluster-specific metadata.
pub(super) fn roles_in(file: &Path) -> Result<Vec<BoundRole>> {
    let read = || {
        let text = fs::read_to_string(file)?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text)?;
        let mut roles = Vec::new();
        for mut document in documents {
            document["metadata"] = json!({ "name": document["metadata"]["name"] });
            match document["kind"].as_str() {
                Some("Role") => roles.push(BoundRole::Namespaced(from_value(document)?)),
                Some("ClusterRole") => roles.push(BoundRole::ClusterWide(from_value(document)?)),
                _ => {}
            }
        }
        if roles.is_empty() {
            bail!("the file contains no role");
        }
        Ok(roles)
    };
    read().with_context(|| format!("cannot read the roles in {}", file.display()))
}

/// Installs everything; returns the client configuration of the operator.
pub(super) async fn all(
    admin: Config,
    options: &ManagerOptions,
    crds: Vec<CustomResourceDefinition>,
    rules: &[PolicyRule],
    roles: &[BoundRole],
) -> Result<Config> {
    let client = Client::try_from(admin.clone())?;
    self::crds(&client, crds).await?;
    allow(&client, options, rules, roles).await?;

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

/// Creates the ServiceAccount and binds the rules and the further roles to it, as `config/rbac` does.
async fn allow(
    client: &Client,
    options: &ManagerOptions,
    rules: &[PolicyRule],
    roles: &[BoundRole],
) -> Result<()> {
    let metadata = ObjectMeta {
        name: Some(options.name.to_owned()),
        ..ObjectMeta::default()
    };
    let account = ServiceAccount {
        metadata: metadata.clone(),
        ..ServiceAccount::default()
    };
    apply(&Api::namespaced(client.clone(), NAMESPACE), &account).await?;
    let rules = Some(rules.to_vec());
    let own = match options.scope {
        WatchScope::Cluster => BoundRole::ClusterWide(ClusterRole {
            metadata,
            rules,
            ..ClusterRole::default()
        }),
        WatchScope::Namespaces => BoundRole::Namespaced(Role { metadata, rules }),
    };
    for role in [&own].into_iter().chain(roles) {
        role.bind(client, options.name).await?;
    }
    Ok(())
}

impl BoundRole {
    /// Creates the role, and binds it to the ServiceAccount `account`.
    async fn bind(&self, client: &Client, account: &str) -> Result<()> {
        let client = client.clone();
        let binding = |role: &str, kind: &str, role_kind: &str| {
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": format!("{account}-{role}")},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
            })
        };
        match self {
            Self::Namespaced(role) => {
                apply(&Api::namespaced(client.clone(), NAMESPACE), role).await?;
                let binding: RoleBinding =
                    from_value(binding(&role.name_any(), "RoleBinding", "Role"))?;
                apply(&Api::namespaced(client, NAMESPACE), &binding).await
            }
            Self::ClusterWide(role) => {
                apply(&Api::all(client.clone()), role).await?;
                let binding: ClusterRoleBinding = from_value(binding(
                    &role.name_any(),
                    "ClusterRoleBinding",
                    "ClusterRole",
                ))?;
                apply(&Api::all(client), &binding).await
            }
        }
    }
}

/// Creates or replaces `object` in the cluster.
pub(super) async fn apply<K>(api: &Api<K>, object: &K) -> Result<()>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let params = PatchParams::apply("envtest").force();
    api.patch(&object.name_any(), &params, &Patch::Apply(object))
        .await?;
    Ok(())
}
