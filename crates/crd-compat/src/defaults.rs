//! Limits, CEL rules and combinations that apply to a field with a changed default. Defaults are applied before validation, so
//! an unchanged limit may reject an object that omits the field.

use super::{Findings, Rule, cel, rule, schema::Schema};

/// Compares the defaults of the fields of `before` and `after`, against the limits around them, and the defaults of all fields
/// below, against the combinations and CEL rules here.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    let (most, least) = (most(after), least(after));
    for (name, change) in changes(before, after) {
        let counts = |limit| format!("{}, and counts toward `{limit}`", change.what());
        let found = match change {
            Change::Appears if after.max_properties.is_some_and(|max| max < most) => {
                Some((&rule::MAX_PROPERTIES_LOWERED, counts("maxProperties")))
            }
            Change::Goes if after.min_properties > Some(least) => {
                Some((&rule::MIN_PROPERTIES_RAISED, counts("minProperties")))
            }
            _ => None,
        };
        if let Some((rule, what)) = found {
            findings.field(name, |findings| findings.add(rule, what));
        }
    }
    let harm = Harm {
        rejecting: true,
        accepting: false,
    };
    for (name, part, harm) in parts(after, harm) {
        combination(name, part, harm, (before, after), findings);
    }
    for validation in &after.validations {
        cel_rule(&validation.rule, before, after, findings);
    }
}

/// The effect of a changed default on an object that omits the field.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Appears,
    Goes,
    Differs,
}

impl Change {
    fn what(self) -> &'static str {
        match self {
            Self::Appears => "now has a default",
            Self::Goes => "no longer has a default",
            Self::Differs => "now has another default",
        }
    }
}

/// The fields that objects may omit and that have another value then.
fn changes<'a>(before: &'a Schema, after: &'a Schema) -> Vec<(&'a str, Change)> {
    let default = |schema: &'a Schema, name: &str| schema.properties.get(name)?.default.as_ref();
    let is_kept = |name: &String| after.properties.contains_key(name) || most(after) == u64::MAX;
    let only_new = |name: &&String| !before.properties.contains_key(*name);
    let names = before.properties.keys().filter(|name| is_kept(name));
    let names = names.chain(after.properties.keys().filter(only_new));
    let change = |name: &'a String| {
        let change = match (default(before, name), default(after, name)) {
            (None, Some(_)) if !before.required.contains(name) => Change::Appears,
            // A required field without a default is a finding of its own.
            (Some(_), None) if !after.required.contains(name) => Change::Goes,
            (Some(old), Some(new)) if old != new => Change::Differs,
            _ => return None,
        };
        Some((name.as_str(), change))
    };
    names.filter_map(change).collect()
}

/// The largest number of fields of an object.
fn most(schema: &Schema) -> u64 {
    if schema.keeps_unknown() || schema.map_values().is_some() {
        return u64::MAX;
    }
    schema.properties.len() as u64
}

/// The number of fields of an object that omits as many as possible.
fn least(schema: &Schema) -> u64 {
    let defaulted = schema
        .properties
        .iter()
        .filter(|(name, field)| field.default.is_some() && !schema.required.contains(*name));
    (defaulted.count() + schema.required.len()) as u64
}

/// Whether the whole may reject an object because a part of a combination starts to reject it, or to accept it.
#[derive(Clone, Copy)]
struct Harm {
    rejecting: bool,
    accepting: bool,
}

/// The parts of the combinations of a schema, each with the name of its combination.
fn parts(schema: &Schema, harm: Harm) -> impl Iterator<Item = (&'static str, &Schema, Harm)> {
    let either = Harm {
        rejecting: true,
        accepting: true,
    };
    let inverse = Harm {
        rejecting: harm.accepting,
        accepting: harm.rejecting,
    };
    let not = schema.not.as_deref().map_or(&[][..], std::slice::from_ref);
    [
        ("allOf", &schema.all_of[..], harm),
        ("anyOf", &schema.any_of, harm),
        ("oneOf", &schema.one_of, either),
        ("not", not, inverse),
    ]
    .into_iter()
    .flat_map(|(name, parts, harm)| parts.iter().map(move |part| (name, part, harm)))
}

/// Compares the defaults of all fields that `part`, a part of the combination `name`, applies to.
fn combination(
    name: &'static str,
    part: &Schema,
    harm: Harm,
    (before, after): (&Schema, &Schema),
    findings: &mut Findings,
) {
    for (field, change) in changes(before, after) {
        if may_harm(part, harm, after, field, change) {
            let what = format!("{}, which `{name}` checks", change.what());
            add_once(findings, field, &rule::COMBINATION_TIGHTENED, what);
        }
    }
    for (_, inner, harm) in parts(part, harm) {
        combination(name, inner, harm, (before, after), findings);
    }
    for (field, part) in &part.properties {
        if let (Some(old), Some(new)) = (before.properties.get(field), after.properties.get(field))
        {
            findings.field(field, |it| combination(name, part, harm, (old, new), it));
        }
    }
    if let (Some(part), Some(old), Some(new)) = (&part.items, &before.items, &after.items) {
        findings.below("[]", |it| combination(name, part, harm, (old, new), it));
    }
}

/// Compares the defaults of all fields that a CEL rule names.
fn cel_rule(rule: &str, before: &Schema, after: &Schema, findings: &mut Findings) {
    for (field, change) in changes(before, after) {
        if change == Change::Goes && cel::names(rule, field) {
            let what = format!("{}, and `{}` names it", change.what(), cel::line(rule));
            add_once(findings, field, &rule::REQUIRED_ADDED, what);
        }
    }
    for (field, old) in &before.properties {
        if let Some(new) = after
            .properties
            .get(field)
            .filter(|_| cel::names(rule, field))
        {
            findings.field(field, |it| cel_rule(rule, old, new, it));
        }
    }
    if let (Some(old), Some(new)) = (&before.items, &after.items) {
        findings.below("[]", |it| cel_rule(rule, old, new, it));
    }
    if let (Some(old), Some(new)) = (before.map_values(), after.map_values()) {
        findings.below("[*]", |it| cel_rule(rule, old, new, it));
    }
}

/// Adds a finding for a field, unless there is one of the rule.
fn add_once(findings: &mut Findings, field: &str, rule: &'static Rule, what: String) {
    findings.field(field, |findings| {
        let place = &findings.place;
        let mut found = findings.list.iter();
        if !found.any(|it| it.rule == rule && it.place == *place) {
            findings.add(rule, what);
        }
    });
}

/// Whether the change of a field of `object` may change the result of `part` so that it does harm. Combinations in `part` are
/// parts of their own.
fn may_harm(part: &Schema, harm: Harm, object: &Schema, field: &str, change: Change) -> bool {
    let is_required = part.required.contains(field);
    let is_restricted = part.properties.contains_key(field);
    let (most, least) = (most(object), least(object));
    let (rejects, accepts) = match change {
        Change::Appears => (
            is_restricted || part.max_properties.is_some_and(|max| max < most),
            is_required || part.min_properties.is_some_and(|min| min <= most),
        ),
        Change::Goes => (
            is_required || part.min_properties > Some(least),
            is_restricted || part.max_properties.is_some_and(|max| max >= least),
        ),
        Change::Differs => (is_restricted, is_restricted),
    };
    (rejects && harm.rejecting) || (accepts && harm.accepting) || part.values.is_some()
}
