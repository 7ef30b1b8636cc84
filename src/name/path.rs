//! Paths: where the API server calls a webhook, where a Rust type is found, and where a Helm chart is.

use super::rule;
use super::rust::{is_device, is_identifier};
use super::{ChartPath, RustPath, WebhookPath};

/// The rule for paths of webhooks.
pub const WEBHOOK: &str = "a path is `/` and DNS subdomains (RFC 1123) between further `/`: that is all the API server takes in a webhook configuration";
/// The rule for paths of Rust types.
pub const RUST: &str = "the path of a type begins with its crate, or with `crate` and a module for one of your own, and ends with the type: `cert_manager_crds::v1::Certificate`";

/// The rule for directories of charts.
pub const CHART: &str = "the chart NAME is in `charts/NAME`: letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit, at most 53 characters, and no device of Windows";

/// The directory of all charts.
const CHARTS: &str = "charts/";

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

/// The fault of a chart's directory.
pub fn chart_fault(text: &str) -> Option<String> {
    let Some(name) = text.strip_prefix(CHARTS) else {
        return Some(format!("it does not start with `{CHARTS}`"));
    };
    let is_odd = |c: &char| !(c.is_ascii_alphanumeric() || "-_.".contains(*c));
    let length = name.chars().count();
    Some(match name.chars().find(is_odd) {
        _ if name.is_empty() => "nothing follows the `/`".to_owned(),
        Some(c) if c.is_control() => "it contains a control character".to_owned(),
        Some(c) => format!("`{c}` is not allowed"),
        None if name.starts_with(is_mark) => format!("`{name}` starts with no letter or digit"),
        None if name.ends_with(is_mark) => format!("`{name}` ends with no letter or digit"),
        None if length > ChartPath::MAX => {
            let most = ChartPath::MAX;
            format!("the name has {length} characters, {most} are allowed")
        }
        None if is_device(name.split('.').next().unwrap_or(name)) => {
            format!("`{name}` is a device of Windows")
        }
        None => return None,
    })
}

/// The nearest directory of a chart; empty if nothing is left.
pub fn chart_like(text: &str) -> String {
    let name = text.strip_prefix(CHARTS).unwrap_or(text);
    let name: String = name
        .replace(
            |c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)),
            "-",
        )
        .trim_start_matches(is_mark)
        .chars()
        .take(ChartPath::MAX)
        .collect();
    let path = format!("{CHARTS}{}", name.trim_end_matches(is_mark));
    match chart_fault(&path) {
        None => path,
        Some(_) => String::new(),
    }
}

fn is_mark(c: char) -> bool {
    "-_.".contains(c)
}

impl ChartPath {
    /// The longest name of a chart: that of a release, which may have it.
    pub const MAX: usize = 53;

    /// The directory of the chart of this name.
    ///
    /// Errors: the name is not valid.
    pub fn of(name: &str) -> Result<Self, super::Invalid> {
        format!("{CHARTS}{name}").parse()
    }

    /// The name of the chart.
    pub fn name(&self) -> &str {
        self.0.strip_prefix(CHARTS).unwrap_or(&self.0)
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

    #[test]
    fn directories_of_charts() {
        let check = |text: &str, expected: Result<(), (&str, Option<&str>)>| {
            let found = text.parse::<ChartPath>().map(drop);
            let found = found.map_err(|invalid| (invalid.fault, invalid.suggestion));
            let expected =
                expected.map_err(|(fault, like)| (fault.to_owned(), like.map(str::to_owned)));
            assert_eq!(found, expected, "{text}");
        };
        for path in ["charts/a", "charts/3scale", "charts/A.b_c-d"] {
            check(path, Ok(()));
        }
        let elsewhere = "it does not start with `charts/`";
        check("memcached", Err((elsewhere, Some("charts/memcached"))));
        check("../a", Err((elsewhere, Some("charts/a"))));
        check("charts/", Err(("nothing follows the `/`", None)));
        check(
            "charts/a/b",
            Err(("`/` is not allowed", Some("charts/a-b"))),
        );
        check(
            "charts/..",
            Err(("`..` starts with no letter or digit", None)),
        );
        check(
            "charts/a.",
            Err(("`a.` ends with no letter or digit", Some("charts/a"))),
        );
        check(
            "charts/nul.x",
            Err(("`nul.x` is a device of Windows", None)),
        );
        let long = format!("charts/{}", "a".repeat(54));
        let fault = "the name has 54 characters, 53 are allowed";
        check(&long, Err((fault, Some(&long[..60]))));
    }

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
