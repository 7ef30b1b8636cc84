//! The environment of a container.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Container, EnvFromSource, Pod};
use kube::ResourceExt;

use super::Worker;
use crate::{
    network,
    variables::expand,
    volume::{self, Files, field},
};

impl Worker {
    /// The variables as they are now: each start of the container asks anew.
    pub(super) async fn environment(&self, container: &Container) -> Result<Vec<(String, String)>> {
        let pod = self.pod.borrow().clone();
        let mut all = vec![
            ("HOSTNAME".to_owned(), pod.name_any()),
            ("KUBERNETES_SERVICE_HOST".to_owned(), "10.96.0.1".to_owned()),
            ("KUBERNETES_SERVICE_PORT".to_owned(), "443".to_owned()),
        ];
        for source in container.env_from.iter().flatten() {
            all.extend(self.environment_from(&pod, source).await?);
        }
        for variable in container.env.iter().flatten() {
            let source = variable.value_from.as_ref();
            let value = if let Some(of) = source.and_then(|it| it.field_ref.as_ref()) {
                Some(match of.field_path.as_str() {
                    "status.podIP" => self.address.to_string(),
                    "status.hostIP" => network::GATEWAY.to_owned(),
                    _ => field(&pod, of),
                })
            } else if let Some(key) = source.and_then(|it| it.secret_key_ref.as_ref()) {
                let found = self.secret(&pod, &key.name, key.optional).await?;
                text(found, &key.key, key.optional)?
            } else if let Some(key) = source.and_then(|it| it.config_map_key_ref.as_ref()) {
                let found = self.config_map(&pod, &key.name, key.optional).await?;
                text(found, &key.key, key.optional)?
            } else {
                Some(expand(variable.value.as_deref().unwrap_or_default(), &all))
            };
            all.extend(value.map(|value| (variable.name.clone(), value)));
        }
        Ok(all)
    }

    async fn environment_from(
        &self,
        pod: &Pod,
        source: &EnvFromSource,
    ) -> Result<Vec<(String, String)>> {
        let mut all = BTreeMap::new();
        if let Some(secret) = &source.secret_ref {
            all.extend(self.secret(pod, &secret.name, secret.optional).await?);
        }
        if let Some(map) = &source.config_map_ref {
            all.extend(self.config_map(pod, &map.name, map.optional).await?);
        }
        let prefix = source.prefix.clone().unwrap_or_default();
        Ok(all
            .into_iter()
            .map(|(name, value)| (format!("{prefix}{name}"), lossy(value)))
            .collect())
    }

    async fn secret(&self, pod: &Pod, name: &str, optional: Option<bool>) -> Result<Files> {
        let namespace = pod.namespace().unwrap_or_default();
        volume::secret_files(&self.host.client, &namespace, name, optional).await
    }

    async fn config_map(&self, pod: &Pod, name: &str, optional: Option<bool>) -> Result<Files> {
        let namespace = pod.namespace().unwrap_or_default();
        volume::config_map_files(&self.host.client, &namespace, name, optional).await
    }
}

/// The text of a key. None if it is missing, and may be.
fn text(mut found: Files, key: &str, optional: Option<bool>) -> Result<Option<String>> {
    let value = found.remove(key);
    ensure!(
        value.is_some() || optional == Some(true),
        "there is no key `{key}`"
    );
    Ok(value.map(lossy))
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
