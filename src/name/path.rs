//! Paths: where the API server calls a webhook, and where a Rust type is found.

use super::rule;
use super::rust::is_identifier;
use super::{RustPath, WebhookPath};

/// The rule for paths of webhooks.
pub const WEBHOOK: &str = "a path is `/` and DNS subdomains (RFC 1123) between further `/`: that is all the API server takes in a webhook configuration";
/// The rule for paths of Rust types.
pub const RUST: &str = "the path of a type begins with its crate, or with `crate` and a module for one of your own, and ends with the type: `cert_manager_crds::v1::Certificate`";

/// The path of conversion.
const CONVERT: &str = "/convert";

/// The fault of a webhook's path.
pub fn webhook_fault(text: &str) -> Option<String> {
    let Some(rest) = text.strip_prefix('/') else {
        return Some(match text {
            "" => "it is empty".to_owned(),
            _ => "it does not start with `/`".to_owned(),
        });
    };
    let segment_fault = |segment: &str| match segment {
        "" => Some("there is nothing between or after two `/`".to_owned()),
        _ => rule::subdomain_fault(segment),
    };
    match rest {
        "" => Some("nothing follows the `/`".to_owned()),
        _ if text == CONVERT => Some("conversion has it".to_owned()),
        _ => rest.split('/').find_map(segment_fault),
    }
}

/// The nearest path of a webhook; empty if nothing is left.
pub fn webhook_like(text: &str) -> String {
    let segments = text.split('/').map(rule::subdomain_like);
    let segments: Vec<_> = segments.filter(|segment| !segment.is_empty()).collect();
    match format!("/{}", segments.join("/")).as_str() {
        "/" => String::new(),
        CONVERT => "/convert-defaults".to_owned(),
        path => path.to_owned(),
    }
}

/// The fault of a type's path.
pub fn rust_fault(text: &str) -> Option<String> {
    let segments: Vec<&str> = text.split("::").collect();
    let (is_own, last) = (segments[0] == "crate", segments[segments.len() - 1]);
    let names = &segments[usize::from(is_own)..];
    let odd = names.iter().find(|word| !is_identifier(word));
    Some(match odd {
        _ if text.is_empty() => "it is empty".to_owned(),
        _ if text.contains('/') => "it is a package of Go".to_owned(),
        Some(&"") => "a name is missing".to_owned(),
        Some(word) => format!("`{word}` is no name in Rust"),
        None if is_own && names.len() < 2 => "the module is missing".to_owned(),
        None if names.len() < 2 => "the crate is missing".to_owned(),
        None if last.starts_with(|c: char| c.is_ascii_uppercase()) => return None,
        None => format!("`{last}` is a module, and the type is missing"),
    })
}

/// The path with a crate's name as Rust spells it, and with a type; empty where that is no path either, such as a path in Go.
pub fn rust_like(text: &str) -> String {
    let path = text.replace('-', "_");
    let path = match path.rsplit("::").next() {
        Some(last) if last.starts_with(|c: char| c.is_ascii_lowercase()) => path + "::Kind",
        _ => path,
    };
    match rust_fault(&path) {
        None => path,
        Some(_) => String::new(),
    }
}

impl RustPath {
    /// The package of the type, as crates.io mostly spells it; `None` for a type of the project.
    pub fn package(&self) -> Option<String> {
        let first = self.0.split("::").next().unwrap_or_default();
        (first != "crate").then(|| first.trim_start_matches("r#").replace('_', "-"))
    }
}

impl WebhookPath {
    /// The path of a webhook for which none was given: `/mutate-cache-example-com-v1-memcached`.
    pub fn of(verb: &str, api_group: &str, version: super::Version, kind: &super::Kind) -> String {
        let group = api_group.replace('.', "-");
        format!("/{verb}-{group}-{version}-{}", kind.singular())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_webhook(text: &str, expected: Result<(), (&str, Option<&str>)>) {
        let found = text.parse::<WebhookPath>().map(drop);
        let found = found.map_err(|invalid| (invalid.fault, invalid.suggestion));
        let expected =
            expected.map_err(|(fault, like)| (fault.to_owned(), like.map(str::to_owned)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn paths_of_webhooks() {
        for path in ["/a", "/mutate-v1-pod", "/mutate--v1-pod", "/a/b.c/1"] {
            check_webhook(path, Ok(()));
        }
        check_webhook("", Err(("it is empty", None)));
        check_webhook("a", Err(("it does not start with `/`", Some("/a"))));
        check_webhook("/", Err(("nothing follows the `/`", None)));
        let nothing = "there is nothing between or after two `/`";
        check_webhook("//a", Err((nothing, Some("/a"))));
        check_webhook("/a/", Err((nothing, Some("/a"))));
        check_webhook(
            "/Custom_path",
            Err(("`C` is upper case", Some("/custom-path"))),
        );
        check_webhook("/a?b", Err(("`?` is not allowed", Some("/a-b"))));
        check_webhook(
            "/convert",
            Err(("conversion has it", Some("/convert-defaults"))),
        );
    }

    #[track_caller]
    fn check_rust(text: &str, expected: Result<Option<&str>, (&str, Option<&str>)>) {
        match (text.parse::<RustPath>(), expected) {
            (Ok(path), Ok(package)) => assert_eq!(path.package().as_deref(), package),
            (Err(invalid), Err((fault, like))) => {
                assert_eq!(
                    (invalid.fault.as_str(), invalid.suggestion.as_deref()),
                    (fault, like)
                );
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn paths_of_types() {
        check_rust(
            "cert_manager_crds::v1::Certificate",
            Ok(Some("cert-manager-crds")),
        );
        check_rust("flux::Source", Ok(Some("flux")));
        check_rust("a::r#type::B", Ok(Some("a")));
        check_rust("crate::flux::Source", Ok(None));
        check_rust("", Err(("it is empty", None)));
        check_rust(
            "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1",
            Err(("it is a package of Go", None)),
        );
        check_rust(
            "cert-manager-crds::v1::Certificate",
            Err((
                "`cert-manager-crds` is no name in Rust",
                Some("cert_manager_crds::v1::Certificate"),
            )),
        );
        check_rust(
            "cert_manager_crds::v1",
            Err((
                "`v1` is a module, and the type is missing",
                Some("cert_manager_crds::v1::Kind"),
            )),
        );
        check_rust("Certificate", Err(("the crate is missing", None)));
        check_rust("crate::Certificate", Err(("the module is missing", None)));
        check_rust("a::::B", Err(("a name is missing", None)));
        check_rust("super::a::B", Err(("`super` is no name in Rust", None)));
        check_rust("a::type::B", Err(("`type` is no name in Rust", None)));
        check_rust("a::B<C>", Err(("`B<C>` is no name in Rust", None)));
    }
}
