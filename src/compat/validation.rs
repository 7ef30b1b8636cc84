//! CEL rules and combinations of schemas: whether one refuses more than another cannot be computed, so a new one counts
//! as tighter, and one less as looser.

use super::{Findings, cel, fields::step, rule, schema::Schema};

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
        // An alternative more refuses what two of them allow.
        (
            "oneOf",
            !new_one.is_empty() && (is_new(&old_one, &new_one) || is_new(&new_one, &old_one)),
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

/// A field that every object has from now on, because it has a default, where fields are counted: defaults are set before
/// anything is validated.
pub fn counted(before: &Schema, after: &Schema, findings: &mut Findings) {
    let could_be_absent = |name: &String| {
        let old = before.properties.get(name);
        !before.required.contains(name) && old.is_none_or(|old| old.default.is_none())
    };
    let may_be_too_many = after
        .max_properties
        .is_some_and(|max| after.keeps_unknown() || after.properties.len() as u64 > max);
    for (name, field) in &after.properties {
        if field.default.is_none() || !could_be_absent(name) {
            continue;
        }
        findings.below(&step(name), |findings| {
            if may_be_too_many {
                let what = "has a default now, and counts for `maxProperties`";
                findings.add(&rule::MAX_PROPERTIES_LOWERED, what);
            }
            if may_refuse(after, name) {
                let what = "has a default now, and `oneOf` or `not` asks whether it is there";
                findings.add(&rule::COMBINATION_TIGHTENED, what);
            }
        });
    }
}

/// Whether a combination may refuse an object because it has the field `name`.
fn may_refuse(schema: &Schema, name: &str) -> bool {
    let one_or_not = schema.one_of.iter().chain(schema.not.as_deref());
    let mut others = schema.all_of.iter().chain(&schema.any_of);
    one_or_not.into_iter().any(|one| asks_for(one, name))
        || others.any(|other| other.max_properties.is_some() || may_refuse(other, name))
}

fn asks_for(schema: &Schema, name: &str) -> bool {
    let inner = [&schema.all_of, &schema.any_of, &schema.one_of];
    schema.required.contains(name)
        || schema.properties.contains_key(name)
        || schema.min_properties.is_some()
        || schema.max_properties.is_some()
        || inner
            .into_iter()
            .flatten()
            .chain(schema.not.as_deref())
            .any(|inner| asks_for(inner, name))
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
