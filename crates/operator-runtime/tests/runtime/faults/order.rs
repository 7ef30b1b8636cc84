//! The order and the concurrency of reconciles.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Result, ensure};
use kube::ResourceExt;
use operator_runtime::{Action, Controller, Controllers, ObjectRef, Trigger, envtest::free_port};
use tokio::time::{Instant, sleep};

use crate::faults::{operator::manager, site::Site, table::row, until};
use crate::widget::Widget;

type Names = Arc<Mutex<Vec<String>>>;

/// Runs a controller that records its reconciles, which take some milliseconds each.
async fn run(
    site: &Site,
    controller: Controller<Widget, ()>,
) -> Result<(
    Trigger<Widget>,
    tokio::task::JoinHandle<Result<(), operator_runtime::Error>>,
)> {
    let mut controllers = Controllers::default();
    controllers.add(controller);
    let place = format!("--watch-namespace={}", site.namespace);
    let manager = manager(&site.kubeconfig, free_port()?, free_port()?, &[&place]).await?;
    let trigger = manager.trigger("widgets");
    Ok((
        trigger,
        tokio::spawn(manager.controllers(controllers, ()).run()),
    ))
}

fn object(site: &Site, name: &str) -> ObjectRef<Widget> {
    ObjectRef::new(name).within(site.namespace)
}

#[tokio::test]
async fn an_object_that_is_triggered_all_the_time() -> Result<()> {
    let site = Site::new("starvation").await?;
    let others: Vec<_> = (0..30).map(|number| format!("other-{number}")).collect();
    site.create("noisy", 1).await?;
    for name in &others {
        site.create(name, 1).await?;
    }
    let names = Names::default();
    let noted = names.clone();
    let controller = Controller::new("widgets", move |widget: Arc<Widget>, _: Arc<()>| {
        noted.lock().unwrap().push(widget.name_any());
        async {
            sleep(Duration::from_millis(2)).await;
            Ok::<_, kube::Error>(Action::await_change())
        }
    });
    let (trigger, operator) = run(&site, controller.concurrency(1)).await?;
    let all = others.len() + 1;
    until("all were reconciled", 20, async || {
        Ok(names.lock().unwrap().len() >= all)
    })
    .await?;

    let (noisy, trigger_noisy) = (object(&site, "noisy"), trigger.clone());
    let noise = tokio::spawn(async move {
        loop {
            trigger_noisy.reconcile(&noisy);
            tokio::task::yield_now().await;
        }
    });
    sleep(Duration::from_millis(300)).await;
    let begin = Instant::now();
    let before = names.lock().unwrap().len();
    // No await in between: all of them are queued before the next reconcile starts.
    others
        .iter()
        .for_each(|name| trigger.reconcile(&object(&site, name)));
    let asked: BTreeSet<_> = others.iter().cloned().collect();
    let since = || names.lock().unwrap()[before..].to_vec();
    until("all were reconciled again", 20, async || {
        Ok(asked.is_subset(&since().into_iter().collect()))
    })
    .await?;
    let took = begin.elapsed();
    noise.abort();
    operator.abort();
    let since = since();
    let last = since
        .iter()
        .rposition(|name| name != "noisy")
        .unwrap_or_default();
    let noisy = since[..last].iter().filter(|name| *name == "noisy").count();
    let happened = format!(
        "{noisy} of its reconciles came before the last of {} others",
        others.len()
    );
    row(
        "an object triggered without pause, concurrency 1",
        &happened,
        took,
    );
    // The running one, and the one that was queued before.
    ensure!(noisy <= 2, "{since:?}");
    Ok(())
}

#[tokio::test]
async fn concurrency_is_used_and_no_object_runs_twice() -> Result<()> {
    let site = Site::new("concurrency").await?;
    let objects: Vec<_> = (0..8).map(|number| format!("w-{number}")).collect();
    for name in &objects {
        site.create(name, 1).await?;
    }
    let running = Arc::new(Mutex::new(BTreeSet::new()));
    let most = Arc::new(Mutex::new((0, 0, 0)));
    let (inside, counts) = (running.clone(), most.clone());
    let controller = Controller::new("widgets", move |widget: Arc<Widget>, _: Arc<()>| {
        let (inside, counts) = (inside.clone(), counts.clone());
        async move {
            let twice = !inside.lock().unwrap().insert(widget.name_any());
            {
                let (calls, most, doubles) = &mut *counts.lock().unwrap();
                *calls += 1;
                *most = inside.lock().unwrap().len().max(*most);
                *doubles += usize::from(twice);
            }
            sleep(Duration::from_millis(10)).await;
            inside.lock().unwrap().remove(&widget.name_any());
            Ok::<_, kube::Error>(Action::requeue(Duration::from_millis(1)))
        }
    });
    let (trigger, operator) = run(&site, controller.concurrency(4)).await?;
    let begin = Instant::now();
    until("400 reconciles", 30, async || {
        objects
            .iter()
            .for_each(|name| trigger.reconcile(&object(&site, name)));
        Ok(most.lock().unwrap().0 >= 400)
    })
    .await?;
    operator.abort();
    let (calls, most, doubles) = *most.lock().unwrap();
    ensure!(most == 4, "{most} at once");
    ensure!(
        doubles == 0,
        "{doubles} of {calls} beside another one of the same object"
    );
    let happened = format!("{calls} reconciles, {most} at once, {doubles} times one object twice");
    row(
        "8 objects triggered all the time, concurrency 4",
        &happened,
        begin.elapsed(),
    );
    Ok(())
}
