//! CEL rules and combinations of schemas: whether one refuses more than another cannot be computed, so a new one counts
//! as tighter, and one less as looser.

use super::{Findings, cel, rule, schema::Schema};

/// Compares what is beyond single limits.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    for rule in &after.validations {
        if !before.validations.contains(rule) {
            findings.add(
                &rule::CEL_RULE_ADDED,
                format!("has to fulfil `{}` now", cel::line(&rule.rule)),
            );
        }
    }
    let is_new = |old: &[Schema], new: &[Schema]| new.iter().any(|schema| !old.contains(schema));
    let (old_any, new_any) = (alternatives(before), alternatives(after));
    let tightened = [
        ("allOf", is_new(&before.all_of, &after.all_of)),
        // An alternative less refuses more, and the first alternatives refuse what is none of them.
        (
            "anyOf",
            !new_any.is_empty() && (old_any.is_empty() || is_new(new_any, old_any)),
        ),
        // An alternative more refuses what two of them allow.
        (
            "oneOf",
            !after.one_of.is_empty()
                && (is_new(&before.one_of, &after.one_of) || is_new(&after.one_of, &before.one_of)),
        ),
        ("not", after.not.is_some() && before.not != after.not),
    ];
    for (name, _) in tightened.into_iter().filter(|(_, tightened)| *tightened) {
        findings.add(
            &rule::COMBINATION_TIGHTENED,
            format!("`{name}` is new or another one"),
        );
    }
}

/// `anyOf`, unless it spells out what `x-kubernetes-int-or-string` means.
fn alternatives(schema: &Schema) -> &[Schema] {
    let spelled_out = |schema: &Schema| {
        let bare = |name: &str| Schema {
            type_name: Some(name.to_owned()),
            ..Schema::default()
        };
        *schema == bare("integer") || *schema == bare("string")
    };
    if schema.int_or_string && schema.any_of.iter().all(spelled_out) {
        return &[];
    }
    &schema.any_of
}
