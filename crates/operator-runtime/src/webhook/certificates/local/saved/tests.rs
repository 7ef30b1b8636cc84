use k8s_openapi::{
    api::admissionregistration::v1::ValidatingWebhookConfiguration,
    apimachinery::pkg::apis::meta::v1::FieldsV1,
};

use super::*;

const URL: &str = "https://laptop:9443";

fn ca() -> ByteString {
    ByteString(b"ca".to_vec())
}

fn here(path: &str) -> Value {
    json!({ "url": format!("{URL}{path}"), "caBundle": ca() })
}

fn entry(manager: &str, operation: &str, fields: Value) -> ManagedFieldsEntry {
    ManagedFieldsEntry {
        manager: Some(manager.to_owned()),
        operation: Some(operation.to_owned()),
        fields_v1: Some(FieldsV1(fields)),
        ..ManagedFieldsEntry::default()
    }
}

fn object(data: Value, annotations: &[(&str, &str)]) -> DynamicObject {
    let resource = ApiResource::erase::<ValidatingWebhookConfiguration>(&());
    let mut object = DynamicObject::new("a", &resource).data(data);
    let annotations = annotations.iter();
    let annotations: BTreeMap<_, _> = annotations
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    object.metadata.annotations = Some(annotations).filter(|annotations| !annotations.is_empty());
    let fields = json!({ "f:webhooks": { "f:clientConfig": { "f:service": {} } } });
    object.metadata.managed_fields = Some(vec![
        entry("labels", "Apply", json!({ "f:metadata": {} })),
        entry("kubectl", "Apply", fields),
        entry(
            "others",
            "Update",
            json!({ "f:webhooks": { "f:clientConfig": {} } }),
        ),
    ]);
    object
}

/// The deployed configuration, with a selector that the declaration does not have.
fn deployed() -> DynamicObject {
    let service = json!({ "service": { "name": "s", "namespace": "n", "path": "/a" } });
    let webhooks = json!([
        { "name": "a", "clientConfig": service, "objectSelector": { "matchLabels": { "b": "c" } } },
        { "name": "gone", "clientConfig": service },
    ]);
    let annotations = [("cert-manager.io/inject-ca-from", "n/c"), ("mine", "1")];
    object(json!({ "webhooks": webhooks }), &annotations)
}

/// The current declarations: a deployed webhook, and a new one.
fn wanted() -> Value {
    json!([
        { "name": "a", "clientConfig": here("/a") },
        { "name": "new", "clientConfig": here("/new") },
    ])
}

#[test]
fn a_configuration_is_redirected_and_restored() {
    let before = deployed();
    let mut object = before.clone();
    redirect(&mut object, &wanted());
    let during = json!([
        { "name": "a", "clientConfig": here("/a"), "objectSelector": { "matchLabels": { "b": "c" } } },
        { "name": "new", "clientConfig": here("/new") },
    ]);
    assert_eq!(object.data["webhooks"], during);
    let annotations = object.metadata.annotations.clone().unwrap();
    assert_eq!(annotations.keys().collect::<Vec<_>>(), ["mine", BEFORE]);

    // A run after a killed one keeps the state that the killed run found.
    let mut next = object.clone();
    redirect(&mut next, &wanted());
    assert_eq!(next, object);

    let saved = before.metadata.managed_fields.clone().unwrap();
    assert_eq!(undo(&mut object, URL, &ca()), Undo::Replace(saved));
    assert_eq!(object, before);
}

#[test]
fn a_crd_is_redirected_and_restored() {
    let conversion =
        json!({ "strategy": "Webhook", "webhook": { "clientConfig": here("/convert") } });
    for was in [json!({ "strategy": "None" }), Value::Null] {
        let before = object(json!({ "spec": { "conversion": was, "group": "g" } }), &[]);
        let mut object = before.clone();
        redirect(&mut object, &conversion);
        assert_eq!(
            object.data["spec"],
            json!({ "conversion": conversion, "group": "g" })
        );
        assert!(matches!(undo(&mut object, URL, &ca()), Undo::Replace(_)));
        assert_eq!(object, before);
    }
}

#[test]
fn a_created_configuration_is_deleted() {
    let resource = ApiResource::erase::<ValidatingWebhookConfiguration>(&());
    let mut object = made("a", &resource, &wanted());
    assert_eq!(undo(&mut object.clone(), URL, &ca()), Undo::Delete);
    redirect(&mut object, &wanted());
    assert_eq!(undo(&mut object, URL, &ca()), Undo::Delete);
}

#[test]
fn an_object_that_is_not_redirected_stays_unchanged() {
    let mut redirected = deployed();
    redirect(&mut redirected, &wanted());
    let mut again = redirected.clone();
    again.data["webhooks"] = deployed().data["webhooks"].clone();
    let mut unmarked = redirected.clone();
    unmarked.metadata.annotations = None;
    let (elsewhere, other) = ("https://another:9443", ByteString(b"other".to_vec()));
    for (object, url, ca) in [
        (deployed(), URL, ca()),
        (again.clone(), URL, ca()),
        (unmarked, URL, ca()),
        (redirected.clone(), elsewhere, ca()),
        (redirected, URL, other),
    ] {
        let mut after = object.clone();
        assert_eq!(undo(&mut after, url, &ca), Undo::Nothing, "{object:?}");
        assert_eq!(after, object);
    }
    // Deployed over a killed run: the kept state is not the current one.
    again.data["webhooks"][0]["objectSelector"] = json!({});
    let deployed = again.clone();
    redirect(&mut again, &wanted());
    assert!(matches!(undo(&mut again, URL, &ca()), Undo::Replace(_)));
    assert_eq!(again.data, deployed.data);
}

#[test]
fn fields_go_to_the_manager_that_applied_the_clients() {
    let mut object = deployed();
    let before = redirect(&mut object, &wanted());
    let ours = json!({ "f:webhooks": { "f:clientConfig": { "f:url": {} } }, "f:metadata": {} });
    let entries = object.metadata.managed_fields.as_mut().unwrap();
    // As the API server records it: the changed fields have our manager.
    entries[1].fields_v1 = Some(FieldsV1(json!({ "f:webhooks": { "f:name": {} } })));
    entries.push(entry("us", "Update", ours));
    assert!(release(&mut object, "us", &before));
    let given = json!({
        "f:webhooks": { "f:name": {}, "f:clientConfig": { "f:url": {} } },
        "f:metadata": {},
    });
    let entries = object.metadata.managed_fields.clone().unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[1], entry("kubectl", "Apply", given));

    // An object without an applier.
    let mut object = deployed();
    object.metadata.managed_fields = Some(vec![entry("us", "Update", json!({}))]);
    let before = redirect(&mut object, &wanted());
    assert!(!release(&mut object, "us", &before));
}
