//! The API server: one Lease with a resource version.

use k8s_openapi::api::coordination::v1::Lease;

use crate::leader::elector::{Answer, Call};

#[derive(Debug)]
pub(super) struct Server {
    lease: Option<Lease>,
    version: u64,
    compares_versions: bool,
}

impl Server {
    pub(super) fn new(compares_versions: bool) -> Self {
        Self {
            lease: None,
            version: 0,
            compares_versions,
        }
    }

    /// The holder of the Lease; empty if there is none.
    pub(super) fn holder(&self) -> &str {
        let spec = self.lease.as_ref().and_then(|lease| lease.spec.as_ref());
        spec.and_then(|spec| spec.holder_identity.as_deref())
            .unwrap_or_default()
    }

    pub(super) fn answer(&mut self, call: Call) -> Answer {
        match (call, &self.lease) {
            (Call::Get, Some(lease)) => Answer::Lease(Box::new(lease.clone())),
            (Call::Get | Call::Replace(_), None) => Answer::Missing,
            (Call::Create(_), Some(_)) => Answer::Conflict,
            (Call::Create(lease), None) => self.store(*lease),
            (Call::Replace(lease), Some(old)) => {
                let expected = &lease.metadata.resource_version;
                if self.compares_versions && *expected != old.metadata.resource_version {
                    return Answer::Conflict;
                }
                self.store(*lease)
            }
        }
    }

    fn store(&mut self, mut lease: Lease) -> Answer {
        self.version += 1;
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(lease.clone());
        Answer::Lease(Box::new(lease))
    }
}
