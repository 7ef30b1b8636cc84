//! The samples of a Go project, which become those of the new one.

use std::collections::BTreeMap;

use guarded_yaml as yaml;
use kubebuilder_port::Files;
use serde_yaml::Value;

use crate::project::{Key, Project};

/// The samples of a Go project.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The text of the sample of an API.
    pub of_apis: BTreeMap<Key, String>,
    /// Files without an object of an API of the project.
    pub others: Vec<String>,
}

/// The samples in `config/samples`. An object of another kind stays in the sample that its file has it beside.
pub fn samples(project: &Project, files: &Files) -> Samples {
    let mut samples = Samples::default();
    let texts = files.texts.iter();
    let texts = texts.filter(|(path, _)| path.starts_with("config/samples/"));
    for (path, text) in texts.filter(|(path, _)| !path.ends_with("/kustomization.yaml")) {
        let documents = documents(text);
        let keys: Vec<_> = documents.iter().map(|it| key_of(project, it)).collect();
        let Some(first) = keys.iter().flatten().next() else {
            samples.others.push(path.clone());
            continue;
        };
        for (document, key) in documents.iter().zip(&keys) {
            let key = key.as_ref().unwrap_or(first).clone();
            let sample = samples.of_apis.entry(key).or_default();
            if !sample.is_empty() {
                sample.push_str("---\n");
            }
            sample.push_str(document);
        }
    }
    samples
}

/// The documents of a text, without the lines between them.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        match line.trim_end() {
            "---" => documents.push(String::new()),
            line => *documents.last_mut().expect("it starts with one") += &format!("{line}\n"),
        }
    }
    let is_empty = |line: &str| line.trim().is_empty() || line.starts_with('#');
    documents.retain(|it| !it.lines().all(is_empty));
    documents
}

/// The API of the object in a document.
fn key_of(project: &Project, document: &str) -> Option<Key> {
    let value: Value = yaml::read(document).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    let is = |key: &&Key| {
        let group = key.api_group(false);
        kind == key.kind.as_str() && api_version == format!("{group}/{}", key.version)
    };
    let apis = project.apis();
    apis.iter().map(|api| api.key).find(is).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::testing::{create, empty};

    #[test]
    fn each_object_is_in_the_sample_of_its_kind() {
        let mut project = empty("example.com", false);
        for entry in ["media v1 Video", "media v1 Playlist"] {
            project = project.create_api(&create(entry)).unwrap();
        }
        let object = |kind: &str, name: &str| {
            format!("apiVersion: media.example.com/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n")
        };
        let (video, playlist) = (object("Video", "a"), object("Playlist", "b"));
        let secret = "apiVersion: v1\nkind: Secret\n";
        let files = [
            (
                "a.yaml",
                format!("# A comment.\n---\n{video}---\n{secret}---\n{playlist}"),
            ),
            ("b.yaml", object("Video", "c")),
            ("c.yaml", secret.to_owned()),
            ("kustomization.yaml", "resources: []\n".to_owned()),
        ];
        let files = files.map(|(name, text)| (format!("config/samples/{name}"), text));
        let found = samples(&project, &Files::read(files));
        let of_apis: Vec<_> = found.of_apis.into_values().collect();
        let videos = format!("{video}---\n{secret}---\n{}", object("Video", "c"));
        assert_eq!(of_apis, [playlist, videos]);
        assert_eq!(found.others, ["config/samples/c.yaml"]);
    }
}
