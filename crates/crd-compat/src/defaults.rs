//! Checks around a field with a changed default. Defaults are applied before validation, so an unchanged check may reject an object
//! that omits the field. Whether it does is not computed: every check of the object, and the combinations and CEL rules around it,
//! count.

use serde_json::Value;

use super::{Findings, Rule, rule, schema::Schema};

/// Compares the defaults of the fields of an object.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    let default = |schema: &Schema, name: &str| -> Option<Value> {
        schema.properties.get(name)?.default.clone()
    };
    let may_have = |name: &&String| {
        after.properties.contains_key(*name)
            || after.keeps_unknown()
            || after.map_values().is_some()
    };
    let only_new = |name: &&String| !before.properties.contains_key(*name);
    let names = before.properties.keys().filter(may_have);
    for name in names.chain(after.properties.keys().filter(only_new)) {
        let (old, new) = (default(before, name), default(after, name));
        if old == new {
            continue;
        }
        let mut rules = findings.checks.clone();
        if old.is_none() && after.max_properties.is_some() {
            rules.push(&rule::MAX_PROPERTIES_LOWERED);
        }
        if new.is_none() && after.min_properties.is_some() {
            rules.push(&rule::MIN_PROPERTIES_RAISED);
        }
        let what = match (&old, &new) {
            (None, _) => "now has a default",
            (_, None) => "no longer has a default",
            _ => "now has another default",
        };
        let what = format!("{what}, which a check of the object or around it may reject");
        findings.field(name, |findings| {
            for rule in rules {
                findings.add(rule, what.as_str());
            }
        });
    }
}

/// The rules about checks of a value, and of all fields below it, that a schema may have.
pub fn checks(schema: &Schema) -> impl Iterator<Item = &'static Rule> {
    let combinations = [&schema.all_of, &schema.any_of, &schema.one_of];
    let combines = schema.not.is_some() || combinations.iter().any(|parts| !parts.is_empty());
    let combination = combines.then_some(&rule::COMBINATION_TIGHTENED);
    let cel = (!schema.validations.is_empty()).then_some(&rule::CEL_RULE_ADDED);
    combination.into_iter().chain(cel)
}
