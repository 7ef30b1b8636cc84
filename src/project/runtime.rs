//! The source of the crate `operator-runtime`: one line of `Cargo.toml`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use toml_edit::{InlineTable, Value};

use super::{Crypto, Plugin};
use crate::name::{Invalid, text_serde};

/// The package that every project depends on.
pub const PACKAGE: &str = "operator-runtime";

/// Its release that the templates are written for.
pub const VERSION: &str = "0.1.0";

/// The directory of the copy in a project.
const VENDORED: &str = "vendor/operator-runtime";

/// The features that a project's tests need.
const TESTED_WITH: [&str; 2] = ["envtest", "testing"];

/// The default features, but for that of the cryptography.
const DEFAULT_WITHOUT_CRYPTO: [&str; 5] = [
    "conversion",
    "leader-election",
    "metrics",
    "self-signed",
    "webhooks",
];

/// The source of the crate. The default is the meaning of a `PROJECT` without the field, in every release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Runtime {
    /// cargo's registry.
    Registry,
    /// `vendor/operator-runtime` in the project, which operator-forge writes.
    #[default]
    Vendored,
    /// A directory: absolute, or relative to `Cargo.toml`, as for cargo.
    Path(String),
    /// A git repository.
    Git {
        /// Its URL.
        url: String,
        /// The branch, tag or commit: the text after `#`.
        revision: Option<String>,
    },
}

impl Runtime {
    /// The default of `init --runtime`. It is `registry` in a release whose runtime is published: the release workflow builds
    /// with `OPERATOR_FORGE_RUNTIME=registry`. In every other build it is `vendored`.
    pub fn of_this_build() -> Self {
        Self::of_build(option_env!("OPERATOR_FORGE_RUNTIME"))
    }

    fn of_build(variable: Option<&str>) -> Self {
        match variable {
            Some("registry") => Self::Registry,
            _ => Self::Vendored,
        }
    }
}

impl FromStr for Runtime {
    type Err = Invalid;

    /// Parses `registry`, `vendored`, `path=DIR` or `git=URL#REV`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = |fault: &str| Invalid {
            what: "runtime",
            found: text.escape_debug().to_string(),
            fault: fault.to_owned(),
            rule: "it is `registry`, `vendored`, `path=DIR` or `git=URL#REV`; `#REV` may be left out",
            suggestion: Some("vendored".to_owned()),
        };
        if text.chars().any(char::is_control) {
            return Err(invalid("it has a control character"));
        }
        match text.split_once('=') {
            None if text == "registry" => Ok(Self::Registry),
            None if text == "vendored" => Ok(Self::Vendored),
            Some(("path" | "git", "")) => Err(invalid("nothing follows the `=`")),
            Some(("path", directory)) => Ok(Self::Path(directory.replace('\\', "/"))),
            Some(("git", url)) => {
                let (url, revision) = match url.split_once('#') {
                    Some((_, "")) => return Err(invalid("nothing follows the `#`")),
                    Some(("", _)) => return Err(invalid("nothing precedes the `#`")),
                    Some((url, revision)) => (url, Some(revision.to_owned())),
                    None => (url, None),
                };
                let url = url.to_owned();
                Ok(Self::Git { url, revision })
            }
            _ => Err(invalid("there is no such source")),
        }
    }
}

impl Runtime {
    /// The value of `operator-runtime` under `dependencies` in `Cargo.toml` of a project with `plugins`.
    pub fn dependency(&self, crypto: Crypto, plugins: impl IntoIterator<Item = Plugin>) -> String {
        let mut features = match crypto {
            Crypto::Ring => Vec::new(),
            Crypto::AwsLcRs => [&[crypto.word()][..], &DEFAULT_WITHOUT_CRYPTO].concat(),
        };
        features.extend(plugins.into_iter().filter_map(Plugin::feature));
        match self {
            Self::Registry if features.is_empty() => Value::from(VERSION).to_string(),
            _ if features.is_empty() => inline(self.source()),
            _ => inline(self.with_features(crypto, features)),
        }
    }

    /// The value under `dev-dependencies`: tests need more features.
    pub fn dev_dependency(&self, crypto: Crypto) -> String {
        inline(self.with_features(crypto, TESTED_WITH))
    }

    /// The value of another package of the same release under `dependencies`: it has the same source.
    pub fn dependency_for(&self, package: &str) -> String {
        match self {
            Self::Registry => Value::from(VERSION).to_string(),
            Self::Vendored => {
                let copy = VENDORED.replace(PACKAGE, package);
                inline(InlineTable::from_iter([("path", copy)]))
            }
            Self::Path(directory) => {
                let beside = format!("{directory}/../{package}");
                inline(InlineTable::from_iter([("path", beside)]))
            }
            Self::Git { .. } => inline(self.source()),
        }
    }

    /// The source with features. The default ones contain ring.
    fn with_features(
        &self,
        crypto: Crypto,
        features: impl IntoIterator<Item = &'static str>,
    ) -> InlineTable {
        let mut table = self.source();
        if crypto != Crypto::Ring {
            table.insert("default-features", false.into());
        }
        table.insert("features", features.into_iter().collect());
        table
    }

    /// The URL of the git repository, as a string of TOML.
    pub fn repository(&self) -> Option<String> {
        match self {
            Self::Git { url, .. } => Some(Value::from(url).to_string()),
            _ => None,
        }
    }

