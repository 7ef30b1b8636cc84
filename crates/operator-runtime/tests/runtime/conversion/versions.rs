//! Webhooks of a kind with several versions.

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use kube::api::{DeleteParams, PostParams};
use operator_runtime::{
    Controllers, Crds, TypedObject,
    envtest::{Cluster, NAMESPACE, Operator},
    webhook::{
        Change, Conversion, Denied, FieldErrors, MatchPolicy, Request, Spoke, Webhook, Webhooks,
    },
};
use serde_json::{Value, json};

use crate::conversion::{setup::*, types::*};

/// The called webhooks, such as `validate v1`.
type Asked = Arc<Mutex<Vec<&'static str>>>;

async fn default_v1(_: &mut v1::Widget, _: &Request, asked: &Asked) -> Result<(), Denied> {
    asked.lock().unwrap().push("default v1");
    Ok(())
}

async fn default_v2(_: &mut v2::Widget, _: &Request, asked: &Asked) -> Result<(), Denied> {
    asked.lock().unwrap().push("default v2");
    Ok(())
}

async fn validate_v1(
    change: &Change<v1::Widget>,
    _: &Request,
    asked: &Asked,
) -> Result<(), Denied> {
    asked.lock().unwrap().push("validate v1");
    let mut errors = FieldErrors::default();
    if let Change::Create(new) = change
        && new.spec.display_name == "7"
    {
        errors.invalid("spec.displayName", "7", "is too lucky");
    }
    errors.into_result()
}

async fn validate_v2(
    change: &Change<v2::Widget>,
    _: &Request,
    asked: &Asked,
) -> Result<(), Denied> {
    asked.lock().unwrap().push("validate v2");
    let mut errors = FieldErrors::default();
    if let Change::Create(new) = change
        && new.spec.number == 13
    {
        errors.invalid("spec.number", 13, "brings bad luck");
    }
    errors.into_result()
}

/// An operator with these webhooks, and the results of writes.
struct Site<'a> {
    cluster: &'a Cluster,
    _operator: Operator,
    asked: Asked,
}

impl<'a> Site<'a> {
    /// With webhooks for `v1`, and optionally for `v2`, and optionally with another match policy.
    fn run(cluster: &'a Cluster, both: bool, policy: Option<MatchPolicy>) -> Result<Self> {
        let mut crds = Crds::default();
        crds.add_storage::<v1::Widget>();
        crds.add_served::<v2::Widget>();
        let mut hub = Conversion::to::<v1::Widget>();
        hub.add(Spoke::fallible::<v2::Widget>());
        let mut all = webhooks(hub);
        fn add<K>(
            all: &mut Webhooks<Asked>,
            webhook: Webhook<K, Asked>,
            policy: Option<MatchPolicy>,
        ) where
            K: TypedObject,
        {
            all.add(match policy {
                Some(policy) => webhook.match_policy(policy),
                None => webhook,
            });
        }
        add(
            &mut all,
            Webhook::defaulting(default_v1).schema_first(),
            policy,
        );
        add(&mut all, Webhook::validating(validate_v1), policy);
        if both {
            add(
                &mut all,
                Webhook::defaulting(default_v2).schema_first(),
                policy,
            );
            add(&mut all, Webhook::validating(validate_v2), policy);
        }
        let asked = Asked::default();
        let context = asked.clone();
        let controllers = Controllers::default();
        let operator = cluster.run(&OPTIONS, crds.merge(), controllers, all, move |_| context)?;
        Ok(Self {
            cluster,
            _operator: operator,
            asked,
        })
    }

    /// The status of a dry run that creates an object, the message, and the called webhooks.
    async fn create(&self, version: &str, spec: Value) -> Result<(u16, String, Vec<&'static str>)> {
        self.asked.lock().unwrap().clear();
        let api = widgets(self.cluster, version, NAMESPACE)?;
        let result = api
            .create(&PostParams::default(), &widget(version, "a", &spec)?)
            .await;
        let (code, message) = match result {
            Ok(_) => {
                api.delete("a", &DeleteParams::default()).await?;
                (201, String::new())
            }
            Err(kube::Error::Api(status)) => (status.code, status.message),
            Err(error) => return Err(error).context("no answer"),
        };
        Ok((code, message, self.asked.lock().unwrap().clone()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_of_each_version_receive_their_own_version() -> Result<()> {
    let cluster = Cluster::start()?;
    let (lucky, unlucky) = (json!({ "displayName": "7" }), json!({ "number": 13 }));
    let thirteen = json!({ "displayName": "13" });
    let (four, many) = (json!({ "number": 4 }), json!({ "number": "many" }));
    let word = json!({ "displayName": "word" });
    let (of_v1, of_v2) = (["default v1", "validate v1"], ["default v2", "validate v2"]);

    let site = Site::run(&cluster, true, None)?;
    for (version, spec, code, words, asked) in [
        (
            "v2",
            &unlucky,
            422,
            "spec.number: Invalid value: 13: brings bad luck",
            &of_v2[..],
        ),
        (
            "v2",
            &many,
            422,
            "spec.number: Invalid value: \"string\"",
            &of_v2[..0],
        ),
        ("v2", &json!({ "number": 7 }), 201, "", &of_v2[..]),
        (
            "v1",
            &lucky,
            422,
            "spec.displayName: Invalid value: \"7\": is too lucky",
            &of_v1[..],
        ),
        ("v1", &thirteen, 201, "", &of_v1[..]),
        ("v1", &word, 201, "", &of_v1[..]),
    ] {
        let answer = site.create(version, spec.clone()).await?;
        let right = answer.0 == code && answer.1.contains(words) && answer.2 == asked;
        ensure!(
            right,
            "{version} {spec}: {answer:?}, not {code} {words} {asked:?}"
        );
    }
    drop(site);

    // The behaviour that the default match policy avoids.
    let site = Site::run(&cluster, true, Some(MatchPolicy::Equivalent))?;
    for (version, spec, code, words) in [
        ("v2", &many, 500, "conversion webhook"),
        (
            "v1",
            &thirteen,
            422,
            "spec.number: Invalid value: 13: brings bad luck",
        ),
        ("v1", &word, 500, "conversion webhook"),
    ] {
        let answer = site.create(version, spec.clone()).await?;
        let right = answer.0 == code && answer.1.contains(words);
        ensure!(right, "{version} {spec}: {answer:?}, not {code} {words}");
    }
    drop(site);

    // No other webhook covers objects in v2.
    let site = Site::run(&cluster, false, None)?;
    for (version, spec, code, words) in [
        (
            "v2",
            json!({ "number": 7 }),
            422,
            "spec.displayName: Invalid value: \"7\": is too lucky",
        ),
        ("v2", four, 201, ""),
        (
            "v1",
            lucky,
            422,
            "spec.displayName: Invalid value: \"7\": is too lucky",
        ),
    ] {
        let answer = site.create(version, spec.clone()).await?;
        let right = answer.0 == code && answer.1.contains(words) && answer.2 == of_v1;
        ensure!(right, "{version} {spec}: {answer:?}, not {code} {words}");
    }
    Ok(())
}
