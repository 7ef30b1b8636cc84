//! Managed fields: what each field manager owns of an object.
//!
//! <https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::{ObjectMeta, Patch};
use serde_json::{Value, json};

/// The fields that one manager owns.
#[derive(Clone, Copy)]
pub(super) struct Manager<'a> {
    pub(super) name: &'a str,
    pub(super) operation: &'static str,
    pub(super) subresource: Option<&'static str>,
}

impl<'a> Manager<'a> {
    /// A manager of what is in no subresource.
    pub(super) fn of(name: &'a str, operation: &'static str) -> Self {
        Self {
            name,
            operation,
            subresource: None,
        }
    }

    pub(super) fn has(&self, entry: &ManagedFieldsEntry) -> bool {
        entry.manager.as_deref() == Some(self.name)
            && entry.operation.as_deref() == Some(self.operation)
            && entry.subresource.as_deref() == self.subresource
    }

    /// The owned fields, as [`Value`]s of the format `FieldsV1`.
    pub(super) fn fields<'o>(&self, object: &'o ObjectMeta) -> Option<&'o Value> {
        let mut entries = object.managed_fields.iter().flatten();
        let entry = entries.find(|entry| self.has(entry))?;
        entry.fields_v1.as_ref().map(|fields| &fields.0)
    }

    /// The patch that gives the fields of `self` to `heir`, who applies; `None` if there are none.
    ///
    /// `heir` then owns these fields, and its next apply removes those that it does not name. client-go's
    /// `csaupgrade` has the same idea. The patch fails with a conflict if the object has changed. A patch of
    /// a subresource cannot do this: the API server ignores its managed fields.
    pub(super) fn handed_to(
        &self,
        heir: &Manager<'_>,
        object: &ObjectMeta,
    ) -> Option<Patch<Value>> {
        let mut entries = object.managed_fields.clone()?;
        let place = entries.iter().position(|entry| self.has(entry))?;
        let mut entry = entries.remove(place);
        entry.manager = Some(heir.name.to_owned());
        entry.operation = Some(heir.operation.to_owned());
        if let Some(place) = entries.iter().position(|entry| heir.has(entry))
            && let (Some(fields), Some(own)) =
                (&mut entry.fields_v1, entries.remove(place).fields_v1)
        {
            unite(&mut fields.0, own.0);
        }
        entries.push(entry);
        Some(Patch::Merge(json!({ "metadata": {
            "resourceVersion": object.resource_version,
            "managedFields": entries,
        }})))
    }
}

/// Adds fields to others, both in the format `FieldsV1`: a tree whose leaves are empty maps.
fn unite(fields: &mut Value, others: Value) {
    if let (Value::Object(fields), Value::Object(others)) = (fields, others) {
        for (key, other) in others {
            unite(fields.entry(key).or_insert_with(|| json!({})), other);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;

    #[test]
    fn an_heir_owns_what_the_other_owned() {
        let entry = |manager: &str, operation: &str, subresource: Option<&str>, field: &str| {
            json!({
                "manager": manager, "operation": operation, "subresource": subresource,
                "fieldsV1": { field: {} },
            })
        };
        let object = json!({ "resourceVersion": "7", "managedFields": [
            entry("op", "Update", None, "f:a"),
            entry("op", "Update", Some("status"), "f:b"),
            entry("op/a", "Apply", Some("status"), "f:c"),
        ]});
        let object: ObjectMeta = from_value(object).unwrap();
        let manager = |name, operation| Manager {
            name,
            operation,
            subresource: Some("status"),
        };
        let (old, heir) = (manager("op", "Update"), manager("op/a", "Apply"));
        let Some(Patch::Merge(patch)) = old.handed_to(&heir, &object) else {
            panic!("there is an entry");
        };
        let expected = json!([
            entry("op", "Update", None, "f:a"),
            json!({
                "manager": "op/a", "operation": "Apply", "subresource": "status",
                "fieldsV1": { "f:b": {}, "f:c": {} },
            }),
        ]);
        let without_null = from_value::<Vec<ManagedFieldsEntry>>(expected).unwrap();
        assert_eq!(patch["metadata"]["managedFields"], json!(without_null));
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        assert_eq!(old.fields(&object), Some(&json!({ "f:b": {} })));
        let other = manager("other", "Update");
        assert!(other.handed_to(&heir, &object).is_none());
    }
}
