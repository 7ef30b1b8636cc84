//! The objects of a fake API server, and their rules.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{
    api::{ApiResource, DynamicObject},
    core::GroupVersionKind,
};
use serde_json::{Value, json};

use super::{
    metadata::{SYSTEM, adds_finalizer, complete, grow, has_finalizers, set},
    patch::Format,
    refusal::Refusal,
    selector::Selection,
};
use crate::{cache::Entry, clock::Clock, fake::request::RecordedRequest, object::ScopedResource};

/// Group, plural, namespace and name.
pub(super) type Id = (String, String, Option<String>, String);

/// A status code and the object, or an error status.
pub(super) type Answer = Result<(u16, Value), Refusal>;

#[derive(Default)]
pub(super) struct Objects {
    stored: BTreeMap<Id, Value>,
    /// The newest resource version.
    version: u64,
    uids: u64,
    pub(super) clock: Clock,
    /// The objects that changed since the last call of `changes`.
    changed: Vec<Id>,
}

impl Objects {
    /// Adds `object` unchanged, with the API server's metadata.
    pub(super) fn seed(&mut self, id: Id, mut object: Value) -> Value {
        self.complete(&id, &mut object);
        self.store(id, object)
    }

    pub(super) fn find(&self, id: &Id) -> Option<&Value> {
        self.stored.get(id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Id, &Value)> {
        self.stored.iter()
    }

    /// The objects that changed since the last call.
    pub(super) fn changes(&mut self) -> Vec<Id> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn get(&self, request: &RecordedRequest) -> Answer {
        let id = id(request);
        let found = self.stored.get(&id);
        let not_found = || Refusal::not_found(request, &id.3);
        Ok((200, found.ok_or_else(not_found)?.clone()))
    }

    pub(super) fn list(&self, request: &RecordedRequest, selection: &Selection) -> Answer {
        let found = self.select(request, selection);
        let items = found.map(|(_, object)| object.clone()).collect();
        Ok((200, self.list_of(items)))
    }

    pub(super) fn create(&mut self, request: &RecordedRequest, mut object: Value) -> Answer {
        let metadata = &mut object["metadata"];
        if let (Value::Null, Some(prefix)) = (&metadata["name"], metadata["generateName"].as_str())
        {
            metadata["name"] = format!("{prefix}{:05x}", self.version).into();
        }
        let Some(name) = metadata["name"].as_str() else {
            return Err(Refusal::new(422, "name or generateName is required"));
        };
        let name = name.to_owned();
        let id = self::id(&RecordedRequest {
            name: Some(name),
            ..request.clone()
        });
        if self.stored.contains_key(&id) {
            return Err(Refusal::exists(request, &id.3));
        }
        if !metadata["resourceVersion"].is_null() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Refusal::new(500, message));
        }
        set(&mut object, "status", Value::Null);
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "generation",
        ] {
            set(&mut object["metadata"], field, Value::Null);
        }
        self.complete(&id, &mut object);
        Ok((201, self.store(id, object)))
    }

    /// A PUT: of the object without its status, or of its status.
    pub(super) fn replace(&mut self, request: &RecordedRequest, object: Value) -> Answer {
        if object["metadata"]["resourceVersion"].is_null() {
            let message = "metadata.resourceVersion: must be specified for an update";
            return Err(Refusal::new(422, message));
        }
        self.update(request, object)
    }

    pub(super) fn patch(
        &mut self,
        request: &RecordedRequest,
        format: Format,
        patch: Value,
    ) -> Answer {
        if format == Format::Apply
            && !(patch["apiVersion"].is_string() && patch["kind"].is_string())
        {
            let message = "invalid object type: an applied object needs apiVersion and kind";
            return Err(Refusal::new(400, message));
        }
        match self.get(request) {
            Ok((_, old)) => self.update(request, format.apply(&old, patch)?),
            Err(_) if format == Format::Apply && request.subresource.is_none() => {
                let object = format.apply(&json!({}), patch)?;
                check_name(request, &object)?;
                self.create(request, object)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Deletes an object, or sets its `deletionTimestamp` if it has finalizers.
    pub(super) fn delete(&mut self, request: &RecordedRequest, options: &Value) -> Answer {
        let id = id(request);
        let (_, mut object) = self.get(request)?;
        let metadata = &mut object["metadata"];
        for field in ["uid", "resourceVersion"] {
            let wanted = &options["preconditions"][field];
            if !wanted.is_null() && *wanted != metadata[field] {
                let why = format!("Precondition failed: {field} is {}", metadata[field]);
                return Err(Refusal::conflict(request, &id.3, &why));
            }
        }
        if !has_finalizers(metadata) {
            self.remove(&id);
            let details = json!({
                "name": id.3, "group": id.0, "kind": id.1, "uid": metadata["uid"],
            });
            let status = json!({
                "apiVersion": "v1", "kind": "Status", "status": "Success", "details": details,
            });
            return Ok((200, status));
        }
        if metadata["deletionTimestamp"].is_null() {
            metadata["deletionTimestamp"] = self.now();
            metadata["deletionGracePeriodSeconds"] = 0.into();
            grow(metadata);
            object = self.store(id, object);
        }
        Ok((200, object))
    }

    /// Deletes a Pod by its eviction.
    pub(super) fn evict(&mut self, request: &RecordedRequest, eviction: &Value) -> Answer {
        self.delete(request, &eviction["deleteOptions"])?;
        let status = json!({
            "apiVersion": "v1", "kind": "Status", "status": "Success", "code": 201,
        });
        Ok((201, status))
    }

    pub(super) fn delete_collection(
        &mut self,
        request: &RecordedRequest,
        selection: &Selection,
        options: &Value,
    ) -> Answer {
        let found: Vec<_> = self
            .select(request, selection)
            .map(|(id, found)| (id.clone(), found.clone()))
            .collect();
        let mut items = Vec::new();
        for ((_, _, namespace, name), object) in found {
            let name = Some(name);
            let one = RecordedRequest {
                namespace,
                name,
                ..request.clone()
            };
            self.delete(&one, options)?;
            items.push(object);
        }
        Ok((200, self.list_of(items)))
    }

    /// The objects of any type that the owner with this uid controls.
    pub(super) fn controlled_by(&self, uid: &str) -> Vec<(ScopedResource, Entry)> {
        let found = self
            .stored
            .iter()
            .filter_map(|((_, plural, namespace, _), object)| {
                let controls = |owner: &Value| owner["uid"] == uid && owner["controller"] == true;
                let mut owners = object["metadata"]["ownerReferences"].as_array()?.iter();
                owners.find(|owner| controls(owner))?;
                let object: DynamicObject = serde_json::from_value(object.clone()).ok()?;
                let kind = GroupVersionKind::try_from(object.types.as_ref()?).ok()?;
                let resource = ApiResource::from_gvk_with_plural(&kind, plural);
                let kind = match namespace {
                    Some(_) => ScopedResource::namespaced(resource),
                    None => ScopedResource::cluster_scoped(resource),
                };
                Some((kind, Entry::Valid(Arc::new(object))))
            });
        found.collect()
    }

    fn update(&mut self, request: &RecordedRequest, mut new: Value) -> Answer {
        let id = id(request);
        let (_, old) = self.get(request)?;
        check_name(request, &new)?;
        let version = &new["metadata"]["resourceVersion"];
        if !version.is_null() && *version != old["metadata"]["resourceVersion"] {
            let why = "the object has been modified; please apply your changes to the latest \
                       version and try again";
            return Err(Refusal::conflict(request, &id.3, why));
        }
        if request.subresource.is_some() {
            let status = new["status"].take();
            new = old.clone();
            set(&mut new, "status", status);
        } else {
            set(&mut new, "status", old["status"].clone());
        }
        for field in SYSTEM {
            set(&mut new["metadata"], field, old["metadata"][field].clone());
        }
        if new == old {
            return Ok((200, old));
        }
        let metadata = &new["metadata"];
        if !metadata["deletionTimestamp"].is_null() {
            if adds_finalizer(&old["metadata"], metadata) {
                let message = "metadata.finalizers: Forbidden: no new finalizers can be added if \
                               the object is being deleted";
                return Err(Refusal::new(422, message));
            }
            if !has_finalizers(metadata) {
                self.remove(&id);
                return Ok((200, new));
            }
        }
        if new["spec"] != old["spec"] {
            grow(&mut new["metadata"]);
        }
        Ok((200, self.store(id, new)))
    }

    fn complete(&mut self, (_, _, namespace, name): &Id, object: &mut Value) {
        self.uids += 1;
        set(&mut object["metadata"], "name", json!(name));
        set(&mut object["metadata"], "namespace", json!(namespace));
        complete(object, self.uids, self.now());
    }

    fn store(&mut self, id: Id, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        self.changed.push(id.clone());
        self.stored.insert(id, object.clone());
        object
    }

    fn remove(&mut self, id: &Id) {
        self.changed.push(id.clone());
        self.stored.remove(id);
    }

    fn now(&self) -> Value {
        json!(Time(self.clock.now()))
    }

    fn select<'a>(
        &'a self,
        request: &'a RecordedRequest,
        selection: &'a Selection,
    ) -> impl Iterator<Item = (&'a Id, &'a Value)> {
        self.stored
            .iter()
            .filter(|((group, resource, namespace, _), object)| {
                *group == request.group
                    && *resource == request.resource
                    && (request.namespace.is_none() || *namespace == request.namespace)
                    && selection.matches(object)
            })
    }

    fn list_of(&self, items: Vec<Value>) -> Value {
        let metadata = json!({ "resourceVersion": self.version.to_string() });
        json!({ "apiVersion": "v1", "kind": "List", "metadata": metadata, "items": items })
    }
}

fn check_name(request: &RecordedRequest, object: &Value) -> Result<(), Refusal> {
    let (found, wanted) = (&object["metadata"]["name"], json!(request.name));
    if *found == wanted {
        return Ok(());
    }
    let message = format!("the name of the object ({found}) does not match the URL ({wanted})");
    Err(Refusal::new(400, &message))
}

fn id(request: &RecordedRequest) -> Id {
    let name = request.name.clone().unwrap_or_default();
    let RecordedRequest {
        group,
        resource,
        namespace,
        ..
    } = request.clone();
    (group, resource, namespace, name)
}
