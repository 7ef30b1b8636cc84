//! The API server: Leases, and the object of the assignment.

use std::collections::BTreeMap;

use k8s_openapi::api::coordination::v1::Lease;

use crate::{
    leader::elector::{Answer, Call},
    shards::roll::Expired,
};

/// The object of the assignment.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) uid: String,
    pub(super) version: u64,
    pub(super) data: BTreeMap<String, String>,
}

/// What a process asks, apart from its own Leases.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Read,
    List,
    Delete(Expired),
    Create(BTreeMap<String, String>),
    /// Replaces the object, if it is still this one.
    Write(Object),
    /// Deletes the object, if it is still this one.
    Remove(Object),
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// The object at this version, if it exists.
    Object(u64, Option<Object>),
    Leases(Vec<Lease>),
    /// With the last state of the Lease.
    Deleted(Expired, Box<Lease>),
    Conflict,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) leases: BTreeMap<String, Lease>,
    pub(super) object: Option<Object>,
    /// How many objects there have been.
    pub(super) objects: u64,
    pub(super) version: u64,
}

impl Server {
    pub(super) fn new() -> Self {
        Self {
            leases: BTreeMap::new(),
            object: None,
            objects: 0,
            version: 0,
        }
    }

    /// The number of an object, from its UID.
    pub(super) fn order(uid: &str) -> u64 {
        uid.trim_start_matches("uid-").parse().expect("our own UID")
    }

    /// Answers the call of an elector for this Lease.
    pub(super) fn call(&mut self, name: &str, call: Call) -> Answer {
        match (call, self.leases.get(name)) {
            (Call::Get, Some(lease)) => Answer::Lease(Box::new(lease.clone())),
            (Call::Get | Call::Replace(_), None) => Answer::Missing,
            (Call::Create(_), Some(_)) => Answer::Conflict,
            (Call::Create(lease), None) => self.store(name, *lease),
            (Call::Replace(lease), Some(old)) => {
                if lease.metadata.resource_version != old.metadata.resource_version {
                    return Answer::Conflict;
                }
                self.store(name, *lease)
            }
        }
    }

    fn store(&mut self, name: &str, mut lease: Lease) -> Answer {
        self.version += 1;
        lease.metadata.name = Some(name.to_owned());
        lease.metadata.resource_version = Some(self.version.to_string());
        self.leases.insert(name.to_owned(), lease.clone());
        Answer::Lease(Box::new(lease))
    }

    /// Answers a question, and says whether the object has changed.
    pub(super) fn ask(&mut self, ask: Ask) -> (Reply, bool) {
        let version = self
            .object
            .as_ref()
            .map(|object| (&object.uid, object.version));
        match ask {
            Ask::Read => (Reply::Object(self.version, self.object.clone()), false),
            Ask::List => {
                let members = self.leases.iter().filter(|(name, _)| *name != "leader");
                let leases = members.map(|(_, lease)| lease.clone()).collect();
                (Reply::Leases(leases), false)
            }
            Ask::Delete(expired) => {
                let Some(lease) = self.leases.get(&expired.name) else {
                    return (Reply::Conflict, false);
                };
                let same = lease.metadata.resource_version == expired.resource_version;
                if !same {
                    return (Reply::Conflict, false);
                }
                let lease = Box::new(lease.clone());
                self.leases.remove(&expired.name);
                (Reply::Deleted(expired, lease), false)
            }
            Ask::Create(_) if self.object.is_some() => (Reply::Conflict, false),
            Ask::Create(data) => {
                self.objects += 1;
                let uid = format!("uid-{}", self.objects);
                (self.put(uid, data), true)
            }
            Ask::Write(object) | Ask::Remove(object)
                if version != Some((&object.uid, object.version)) =>
            {
                (Reply::Conflict, false)
            }
            Ask::Write(object) => (self.put(object.uid, object.data), true),
            Ask::Remove(_) => {
                self.remove();
                (Reply::Object(self.version, None), true)
            }
        }
    }

    /// Deletes the object.
    pub(super) fn remove(&mut self) {
        self.version += 1;
        self.object = None;
    }

    fn put(&mut self, uid: String, data: BTreeMap<String, String>) -> Reply {
        self.version += 1;
        let object = Object {
            uid,
            version: self.version,
            data,
        };
        self.object = Some(object.clone());
        Reply::Object(self.version, Some(object))
    }
}
