//! The newer version: the schedule has a field for each part.

use std::fmt;

use k8s_openapi::api::batch::v1::JobTemplateSpec;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::v1::{self, ConcurrencyPolicy, CronJobStatus};

/// When a Job runs, and what it is.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "batch.tutorial.kubebuilder.io",
    version = "v2",
    kind = "CronJob",
    namespaced,
    status = "CronJobStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct CronJobSpec {
    /// When, in UTC.
    pub schedule: CronSchedule,
    /// A run that could not start for this many seconds is left out.
    #[schemars(range(min = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting_deadline_seconds: Option<i64>,
    /// What to do when a run is due while an earlier one still works. Default: Allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_policy: Option<ConcurrencyPolicy>,
    /// Starts no further Jobs. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// What each Job is made from.
    pub job_template: JobTemplateSpec,
    /// How many Jobs that succeeded are kept. Default: 3.
    #[schemars(range(min = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful_jobs_history_limit: Option<i32>,
    /// How many Jobs that failed are kept. Default: 1.
    #[schemars(range(min = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_jobs_history_limit: Option<i32>,
}

/// The parts of a schedule, each as for cron. The API server fills in those that are left out: were
/// they absent, a conversion there and back would not know whether a `*` was written.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronSchedule {
    #[schemars(regex(pattern = "^[^ ]+$"))]
    #[serde(default = "any")]
    pub minute: String,
    #[schemars(regex(pattern = "^[^ ]+$"))]
    #[serde(default = "any")]
    pub hour: String,
    #[schemars(regex(pattern = "^[^ ]+$"))]
    #[serde(default = "any")]
    pub day_of_month: String,
    #[schemars(regex(pattern = "^[^ ]+$"))]
    #[serde(default = "any")]
    pub month: String,
    #[schemars(regex(pattern = "^[^ ]+$"))]
    #[serde(default = "any")]
    pub day_of_week: String,
}

fn any() -> String {
    "*".to_owned()
}

/// As cron writes it.
impl fmt::Display for CronSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            minute,
            hour,
            day_of_month,
            month,
            day_of_week,
        } = self;
        write!(f, "{minute} {hour} {day_of_month} {month} {day_of_week}")
    }
}

/// The pattern of the text says that it has five parts.
impl From<String> for CronSchedule {
    fn from(text: String) -> Self {
        let mut parts = text.split(' ').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_else(any);
        Self {
            minute: part(),
            hour: part(),
            day_of_month: part(),
            month: part(),
            day_of_week: part(),
        }
    }
}

// Both specs are taken apart without `..`: a field that is added later does not compile until it is
// converted.
impl From<CronJob> for v1::CronJob {
    fn from(spoke: CronJob) -> Self {
        let CronJobSpec {
            schedule,
            starting_deadline_seconds,
            concurrency_policy,
            suspend,
            job_template,
            successful_jobs_history_limit,
            failed_jobs_history_limit,
        } = spoke.spec;
        Self {
            metadata: spoke.metadata,
            spec: v1::CronJobSpec {
                schedule: schedule.to_string(),
                starting_deadline_seconds,
                concurrency_policy,
                suspend,
                job_template,
                successful_jobs_history_limit,
                failed_jobs_history_limit,
            },
            status: spoke.status,
        }
    }
}

impl From<v1::CronJob> for CronJob {
    fn from(hub: v1::CronJob) -> Self {
        let v1::CronJobSpec {
            schedule,
            starting_deadline_seconds,
            concurrency_policy,
            suspend,
            job_template,
            successful_jobs_history_limit,
            failed_jobs_history_limit,
        } = hub.spec;
        Self {
            metadata: hub.metadata,
            spec: CronJobSpec {
                schedule: schedule.into(),
                starting_deadline_seconds,
                concurrency_policy,
                suspend,
                job_template,
                successful_jobs_history_limit,
                failed_jobs_history_limit,
            },
            status: hub.status,
        }
    }
}
