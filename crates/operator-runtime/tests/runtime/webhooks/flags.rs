//! The flags of the webhook server.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use k8s_openapi::api::core::v1::ConfigMap;
use operator_runtime::{
    Error, Flags, Manager,
    webhook::{Change, Denied, Request, Webhook, Webhooks},
};
use tokio::time::timeout;

use crate::webhooks::{OPTIONS, cluster};

#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

async fn allow(_: &Change<ConfigMap>, _: &Request, _: &()) -> Result<(), Denied> {
    Ok(())
}

/// The error of the operator, if it ends within this many seconds.
async fn run(flags: &[&str], webhooks: Webhooks<()>, seconds: u64) -> Result<Option<Error>> {
    let kubeconfig = cluster()?.control_plane().kubeconfig();
    let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
    let own = ["operator", "--health-probe-bind-address=0", &kubeconfig];
    let args = Args::try_parse_from(own.iter().chain(flags))?;
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let run = manager.webhooks(webhooks, ()).run();
    match timeout(Duration::from_secs(seconds), run).await {
        Ok(result) => Ok(Some(result.err().context("it ended")?)),
        Err(_) => Ok(None),
    }
}

fn webhooks(paths: &[&str]) -> Webhooks<()> {
    let mut all = Webhooks::default();
    for path in paths {
        all.add(Webhook::validating(allow).path(path));
    }
    all
}

#[tokio::test]
async fn missing_settings_of_the_webhooks_are_reported() -> Result<()> {
    for (flags, paths, expected) in [
        (&[][..], &[][..], None),
        (&["--enable-webhooks=false"], &["/a"], None),
        (
            &[],
            &["/a"],
            Some("webhooks need a certificate: name its Secret by `--webhook-secret`"),
        ),
        (
            &["--webhook-cert-path=/nowhere"],
            &["/a"],
            Some("cannot use the certificate: `/nowhere/tls.crt`"),
        ),
        (&[], &["/a", "/a"], Some("two webhooks have the path `/a`")),
    ] {
        let seconds = if expected.is_some() { 30 } else { 1 };
        let error = run(flags, webhooks(paths), seconds).await?;
        let error = error.map(|error| error.to_string());
        let told = match (&error, expected) {
            (Some(error), Some(expected)) => error.starts_with(expected) && !error.contains('\n'),
            (error, expected) => error.is_none() && expected.is_none(),
        };
        ensure!(told, "{flags:?} {paths:?}: {error:?}");
    }
    Ok(())
}
