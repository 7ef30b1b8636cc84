//! Paths: where the API server calls a webhook, and where a Rust type is found.

use super::rule::{self, Fault};
use super::rust::is_identifier;
use super::{RustPath, WebhookPath};

/// The rule for paths of webhooks.
pub const WEBHOOK: &str = "a path is `/` and DNS subdomains (RFC 1123) between further `/`: that is all the API server takes in a webhook configuration";
/// The rule for paths of Rust types.
pub const RUST: &str = "the path of a type begins with its crate, or with `crate` and a module for one of your own, and ends with the type: `cert_manager_crds::v1::Certificate`";

/// The path that conversion has.
const CONVERT: &str = "/convert";

/// Checks the path of a webhook.
pub fn webhook(text: &str) -> Result<(), Fault> {
    let fault = |fault: String| Fault::new(fault, webhook_like(text));
    let Some(rest) = text.strip_prefix('/') else {
        return Err(fault(match text {
            "" => "it is empty".into(),
            _ => "it does not start with `/`".into(),
        }));
    };
    if text == CONVERT {
        return Err(fault("conversion has it".into()));
    }
    if rest.is_empty() {
        return Err(fault("nothing follows the `/`".into()));
    }
    match rest.split('/').find_map(segment_fault) {
        Some(why) => Err(fault(why)),
        None => Ok(()),
    }
}

fn segment_fault(segment: &str) -> Option<String> {
    match segment {
        "" => Some("there is nothing between or after two `/`".into()),
        _ => rule::subdomain(segment).err().map(Fault::text),
    }
}

/// The nearest path that can be a webhook's; empty if nothing is left.
fn webhook_like(text: &str) -> String {
    let segments: Vec<_> = text
        .split('/')
        .map(rule::subdomain_like)
        .filter(|segment| !segment.is_empty())
        .collect();
    match format!("/{}", segments.join("/")).as_str() {
        "/" => String::new(),
        CONVERT => "/convert-defaults".into(),
        path => path.to_owned(),
    }
}

/// Checks the path of a type.
pub fn rust(text: &str) -> Result<(), Fault> {
    let fault = |fault: &str| Fault::new(fault, rust_like(text));
    if text.is_empty() {
        return Err(fault("it is empty"));
    }
    if text.contains('/') {
        // No path of Rust follows from one of Go.
        return Err(Fault::new("it is a package of Go", String::new()));
    }
    let segments: Vec<&str> = text.split("::").collect();
    let own = segments[0] == "crate";
    let names = if own { &segments[1..] } else { &segments[..] };
    if let Some(word) = names.iter().find(|word| !is_identifier(word)) {
        return Err(fault(&match *word {
            "" => "a name is missing".to_owned(),
            word => format!("`{word}` is no name in Rust"),
        }));
    }
    if segments.len() < if own { 3 } else { 2 } {
        return Err(fault(match own {
            true => "the module is missing",
            false => "the crate is missing",
        }));
    }
    let last = segments[segments.len() - 1];
    if !last.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Err(fault(&format!(
            "`{last}` is a module, and the type is missing"
        )));
    }
    Ok(())
}

/// The path with a crate's name as Rust spells it, and with a type; empty where that is no path either.
fn rust_like(text: &str) -> String {
    let path = text.replace('-', "_");
    let path = match path.rsplit("::").next() {
        Some(last) if last.starts_with(|c: char| c.is_ascii_lowercase()) => path + "::Kind",
        _ => path,
    };
    if path != text && rust(&path).is_ok() {
        path
    } else {
        String::new()
    }
}

impl RustPath {
    /// The type's own name, the last of the path.
    pub fn type_name(&self) -> &str {
        self.0.rsplit("::").next().unwrap_or_default()
    }

    /// The package to depend on, as crates.io mostly spells it; `None` for a type of the project's own.
    pub fn package(&self) -> Option<String> {
        let first = self.0.split("::").next().unwrap_or_default();
        (first != "crate").then(|| first.trim_start_matches("r#").replace('_', "-"))
    }
}

impl WebhookPath {
    /// Where a webhook is called that names no path of its own: `/mutate-cache-example-com-v1-memcached`.
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
        let found = WebhookPath::parse(text).map(drop);
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

    type Parts = (&'static str, Option<&'static str>);

    #[track_caller]
    fn check_rust(text: &str, expected: Result<Parts, Parts>) {
        match (RustPath::parse(text), expected) {
            (Ok(path), Ok((name, package))) => {
                assert_eq!(path.type_name(), name);
                assert_eq!(path.package().as_deref(), package);
            }
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
            Ok(("Certificate", Some("cert-manager-crds"))),
        );
        check_rust("flux::Source", Ok(("Source", Some("flux"))));
        check_rust("a::r#type::B", Ok(("B", Some("a"))));
        check_rust("crate::flux::Source", Ok(("Source", None)));
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
