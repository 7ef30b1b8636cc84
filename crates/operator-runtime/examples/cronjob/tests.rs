//! The assertions of the two tutorials' Go tests, against a real API server, with further ones.

use std::{sync::LazyLock, time::Duration};

use anyhow::{Context as _, Result, anyhow, ensure};
use k8s_openapi::{
    ByteString,
    api::{
        admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
        batch::v1::Job,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
    jiff::{Timestamp, tz::TimeZone},
};
use kube::{
    Api, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action,
    envtest::{Cluster, eventually},
    fake::{Fake, round_trip},
};
use serde_json::{Value, from_value, json};

use crate::{
    Context, OPTIONS,
    api::{
        v1::{ConcurrencyPolicy, CronJob},
        v2,
    },
    controller, crds,
    status::SCHEDULED_AT,
    webhooks,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(|| {
        let (controllers, hooks) = (controller::controller(), webhooks::webhooks());
        Cluster::start()?.with_operator(&OPTIONS, crds(), controllers, hooks, Context::new)
    });
    CLUSTER.as_ref().map_err(|error| anyhow!("{error:#}"))
}

fn job_spec() -> Value {
    let container = json!({ "name": "test-container", "image": "test-image" });
    let pod = json!({ "restartPolicy": "OnFailure", "containers": [container] });
    json!({ "template": { "spec": pod } })
}

fn cron_job(name: &str, schedule: &str) -> Result<CronJob> {
    Ok(from_value(json!({
        "apiVersion": "batch.tutorial.kubebuilder.io/v1",
        "kind": "CronJob",
        "metadata": { "name": name },
        "spec": { "schedule": schedule, "jobTemplate": { "spec": job_spec() } },
    }))?)
}

/// A schedule that is half an hour away, whenever the tests run.
fn not_soon() -> String {
    let now = Timestamp::now().to_zoned(TimeZone::UTC);
    format!("{} * * * *", (now.minute() + 30) % 60)
}

async fn create(cron_job: CronJob) -> Result<CronJob> {
    let api = cluster()?.api::<CronJob>()?;
    Ok(api.create(&PostParams::default(), &cron_job).await?)
}

/// A Job that `owner` controls, with this status.
async fn own(owner: &CronJob, name: &str, status: Value) -> Result<Job> {
    let api = cluster()?.api::<Job>()?;
    let reference = owner.controller_owner_ref(&());
    let metadata = json!({ "name": name, "ownerReferences": [reference] });
    let job: Job = from_value(json!({ "metadata": metadata, "spec": job_spec() }))?;
    api.create(&PostParams::default(), &job).await?;
    let (params, patch) = (PatchParams::default(), json!({ "status": status }));
    Ok(api
        .patch_status(name, &params, &Patch::Merge(patch))
        .await?)
}

/// The status of a finished Job, as the Job controller sets it.
fn ended(how: &str) -> Value {
    let now = Timestamp::now().to_string();
    let (first, completion) = match how {
        "Failed" => ("FailureTarget", Value::Null),
        _ => ("SuccessCriteriaMet", json!(now)),
    };
    let condition =
        |type_: &str| json!({ "type": type_, "status": "True", "lastTransitionTime": now });
    json!({
        "startTime": now,
        "completionTime": completion,
        "conditions": [condition(first), condition(how)],
    })
}

/// Waits until a condition has this status and reason, for the newest spec.
async fn until(name: &str, type_: &str, status: &str, reason: &str) -> Result<CronJob> {
    let api = cluster()?.api::<CronJob>()?;
    eventually(PATIENCE, async || {
        let found = api.get(name).await?;
        let conditions = found.status.iter().flat_map(|status| &status.conditions);
        let expected = |condition: &Condition| {
            condition.type_ == type_
                && condition.status == status
                && condition.reason == reason
                && condition.observed_generation == found.metadata.generation
        };
        let holds = conditions.clone().any(expected);
        ensure!(holds, "not {type_}={status} ({reason}): {:?}", found.status);
        Ok(found)
    })
    .await
}

fn active(cron_job: &CronJob) -> Vec<&str> {
    let status = cron_job.status.iter();
    let names = status.flat_map(|status| &status.active);
    names.filter_map(|job| job.name.as_deref()).collect()
}

#[tokio::test]
async fn the_status_tells_which_jobs_are_active() -> Result<()> {
    let schedule = not_soon();
    let created = create(cron_job("tracks", &schedule)?).await?;
    ensure!(created.spec.schedule == schedule);
    let idle = until("tracks", "Available", "True", "AllJobsCompleted").await?;
    ensure!(active(&idle).is_empty(), "{:?}", idle.status);
    until("tracks", "Progressing", "False", "NoJobsActive").await?;

    own(&created, "test-job", json!({ "active": 2 })).await?;
    let busy = until("tracks", "Progressing", "True", "JobsActive").await?;
    ensure!(active(&busy) == ["test-job"], "{:?}", busy.status);
    until("tracks", "Available", "True", "JobsActive").await?;
    Ok(())
}

#[tokio::test]
async fn a_failed_job_is_reported() -> Result<()> {
    let created = create(cron_job("fails", &not_soon())?).await?;
    own(&created, "test-job-failed", ended("Failed")).await?;
    until("fails", "Degraded", "True", "JobsFailed").await?;
    until("fails", "Available", "False", "JobsFailed").await?;
    Ok(())
}

#[tokio::test]
async fn a_suspended_cron_job_is_not_available() -> Result<()> {
    create(cron_job("suspended", &not_soon())?).await?;
    let suspend = Patch::Merge(json!({ "spec": { "suspend": true } }));
    let api = cluster()?.api::<CronJob>()?;
    api.patch("suspended", &PatchParams::default(), &suspend)
        .await?;
    until("suspended", "Available", "False", "Suspended").await?;
    Ok(())
}

#[tokio::test]
async fn missing_fields_get_defaults_and_others_stay() -> Result<()> {
    let spec = create(cron_job("defaults", &not_soon())?).await?.spec;
    ensure!(spec.concurrency_policy == Some(ConcurrencyPolicy::Allow));
    ensure!(spec.suspend == Some(false));
    ensure!(spec.successful_jobs_history_limit == Some(3));
    ensure!(spec.failed_jobs_history_limit == Some(1));

    let mut given = cron_job("no-defaults", &not_soon())?;
    given.spec.concurrency_policy = Some(ConcurrencyPolicy::Forbid);
    given.spec.suspend = Some(true);
    given.spec.successful_jobs_history_limit = Some(5);
    given.spec.failed_jobs_history_limit = Some(2);
    let spec = create(given.clone()).await?.spec;
    ensure!(spec.concurrency_policy == given.spec.concurrency_policy);
    ensure!(spec.suspend == Some(true));
    ensure!(spec.successful_jobs_history_limit == Some(5));
    ensure!(spec.failed_jobs_history_limit == Some(2));
    Ok(())
}

async fn denied(cron_job: CronJob, expected: &str) -> Result<()> {
    let error = create(cron_job).await.err().context("it was allowed")?;
    let error = format!("{error:#}");
    ensure!(error.contains(expected), "{error}");
    Ok(())
}

#[tokio::test]
async fn names_and_schedules_are_validated() -> Result<()> {
    let long = "this-name-is-way-too-long-and-should-fail-validation-because-it-is-way-too-long";
    let valid = "*/5 * * * *";
    denied(cron_job(long, valid)?, "must be no more than 52 characters").await?;
    create(cron_job("valid-cronjob-name", valid)?).await?;
    // The schema checks the number of fields, and the webhook their content.
    denied(
        cron_job("invalid", "invalid-cron-schedule")?,
        "spec.schedule",
    )
    .await?;
    denied(
        cron_job("invalid", "99 * * * *")?,
        "spec.schedule: Invalid value",
    )
    .await?;
    // A name cannot change, so only the function can see both errors.
    let both = webhooks::check(long, "invalid-cron-schedule").to_string();
    for expected in [
        "must be no more than 52 characters",
        "Expected exactly 5 fields, found 1",
    ] {
        ensure!(both.contains(expected), "{both}");
    }

    let api = cluster()?.api::<CronJob>()?;
    let change = async |schedule: &str| {
        let patch = Patch::Merge(json!({ "spec": { "schedule": schedule } }));
        let params = PatchParams::default();
        api.patch("valid-cronjob-name", &params, &patch).await
    };
    let error = change("99 * * * *").await.err().context("it was changed")?;
    ensure!(
        error.to_string().contains("spec.schedule: Invalid value"),
        "{error}"
    );
    change("0 0 * * *").await?;
    Ok(())
}

#[tokio::test]
async fn each_version_shows_what_was_written_in_the_other() -> Result<()> {
    create(cron_job("from-v1", "*/5 0 * 1-2 *")?).await?;
    let newer = cluster()?.api::<v2::CronJob>()?;
    let found = newer.get("from-v1").await?;
    let expected = json!({
        "minute": "*/5", "hour": "0", "dayOfMonth": "*", "month": "1-2", "dayOfWeek": "*",
    });
    ensure!(
        json!(found.spec.schedule) == expected,
        "{:?}",
        found.spec.schedule
    );

    let spec = json!({
        "schedule": { "hour": "3", "dayOfWeek": "mon" },
        "jobTemplate": { "spec": job_spec() },
    });
    let object: v2::CronJob = from_value(json!({
        "apiVersion": "batch.tutorial.kubebuilder.io/v2",
        "kind": "CronJob",
        "metadata": { "name": "from-v2" },
        "spec": spec,
    }))?;
    newer.create(&PostParams::default(), &object).await?;
    let found = cluster()?.api::<CronJob>()?.get("from-v2").await?;
    ensure!(
        found.spec.schedule == "* 3 * * mon",
        "{}",
        found.spec.schedule
    );
    ensure!(found.spec.suspend == Some(false), "no defaults");

    let mut wrong = object;
    wrong.metadata.name = Some("from-v2-wrong".to_owned());
    wrong.spec.schedule.hour = "25".to_owned();
    let error = newer.create(&PostParams::default(), &wrong).await.err();
    let error = error.context("it was allowed")?.to_string();
    ensure!(error.contains("spec.schedule: Invalid value"), "{error}");
    Ok(())
}

/// Without the caBundle, the API server could not call the webhooks.
#[tokio::test]
async fn each_webhook_has_a_ca_bundle() -> Result<()> {
    let client = cluster()?.client()?;
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let (all, mut bundles) = (ListParams::default(), Vec::new());
    // There is one more webhook of each kind, the test's probe.
    let ours = |name: &str| name.contains("cronjob");
    for configuration in mutating.list(&all).await? {
        let hooks = configuration.webhooks.into_iter().flatten();
        let hooks = hooks.filter(|hook| ours(&hook.name));
        bundles.extend(hooks.map(|hook| hook.client_config.ca_bundle));
    }
    for configuration in validating.list(&all).await? {
        let hooks = configuration.webhooks.into_iter().flatten();
        let hooks = hooks.filter(|hook| ours(&hook.name));
        bundles.extend(hooks.map(|hook| hook.client_config.ca_bundle));
    }
    let crds: Api<CustomResourceDefinition> = Api::all(client);
    let crd = crds.get("cronjobs.batch.tutorial.kubebuilder.io").await?;
    let conversion = crd
        .spec
        .conversion
        .and_then(|conversion| conversion.webhook);
    let config = conversion.and_then(|webhook| webhook.client_config);
    bundles.push(config.and_then(|config| config.ca_bundle));
    ensure!(bundles.len() == 5, "{} bundles", bundles.len());
    let signed = |bundle: &Option<ByteString>| bundle.as_ref().is_some_and(|pem| pem.0.len() > 10);
    ensure!(bundles.iter().all(signed));
    Ok(())
}

#[test]
fn no_conversion_loses_anything() {
    round_trip(&webhooks::spoke());
}

#[tokio::test]
async fn the_history_is_as_long_as_its_limit() -> Result<()> {
    let mut wanted = cron_job("history", &not_soon())?;
    wanted.spec.successful_jobs_history_limit = Some(1);
    let created = create(wanted).await?;
    for name in ["history-1", "history-2", "history-3"] {
        own(&created, name, ended("Complete")).await?;
    }
    eventually(PATIENCE, async || {
        let jobs = cluster()?.api::<Job>()?.list(&Default::default()).await?;
        let names = jobs.iter().map(ResourceExt::name_any);
        let left: Vec<_> = names.filter(|name| name.starts_with("history-")).collect();
        ensure!(left.len() == 1, "{left:?}");
        Ok(())
    })
    .await
}

/// With a fake clock, without a cluster.
#[tokio::test]
async fn a_run_that_is_due_starts_one_job() -> Result<()> {
    let time = |text: &str| format!("2030-01-01T{text}Z").parse::<Timestamp>();
    let fake = Fake::default();
    let mut wanted = cron_job("due", "*/10 * * * *")?;
    wanted.metadata.creation_timestamp = from_value(json!(time("10:00:00")?))?;
    let wanted = fake.insert(wanted);
    let context = Context::new(&fake.manager());

    let early = controller::reconcile_at(&wanted, &context, time("10:09:00")?).await?;
    ensure!(
        early == Action::requeue(Duration::from_secs(60)),
        "{early:?}"
    );
    let name = format!("due-{}", time("10:10:00")?.as_second());
    ensure!(fake.get::<Job>(&name).is_none());

    // Twice, as after a crash before the status is written, and with a store that does not show the Job
    // yet.
    for _ in 0..2 {
        let mut wanted: CronJob = fake.get("due").context("it is there")?;
        wanted.status = None;
        let due = controller::reconcile_at(&wanted, &context, time("10:10:01")?).await?;
        ensure!(due == Action::requeue(Duration::from_secs(599)), "{due:?}");
    }
    let job: Job = fake.get(&name).context("there is no Job")?;
    ensure!(job.annotations()[SCHEDULED_AT] == "2030-01-01T10:10:00Z");
    ensure!(job.owner_references()[0].uid == wanted.uid().unwrap_or_default());
    ensure!(json!(job.spec) == json!(wanted.spec.job_template.spec));
    let status = fake.get::<CronJob>("due").and_then(|found| found.status);
    let last = status.and_then(|status| status.last_schedule_time);
    ensure!(last.map(|last| last.0) == Some(time("10:10:00")?));

    // The status keeps the time, even when the Job is gone.
    let newest: CronJob = fake.get("due").context("it is there")?;
    let later = controller::reconcile_at(&newest, &context, time("10:11:00")?).await?;
    ensure!(
        later == Action::requeue(Duration::from_secs(540)),
        "{later:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_suspended_cron_job_starts_nothing() -> Result<()> {
    let fake = Fake::default();
    let mut wanted = cron_job("asleep", "* * * * *")?;
    wanted.spec.suspend = Some(true);
    wanted.metadata.creation_timestamp = from_value(json!("2030-01-01T10:00:00Z"))?;
    let wanted = fake.insert(wanted);
    let now = "2030-01-01T10:30:00Z".parse()?;
    let context = Context::new(&fake.manager());
    let asleep = controller::reconcile_at(&wanted, &context, now).await?;
    ensure!(asleep == Action::await_change(), "{asleep:?}");
    let jobs: Api<Job> = Api::default_namespaced(fake.client());
    ensure!(jobs.list(&Default::default()).await?.items.is_empty());
    Ok(())
}

/// After the creation, the next run is due within a minute. These tests need not wait, because the newest Job
/// has an old due time.
#[tokio::test]
async fn a_policy_forbids_or_replaces_active_jobs() -> Result<()> {
    let jobs = async |prefix: &str| {
        let jobs = cluster()?.api::<Job>()?.list(&Default::default()).await?;
        let names = jobs.iter().map(ResourceExt::name_any);
        anyhow::Ok(Vec::from_iter(
            names.filter(|name| name.starts_with(prefix)),
        ))
    };
    let long_ago = Timestamp::now() - Duration::from_secs(600);
    let at = json!({ "metadata": { "annotations": { SCHEDULED_AT: long_ago.to_string() } } });
    for policy in ["forbid", "replace"] {
        let mut wanted = cron_job(policy, "* * * * *")?;
        wanted.spec.suspend = Some(true);
        wanted.spec.concurrency_policy = Some(match policy {
            "forbid" => ConcurrencyPolicy::Forbid,
            _ => ConcurrencyPolicy::Replace,
        });
        let created = create(wanted).await?;
        let name = format!("{policy}-active");
        own(&created, &name, json!({ "active": 1 })).await?;
        let params = PatchParams::default();
        let api = cluster()?.api::<Job>()?;
        api.patch(&name, &params, &Patch::Merge(&at)).await?;
        let api = cluster()?.api::<CronJob>()?;
        eventually(PATIENCE, async || {
            let status = api.get(policy).await?.status.unwrap_or_default();
            ensure!(status.last_schedule_time.is_some(), "{status:?}");
            Ok(())
        })
        .await?;
        let go_on = Patch::Merge(json!({ "spec": { "suspend": false } }));
        api.patch(policy, &params, &go_on).await?;
        until(policy, "Progressing", "True", "JobsActive").await?;
    }
    eventually(PATIENCE, async || {
        let found = jobs("replace-").await?;
        let replaced = found.len() == 1 && found[0] != "replace-active";
        ensure!(replaced, "{found:?}");
        Ok(())
    })
    .await?;
    ensure!(jobs("forbid-").await? == ["forbid-active"]);
    Ok(())
}
