//! The cluster setup of a schedule: a namespace, objects, users, and their roles.

use std::{
    fmt::Debug,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::{
    authentication::v1::TokenRequest,
    core::v1::{Namespace, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::envtest::{Cluster, free_port};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{plan::Schedule, proxy::Proxy, replica::Replica, reviews::Asker};
use crate::{followers::Endpoint, widget::Widget};

/// The name of the Lease: that of another operator, which this one would replace.
pub const LEASE: &str = "replaced.example.com";

/// The name of the Lease in the Role.
const NAME: &str = "{= project.lease =}";

/// The Role of generated projects.
const ROLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../templates/project/config/rbac/leader_election_role.yaml.tera"
);

/// Lets every ServiceAccount do what the operator does.
pub async fn permissions(client: &Client) -> Result<()> {
    let role = json!({
        "metadata": {"name": "operator"},
        "rules": [{
            "apiGroups": ["test.example.com"],
            "resources": ["widgets"],
            "verbs": ["get", "list", "patch", "watch"],
        }],
    });
    let binding = json!({
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "operator"},
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Group",
            "name": "system:serviceaccounts",
        }],
    });
    apply::<ClusterRole>(&Api::all(client.clone()), role).await?;
    apply::<ClusterRoleBinding>(&Api::all(client.clone()), binding).await
}

/// Starts two replicas with objects in a namespace of their own.
pub async fn replicas(
    cluster: &Cluster,
    namespace: &str,
    schedule: &Schedule,
) -> Result<Vec<Replica>> {
    let client = cluster.client()?;
    let metadata = json!({"metadata": {"name": namespace}});
    apply::<Namespace>(&Api::all(client.clone()), metadata).await?;
    let users = [0, 1].map(|number| format!("{namespace}-{number}"));
    allow_election(&client, namespace, &users).await?;
    for name in ["a", "b"] {
        let widget = json!({"metadata": {"name": name}, "spec": {}});
        apply::<Widget>(&Api::namespaced(client.clone(), namespace), widget).await?;
    }
    let mut replicas = Vec::new();
    for user in users {
        replicas.push(replica(cluster, namespace, user, schedule).await?);
    }
    Ok(replicas)
}

/// Lets only these users take part in the election of the namespace.
pub async fn allow_election(client: &Client, namespace: &str, users: &[String]) -> Result<()> {
    // The file's binding is for the operator's ServiceAccount.
    let mut role = role(LEASE, false)?;
    role["metadata"]["namespace"] = json!(namespace);
    let name = &role["metadata"]["name"];
    let subject = |user| json!({"kind": "ServiceAccount", "name": user, "namespace": namespace});
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": users.iter().map(subject).collect::<Vec<_>>(),
    });
    apply::<RoleBinding>(&Api::namespaced(client.clone(), namespace), binding).await?;
    apply::<Role>(&Api::namespaced(client.clone(), namespace), role).await
}

/// The Role of a generated project, for the Lease of this name.
pub fn role(lease: &str, shards: bool) -> Result<Value> {
    let text = fs::read_to_string(ROLE)?;
    ensure!(text.contains(NAME), "the Role names no Lease");
    let mut wanted = true;
    let mut role = String::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        match line.trim_matches(|c| "{%- }".contains(c)) {
            "" if line == "---" => break,
            "if project.shards" => wanted = shards,
            "else" => wanted = !shards,
            "endif" => wanted = true,
            _ if wanted => role.extend([line, "\n"]),
            _ => {}
        }
    }
    Ok(serde_saphyr::from_str(&role.replace(NAME, lease))?)
}

/// A kubeconfig of a new user, and the proxy that it goes through, which nobody else uses.
pub async fn connect(cluster: &Cluster, namespace: &str, name: &str) -> Result<(PathBuf, Proxy)> {
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client()?, namespace);
    apply(&accounts, json!({"metadata": {"name": name}})).await?;
    let request = TokenRequest::default();
    let request = accounts
        .create_token_request(name, &PostParams::default(), &request)
        .await?;
    let token = request.status.and_then(|status| status.token);

    let control_plane = cluster.control_plane();
    let url = control_plane.url();
    let proxy = Proxy::start(url.trim_start_matches("https://").to_owned()).await?;
    let kubeconfig = control_plane.kubeconfig_for(name, &token.context("no token")?)?;
    let text = fs::read_to_string(&kubeconfig)?;
    let proxied = format!("https://127.0.0.1:{}", proxy.port);
    fs::write(&kubeconfig, text.replace(&url, &proxied))?;
    Ok((kubeconfig, proxy))
}

/// Starts a replica as a user of its own, behind a proxy of its own.
async fn replica(
    cluster: &Cluster,
    namespace: &str,
    name: String,
    schedule: &Schedule,
) -> Result<Replica> {
    let (kubeconfig, proxy) = connect(cluster, namespace, &name).await?;
    let webhook = Endpoint::new(&kubeconfig.with_extension("webhook"))?;
    let health = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    let flags = format!(
        "--kubeconfig={} --watch-namespace={namespace} --health-probe-bind-address={health} \
         --log-format=text --leader-elect --leader-elect-resource-namespace={namespace} \
         --leader-elect-resource-name={LEASE} {} {}",
        kubeconfig.display(),
        schedule.timing.flags(),
        webhook.flags.join(" "),
    );
    let directory = kubeconfig.parent().unwrap_or(Path::new("."));
    let log = directory.join(format!("{name}.log"));
    let asker = Asker::begin(webhook, health);
    Replica::new(name, proxy, asker, &flags, schedule.kube, log)
}

pub async fn apply<K>(api: &Api<K>, object: Value) -> Result<()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    let mut object = object;
    object["apiVersion"] = json!(K::api_version(&()));
    object["kind"] = json!(K::kind(&()));
    let object: K = serde_json::from_value(object)?;
    let params = PatchParams::apply("test").force();
    api.patch(&object.name_any(), &params, &Patch::Apply(&object))
        .await?;
    Ok(())
}
