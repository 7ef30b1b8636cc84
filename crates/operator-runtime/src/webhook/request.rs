//! The admission request without its object.

use std::fmt;

use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::{GroupVersionKind, GroupVersionResource};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

/// The API server's limit for all warnings in characters, and its limit for each if there are more.
const ALL_WARNINGS: usize = 4096;
const WARNING: usize = 256;

/// The operation on an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum Operation {
    #[default]
    Create,
    Update,
    Delete,
    /// For example `kubectl exec`. The options of the request, such as `PodExecOptions`, are the object.
    Connect,
}

/// Formats like the API server.
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

/// The admission request, without its object.
#[derive(Debug)]
pub struct Request {
    /// The operation.
    pub operation: Operation,
    /// The object's name; empty if the API server generates it.
    pub name: String,
    /// The object's namespace; `None` for cluster-scoped types.
    pub namespace: Option<String>,
    /// The subresource, such as `status`.
    pub sub_resource: Option<String>,
    /// The user of the request.
    pub user: UserInfo,
    /// Whether the request is a dry run: nothing is stored, so the function must have no side effects.
    pub dry_run: bool,
    /// The type of the object that the webhook receives.
    pub kind: GroupVersionKind,
    /// The resource in the request.
    pub resource: GroupVersionResource,
    /// The options of the operation, such as a `DeleteOptions`; null if there are none.
    pub options: Value,
    pub(super) warnings: Warnings,
}

impl Request {
    /// Adds a warning for the user, whether the request is allowed or denied; kubectl prints it. Keep it
    /// under 120 characters: of many or long warnings, the API server forwards 256 characters each, and
    /// 4096 in all.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.add(&text.into());
    }

    /// The warnings so far, as the user will see them.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.shown()
    }
}

/// An empty create request, for tests.
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

/// Warnings for the user, within the API server's limits.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    fn add(&self, text: &str) {
        // The API server drops a warning with a control character.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let text: String = text.trim().chars().map(plain).take(ALL_WARNINGS).collect();
        let mut warnings = self.0.lock();
        // With this many, each warning is cut, and further ones would be dropped.
        let more = warnings.len() < ALL_WARNINGS / WARNING || length(&warnings) < ALL_WARNINGS;
        if !text.is_empty() && more && !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// All warnings or, if they are too long, the start of each.
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

/// The total length in characters.
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
    fn warnings_stay_within_the_limits_of_the_api_server() {
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
