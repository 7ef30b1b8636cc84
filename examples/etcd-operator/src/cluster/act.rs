//! Takes one step. A step that was taken half way, or twice, is no harm: the next decision starts from what is
//! there, objects are created by name and deleted by uid, and etcd refuses a second member with the same URL.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::NamespaceResourceScope;
use kube::{Api, Resource, ResourceExt};
use operator_runtime::TypedObject;
use serde_json::{Value, json};

use super::certificates::{Authority, is_due};
use super::objects::{GUARD, INITIAL_CLUSTER, MEMBER_NAME, Objects, VOTER};
use super::observe::{self, Found};
use super::plan::{Member, Observed, Step, Version};
use super::{Error, Result};
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::etcd::{self, Etcd};
use crate::{Context, fault};

/// The codes of gRPC with which etcd refuses what has to wait.
const FAILED_PRECONDITION: i32 = 9;
const UNAVAILABLE: i32 = 14;

/// The seconds that a member has to end when its data is discarded. Without a majority, etcd does not end on SIGTERM.
const GRACE: Option<u32> = Some(1);

/// One cluster, and the means to change it.
pub struct Hands<'a> {
    pub cluster: &'a EtcdCluster,
    pub context: &'a Context,
    pub objects: Objects<'a>,
}

impl Hands<'_> {
    /// Applies what every cluster has, whatever its state: Services, a disruption budget, certificates.
    pub async fn apply_foundation(&self, found: &Found) -> Result<()> {
        let applier = &self.context.applier;
        applier
            .owned(self.cluster, self.objects.peer_service())
            .await?;
        applier
            .owned(self.cluster, self.objects.client_service())
            .await?;
        applier
            .owned(self.cluster, self.objects.disruption_budget())
            .await?;
        let Some(authority) = self.authority(found) else {
            // Members keep the CA with which they started: another one would cut them off from each other.
            let status = self.cluster.status.as_ref();
            if status.is_some_and(|it| it.cluster_id.is_some()) {
                return Err(Error::CaLost(self.objects.ca_secret()));
            }
            fault::before_write();
            let issued = Authority::create(&self.cluster.name_any(), now())?;
            let secret =
                self.objects
                    .secret(&self.objects.ca_secret(), &issued.certificate, &issued);
            applier.create_owned(self.cluster, secret).await?;
            return Ok(());
        };
        let client = self.objects.client();
        self.issue(&authority, found, &client, &client, Vec::new())
            .await?;
        let current = found
            .disks
            .iter()
            .filter(|disk| self.objects.is_current(*disk));
        for disk in current {
            let name = disk.name_any();
            let larger = self.objects.disk(&name);
            match applier.owned(self.cluster, larger).await {
                // Its class does not allow that. Everything else goes on.
                Err(kube::Error::Api(status)) if matches!(status.code, 403 | 422) => {
                    tracing::warn!(disk = name, message = status.message, "cannot resize");
                }
                result => _ = result?,
            }
            // A member gets its first certificate when it starts.
            if found.secret(&name).is_some() {
                let hosts = self.objects.hosts(&name);
                self.issue(&authority, found, &name, MEMBER_NAME, hosts)
                    .await?;
            }
        }
        Ok(())
    }

    fn authority(&self, found: &Found) -> Option<Authority> {
        let secret = found.secret(&self.objects.ca_secret())?;
        Authority::read(&self.cluster.name_any(), secret)
    }

    /// Issues the certificate in the Secret `name`, if it is missing or due.
    async fn issue(
        &self,
        authority: &Authority,
        found: &Found,
        name: &str,
        common_name: &str,
        hosts: Vec<String>,
    ) -> Result<()> {
        let ca = authority.certificate();
        if found
            .secret(name)
            .is_some_and(|secret| !is_due(secret, ca, now()))
        {
            return Ok(());
        }
        let tls = self.cluster.spec.tls.clone().unwrap_or_default();
        let issued = authority.issue(common_name, hosts, now(), tls.validity.into())?;
        let secret = self.objects.secret(name, ca, &issued);
        fault::before_write();
        self.context.applier.owned(self.cluster, secret).await?;
        Ok(())
    }

    /// Takes `step`, unless it only changes the status or waits.
    pub async fn take(&self, step: &Step, observed: &Observed, found: &Found) -> Result<()> {
        match step {
            Step::Bootstrap { name } => {
                let first = Member {
                    name: name.clone(),
                    started: observed.incarnation > 0,
                    ..Member::default()
                };
                // A restored member has data, so it must not found another cluster.
                let is_new = observed.incarnation == 0;
                self.start(found, name, observed.version, &[first], is_new)
                    .await
            }
            Step::Restore {
                name,
                uid,
                incarnation,
            } => {
                let objects = Objects::of_incarnation(self.cluster, *incarnation);
                self.restore(&objects, name, uid, observed.version).await
            }
            Step::RetryRestore { name } => {
                let restorer = found.pod(&self.objects.restorer());
                tracing::warn!(ends = ?restorer.map(observe::last_words), "cannot restore");
                self.delete(found.pod(&self.objects.restorer()), GRACE)
                    .await?;
                self.delete(found.pod(name), GRACE).await?;
                self.delete(found.disk(name), None).await
            }
            Step::EndRestore => self.delete(found.pod(&self.objects.restorer()), None).await,
            Step::Clean { name } => {
                self.delete(found.pod(name), GRACE).await?;
                self.delete(found.disk(name), None).await?;
                self.delete(found.secret(name), None).await
            }
            Step::Start { name, version } => {
                self.start(found, name, *version, &observed.members, false)
                    .await
            }
            Step::Restart { name } => self.delete(found.pod(name), None).await,
            Step::AddLearner { name } => {
                let etcd = self.voter(observed, found)?;
                fault::before_write();
                unless_too_early(etcd.add_learner(&self.objects.peer_url(name)).await)
            }
            Step::Promote { id, .. } => {
                let etcd = self.voter(observed, found)?;
                fault::before_write();
                unless_too_early(etcd.promote(*id).await)
            }
            Step::Introduce { name } => {
                let members = self.objects.initial_cluster(&observed.members);
                let metadata = json!({ "annotations": { INITIAL_CLUSTER: members } });
                self.patch_pod(found, name, metadata).await
            }
            Step::Guard { name } => {
                let metadata = json!({ "annotations": { INITIAL_CLUSTER: GUARD } });
                self.patch_pod(found, name, metadata).await
            }
            Step::Admit { name } => {
                let metadata = json!({ "labels": { VOTER: "true" } });
                self.patch_pod(found, name, metadata).await
            }
            Step::Remove { id, .. } | Step::RemoveLost { id, .. } => {
                let etcd = self.voter(observed, found)?;
                fault::before_write();
                unless_too_early(etcd.remove(*id).await)
            }
            Step::MoveLeader { from, to } => {
                let etcd = self.etcd(found, from)?;
                fault::before_write();
                Ok(etcd.move_leader(*to).await?)
            }
            Step::Defragment { name } => {
                let etcd = self.etcd(found, name)?;
                fault::before_write();
                Ok(etcd.defragment().await?)
            }
            Step::BeginRestore { .. } | Step::RecordId | Step::Wait(_) | Step::Done => Ok(()),
        }
    }

    /// Creates the disk, the certificate and the Pod of a member, as far as they are missing.
    async fn start(
        &self,
        found: &Found,
        name: &str,
        version: Version,
        members: &[Member],
        is_new: bool,
    ) -> Result<()> {
        match self.authority(found) {
            Some(authority) => {
                let hosts = self.objects.hosts(name);
                self.issue(&authority, found, name, MEMBER_NAME, hosts)
                    .await?;
            }
            None if found.secret(name).is_some() => {}
            None => return Err(Error::NotYet("there is no CA yet".to_owned())),
        }
        let applier = &self.context.applier;
        fault::before_write();
        applier
            .create_owned(self.cluster, self.objects.disk(name))
            .await?;
        let pod = self.objects.member(name, version, members, is_new);
        fault::before_write();
        applier.create_owned(self.cluster, pod).await?;
        Ok(())
    }

    /// Creates the Pod that writes a snapshot, and its disk, as far as they are missing. The Pod is first: it says which
    /// disk it is.
    async fn restore(
        &self,
        objects: &Objects<'_>,
        name: &str,
        uid: &str,
        version: Version,
    ) -> Result<()> {
        let (restores, backups) = (self.context.restores.list(), self.context.backups.list());
        let Some(snapshot) = observe::snapshot(uid, &restores, &backups) else {
            return Err(Error::NotYet("the snapshot to restore is gone".to_owned()));
        };
        let image = self.context.image().await.map_err(Error::Image)?;
        let applier = &self.context.applier;
        let pod = objects.restore(name, version, uid, &snapshot, image);
        fault::before_write();
        applier.create_owned(self.cluster, pod).await?;
        fault::before_write();
        applier
            .create_owned(self.cluster, objects.disk(name))
            .await?;
        Ok(())
    }

    /// Changes the Pod that was found, and no younger one with its name.
    async fn patch_pod(&self, found: &Found, name: &str, mut metadata: Value) -> Result<()> {
        metadata["uid"] = json!(found.pod(name).and_then(|pod| pod.uid()));
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        fault::before_write();
        let params = PatchParams::default();
        self.api::<Pod>().patch(name, &params, &patch).await?;
        Ok(())
    }

    /// Deletes the object that was found. `grace` replaces the grace period of a Pod, in seconds.
    async fn delete<K>(&self, object: Option<&K>, grace: Option<u32>) -> Result<()>
    where
        K: TypedObject + Resource<Scope = NamespaceResourceScope>,
    {
        let Some(object) = object.filter(|it| it.meta().deletion_timestamp.is_none()) else {
            return Ok(());
        };
        let params = DeleteParams {
            grace_period_seconds: grace,
            preconditions: Some(Preconditions {
                uid: object.uid(),
                ..Preconditions::default()
            }),
            ..DeleteParams::background()
        };
        fault::before_write();
        match self.api::<K>().delete(&object.name_any(), &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => Ok(result.map(|_| ())?),
        }
    }

    /// A client of a member that votes and answers.
    fn voter(&self, observed: &Observed, found: &Found) -> Result<Etcd> {
        let is_ready = |name: &str| {
            let instance = observed.instances.get(name);
            instance
                .and_then(|it| it.pod.as_ref())
                .is_some_and(|pod| pod.ready)
        };
        let mut voters = observed.members.iter().filter(|member| !member.learner);
        match voters.find(|member| is_ready(&member.name)) {
            Some(member) => self.etcd(found, &member.name),
            None => Err(Error::NotYet("no member is ready".to_owned())),
        }
    }

    fn etcd(&self, found: &Found, name: &str) -> Result<Etcd> {
        let credentials = found.credentials(&self.objects);
        let etcd = found.pod(name).zip(credentials);
        let etcd =
            etcd.and_then(|(pod, credentials)| observe::client(&self.objects, pod, &credentials));
        etcd.ok_or_else(|| Error::NotYet(format!("{name} has no address")))
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        let namespace = self.cluster.namespace().unwrap_or_default();
        Api::namespaced(self.context.client.clone(), &namespace)
    }
}

/// etcd refuses to promote a learner that lags, and to change the members until each has been connected for some
/// seconds. Both end by themselves, so the step is tried again.
fn unless_too_early(result: std::result::Result<(), etcd::Error>) -> Result<()> {
    match result {
        Err(etcd::Error::Refused {
            code: FAILED_PRECONDITION | UNAVAILABLE,
            message,
        }) => Err(Error::NotYet(message)),
        result => Ok(result?),
    }
}

fn now() -> Timestamp {
    Timestamp::now()
}
