//! What a cluster and Helm can do: `.Capabilities`.

use std::rc::Rc;

use crate::{
    Error, Item, List, Object, Value,
    go::{number::quote, print},
};

/// What `.Capabilities` says. The default is that of Helm 4.3.1 without a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The version of Kubernetes. The default is `v1.37.0`.
    pub kube_version: KubeVersion,
    /// The versions of APIs, such as `apps/v1`. The default has those that Kubernetes' client knows.
    pub api_versions: Vec<String>,
    /// The version of Helm. The default is `v4.3.1`.
    pub helm_version: HelmVersion,
}

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// All of it, such as `v1.33.4-gke.1245000`.
    pub version: String,
    /// The first number.
    pub major: String,
    /// The second number.
    pub minor: String,
    normalized: String,
}

/// A version of Helm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmVersion {
    /// Such as `v4.3.1`.
    pub version: String,
    /// The commit that it was built from.
    pub git_commit: String,
    /// `clean`, `dirty` or nothing.
    pub git_tree_state: String,
    /// The version of Go, such as `go1.26.8`.
    pub go_version: String,
    /// The version of Kubernetes whose client it has, such as `v1.37`.
    pub kube_client_version: String,
}

impl Default for Capabilities {
    fn default() -> Self {
        let versions = include_str!("api-versions.txt").lines();
        Self {
            kube_version: KubeVersion {
                version: "v1.37.0".to_owned(),
                major: "1".to_owned(),
                minor: "37".to_owned(),
                normalized: "v1.37.0".to_owned(),
            },
            api_versions: versions.map(str::to_owned).collect(),
            helm_version: HelmVersion::default(),
        }
    }
}

impl Default for HelmVersion {
    fn default() -> Self {
        Self {
            version: "v4.3.1".to_owned(),
            git_commit: String::new(),
            git_tree_state: String::new(),
            go_version: "go1.26.8".to_owned(),
            kube_client_version: "v1.37".to_owned(),
        }
    }
}

impl std::str::FromStr for KubeVersion {
    type Err = Error;

    /// Reads a version: `v` or not, two or more numbers with dots, and anything.
    fn from_str(text: &str) -> Result<Self, Error> {
        let trimmed = text.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let trimmed = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let bytes = trimmed.as_bytes();
        // The longest beginning of numbers with single dots between them.
        let mut end = 0;
        while end < bytes.len() {
            let is_between =
                bytes[end] == b'.' && end > 0 && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            if !bytes[end].is_ascii_digit() && !is_between {
                break;
            }
            end += 1;
        }
        if end == 0 || trimmed[end..].contains('\n') {
            return Err(Error::new(format!(
                "could not parse {} as version",
                quote(text)
            )));
        }
        let parts: Vec<&str> = trimmed[..end].split('.').collect();
        if parts.len() < 2 {
            return Err(Error::new(format!(
                "illegal version string {}",
                quote(text)
            )));
        }
        let mut numbers = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if at == 0 && part.starts_with('0') && *part != "0" {
                return Err(Error::new(format!(
                    "illegal zero-prefixed version component {} in {}",
                    quote(part),
                    quote(text)
                )));
            }
            let number: u64 = part.parse().map_err(|_| {
                Error::new(format!(
                    "illegal non-numeric version component {part:?} in {}: strconv.ParseUint: parsing {part:?}: value out of range",
                    quote(text)
                ))
            })?;
            numbers.push(number.to_string());
        }
        Ok(Self {
            version: match text.starts_with('v') {
                true => text.to_owned(),
                false => format!("v{text}"),
            },
            major: numbers[0].clone(),
            minor: numbers[1].clone(),
            normalized: format!("v{}", numbers.join(".")),
        })
    }
}

impl KubeVersion {
    /// The numbers alone, such as `v1.33.4`: what ranges are compared with.
    pub fn normalized(&self) -> &str {
        &self.normalized
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({"Version": self.version, "Major": self.major, "Minor": self.minor})
    }

    /// What `print` has for it.
    fn fields(&self) -> String {
        format!(
            "{{{} {} {} {}}}",
            self.version, self.normalized, self.major, self.minor
        )
    }
}

impl HelmVersion {
    /// Empty fields are left out, but the last one.
    fn json(&self) -> serde_json::Value {
        let fields = [
            ("version", &self.version),
            ("git_commit", &self.git_commit),
            ("git_tree_state", &self.git_tree_state),
            ("go_version", &self.go_version),
        ];
        let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
        let last = ("kube_client_version", &self.kube_client_version);
        let fields = fields.chain([last]);
        fields
            .map(|(key, text)| (key.to_owned(), serde_json::Value::from(text.as_str())))
            .collect()
    }
}

