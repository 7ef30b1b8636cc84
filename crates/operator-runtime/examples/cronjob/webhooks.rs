//! Defaulting, validation and conversion, for both versions.

use kube::ResourceExt;
use operator_runtime::webhook::{
    Change, Conversion, Denied, FieldErrors, Hub, Request, Spoke, Webhook, Webhooks,
};

use crate::{
    Context,
    api::{
        v1::{self, ConcurrencyPolicy},
        v2,
    },
    schedule,
};

pub fn webhooks() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(Webhook::defaulting(default_v1));
    all.add(Webhook::validating(validate_v1));
    all.add(Webhook::defaulting(default_v2));
    all.add(Webhook::validating(validate_v2));
    let mut hub: Hub<v1::CronJob> = Conversion::to();
    hub.add(spoke());
    all.convert(hub);
    all
}

pub fn spoke() -> Spoke<v1::CronJob> {
    Spoke::of::<v2::CronJob>()
}

/// The defaults of both versions.
macro_rules! defaults {
    ($spec:expr) => {{
        let spec = $spec;
        spec.concurrency_policy
            .get_or_insert(ConcurrencyPolicy::Allow);
        spec.suspend.get_or_insert(false);
        spec.successful_jobs_history_limit.get_or_insert(3);
        spec.failed_jobs_history_limit.get_or_insert(1);
    }};
}

async fn default_v1(cron_job: &mut v1::CronJob, _: &Request, _: &Context) -> Result<(), Denied> {
    defaults!(&mut cron_job.spec);
    Ok(())
}

async fn default_v2(cron_job: &mut v2::CronJob, _: &Request, _: &Context) -> Result<(), Denied> {
    defaults!(&mut cron_job.spec);
    Ok(())
}

async fn validate_v1(change: &Change<v1::CronJob>, _: &Request, _: &Context) -> Result<(), Denied> {
    match change {
        Change::Create(new) | Change::Update { new, .. } => {
            check(&new.name_any(), &new.spec.schedule).into_result()
        }
        Change::Delete(_) => Ok(()),
    }
}

async fn validate_v2(change: &Change<v2::CronJob>, _: &Request, _: &Context) -> Result<(), Denied> {
    match change {
        Change::Create(new) | Change::Update { new, .. } => {
            check(&new.name_any(), &new.spec.schedule.to_string()).into_result()
        }
        Change::Delete(_) => Ok(()),
    }
}

/// The rules that the schema cannot express.
pub fn check(name: &str, schedule: &str) -> FieldErrors {
    let mut errors = FieldErrors::default();
    // A name has up to 63 characters, and the names of the Jobs have 11 more: a dash and a time.
    if name.len() > 52 {
        errors.invalid("metadata.name", name, "must be no more than 52 characters");
    }
    if let Err(error) = schedule::parse(schedule) {
        errors.invalid("spec.schedule", schedule, error);
    }
    errors
}
