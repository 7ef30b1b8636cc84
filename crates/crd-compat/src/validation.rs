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
    // More than twice is twice: what no other alternative may allow is allowed by none.
    let times =
        |all: &[&Schema], one: &&Schema| all.iter().filter(|other| *other == one).count().min(2);
    let is_new = |old: &[&Schema], new: &[&Schema]| new.iter().any(|schema| !old.contains(schema));
    let (old_any, new_any) = (
        beyond_type(before, &before.any_of),
        beyond_type(after, &after.any_of),
    );
    let (old_all, new_all) = (
        beyond_type(before, &before.all_of),
        beyond_type(after, &after.all_of),
    );
    let (old_one, new_one): (Vec<_>, Vec<_>) = (
        before.one_of.iter().collect(),
        after.one_of.iter().collect(),
    );
    let tightened = [
        ("allOf", is_new(&old_all, &new_all)),
        // An alternative less refuses more, and the first alternatives refuse what is none of them.
        (
            "anyOf",
            !new_any.is_empty() && (old_any.is_empty() || is_new(&new_any, &old_any)),
        ),
        // An alternative more, or one that is there twice, refuses what two of them allow.
        (
            "oneOf",
            is_new(&new_one, &old_one) && !new_one.is_empty()
                || new_one
                    .iter()
                    .any(|one| times(&new_one, one) > times(&old_one, one)),
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

/// `anyOf` or `allOf` without what spells out `x-kubernetes-int-or-string`: the two alternatives themselves, or one
/// schema that holds them.
fn beyond_type<'a>(schema: &Schema, combination: &'a [Schema]) -> Vec<&'a Schema> {
    let bare = |name: &str| Schema {
        type_name: Some(name.to_owned()),
        ..Schema::default()
    };
    let spelled_out = [bare("integer"), bare("string")];
    if schema.int_or_string && combination == spelled_out {
        return Vec::new();
    }
    let holder = Schema {
        any_of: spelled_out.into(),
        ..Schema::default()
    };
    let says_more = |one: &&Schema| !schema.int_or_string || **one != holder;
    combination.iter().filter(says_more).collect()
}