impl Capabilities {
    /// The value of `.Capabilities`.
    pub fn value(&self) -> Value {
        let versions = self.api_versions.iter().map(String::as_str);
        Value::Object(Rc::new(Shown {
            kube_version: Value::Object(Rc::new(ShownKubeVersion(self.kube_version.clone()))),
            api_versions: Value::List(List {
                of: Item::Version,
                items: versions.map(Value::from).collect(),
            }),
            helm_version: Value::Object(Rc::new(ShownHelmVersion(self.helm_version.clone()))),
            json: serde_json::json!({
                "KubeVersion": self.kube_version.json(),
                "APIVersions": self.api_versions,
                "HelmVersion": self.helm_version.json(),
            }),
        }))
    }
}

/// `*common.Capabilities`.
struct Shown {
    kube_version: Value,
    api_versions: Value,
    helm_version: Value,
    json: serde_json::Value,
}

/// `common.KubeVersion`.
struct ShownKubeVersion(KubeVersion);

/// `version.BuildInfo`.
struct ShownHelmVersion(HelmVersion);

/// The value of a field that takes no arguments.
fn plain(name: &str, value: Value, arguments: &[Value]) -> Option<Result<Value, String>> {
    Some(match arguments.is_empty() {
        true => Ok(value),
        false => Err(format!(
            "{name} has arguments but cannot be invoked as function"
        )),
    })
}

impl Object for Shown {
    fn type_name(&self) -> &'static str {
        "*common.Capabilities"
    }

    fn kind(&self) -> &'static str {
        "ptr"
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let value = match name {
            "KubeVersion" => &self.kube_version,
            "APIVersions" => &self.api_versions,
            "HelmVersion" => &self.helm_version,
            _ => return None,
        };
        plain(name, value.clone(), arguments)
    }

    fn text(&self) -> String {
        let parts = [&self.kube_version, &self.api_versions, &self.helm_version].map(print::any);
        format!("&{{{}}}", parts.join(" "))
    }

    fn json(&self) -> Option<serde_json::Value> {
        Some(self.json.clone())
    }
}

impl Object for ShownKubeVersion {
    fn type_name(&self) -> &'static str {
        "common.KubeVersion"
    }

    fn kind(&self) -> &'static str {
        "struct"
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let text = match name {
            "Version" | "GitVersion" => &self.0.version,
            "Major" => &self.0.major,
            "Minor" => &self.0.minor,
            "String" => &self.0.normalized,
            _ => return None,
        };
        plain(name, Value::from(text.as_str()), arguments)
    }

    fn text(&self) -> String {
        self.0.fields()
    }

    fn output(&self) -> String {
        self.0.normalized.clone()
    }

    fn json(&self) -> Option<serde_json::Value> {
        Some(self.0.json())
    }
}

impl Object for ShownHelmVersion {
    fn type_name(&self) -> &'static str {
        "version.BuildInfo"
    }

    fn kind(&self) -> &'static str {
        "struct"
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let text = match name {
            "Version" => &self.0.version,
            "GitCommit" => &self.0.git_commit,
            "GitTreeState" => &self.0.git_tree_state,
            "GoVersion" => &self.0.go_version,
            "KubeClientVersion" => &self.0.kube_client_version,
            _ => return None,
        };
        plain(name, Value::from(text.as_str()), arguments)
    }

    fn text(&self) -> String {
        let it = &self.0;
        format!(
            "{{{} {} {} {} {}}}",
            it.version, it.git_commit, it.git_tree_state, it.go_version, it.kube_client_version
        )
    }

    fn json(&self) -> Option<serde_json::Value> {
        Some(self.0.json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_kubernetes() {
        for (text, shown) in [
            ("v1.29.3-gke.1", "{v1.29.3-gke.1 v1.29.3 1 29}"),
            ("1.30", "{v1.30 v1.30 1 30}"),
            ("1.30.0.1", "{v1.30.0.1 v1.30.0.1 1 30}"),
            ("1.30.0+k3s1", "{v1.30.0+k3s1 v1.30.0 1 30}"),
        ] {
            let version: KubeVersion = text.parse().unwrap();
            assert_eq!(version.fields(), shown);
        }
        for (text, wrong) in [
            ("v1", "illegal version string \"v1\""),
            ("x", "could not parse \"x\" as version"),
            ("", "could not parse \"\" as version"),
            (
                "01.2",
                "illegal zero-prefixed version component \"01\" in \"01.2\"",
            ),
        ] {
            let version: Result<KubeVersion, Error> = text.parse();
            assert_eq!(version, Err(Error::new(wrong.to_owned())));
        }
    }

    #[test]
    fn what_templates_see() {
        let Value::Object(capabilities) = Capabilities::default().value() else {
            panic!("no object");
        };
        let field = |name: &str| capabilities.field(name, &[]).unwrap().unwrap();
        let Value::Object(version) = field("KubeVersion") else {
            panic!("no object");
        };
        assert_eq!(version.output(), "v1.37.0");
        assert_eq!(version.text(), "{v1.37.0 v1.37.0 1 37}");
        let helm = print::any(&field("HelmVersion"));
        assert_eq!(helm, "{v4.3.1   go1.26.8 v1.37}");
        let versions = print::any(&field("APIVersions"));
        assert!(versions.starts_with("[v1 admissionregistration.k8s.io/v1 "));
        assert!(capabilities.field("Nope", &[]).is_none());
    }
}
