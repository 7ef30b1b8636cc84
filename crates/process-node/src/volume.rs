//! Volumes of Pods: directories that hold Secrets, ConfigMaps, tokens and facts about the Pod, or disks.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{
    ConfigMap, KeyToPath, ObjectFieldSelector, Pod, ProjectedVolumeSource, Secret, Volume,
};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

/// A token is valid for an hour, and requested anew long before.
const TOKEN_RENEWAL: Duration = Duration::from_secs(20 * 60);

/// The volumes of one Pod.
pub(crate) struct Volumes {
    client: Client,
    /// Holds a directory for each volume.
    directory: PathBuf,
    /// Holds the disks: `NAMESPACE/CLAIM`.
    disks: PathBuf,
    tokens: BTreeMap<String, (Instant, String)>,
}

/// Files by path, or keys with their values.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

impl Volumes {
    pub(crate) fn new(client: Client, directory: PathBuf, disks: PathBuf) -> Self {
        Self {
            client,
            directory,
            disks,
            tokens: BTreeMap::new(),
        }
    }

    /// Writes what the volumes should hold now, and returns their directories.
    ///
    /// # Errors
    /// If an object is missing that is not optional, or a volume has a type that is not implemented.
    pub(crate) async fn refresh(&mut self, pod: &Pod) -> Result<BTreeMap<String, PathBuf>> {
        let mut directories = BTreeMap::new();
        for volume in pod
            .spec
            .iter()
            .flat_map(|spec| spec.volumes.iter().flatten())
        {
            let directory = self.one(pod, volume).await;
            let directory = directory.with_context(|| format!("volume `{}`", volume.name))?;
            directories.insert(volume.name.clone(), directory);
        }
        Ok(directories)
    }

    async fn one(&mut self, pod: &Pod, volume: &Volume) -> Result<PathBuf> {
        let namespace = pod.namespace().unwrap_or_default();
        if let Some(claim) = &volume.persistent_volume_claim {
            let disk = self.disks.join(namespace).join(&claim.claim_name);
            fs::create_dir_all(&disk)?;
            return Ok(disk);
        }
        let directory = self.directory.join(&volume.name);
        fs::create_dir_all(&directory)?;
        if volume.empty_dir.is_some() {
            return Ok(directory);
        }
        let mut files = Files::new();
        if let Some(secret) = &volume.secret {
            let name = secret.secret_name.as_deref().unwrap_or_default();
            let found = secret_files(&self.client, &namespace, name, secret.optional).await?;
            add(&mut files, found, secret.items.as_deref())?;
        } else if let Some(map) = &volume.config_map {
            let found = config_map_files(&self.client, &namespace, &map.name, map.optional).await?;
            add(&mut files, found, map.items.as_deref())?;
        } else if let Some(downward) = &volume.downward_api {
            for item in downward.items.iter().flatten() {
                let text = item.field_ref.as_ref().map(|field| self::field(pod, field));
                files.insert(item.path.clone(), text.unwrap_or_default().into_bytes());
            }
        } else if let Some(projected) = &volume.projected {
            self.project(pod, &namespace, projected, &mut files).await?;
        } else {
            bail!("its type is not implemented");
        }
        write(&directory, &files)?;
        Ok(directory)
    }

    async fn project(
        &mut self,
        pod: &Pod,
        namespace: &str,
        projected: &ProjectedVolumeSource,
        files: &mut Files,
    ) -> Result<()> {
        for source in projected.sources.iter().flatten() {
            if let Some(token) = &source.service_account_token {
                let account = pod
                    .spec
                    .as_ref()
                    .and_then(|spec| spec.service_account_name.clone());
                let account = account.unwrap_or_else(|| "default".to_owned());
                let audience = token.audience.clone();
                let text = self.token(pod, namespace, &account, audience).await?;
                files.insert(token.path.clone(), text.into_bytes());
            }
            if let Some(map) = &source.config_map {
                let found =
                    config_map_files(&self.client, namespace, &map.name, map.optional).await?;
                add(files, found, map.items.as_deref())?;
            }
            if let Some(secret) = &source.secret {
                let found =
                    secret_files(&self.client, namespace, &secret.name, secret.optional).await?;
                add(files, found, secret.items.as_deref())?;
            }
            for item in source
                .downward_api
                .iter()
                .flat_map(|it| it.items.iter().flatten())
            {
                let text = item.field_ref.as_ref().map(|field| self::field(pod, field));
                files.insert(item.path.clone(), text.unwrap_or_default().into_bytes());
            }
        }
        Ok(())
    }

