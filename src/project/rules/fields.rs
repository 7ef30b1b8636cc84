//! Rules of the fields of an API.

use super::Defined;
use crate::field::{self, Correction};
use crate::name::rust;
use crate::project::violation::{Remedy, Violation, violation};

/// The first field that contradicts others.
pub fn check(apis: &[Defined<'_>]) -> Option<Violation> {
    apis.iter().find_map(|Defined { key, resource, api }| {
        if resource.source.is_some() && !api.fields.is_empty() {
            let broken = violation!(key => "`{key}` has both a CRD and fields",
                "its types are generated from one of the two");
            return Some(broken.in_file("remove `fields` and `statusFields`"));
        }
        let fault = field::check(
            &rust::type_name(&key.kind),
            &api.fields.spec,
            &api.fields.status,
        )?;
        let (text, what) = (fault.field.to_string(), fault.what);
        let broken = violation!(key => "field `{text}`: {what}").note(fault.rule);
        let (name, fields) = match fault.of_status {
            true => ("statusFields", &api.fields.status),
            false => ("fields", &api.fields.spec),
        };
        let mut texts: Vec<_> = fields.iter().map(ToString::to_string).collect();
        let at = fields
            .iter()
            .rposition(|it| *it == fault.field)
            .unwrap_or_default();
        let in_file = match fault.correction {
            Correction::Remove => {
                texts.remove(at);
                format!("remove `{text}` from `{name}`")
            }
            Correction::Replace(other) => {
                texts[at].clone_from(&other);
                format!("{name}: [{other}]")
            }
            Correction::Add(other) => {
                texts.push(other.clone());
                format!("add `{other}` to `{name}`")
            }
        };
        let remedy = match texts.is_empty() {
            true => Remedy::Drop(vec![name]),
            false => Remedy::Set(texts.into_iter().map(|text| (name, text)).collect()),
        };
        Some(broken.by_command(remedy).in_file(in_file))
    })
}
