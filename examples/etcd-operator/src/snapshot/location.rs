//! How a Pod reaches the archive of a backup.

use kube::ResourceExt;
use serde_json::{Value, json};

use crate::api::etcd::etcd_backup::{Destination, EtcdBackup, S3};

const MOUNT: &str = "/archive";

/// The archive of a backup, as a Pod finds it.
#[derive(Clone, Debug)]
pub struct Location {
    destination: Destination,
    namespace: String,
    backup: String,
}

impl Location {
    pub fn of(backup: &EtcdBackup) -> Self {
        Self {
            destination: backup.spec.destination.clone(),
            namespace: backup.namespace().unwrap_or_default(),
            backup: backup.name_any(),
        }
    }

    /// The argument that names the archive.
    pub fn argument(&self) -> String {
        let (namespace, backup) = (&self.namespace, &self.backup);
        match &self.destination {
            Destination::Claim(_) => format!("--archive=file://{MOUNT}/{backup}"),
            Destination::S3(S3 { bucket, prefix, .. }) => {
                let prefix = prefix
                    .as_deref()
                    .map(|it| format!("{}/", it.trim_matches('/')));
                let prefix = prefix.unwrap_or_default();
                format!("--archive=s3://{bucket}/{prefix}{namespace}/{backup}")
            }
        }
    }

    /// The environment of a container that opens the archive.
    pub fn environment(&self) -> Vec<Value> {
        let Destination::S3(s3) = &self.destination else {
            return Vec::new();
        };
        let key = |name: &str| {
            let key = json!({ "name": s3.secret, "key": name });
            json!({ "name": name, "valueFrom": { "secretKeyRef": key } })
        };
        let mut all = vec![
            key("AWS_ACCESS_KEY_ID"),
            key("AWS_SECRET_ACCESS_KEY"),
            json!({ "name": "AWS_REGION", "value": s3.region }),
        ];
        if let Some(endpoint) = &s3.endpoint {
            all.push(json!({ "name": "AWS_ENDPOINT", "value": endpoint }));
            let is_plain = endpoint.starts_with("http:");
            all.push(json!({ "name": "AWS_ALLOW_HTTP", "value": is_plain.to_string() }));
        }
        all
    }

    /// The volumes of a Pod that opens the archive, called `archive`.
    pub fn volumes(&self) -> Vec<Value> {
        let Destination::Claim(claim) = &self.destination else {
            return Vec::new();
        };
        let claim = json!({ "claimName": claim });
        vec![json!({ "name": "archive", "persistentVolumeClaim": claim })]
    }

    /// The mounts of a container that opens the archive.
    pub fn mounts(&self, read_only: bool) -> Vec<Value> {
        let mount = |volume: Value| json!({ "name": volume["name"], "mountPath": MOUNT, "readOnly": read_only });
        self.volumes().into_iter().map(mount).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::object;

    fn location(destination: &Value) -> Location {
        let backup: EtcdBackup = object(json!({
            "metadata": { "name": "b", "namespace": "ns" },
            "spec": { "cluster": "c", "destination": destination },
        }));
        Location::of(&backup)
    }

    #[test]
    fn each_backup_has_an_archive_of_its_own() {
        for (destination, argument, variables, volumes) in [
            (json!({ "claim": "snapshots" }), "file:///archive/b", 0, 1),
            (
                json!({ "s3": { "bucket": "etcd", "secret": "s" } }),
                "s3://etcd/ns/b",
                3,
                0,
            ),
            (
                json!({ "s3": {
                    "bucket": "etcd", "secret": "s", "prefix": "/east/", "endpoint": "http://s3:7070",
                } }),
                "s3://etcd/east/ns/b",
                5,
                0,
            ),
        ] {
            let location = location(&destination);
            assert_eq!(location.argument(), format!("--archive={argument}"));
            assert_eq!(location.environment().len(), variables, "{destination}");
            assert_eq!(location.volumes().len(), volumes, "{destination}");
            assert_eq!(location.mounts(true).len(), volumes, "{destination}");
        }
    }
}
