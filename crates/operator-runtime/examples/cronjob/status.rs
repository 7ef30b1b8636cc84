//! The status of a CronJob, from its Jobs.

use std::sync::Arc;

use k8s_openapi::{
    api::{batch::v1::Job, core::v1::ObjectReference},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use kube::{Resource, ResourceExt};
use operator_runtime::conditions;

use crate::api::v1::{CronJob, CronJobStatus};

/// The annotation with the time at which the run of a Job was due.
pub const SCHEDULED_AT: &str = "batch.tutorial.kubebuilder.io/scheduled-at";

/// The Jobs of a CronJob, by state.
#[derive(Default)]
pub struct Jobs {
    pub active: Vec<Arc<Job>>,
    pub failed: Vec<Arc<Job>>,
    pub successful: Vec<Arc<Job>>,
}

impl Jobs {
    /// Sorts the Jobs by state. Finished Jobs are ordered oldest first.
    pub fn sort(all: Vec<Arc<Job>>) -> Self {
        let mut jobs = Self::default();
        for job in all {
            match () {
                () if has_ended(&job, "Failed") => jobs.failed.push(job),
                () if has_ended(&job, "Complete") => jobs.successful.push(job),
                () => jobs.active.push(job),
            }
        }
        let started = |job: &Arc<Job>| Some(job.status.as_ref()?.start_time.as_ref()?.0);
        jobs.failed.sort_by_key(started);
        jobs.successful.sort_by_key(started);
        jobs
    }

    /// The Jobs beyond the history limits.
    pub fn surplus(&self, cron_job: &CronJob) -> impl Iterator<Item = &Arc<Job>> {
        let spec = &cron_job.spec;
        let oldest = |jobs, limit: Option<i32>| {
            let jobs: &[Arc<Job>] = jobs;
            let limit = limit.and_then(|limit| usize::try_from(limit).ok());
            let surplus = limit.map_or(0, |limit| jobs.len().saturating_sub(limit));
            jobs[..surplus].iter()
        };
        oldest(&*self.failed, spec.failed_jobs_history_limit).chain(oldest(
            &*self.successful,
            spec.successful_jobs_history_limit,
        ))
    }

    /// The time at which the newest run was due. The status keeps it after the Job is deleted.
    fn last_run(&self, cron_job: &CronJob) -> Option<Timestamp> {
        let lists = [&self.active, &self.failed, &self.successful];
        let due = |job: &Arc<Job>| job.annotations().get(SCHEDULED_AT)?.parse().ok();
        let newest = lists.into_iter().flatten().filter_map(due).max();
        let status = cron_job.status.as_ref();
        newest.max(status.and_then(|status| Some(status.last_schedule_time.as_ref()?.0)))
    }

    pub fn status(&self, cron_job: &CronJob) -> CronJobStatus {
        let (active, failed) = (self.active.len(), self.failed.len());
        let suspended = cron_job.spec.suspend == Some(true);
        let (available, reason, message) = match () {
            () if suspended => (false, "Suspended", "no Job is started".to_owned()),
            () if failed > 0 => (false, "JobsFailed", format!("{failed} Jobs have failed")),
            () if active > 0 => (true, "JobsActive", format!("{active} Jobs are active")),
            () => (true, "AllJobsCompleted", "no Job is active".to_owned()),
        };
        let progressing = if active > 0 {
            "JobsActive"
        } else {
            "NoJobsActive"
        };
        let degraded = if failed > 0 {
            "JobsFailed"
        } else {
            "NoJobsFailed"
        };
        let old = cron_job.status.clone().unwrap_or_default();
        let mut status = CronJobStatus {
            active: self.active.iter().map(reference).collect(),
            last_schedule_time: self.last_run(cron_job).map(Time),
            conditions: old.conditions,
        };
        for (type_, holds, reason, message) in [
            ("Available", available, reason, message),
            (
                "Progressing",
                active > 0,
                progressing,
                format!("{active} Jobs are active"),
            ),
            (
                "Degraded",
                failed > 0,
                degraded,
                format!("{failed} Jobs have failed"),
            ),
        ] {
            let condition = conditions::new(cron_job, type_, holds, reason, message);
            conditions::set(&mut status.conditions, condition);
        }
        status
    }
}

fn has_ended(job: &Job, how: &str) -> bool {
    let conditions = job.status.iter().flat_map(|status| &status.conditions);
    let mut conditions = conditions.flatten();
    conditions.any(|condition| condition.type_ == how && condition.status == "True")
}

fn reference(job: &Arc<Job>) -> ObjectReference {
    ObjectReference {
        resource_version: None,
        ..job.object_ref(&())
    }
}
