//! The newer version: the schedule has a field for each part.

use std::fmt;

use k8s_openapi::api::batch::v1::JobTemplateSpec;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::v1::{self, ConcurrencyPolicy, CronJobStatus};

/// The schedule of a Job, and its template.
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
    /// The schedule, in UTC.
    pub schedule: CronSchedule,
    /// The deadline in seconds for a run that could not start in time. Later, the run is skipped.
    #[schemars(range(min = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting_deadline_seconds: Option<i64>,
    /// The handling of a run that is due while an earlier one is active. Default: Allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_policy: Option<ConcurrencyPolicy>,
    /// Starts no further Jobs. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// The template of each Job.
    pub job_template: JobTemplateSpec,
    /// The number of successful Jobs to keep. Default: 3.
    #[schemars(range(min = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful_jobs_history_limit: Option<i32>,
    /// The number of failed Jobs to keep. Default: 1.
    #[schemars(range(min = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_jobs_history_limit: Option<i32>,
}

/// The parts of a schedule, each in cron's format. The API server fills in missing parts: if they stayed
/// absent, a round trip would not know whether the user wrote a `*`.
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

/// Formats like cron.
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

/// The pattern of the string requires five parts.
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

// Destructures both specs without `..`: a field that is added later does not compile until it is converted.
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
