use super::*;

const CA: &str = "-----BEGIN CERTIFICATE-----\n";

fn service() -> Service {
    Service {
        name: "webhook-service".to_owned(),
        namespace: "system".to_owned(),
    }
}

/// A client configuration that calls a service.
fn calls(name: &str, bundle: &str) -> Value {
    let mut client = json!({ "service": { "name": name, "namespace": "system", "path": "/a" } });
    if !bundle.is_empty() {
        client["caBundle"] = json!(ByteString(bundle.as_bytes().to_vec()));
    }
    client
}

/// The names of the webhooks with these clients, called `0` and so on, that get the caBundle.
fn patched(clients: &[Value]) -> Vec<String> {
    let webhooks = clients.iter().enumerate();
    let webhooks: Vec<_> = webhooks
        .map(|(name, client)| json!({ "name": name.to_string(), "clientConfig": client }))
        .collect();
    let object = json!({ "metadata": { "resourceVersion": "7" }, "webhooks": webhooks });
    let object: Seen = serde_json::from_value(object).unwrap();
    let Some(patch) = object.patch(&service(), CA) else {
        return Vec::new();
    };
    assert_eq!(patch["metadata"], json!({ "resourceVersion": "7" }));
    let webhooks = patch["webhooks"].as_array().unwrap().iter();
    webhooks
        .map(|webhook| {
            let client = json!({ "caBundle": ByteString(CA.as_bytes().to_vec()) });
            assert_eq!(webhook["clientConfig"], client);
            webhook["name"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn only_webhooks_of_the_service_without_the_bundle_are_patched() {
    let (own, other) = ("webhook-service", "another-service");
    let (none, there, old) = (calls(own, ""), calls(own, CA), calls(own, "old"));
    let foreign = calls(other, "");
    let elsewhere = json!({ "url": "https://laptop:9443/a", "caBundle": "eA==" });
    let mut namespace = calls(own, "");
    namespace["service"]["namespace"] = json!("other");
    for (clients, expected) in [
        (vec![], vec![]),
        (vec![&none], vec!["0"]),
        (vec![&there], vec![]),
        (vec![&there, &none, &there, &old], vec!["1", "3"]),
        (vec![&foreign, &elsewhere, &namespace], vec![]),
        (vec![&foreign, &old], vec!["1"]),
    ] {
        let clients: Vec<_> = clients.into_iter().cloned().collect();
        assert_eq!(patched(&clients), expected, "{clients:?}");
    }
}

#[test]
fn a_crd_is_patched_if_it_is_converted_by_the_service() {
    let webhook =
        |client: &Value| json!({ "strategy": "Webhook", "webhook": { "clientConfig": client } });
    for (conversion, calls, lacks) in [
        (json!({ "strategy": "None" }), false, false),
        (Value::Null, false, false),
        (webhook(&Value::Null), false, false),
        (webhook(&calls("webhook-service", "")), true, true),
        (webhook(&calls("webhook-service", "old")), true, true),
        (webhook(&calls("webhook-service", CA)), true, false),
        (webhook(&calls("another-service", "")), false, false),
    ] {
        let object = json!({
            "metadata": { "resourceVersion": "7" },
            "spec": { "group": "example.com", "conversion": conversion, "versions": [{}] },
        });
        let object: Seen = serde_json::from_value(object).unwrap();
        assert_eq!(object.calls(&service()), calls, "{conversion}");
        let expected = lacks.then(|| {
            let client = json!({ "caBundle": ByteString(CA.as_bytes().to_vec()) });
            json!({
                "metadata": { "resourceVersion": "7" },
                "spec": { "conversion": { "webhook": { "clientConfig": client } } },
            })
        });
        assert_eq!(object.patch(&service(), CA), expected, "{conversion}");
    }
}

#[test]
fn hosts_are_what_the_api_server_verifies() {
    let hosts = service().hosts();
    assert_eq!(hosts[0], "webhook-service.system.svc");
    // config/prometheus/monitor.yaml of generated projects.
    assert_eq!(hosts[2], "metrics");
    let (certificate, text) = (
        Target::Mutating("a".to_owned()),
        Target::Definition("b".to_owned()),
    );
    assert_eq!(certificate.to_string(), "MutatingWebhookConfiguration `a`");
    assert_eq!(text.to_string(), "CustomResourceDefinition `b`");
}
