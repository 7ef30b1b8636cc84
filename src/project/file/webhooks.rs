//! The webhooks of an entry, and the path of a type that another project defines, from the file and to it.

use serde_yaml::{Mapping, Value};

use super::shape::WebhooksEntry;
use crate::name::{RustPath, WebhookPath};
use crate::project::error::Violation;
use crate::project::{Admission, Key, Webhooks};

/// Reads the webhooks of the entry `key`.
pub fn from_file(key: &Key, entry: WebhooksEntry) -> Result<Webhooks, Violation> {
    let admission = |asked: bool, path: Option<WebhookPath>, what| match (asked, path) {
        (true, path) => Ok(Some(Admission { path })),
        (false, None) => Ok(None),
        (false, Some(path)) => {
            let error = format!("`{key}` has the {what}Path `{path}` without `{what}`");
            Err(Violation::of(key, error)
                .note("a path without its webhook is called by nobody")
                .in_file(format!("{what}: true, or remove `{what}Path`")))
        }
    };
    if entry.conversion == entry.spoke.is_empty() {
        let (has, lacks, value) = match entry.conversion {
            true => ("conversion", "spoke", "[v1alpha1]"),
            false => ("spoke", "conversion", "true"),
        };
        return Err(Violation::of(key, format!("`{key}` has `{has}` without `{lacks}`"))
            .note("the version with `conversion` is the hub, and `spoke` lists the versions that are converted to it")
            .in_file(format!("{lacks}: {value}, or remove `{has}`")));
    }
    let mut webhooks = Webhooks {
        defaulting: admission(entry.defaulting, entry.defaulting_path, "defaulting")?,
        validation: admission(entry.validation, entry.validation_path, "validation")?,
        spokes: Default::default(),
        extra: entry.extra,
    };
    for spoke in entry.spoke {
        if !webhooks.spokes.insert(spoke) {
            return Err(
                Violation::of(key, format!("`{key}` has the spoke {spoke} twice"))
                    .note("each version is converted in one way")
                    .in_file("remove one of the two"),
            );
        }
    }
    Ok(webhooks)
}

/// The fields of an entry's webhooks.
pub fn to_file(webhooks: Webhooks) -> WebhooksEntry {
    let Webhooks {
        defaulting,
        validation,
        spokes,
        extra,
    } = webhooks;
    WebhooksEntry {
        defaulting: defaulting.is_some(),
        defaulting_path: defaulting.and_then(|admission| admission.path),
        validation: validation.is_some(),
        validation_path: validation.and_then(|admission| admission.path),
        conversion: !spokes.is_empty(),
        spoke: spokes.into_iter().collect(),
        extra,
        ..WebhooksEntry::default()
    }
}

const PATH: &str = "path";

/// Takes the path of an external type out of its entry's other fields. In other entries `path` is kubebuilder's, which
/// means nothing here.
pub fn take_path(key: &Key, fields: &mut Mapping) -> Result<RustPath, Violation> {
    let (what, why) = match fields.remove(PATH) {
        Some(Value::String(text)) => match RustPath::parse(&text) {
            Ok(path) => return Ok(path),
            Err(invalid) => (
                format!(
                    "`{key}` has the path `{}`: {}",
                    invalid.found, invalid.fault
                ),
                invalid.rule,
            ),
        },
        _ => (
            format!("`{key}` is `external` and has no `path`"),
            "the operator needs the Rust type, from a crate that Cargo.toml depends on or from a module of your own",
        ),
    };
    let broken = Violation::of(key, what).note(why);
    Err(broken.in_file("path: cert_manager_crds::v1::Certificate"))
}

/// Puts it back.
pub fn put_path(path: &RustPath, fields: &mut Mapping) {
    fields.insert(PATH.into(), path.as_str().into());
}
