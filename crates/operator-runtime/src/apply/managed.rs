//! Managed fields: what each field manager owns of an object.
//!
//! <https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>

use kube::api::{ObjectMeta, Patch};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::answer::Answer;
use crate::cache::Metadata;

/// What the managed fields of an object say of its status.
pub(super) type StatusFields = Vec<Managed<Status>>;

/// What the managed fields of an object say of its status; nothing for an object of a cache, which has none.
pub(super) fn of_status(object: &ObjectMeta) -> serde_json::Result<StatusFields> {
    match &object.managed_fields {
        Some(fields) => StatusFields::deserialize(serde_json::to_value(fields)?),
        None => Ok(StatusFields::new()),
    }
}

/// What one manager owns, as an `F`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Managed<F> {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields_v1: Option<F>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manager: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subresource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

/// The owned fields of a status.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Status {
    /// In the format `FieldsV1`, below `f:status`; null if none is owned.
    #[serde(default, rename = "f:status")]
    pub(super) fields: Value,
}

impl Managed<Status> {
    /// The owned fields of the status.
    pub(super) fn status(&self) -> Option<&Value> {
        self.fields_v1.as_ref().map(|status| &status.fields)
    }
}

/// One field manager.
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

    pub(super) fn has<F>(&self, entry: &Managed<F>) -> bool {
        entry.manager.as_deref() == Some(self.name)
            && entry.operation.as_deref() == Some(self.operation)
            && entry.subresource.as_deref() == self.subresource
    }

    /// The patch that gives the fields of `self` to `heir`, who applies; `None` if there are none.
    ///
    /// `heir` then owns these fields, and its next apply removes those that it does not name. client-go's
    /// `csaupgrade` has the same idea. The patch fails with a conflict if the object has changed. A patch of
    /// a subresource cannot do this: the API server ignores its managed fields.
    ///
    /// # Errors
    /// If the managed fields are not as Kubernetes defines them.
    pub(super) fn handed_to(
        &self,
        heir: &Manager<'_>,
        object: &Answer<Metadata>,
    ) -> kube::Result<Option<Patch<Value>>> {
        let managers: Vec<Managed<IgnoredAny>> = object.managed()?;
        let Some(place) = managers.iter().position(|entry| self.has(entry)) else {
            return Ok(None);
        };
        let mut entries: Vec<Managed<Box<RawValue>>> = object.managed()?;
        let mut entry = entries.remove(place);
        entry.manager = Some(heir.name.to_owned());
        entry.operation = Some(heir.operation.to_owned());
        if let Some(place) = entries.iter().position(|entry| heir.has(entry))
            && let (Some(fields), Some(own)) =
                (&mut entry.fields_v1, entries.remove(place).fields_v1)
        {
            *fields = united(fields, &own).map_err(kube::Error::SerdeError)?;
        }
        entries.push(entry);
        Ok(Some(Patch::Merge(json!({ "metadata": {
            "resourceVersion": object.object.metadata.resource_version,
            "managedFields": entries,
        }}))))
    }
}

fn united(fields: &RawValue, others: &RawValue) -> serde_json::Result<Box<RawValue>> {
    let mut united: Value = serde_json::from_str(fields.get())?;
    unite(&mut united, serde_json::from_str(others.get())?);
    to_raw_value(&united)
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
    use super::*;

    #[test]
    fn an_heir_owns_what_the_other_owned() {
        let entry = |manager: &str, operation: &str, subresource: Option<&str>, fields: Value| {
            let mut entry = json!({
                "manager": manager, "operation": operation,
                "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "2030-01-01T00:00:00Z",
                "fieldsV1": fields,
            });
            if let Some(subresource) = subresource {
                entry["subresource"] = subresource.into();
            }
            entry
        };
        let managed = json!([
            entry("op", "Update", None, json!({ "f:a": {} })),
            entry("op", "Update", Some("status"), json!({ "f:b": {} })),
            entry("op/a", "Apply", Some("status"), json!({ "f:c": {} })),
        ]);
        let object = json!({ "metadata": { "managedFields": managed, "resourceVersion": "7" } });
        let object = Answer::decode(&object.to_string()).unwrap();
        let manager = |name, operation| Manager {
            name,
            operation,
            subresource: Some("status"),
        };
        let (old, heir) = (manager("op", "Update"), manager("op/a", "Apply"));
        let handed = old.handed_to(&heir, &object).unwrap();
        let Some(Patch::Merge(patch)) = handed else {
            panic!("there is an entry");
        };
        let expected = json!([
            entry("op", "Update", None, json!({ "f:a": {} })),
            entry(
                "op/a",
                "Apply",
                Some("status"),
                json!({ "f:b": {}, "f:c": {} })
            ),
        ]);
        assert_eq!(patch["metadata"]["managedFields"], expected);
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let other = manager("other", "Update");
        let handed = other.handed_to(&heir, &object).unwrap();
        assert!(handed.is_none());
    }

    #[test]
    fn of_a_status_the_owned_fields_are_known() {
        let managed = json!([
            { "manager": "a", "fieldsV1": { "f:spec": {}, "f:status": { "f:b": {} } } },
            { "manager": "c", "fieldsV1": { "f:spec": {} } },
            { "manager": "d" },
        ]);
        let managed: StatusFields = serde_json::from_value(managed).unwrap();
        let fields: Vec<_> = managed.iter().map(Managed::status).collect();
        let expected = json!({ "f:b": {} });
        assert_eq!(fields, [Some(&expected), Some(&Value::Null), None]);
    }
}
