use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::DeleteParams;
use kube::{Api, ResourceExt};
use operator_runtime::{Action, Controller, ReconcileError, Verb, conditions, finalizer, status};
use serde_json::{Value, json};

use crate::Context;
use crate::api::oncall::rota::{Rota, RotaStatus};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "oncall-rota";

/// Takes the card of a Rota off the board, which is in a namespace of its own. The Go operator had the same name.
const BOARD_FINALIZER: &str = "oncall.example.com/board";

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
pub fn controller() -> Controller<Rota, Context> {
    Controller::external(NAME, reconcile)
        .finalizer()
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        .needs::<ConfigMap>(&[Verb::Delete])
        .needs_subresource::<Rota>("status", &[Verb::Patch])
}

/// The errors of `reconcile`. A failed reconcile is retried with exponential back-off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
    #[error("an owned object has no valid form")]
    Form(#[from] serde_json::Error),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(_) => "ApiCallFailed",
            Self::Form(_) => "InvalidForm",
        }
    }
}

/// Writes a ConfigMap with the turns of the members, a Deployment that serves it, and a card on the board.
async fn reconcile(rota: Arc<Rota>, context: Arc<Context>) -> Result<Action, Error> {
    let api = context.api(&*rota);
    let apply = async |rota: Arc<Rota>| apply(&rota, &context).await;
    let cleanup = async |rota: Arc<Rota>| take_off(&rota, &context).await;
    finalizer::run(&api, rota, BOARD_FINALIZER, apply, cleanup).await
}

async fn apply(rota: &Rota, context: &Context) -> Result<Action, Error> {
    let turns: ConfigMap = serde_json::from_value(turns(rota))?;
    context.applier.owned(rota, turns).await?;
    let page: Deployment = serde_json::from_value(page(rota))?;
    context.applier.owned(rota, page).await?;
    let card: ConfigMap = serde_json::from_value(card(rota, &context.board))?;
    context.applier.apply(&card).await?;

    let on_duty = members(rota).first().cloned();
    let (staffed, reason) = match on_duty {
        Some(_) => (true, "OnDuty"),
        None => (false, "NoMembers"),
    };
    let wanted = RotaStatus {
        on_duty,
        conditions: Some(vec![conditions::new(rota, "Staffed", staffed, reason, "")]),
    };
    status::patch(&context.api(rota), rota, &wanted).await?;
    Ok(Action::await_change())
}

async fn take_off(rota: &Rota, context: &Context) -> Result<(), Error> {
    let cards: Api<ConfigMap> = Api::namespaced(context.client.clone(), &context.board);
    match cards
        .delete(&card_name(rota), &DeleteParams::default())
        .await
    {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => Ok(result.map(drop)?),
    }
}

fn members(rota: &Rota) -> &[String] {
    rota.spec.members.as_deref().unwrap_or_default()
}

fn labels(rota: &Rota) -> Value {
    json!({ "app.kubernetes.io/name": "rota", "app.kubernetes.io/instance": rota.name_any() })
}

fn turns(rota: &Rota) -> Value {
    let members = members(rota);
    let next = members.iter().cycle().skip(1);
    let turns = members.iter().zip(next);
    let mut data: BTreeMap<_, _> = turns
        .map(|(member, next)| (member.clone(), json!(format!("hands over to {next}"))))
        .collect();
    data.insert("shift".to_owned(), json!(rota.spec.shift));
    json!({
        "metadata": { "name": format!("{}-turns", rota.name_any()), "labels": labels(rota) },
        "data": data,
    })
}

fn page(rota: &Rota) -> Value {
    let volume =
        json!({ "name": "turns", "configMap": { "name": format!("{}-turns", rota.name_any()) } });
    let container = json!({
        "name": "page",
        "image": "docker.io/library/busybox:1.37",
        "command": ["httpd", "-f", "-h", "/turns"],
        "volumeMounts": [{ "name": "turns", "mountPath": "/turns" }],
    });
    json!({
        "metadata": { "name": format!("{}-page", rota.name_any()), "labels": labels(rota) },
        "spec": {
            "replicas": rota.spec.replicas,
            "selector": { "matchLabels": labels(rota) },
            "template": {
                "metadata": { "labels": labels(rota) },
                "spec": { "containers": [container], "volumes": [volume] },
            },
        },
    })
}

fn card_name(rota: &Rota) -> String {
    let namespace = rota.namespace().unwrap_or_default();
    format!("card-{namespace}-{}", rota.name_any())
}

fn card(rota: &Rota, board: &str) -> Value {
    let namespace = rota.namespace().unwrap_or_default();
    let mut data = BTreeMap::from([("rota", format!("{namespace}/{}", rota.name_any()))]);
    if let Some(member) = members(rota).first() {
        data.insert("onDuty", member.clone());
    }
    json!({
        "metadata": { "name": card_name(rota), "namespace": board, "labels": labels(rota) },
        "data": data,
    })
}
