//! Keeps what a chart rendered, where rendering it again would give something else.
//!
//! A chart that makes passwords, certificates or times renders other ones each time. Helm keeps them because it renders only for an
//! upgrade. An operator renders again whenever it starts, so it keeps them in a Secret, which the custom resource owns.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use helm_render::chart::Chart as HelmChart;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{
    Api,
    api::{DeleteParams, ObjectMeta},
};
use operator_runtime::Applier;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    apply::Owner,
    error::Error,
    releases::ReleaseObject,
    rendering::{Inputs, Query, Rendering},
    storage::LARGEST,
};

/// The functions whose results differ from call to call.
const UNREPEATABLE: [&str; 22] = [
    "ago",
    "bcrypt",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "getHostByName",
    "htpasswd",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "uuidv4",
    "unixEpoch",
];

/// The most that a rendering takes when it is unpacked, in bytes.
const LONGEST: u64 = 64 << 20;

/// Whether the chart renders something else each time.
pub(crate) fn is_random(chart: &HelmChart) -> bool {
    let calls = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let mut words = words.filter(|word| !word.is_empty());
        words.any(|word| UNREPEATABLE.contains(&word))
    };
    let acts = |text: &str| {
        let mut actions = text.split("{{").skip(1);
        actions.any(|action| action.split("}}").next().is_some_and(calls))
    };
    chart.templates.iter().any(|file| acts(&file.text()))
        // `tpl` executes what is in values and files.
        || calls(&Value::Object(chart.values.clone()).to_string())
        || chart.dependencies.iter().any(is_random)
}

/// What is kept: the texts of the templates, and what they were rendered from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Kept {
    inputs: String,
    revision: i64,
    is_upgrade: bool,
    pub(crate) templates: BTreeMap<String, String>,
    /// What templates looked up, with the digests of what was found.
    pub(crate) looked_up: Vec<(Query, String)>,
}

impl Kept {
    pub(crate) fn new(rendering: &Rendering, templates: BTreeMap<String, String>) -> Self {
        let of = &rendering.of;
        Self {
            inputs: of.digest.clone(),
            revision: of.release.revision,
            is_upgrade: of.release.is_upgrade,
            templates,
            looked_up: rendering.looked_up.clone(),
        }
    }

    /// Whether it was rendered from these inputs, apart from the versions of the cluster.
    fn is_of(&self, of: &Inputs) -> bool {
        let release = &of.release;
        self.inputs == of.digest
            && (self.revision, self.is_upgrade) == (release.revision, release.is_upgrade)
    }
}

impl<K: ReleaseObject> Owner<'_, K> {
    /// The name depends on the uid alone, so that it is never too long.
    pub(crate) fn secret_name(&self) -> String {
        format!("operator-helm-{}", self.uid())
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.cluster.client.clone(), self.namespace())
    }

    /// Keeps a rendering, beside that of the installed revision.
    ///
    /// # Errors
    /// It is too large for a Secret, or the API server refuses it.
    pub(crate) async fn keep(
        &self,
        applier: &Applier,
        kept: &Kept,
        installed: Option<i64>,
    ) -> Result<(), Error> {
        let mut data = self.kept_data().await?;
        let installed = installed.map(key);
        data.retain(|key, _| Some(key) == installed.as_ref());
        let packed = pack(kept).map_err(kube::Error::SerdeError)?;
        data.insert(key(kept.revision), ByteString(packed));
        let size = data.values().map(|packed| packed.0.len()).sum();
        if size > LARGEST {
            return Err(Error::TooLarge {
                size,
                most: LARGEST,
            });
        }
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some(self.secret_name()),
                namespace: Some(self.namespace().to_owned()),
                ..ObjectMeta::default()
            },
            data: Some(data),
            ..Secret::default()
        };
        applier.owned(self.object, secret).await?;
        Ok(())
    }

    /// The rendering of these inputs, if it was kept.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) async fn kept(&self, of: &Inputs) -> Result<Option<Kept>, Error> {
        let mut data = self.kept_data().await?;
        let Some(ByteString(packed)) = data.remove(&key(of.release.revision)) else {
            return Ok(None);
        };
        let kept = unpack(&packed).map_err(kube::Error::SerdeError)?;
        Ok(Some(kept).filter(|kept| kept.is_of(of)))
    }

    async fn kept_data(&self) -> kube::Result<BTreeMap<String, ByteString>> {
        let secret = self.secrets().get_opt(&self.secret_name()).await?;
        Ok(secret.and_then(|secret| secret.data).unwrap_or_default())
    }

    /// Deletes what is kept.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn discard(&self) -> Result<(), Error> {
        let (name, params) = (self.secret_name(), DeleteParams::default());
        match self.secrets().delete(&name, &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => Ok(result.map(drop)?),
        }
    }
}

/// The key of a revision in the Secret.
fn key(revision: i64) -> String {
    format!("revision-{revision}")
}

fn pack(kept: &Kept) -> serde_json::Result<Vec<u8>> {
    let text = serde_json::to_vec(kept)?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    let done = packed.write_all(&text).and_then(|()| packed.finish());
    done.map_err(serde_json::Error::io)
}

fn unpack(packed: &[u8]) -> serde_json::Result<Kept> {
    let mut text = Vec::new();
    let mut bounded = GzDecoder::new(packed).take(LONGEST);
    let read: io::Result<usize> = bounded.read_to_end(&mut text);
    read.map_err(serde_json::Error::io)?;
    serde_json::from_slice(&text)
}

#[cfg(test)]
mod tests {
    use helm_render::chart::{File, Release};

    use super::*;

    fn chart(template: &str, values: &str) -> HelmChart {
        let files = [
            ("Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
            ("values.yaml", values),
            ("templates/a.yaml", template),
        ];
        let files = files.map(|(name, text)| File::new(name, text.as_bytes()));
        HelmChart::from_files(files.into()).unwrap()
    }

    #[test]
    fn a_chart_that_makes_passwords_is_random() {
        for (template, values, expected) in [
            ("a: {{ .Values.a }}", "a: 1", false),
            ("# now\na: {{ .Values.a }}", "a: 1", false),
            ("a: {{ randAlphaNum 8 }}", "", true),
            ("a: {{- (now).Year }}", "", true),
            ("a: {{ .Values.random | sha256sum }}", "", false),
            ("a: {{ tpl .Values.a . }}", "a: '{{ uuidv4 }}'", true),
        ] {
            let chart = chart(template, values);
            assert_eq!(is_random(&chart), expected, "{template}");
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let of = Inputs {
            digest: "inputs".to_owned(),
            release: Release::default(),
            capabilities: Default::default(),
        };
        let kept = Kept {
            inputs: of.digest.clone(),
            revision: of.release.revision,
            is_upgrade: false,
            templates: [("a/templates/a.yaml".to_owned(), "a: 1".to_owned())].into(),
            looked_up: vec![(
                ["v1", "Secret", "a", "b"].map(str::to_owned),
                "digest".to_owned(),
            )],
        };
        assert_eq!(unpack(&pack(&kept).unwrap()).unwrap(), kept);
        assert!(unpack(b"no gzip").is_err());
        let upgrade = Release {
            is_upgrade: true,
            ..Release::default()
        };
        assert!(
            kept.is_of(&of)
                && !kept.is_of(&Inputs {
                    release: upgrade,
                    ..of
                })
        );
    }
}
