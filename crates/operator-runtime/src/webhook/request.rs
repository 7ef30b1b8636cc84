//! Who asks the API server for what.

use std::fmt;

use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::{GroupVersionKind, GroupVersionResource};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

/// Characters of all warnings together, and those that are left of each if there are more: what the
/// API server passes on.
const ALL_WARNINGS: usize = 4096;
const WARNING: usize = 256;

/// What is done to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum Operation {
    #[default]
    Create,
    Update,
    Delete,
    /// Such as `kubectl exec`. What is sent, such as `PodExecOptions`, takes the place of an object
    /// that is created.
    Connect,
}

/// As the API server writes it.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        })
    }
}

/// The request that the API server has to answer, beside its object.
#[derive(Debug)]
pub struct Request {
    /// What is done.
    pub operation: Operation,
    /// The object; empty if the API server is to make up its name.
    pub name: String,
    /// Where the object is; none for cluster-scoped types.
    pub namespace: Option<String>,
    /// The part of the object, such as `status`.
    pub sub_resource: Option<String>,
    /// Who asks.
    pub user: UserInfo,
    /// Whether nothing will be stored, so that nothing else may change either.
    pub dry_run: bool,
    /// The type of the object that the webhook gets.
    pub kind: GroupVersionKind,
    /// The resource that the request names.
    pub resource: GroupVersionResource,
    /// The options of the operation, such as a `DeleteOptions`; null if there are none.
    pub options: Value,
    pub(super) warnings: Warnings,
}

impl Request {
    /// Shows a warning to whoever asks, whether the request is denied or not; kubectl prints it. Better
    /// at most 120 characters; of many or long ones the API server passes on 256 characters each, and
    /// 4096 in all.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.add(&text.into());
    }

    /// The warnings so far, as they will be shown.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.shown()
    }
}

/// A creation by nobody of nothing, for tests.
impl Default for Request {
    fn default() -> Self {
        Self {
            operation: Operation::Create,
            name: String::new(),
            namespace: None,
            sub_resource: None,
            user: UserInfo::default(),
            dry_run: false,
            kind: GroupVersionKind::gvk("", "", ""),
            resource: GroupVersionResource::gvr("", "", ""),
            options: Value::Null,
            warnings: Warnings::default(),
        }
    }
}

/// Texts for whoever asks, never more than the API server passes on.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    fn add(&self, text: &str) {
        // The API server drops a warning with one of these.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let text: String = text.trim().chars().map(plain).take(ALL_WARNINGS).collect();
        let mut warnings = self.0.lock();
        // Beyond as many, each of them is cut, and the rest would not be shown.
        let more = warnings.len() < ALL_WARNINGS / WARNING || length(&warnings) < ALL_WARNINGS;
        if !text.is_empty() && more && !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// All of them, or, if they are too long, the beginning of each.
    pub(super) fn shown(&self) -> Vec<String> {
        let mut warnings = self.0.lock().clone();
        if length(&warnings) <= ALL_WARNINGS {
            return warnings;
        }
        for warning in &mut warnings {
            *warning = warning.chars().take(WARNING).collect();
        }
        while length(&warnings) > ALL_WARNINGS {
            warnings.pop();
        }
        warnings
    }
}

/// In characters, all together.
fn length(texts: &[String]) -> usize {
    texts.iter().map(|text| text.chars().count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(texts: impl IntoIterator<Item = String>) -> Vec<String> {
        let request = Request::default();
        texts.into_iter().for_each(|text| request.warn(text));
        request.warnings()
    }

    #[test]
    fn warnings_are_what_the_api_server_passes_on() {
        let texts = ["a", " b\nc\t\u{7}d ", "", "a", "é"].map(str::to_owned);
        assert_eq!(shown(texts), ["a", "b c  d", "é"]);
    }

    #[test]
    fn warnings_are_bounded() {
        let long = || "é".repeat(ALL_WARNINGS);
        assert_eq!(shown([long()]), [long()]);
        assert_eq!(shown([long() + "more"]), [long()]);
        assert_eq!(
            shown([long(), "b".into()]),
            ["é".repeat(WARNING), "b".into()]
        );
        let many = shown((0..5000).map(|number| format!("{number} {}", "é".repeat(300))));
        assert_eq!(many.len(), ALL_WARNINGS / WARNING);
        assert!(many.iter().all(|text| text.chars().count() == WARNING));
        let short = shown((0..5000).map(|number| number.to_string()));
        assert!(
            length(&short) <= ALL_WARNINGS && short.len() > 1000,
            "{}",
            short.len()
        );
    }
}