    async fn token(
        &mut self,
        pod: &Pod,
        namespace: &str,
        account: &str,
        audience: Option<String>,
    ) -> Result<String> {
        let key = audience.clone().unwrap_or_default();
        if let Some((at, token)) = self.tokens.get(&key)
            && at.elapsed() < TOKEN_RENEWAL
        {
            return Ok(token.clone());
        }
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "audiences": audience.into_iter().collect::<Vec<_>>(),
                "expirationSeconds": 3600,
                "boundObjectRef": { "kind": "Pod", "apiVersion": "v1", "name": pod.name_any(), "uid": pod.uid() },
            },
        });
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let request = http::Request::post(path)
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&request)?)?;
        let answer: Value = self.client.request(request).await?;
        let token = answer.pointer("/status/token").and_then(Value::as_str);
        let token = token.context("the API server sent no token")?.to_owned();
        self.tokens.insert(key, (Instant::now(), token.clone()));
        Ok(token)
    }
}

/// What a Secret holds: nothing if it is missing, and may be.
pub(crate) async fn secret_files(
    client: &Client,
    namespace: &str,
    name: &str,
    optional: Option<bool>,
) -> Result<Files> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = secrets.get_opt(name).await?;
    if found.is_none() && optional != Some(true) {
        bail!("the Secret `{name}` does not exist");
    }
    let data = found.and_then(|secret| secret.data).unwrap_or_default();
    Ok(data
        .into_iter()
        .map(|(key, value)| (key, value.0))
        .collect())
}

/// What a ConfigMap holds: nothing if it is missing, and may be.
pub(crate) async fn config_map_files(
    client: &Client,
    namespace: &str,
    name: &str,
    optional: Option<bool>,
) -> Result<Files> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let found = maps.get_opt(name).await?;
    if found.is_none() && optional != Some(true) {
        bail!("the ConfigMap `{name}` does not exist");
    }
    let found = found.unwrap_or_default();
    let texts = found
        .data
        .into_iter()
        .flatten()
        .map(|(key, text)| (key, text.into_bytes()));
    let binary = found
        .binary_data
        .into_iter()
        .flatten()
        .map(|(key, bytes)| (key, bytes.0));
    Ok(texts.chain(binary).collect())
}

/// Adds all files, or those that `items` names.
fn add(files: &mut Files, mut found: Files, items: Option<&[KeyToPath]>) -> Result<()> {
    let Some(items) = items else {
        files.append(&mut found);
        return Ok(());
    };
    for item in items {
        let file = found.remove(&item.key);
        let file = file.with_context(|| format!("there is no key `{}`", item.key))?;
        files.insert(item.path.clone(), file);
    }
    Ok(())
}

/// Replaces the files that differ, each at once, and removes those that are no longer wanted.
fn write(directory: &Path, files: &Files) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let is_wanted = |path: &String| Path::new(path).starts_with(entry.file_name());
        if files.keys().any(is_wanted) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    for (path, content) in files {
        let path = directory.join(path);
        if fs::read(&path).is_ok_and(|old| old == *content) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let partial = directory.join("..new");
        fs::write(&partial, content)?;
        fs::rename(partial, path)?;
    }
    Ok(())
}

/// The value of a field of the Pod, as environment variables and files show it.
pub(crate) fn field(pod: &Pod, field: &ObjectFieldSelector) -> String {
    let value = serde_json::to_value(pod).unwrap_or_default();
    let path = &field.field_path;
    if let Some((map, key)) = path.split_once("['") {
        let pointer = format!("/{}", map.replace('.', "/"));
        let key = key.trim_end_matches("']");
        let found = value.pointer(&pointer).and_then(|map| map.get(key));
        return found.and_then(Value::as_str).unwrap_or_default().to_owned();
    }
    match value.pointer(&format!("/{}", path.replace('.', "/"))) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(map)) => {
            let lines = map.iter().map(|(key, value)| format!("{key}={value}"));
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_holds_what_its_object_holds_now() {
        let directory = std::env::temp_dir().join(format!("volume-{:016x}", fastrand::u64(..)));
        fs::create_dir(&directory).unwrap();
        let files = |paths: &[&str]| -> Files {
            let file = |path: &&str| ((*path).to_owned(), path.as_bytes().to_vec());
            paths.iter().map(file).collect()
        };
        write(&directory, &files(&["stays", "goes", "deep/goes"])).unwrap();
        write(&directory, &files(&["stays", "comes"])).unwrap();
        let entries = fs::read_dir(&directory).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        fs::remove_dir_all(directory).unwrap();
        assert_eq!(names, ["comes", "stays"]);
    }
}
