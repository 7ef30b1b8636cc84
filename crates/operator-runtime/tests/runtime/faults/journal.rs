//! A reconcile function that records its calls, and applies a child and a status.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{Action, Controller, ReconcileError, conditions, status};
use serde_json::json;

use crate::widget::{Widget, WidgetStatus};

/// The error of these tests' reconcile functions.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error(transparent)]
    Call(#[from] kube::Error),
    #[error("failure of the test")]
    Told,
    #[error("terminal failure of the test")]
    Terminal,
}

impl ReconcileError for Failed {
    fn reason(&self) -> &'static str {
        match self {
            Self::Call(_) => "CallFailed",
            Self::Told => "Told",
            Self::Terminal => "Terminal",
        }
    }

    fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal)
    }
}

#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub generation: i64,
    pub at: Instant,
}

/// The recorded reconciles, and the orders by object.
#[derive(Clone, Default)]
pub struct Journal {
    calls: Arc<Mutex<Vec<Call>>>,
    orders: Arc<Mutex<HashMap<String, Order>>>,
}

#[derive(Clone, Copy, Debug)]
pub enum Order {
    Fail,
    FailForEver,
    /// After `Ready=True` was written.
    FailLate,
    Panic,
    Hang,
}

impl Journal {
    pub fn note(&self, object: &impl Resource) {
        self.calls.lock().unwrap().push(Call {
            name: object.name_any(),
            generation: object.meta().generation.unwrap_or_default(),
            at: Instant::now(),
        });
    }

    pub fn calls(&self, name: &str) -> Vec<Call> {
        let calls = self.calls.lock().unwrap();
        calls
            .iter()
            .filter(|call| call.name == name)
            .cloned()
            .collect()
    }

    pub fn count(&self, name: &str) -> usize {
        self.calls(name).len()
    }

    /// The newest seen generation.
    pub fn generation(&self, name: &str) -> i64 {
        let generations = self.calls(name).into_iter().map(|call| call.generation);
        generations.max().unwrap_or_default()
    }

    pub fn order(&self, name: &str, order: Option<Order>) {
        let mut orders = self.orders.lock().unwrap();
        match order {
            Some(order) => orders.insert(name.to_owned(), order),
            None => orders.remove(name),
        };
    }

    /// A controller that records each call, follows the order, and writes a child and `Ready=True`.
    pub fn controller(&self, name: &'static str) -> Controller<Widget, Client> {
        let journal = self.clone();
        Controller::new(name, move |widget, client| {
            let journal = journal.clone();
            async move { journal.reconcile(widget, client).await }
        })
    }

    async fn reconcile(self, widget: Arc<Widget>, client: Arc<Client>) -> Result<Action, Failed> {
        let name = widget.name_any();
        self.note(&*widget);
        let order = self.orders.lock().unwrap().get(&name).copied();
        match order {
            Some(Order::Fail) => return Err(Failed::Told),
            Some(Order::FailForEver) => return Err(Failed::Terminal),
            Some(Order::Panic) => panic!("panic of the test"),
            Some(Order::Hang) => std::future::pending().await,
            Some(Order::FailLate) | None => {}
        }
        write(&widget, &client).await?;
        if let Some(Order::FailLate) = order {
            return Err(Failed::Terminal);
        }
        Ok(Action::requeue(Duration::from_secs(3600)))
    }
}

/// Writes the child and the status of a widget.
pub async fn write(widget: &Widget, client: &Client) -> kube::Result<()> {
    let (name, namespace) = (widget.name_any(), widget.namespace().unwrap_or_default());
    let child = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": [widget.controller_owner_ref(&())] },
        "data": { "size": widget.spec.size.to_string() },
    });
    let children: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let params = PatchParams::apply("test").force();
    children
        .patch(&name, &params, &Patch::Apply(&child))
        .await?;
    let widgets = Api::namespaced(client.clone(), &namespace);
    status::patch(&widgets, widget, &ready(widget)).await?;
    Ok(())
}

fn ready(widget: &Widget) -> WidgetStatus {
    let mut status = widget.status.clone().unwrap_or_default();
    status.observed_generation = widget.metadata.generation;
    let ready = Condition {
        type_: "Ready".into(),
        status: "True".into(),
        reason: "Done".into(),
        message: String::new(),
        observed_generation: widget.metadata.generation,
        last_transition_time: Time(Timestamp::now()),
    };
    conditions::set(&mut status.conditions, ready);
    status
}
