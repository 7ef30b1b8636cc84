//! Releases as Helm 3 and 4 keep them, in Secrets, so that `helm list`, `helm status` and the like show those of an operator.

#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};

use data_encoding::{BASE64, DecodeError};
use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How many bytes the API server takes as data of a Secret.
pub const LARGEST: usize = 1 << 20;

/// How many bytes a release may have when it is no longer compressed. Whoever may write Secrets could otherwise fill the memory.
pub const LONGEST: usize = 16 << 20;

const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];

/// A revision of a release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HelmRelease {
    /// The name of the release.
    pub name: String,
    /// Its namespace, where its Secret is, too.
    pub namespace: String,
    /// The number of the revision; Helm begins at 1.
    pub version: u32,
    /// `deployed`, `superseded`, `failed`, `pending-install` and so on.
    pub status: String,
    /// What happened, in a few words, such as `Install complete`.
    pub description: String,
    /// When the first revision was deployed, as RFC 3339. Empty if unknown.
    pub first_deployed: String,
    /// When this revision was deployed, as RFC 3339. Empty if unknown.
    pub last_deployed: String,
    /// What `NOTES.txt` rendered.
    pub notes: String,
    /// The objects as YAML.
    pub manifest: String,
    /// The hooks, which are not in `manifest`.
    pub hooks: Vec<Hook>,
    /// The name of the chart.
    pub chart_name: String,
    /// The version of the chart.
    pub chart_version: String,
    /// The chart as Helm has it in JSON. `metadata` is enough for all commands but `helm get values --all` and `helm upgrade
    /// --reuse-values`, which also want the defaults in `values`. Its name and version are the fields above.
    pub chart: Map<String, Value>,
    /// The values that the user gave.
    pub config: Map<String, Value>,
}

/// A manifest that runs at a time of a release's life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hook {
    /// The name in `metadata`.
    pub name: String,
    /// The kind.
    pub kind: String,
    /// The path of the template.
    pub path: String,
    /// The object as YAML.
    pub manifest: String,
    /// When it runs, such as `pre-install`.
    pub events: Vec<String>,
    /// Its place among hooks of one event: lower ones run first.
    pub weight: i64,
    /// When its resource goes, such as `hook-succeeded`.
    pub delete_policies: Vec<String>,
}

/// Why a release cannot be written to a Secret or read from one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The release is too large.
    #[error("the release takes {0} bytes, and the API server refuses a Secret above {LARGEST}")]
    Large(usize),
    /// Helm would hide a release with such a time.
    #[error("`{1}` of the release is `{0}`, which is no time of RFC 3339")]
    Time(String, &'static str),
    /// The release cannot be serialized or compressed.
    #[error("the release cannot be encoded: {0}")]
    Encode(io::Error),
    /// This is another Secret.
    #[error("the Secret has no `data.release`, so Helm did not write it")]
    Missing,
    /// `data.release`, or what is in it, is no base64.
    #[error("`data.release` is not base64: {0}")]
    Base64(DecodeError),
    /// It cannot be decompressed.
    #[error("`data.release` is not gzip: {0}")]
    Gzip(io::Error),
    /// It is longer than [`LONGEST`].
    #[error("`data.release` has more than {LONGEST} bytes when decompressed")]
    Long,
    /// It is no JSON, or a field has another type.
    #[error("`data.release` is not a release in JSON: {0}")]
    Json(serde_json::Error),
}

/// What is in the Secret.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    name: String,
    info: Info,
    chart: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    config: Map<String, Value>,
    manifest: String,
    hooks: Vec<Hook>,
    version: u32,
    namespace: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Info {
    #[serde(skip_serializing_if = "String::is_empty")]
    first_deployed: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    last_deployed: String,
    description: String,
    status: String,
    notes: String,
}

/// The name of the Secret of a revision.
pub fn secret_name(release: &str, version: u32) -> String {
    format!("sh.helm.release.v1.{release}.v{version}")
}

