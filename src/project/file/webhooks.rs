//! The webhooks of an entry, and the path of a type that another project defines, from the file and to it.

use serde_yaml::{Mapping, Value};

use super::shape::WebhooksEntry;
use crate::name::{RustPath, WebhookPath};
use crate::project::error::{Rule, Violation};
use crate::project::{Admission, Key, Webhooks};

/// Reads the webhooks of the entry `key`.
pub fn from_file(key: &Key, entry: WebhooksEntry) -> Result<Webhooks, Violation> {
    let admission = |asked: bool, path: Option<WebhookPath>, what| match (asked, path) {
        (true, path) => Ok(Some(Admission { path })),
        (false, None) => Ok(None),
        (false, Some(path)) => {
            let path = path.to_string();
            Err(Rule::PathWithoutWebhook { what, path }.at(key))
        }
    };
    if entry.conversion == entry.spoke.is_empty() {
        let (has, lacks) = match entry.conversion {
            true => ("conversion", "spoke"),
            false => ("spoke", "conversion"),
        };
        return Err(Rule::HalfConversion { has, lacks }.at(key));
    }
    let mut webhooks = Webhooks {
        defaulting: admission(entry.defaulting, entry.defaulting_path, "defaulting")?,
        validation: admission(entry.validation, entry.validation_path, "validation")?,
        spokes: Default::default(),
        extra: entry.extra,
    };
    for spoke in entry.spoke {
        if !webhooks.spokes.insert(spoke) {
            return Err(Rule::SpokeTwice(spoke).at(key));
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
    match fields.remove(PATH) {
        Some(Value::String(text)) => {
            RustPath::parse(&text).map_err(|invalid| Rule::InvalidPath(invalid).at(key))
        }
        _ => Err(Rule::NoPath.at(key)),
    }
}

/// Puts it back.
pub fn put_path(path: &RustPath, fields: &mut Mapping) {
    fields.insert(PATH.into(), path.as_str().into());
}
