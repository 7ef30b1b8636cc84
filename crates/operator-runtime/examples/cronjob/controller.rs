//! Starts the Jobs of CronJobs, and deletes Jobs beyond the history limits.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{api::batch::v1::Job, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use kube::{Api, ResourceExt, api::ObjectMeta};
use operator_runtime::{Action, Controller, Controllers, ReconcileError, status};

use crate::{
    Context,
    api::v1::{ConcurrencyPolicy, CronJob},
    schedule::{self, ScheduleError},
    status::{Jobs, SCHEDULED_AT},
};

pub fn controller() -> Controllers<Context> {
    Controller::new("cronjob", reconcile)
        .prunes::<Job>()
        .condition("Available")
        .into()
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the API server refused a call")]
    Api(#[from] kube::Error),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Api(_) => "ApiCallFailed",
            Self::Schedule(_) => "InvalidSchedule",
        }
    }

    /// Only a change of the CronJob repairs its schedule.
    fn is_terminal(&self) -> bool {
        matches!(self, Self::Schedule(_))
    }
}

async fn reconcile(cron_job: Arc<CronJob>, context: Arc<Context>) -> Result<Action, Error> {
    reconcile_at(&cron_job, &context, Timestamp::now()).await
}

pub async fn reconcile_at(
    cron_job: &CronJob,
    context: &Context,
    now: Timestamp,
) -> Result<Action, Error> {
    let Context {
        client,
        applier,
        jobs,
    } = context;
    let namespace = cron_job.namespace().unwrap_or_default();
    let api: Api<CronJob> = Api::namespaced(client.clone(), &namespace);
    let jobs = Jobs::sort(jobs.controlled_by(cron_job));
    let mut new = jobs.status(cron_job);
    let cron_job = status::patch(&api, cron_job, &new).await?;

    for job in jobs.surplus(&cron_job) {
        applier.delete_owned(&cron_job, &**job).await?;
    }
    let spec = &cron_job.spec;
    if spec.suspend == Some(true) {
        return Ok(Action::await_change());
    }
    let last = new.last_schedule_time.as_ref();
    let last = last.or(cron_job.metadata.creation_timestamp.as_ref());
    let runs = schedule::runs(spec, last.map_or(now, |last| last.0), now)?;
    let until_next = Duration::try_from(runs.next.duration_since(now)).unwrap_or_default();
    let again = Action::requeue(until_next);
    let Some(run) = runs.missed else {
        return Ok(again);
    };
    match spec.concurrency_policy.unwrap_or_default() {
        ConcurrencyPolicy::Forbid if !jobs.active.is_empty() => return Ok(again),
        ConcurrencyPolicy::Replace => {
            for job in &jobs.active {
                applier.delete_owned(&cron_job, &**job).await?;
            }
        }
        ConcurrencyPolicy::Allow | ConcurrencyPolicy::Forbid => {}
    }
    applier.create_owned(&cron_job, job(&cron_job, run)).await?;
    // The Job may be gone before the store has shown it.
    new.last_schedule_time = Some(Time(run));
    status::patch(&api, &cron_job, &new).await?;
    Ok(again)
}

/// The Job of a run. Its name follows from the run, so a repeated reconcile creates no second Job.
fn job(cron_job: &CronJob, run: Timestamp) -> Job {
    let template = cron_job.spec.job_template.clone();
    let of_template = template.metadata.unwrap_or_default();
    let mut annotations = of_template.annotations.unwrap_or_default();
    annotations.insert(SCHEDULED_AT.to_owned(), run.to_string());
    Job {
        metadata: ObjectMeta {
            name: Some(format!("{}-{}", cron_job.name_any(), run.as_second())),
            labels: of_template.labels,
            annotations: Some(annotations),
            ..ObjectMeta::default()
        },
        spec: template.spec,
        status: None,
    }
}