    fn source(&self) -> InlineTable {
        let (key, value) = match self {
            Self::Registry => ("version", VERSION),
            Self::Vendored => ("path", VENDORED),
            Self::Path(directory) => ("path", &**directory),
            Self::Git { url, .. } => ("git", &**url),
        };
        let mut table = InlineTable::from_iter([(key, value)]);
        if let Self::Git { revision, .. } = self {
            table.extend(revision.as_ref().map(|revision| ("rev", revision)));
        }
        table
    }
}

/// A table in one line, with the spaces of cargo's own manifests.
fn inline(mut table: InlineTable) -> String {
    table.fmt();
    Value::from(table).decorated("", "").to_string()
}

impl fmt::Display for Runtime {
    /// The value of `--runtime`, and of the field in `PROJECT`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry => f.write_str("registry"),
            Self::Vendored => f.write_str("vendored"),
            Self::Path(directory) => write!(f, "path={directory}"),
            Self::Git {
                url,
                revision: Some(revision),
            } => write!(f, "git={url}#{revision}"),
            Self::Git { url, .. } => write!(f, "git={url}"),
        }
    }
}

text_serde!(Runtime, "source of the runtime");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_is_one_line_of_the_manifest() {
        let cases = [
            ("registry", r#""0.1.0""#, r#"{ version = "0.1.0", "#),
            (
                "vendored",
                r#"{ path = "vendor/operator-runtime" }"#,
                r#"{ path = "vendor/operator-runtime", "#,
            ),
            (
                r"path=..\runtime",
                r#"{ path = "../runtime" }"#,
                r#"{ path = "../runtime", "#,
            ),
            (
                "git=https://example.com/a?b=c",
                r#"{ git = "https://example.com/a?b=c" }"#,
                r#"{ git = "https://example.com/a?b=c", "#,
            ),
            (
                "git=ssh://git@example.com/a#v1",
                r#"{ git = "ssh://git@example.com/a", rev = "v1" }"#,
                r#"{ git = "ssh://git@example.com/a", rev = "v1", "#,
            ),
        ];
        for (text, line, tested) in cases {
            let runtime: Runtime = text.parse().unwrap();
            assert_eq!(runtime.dependency(Crypto::Ring, []), line);
            assert_eq!(
                runtime.dev_dependency(Crypto::Ring),
                format!(r#"{tested}features = ["envtest", "testing"] }}"#)
            );
            assert_eq!(
                runtime.dependency(Crypto::Ring, [Plugin::Helm, Plugin::Grafana]),
                format!(r#"{tested}features = ["chart"] }}"#)
            );
            assert_eq!(runtime.to_string().parse::<Runtime>().unwrap(), runtime);
            let of_charts = match &runtime {
                Runtime::Vendored => line.replace(PACKAGE, "operator-helm"),
                Runtime::Path(_) => r#"{ path = "../runtime/../operator-helm" }"#.to_owned(),
                _ => line.to_owned(),
            };
            assert_eq!(runtime.dependency_for("operator-helm"), of_charts);
        }
    }

    /// Another provider of cryptography takes the place of ring, which is one of the default features.
    #[test]
    fn aws_lc_rs_replaces_ring() {
        let manifest = include_str!("../../crates/operator-runtime/Cargo.toml");
        let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
        let default = manifest["features"]["default"].as_array().unwrap().iter();
        let mut default: Vec<_> = default.filter_map(Value::as_str).collect();
        default.retain(|feature| *feature != Crypto::Ring.word());
        default.sort_unstable();
        assert_eq!(default, DEFAULT_WITHOUT_CRYPTO);
        let listed = DEFAULT_WITHOUT_CRYPTO
            .map(|it| format!("\"{it}\""))
            .join(", ");
        assert_eq!(
            Runtime::Registry.dependency(Crypto::AwsLcRs, [Plugin::Olm]),
            format!(
                "{{ version = \"0.1.0\", default-features = false, features = [\"aws-lc-rs\", {listed}, \"bundle\"] }}"
            )
        );
        assert_eq!(
            Runtime::Registry.dev_dependency(Crypto::AwsLcRs),
            r#"{ version = "0.1.0", default-features = false, features = ["envtest", "testing"] }"#
        );
    }

    #[test]
    fn quotes_cannot_leave_their_string() {
        let runtime: Runtime = r#"path=a" }, b = { path = "c"#.parse().unwrap();
        let text = format!("a = {}", runtime.dependency(Crypto::Ring, []));
        let manifest: toml_edit::DocumentMut = text.parse().unwrap();
        assert_eq!(manifest.len(), 1, "{text}");
        assert_eq!(
            manifest["a"].as_inline_table().map(InlineTable::len),
            Some(1),
            "{text}"
        );
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            "Registry",
            "crate",
            "path",
            "path=",
            "git=",
            "git=#a",
            "git=a#",
            "svn=a",
            "path=a\nb",
        ] {
            let invalid = text.parse::<Runtime>().unwrap_err();
            assert_eq!(invalid.suggestion.as_deref(), Some("vendored"));
        }
    }

    #[test]
    fn only_a_release_asks_the_registry() {
        assert_eq!(Runtime::of_build(None), Runtime::Vendored);
        assert_eq!(Runtime::of_build(Some("")), Runtime::Vendored);
        assert_eq!(Runtime::of_build(Some("registry")), Runtime::Registry);
    }

    /// The crate in this repository is what `registry` asks for.
    #[test]
    fn the_version_is_that_of_the_crate() {
        let manifest = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/crates/operator-runtime/Cargo.toml"
        );
        let manifest: toml_edit::DocumentMut =
            std::fs::read_to_string(manifest).unwrap().parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some(PACKAGE));
        assert_eq!(manifest["package"]["version"].as_str(), Some(VERSION));
    }
}