/// The Secret of a revision. The same revision always makes the same Secret, so applying it again changes nothing.
///
/// # Errors
/// The release is too large, or has a time that Helm cannot read.
pub fn secret(release: &HelmRelease) -> Result<Value, Error> {
    let first = time(&release.first_deployed, "first_deployed")?;
    let last = time(&release.last_deployed, "last_deployed")?;

    let mut labels = Map::new();
    labels.insert("owner".to_owned(), "helm".into());
    labels.insert("name".to_owned(), release.name.as_str().into());
    labels.insert("status".to_owned(), release.status.as_str().into());
    labels.insert("version".to_owned(), release.version.to_string().into());
    // Helm takes the time of the write, by which each would be a change.
    if let Some(last) = last {
        let seconds = last.as_second().to_string();
        labels.insert("modifiedAt".to_owned(), seconds.into());
    }

    let stored = Stored {
        name: release.name.clone(),
        info: Info {
            first_deployed: first.map(|it| it.to_string()).unwrap_or_default(),
            last_deployed: last.map(|it| it.to_string()).unwrap_or_default(),
            description: release.description.clone(),
            status: release.status.clone(),
            notes: release.notes.clone(),
        },
        chart: chart(release),
        config: release.config.clone(),
        manifest: release.manifest.clone(),
        hooks: release.hooks.clone(),
        version: release.version,
        namespace: release.namespace.clone(),
    };
    let data = BASE64.encode(&compressed(&stored).map_err(Error::Encode)?);
    if data.len() > LARGEST {
        return Err(Error::Large(data.len()));
    }
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": secret_name(&release.name, release.version),
            "namespace": release.namespace,
            "labels": labels,
        },
        "type": "helm.sh/release.v1",
        "data": { "release": BASE64.encode(data.as_bytes()) },
    }))
}

/// The revision in a Secret of Helm 3 or 4. Of what Helm keeps, all that [`HelmRelease`] has no field for is lost, such as when hooks ran.
///
/// # Errors
/// The Secret has no release, or it cannot be decoded.
pub fn read(secret: &Value) -> Result<HelmRelease, Error> {
    let data = secret.pointer("/data/release").and_then(Value::as_str);
    let data = decoded(data.ok_or(Error::Missing)?.as_bytes())?;
    let data = decompressed(decoded(&data)?)?;
    let stored: Stored = serde_json::from_slice(&data).map_err(Error::Json)?;

    let metadata = |field| {
        let value = stored.chart.get("metadata").and_then(|it| it.get(field));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    Ok(HelmRelease {
        chart_name: metadata("name"),
        chart_version: metadata("version"),
        name: stored.name,
        namespace: stored.namespace,
        version: stored.version,
        status: stored.info.status,
        description: stored.info.description,
        first_deployed: stored.info.first_deployed,
        last_deployed: stored.info.last_deployed,
        notes: stored.info.notes,
        manifest: stored.manifest,
        hooks: stored.hooks,
        chart: stored.chart,
        config: stored.config,
    })
}

fn time(text: &str, field: &'static str) -> Result<Option<Timestamp>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse() {
        Ok(time) => Ok(Some(time)),
        Err(_) => Err(Error::Time(text.to_owned(), field)),
    }
}

/// The chart, with its name and version.
fn chart(release: &HelmRelease) -> Map<String, Value> {
    let mut chart = release.chart.clone();
    let mut metadata = match chart.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    metadata.insert("name".to_owned(), release.chart_name.as_str().into());
    metadata.insert("version".to_owned(), release.chart_version.as_str().into());
    chart.insert("metadata".to_owned(), metadata.into());
    chart
}

fn compressed(stored: &Stored) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&serde_json::to_vec(stored)?)?;
    encoder.finish()
}

fn decompressed(data: Vec<u8>) -> Result<Vec<u8>, Error> {
    // The first releases of Helm did not compress.
    if !data.starts_with(&GZIP) {
        return Ok(data);
    }
    let mut text = Vec::new();
    let bound = LONGEST as u64 + 1;
    let mut decoder = MultiGzDecoder::new(data.as_slice()).take(bound);
    decoder.read_to_end(&mut text).map_err(Error::Gzip)?;
    if text.len() > LONGEST {
        return Err(Error::Long);
    }
    Ok(text)
}

fn decoded(text: &[u8]) -> Result<Vec<u8>, Error> {
    BASE64.decode(text).map_err(Error::Base64)
}
