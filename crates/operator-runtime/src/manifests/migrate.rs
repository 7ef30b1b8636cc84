//! `make migrate-storage`: rewrites every object after a change of the storage version, so that all objects
//! are stored in that version and older versions can be removed.
//!
//! The API server converts objects on read, and stores them in the new version only on write. Until then,
//! `status.storedVersions` of the CRD lists the older version, and the API server refuses a CRD without
//! that version.
//!
//! The migration may be stopped at any time and run again: rewritten objects stay rewritten, and the older
//! version is removed only after all objects are written and the CRD has not changed meanwhile. The
//! operator must run, because it converts. The user needs `get` on customresourcedefinitions, `patch` on
//! customresourcedefinitions/status, and `get`, `list` and `patch` on the migrated types, in all
//! namespaces. Admission webhooks and quotas apply.

mod definition;
mod rewrite;

use std::{fmt::Display, path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, ResourceExt};
use tokio::runtime::Runtime;

use self::definition::Definition;
use crate::{client, error::chain};

/// The number of passes if the CRD changes meanwhile.
const ROUNDS: usize = 3;

/// The timeout of a call to the API server.
const CALL: Duration = Duration::from_secs(65);

/// Rewrite stored objects in the current storage version of their CRDs
#[derive(Parser)]
struct Args {
    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, the pod's service account]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

/// The `main` of a project's `migrate-storage` binary: migrates every type of the project that needs it.
pub fn main<E: Display>(crds: Result<Vec<CustomResourceDefinition>, E>) -> ExitCode {
    let args = Args::parse();
    match run(crds, &args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run<E: Display>(
    crds: Result<Vec<CustomResourceDefinition>, E>,
    args: &Args,
) -> Result<(), String> {
    let crds = crds.map_err(|error| error.to_string())?;
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let config = client::config(args.kubeconfig.as_deref()).await;
        let mut config = config.map_err(|error| error.to_string())?;
        config.read_timeout = Some(CALL);
        let client = Client::try_from(config).map_err(|error| chain(&error))?;
        for crd in &crds {
            let migrated = migrate(&client, crd, |line| eprintln!("{line}")).await;
            migrated.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

/// The reason why a migration failed. Rewritten objects stay rewritten.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot {}: {}", .0, chain(.1))]
    Call(String, #[source] kube::Error),
    #[error(
        "the cluster stores {crd} in {cluster}, this project in {project}\n\
         help: install the CRDs with `make install`"
    )]
    OtherVersion {
        crd: String,
        cluster: String,
        project: String,
    },
    #[error("the API server does not store {crd} in {version} yet; run this again")]
    NotYet { crd: String, version: String },
    #[error(
        "{count} of {crd} cannot be written: {first}\n\
         help: mend them, and run this again"
    )]
    Objects {
        crd: String,
        count: usize,
        first: String,
    },
    #[error("the CRD {0} changed while its objects were rewritten; run this again")]
    Changed(String),
}

/// Rewrites every object of a type in the current storage version, and then removes the other versions from
/// `status.storedVersions`. Does nothing if there are no others. `report` receives progress lines.
///
/// `crd` is the project's CRD. Its storage version must be the cluster's.
///
/// # Errors
/// If the API server refuses a request, or if the CRD keeps changing.
pub async fn migrate(
    client: &Client,
    crd: &CustomResourceDefinition,
    mut report: impl FnMut(&str),
) -> Result<(), Error> {
    let name = crd.name_any();
    for _ in 0..ROUNDS {
        let Some(definition) = Definition::get(client, &name).await? else {
            report(&format!("skipped {name}: it is not installed"));
            return Ok(());
        };
        definition.expect_storage_of(crd)?;
        let (version, others) = (definition.storage(), definition.others());
        if others.is_empty() {
            report(&format!("unchanged {name}: stored in {version} only"));
            return Ok(());
        }
        report(&format!(
            "migrating {name}: from {} to {version}",
            others.join(", ")
        ));
        definition.wait_until_effective(client).await?;
        let progress = |done, of| report(&format!("wrote {done} of {of} {name}"));
        rewrite::all(client, &definition, progress).await?;
        if definition.prune(client).await? {
            report(&format!("migrated {name}: stored in {version} only"));
            return Ok(());
        }
    }
    Err(Error::Changed(name))
}
