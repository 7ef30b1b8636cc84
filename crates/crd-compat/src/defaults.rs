//! What else judges an object by a field that has another default: it is set before anything is validated, so that an
//! object that leaves the field out may be refused by what did not change.

use super::{Findings, cel, rule, schema::Schema, step};

/// Compares the defaults of the fields of `before` and `after` with the limits, rules and combinations around them. Those
/// of the combinations and rules here reach further down.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    for (name, change) in changes(before, after) {
        findings.below(&step(name), |findings| {
            let counts = |limit| format!("{}, and counts for `{limit}`", change.what());
            if change == Change::Appears
                && after.max_properties.is_some_and(|max| max < most(after))
            {
                findings.add(&rule::MAX_PROPERTIES_LOWERED, counts("maxProperties"));
            }
            if change == Change::Goes && after.min_properties > Some(least(after)) {
                findings.add(&rule::MIN_PROPERTIES_RAISED, counts("minProperties"));
            }
        });
    }
    let combinations = [
        ("allOf", &after.all_of[..], Turn::Fails),
        ("anyOf", &after.any_of, Turn::Fails),
        ("oneOf", &after.one_of, Turn::Either),
        (
            "not",
            after.not.as_deref().map_or(&[], std::slice::from_ref),
            Turn::Holds,
        ),
    ];
    let mut judges = Judges::default();
    for (name, schemas, turn) in combinations {
        for schema in schemas {
            judges.flatten(name, schema, turn);
        }
    }
    judges.rules = after.validations.iter().map(|one| &*one.rule).collect();
    judges.judge(before, after, findings);
}

/// What becomes of a field that an object leaves out.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Appears,
    Goes,
    Differs,
}

impl Change {
    fn what(self) -> &'static str {
        match self {
            Self::Appears => "has a default now",
            Self::Goes => "has no default any more",
            Self::Differs => "has another default now",
        }
    }
}

/// The fields that objects may leave out, which have another value then.
fn changes<'a>(before: &'a Schema, after: &'a Schema) -> Vec<(&'a str, Change)> {
    let default = |schema: &'a Schema, name: &str| schema.properties.get(name)?.default.as_ref();
    let is_kept = |name: &String| after.properties.contains_key(name) || most(after) == u64::MAX;
    let only_new = |name: &&String| !before.properties.contains_key(*name);
    let names = before.properties.keys().filter(|name| is_kept(name));
    let names = names.chain(after.properties.keys().filter(only_new));
    let change = |name: &'a String| {
        let change = match (default(before, name), default(after, name)) {
            (None, Some(_)) if !before.required.contains(name) => Change::Appears,
            // That it is missing where it is required is found without combinations.
            (Some(_), None) if !after.required.contains(name) => Change::Goes,
            (Some(old), Some(new)) if old != new => Change::Differs,
            _ => return None,
        };
        Some((name.as_str(), change))
    };
    names.filter_map(change).collect()
}

/// How many fields an object may have.
fn most(schema: &Schema) -> u64 {
    if schema.keeps_unknown() || schema.map_values().is_some() {
        return u64::MAX;
    }
    schema.properties.len() as u64
}

/// How many fields an object has whatever it leaves out.
fn least(schema: &Schema) -> u64 {
    let with_default = schema
        .properties
        .iter()
        .filter(|(name, field)| field.default.is_some() && !schema.required.contains(*name));
    (with_default.count() + schema.required.len()) as u64
}

/// What a part of a combination has to do for the whole to refuse an object that it accepted.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Fails,
    Holds,
    Either,
}

/// What judges objects by more than one field: the parts of combinations, each with the name of the combination, and CEL
/// rules.
#[derive(Default)]
struct Judges<'a> {
    combined: Vec<(&'static str, &'a Schema, Turn)>,
    rules: Vec<&'a str>,
}

impl<'a> Judges<'a> {
    /// Adds `schema` and the combinations in it.
    fn flatten(&mut self, name: &'static str, schema: &'a Schema, turn: Turn) {
        self.combined.push((name, schema, turn));
        for inner in schema.all_of.iter().chain(&schema.any_of) {
            self.flatten(name, inner, turn);
        }
        for inner in &schema.one_of {
            self.flatten(name, inner, Turn::Either);
        }
        let inverse = match turn {
            Turn::Fails => Turn::Holds,
            Turn::Holds => Turn::Fails,
            Turn::Either => Turn::Either,
        };
        if let Some(inner) = &schema.not {
            self.flatten(name, inner, inverse);
        }
    }

    /// What they say of one step further down; a rule that does not name the field says nothing of it.
    fn below(
        &self,
        inner: impl Fn(&'a Schema) -> Option<&'a Schema>,
        names_it: impl Fn(&str) -> bool,
    ) -> Self {
        let mut judges = Self::default();
        for (name, schema, turn) in &self.combined {
            if let Some(inner) = inner(schema) {
                judges.flatten(name, inner, *turn);
            }
        }
        let rules = self.rules.iter().copied();
        judges.rules = rules.filter(|rule| names_it(rule)).collect();
        judges
    }

    fn judge(&self, before: &Schema, after: &Schema, findings: &mut Findings) {
        if self.combined.is_empty() && self.rules.is_empty() {
            return;
        }
        for (name, change) in changes(before, after) {
            let what = change.what();
            let mut combined = self.combined.iter();
            let refuses =
                combined.find(|(_, part, turn)| may_turn(part, *turn, after, name, change));
            let mut rules = self.rules.iter().filter(|_| change == Change::Goes);
            let rule = rules.find(|rule| cel::names(rule, name));
            findings.below(&step(name), |findings| {
                if let Some((combination, ..)) = refuses {
                    let what = format!("{what}, and `{combination}` judges by it");
                    findings.add(&rule::COMBINATION_TIGHTENED, what);
                }
                if let Some(rule) = rule {
                    let what = format!("{what}, and `{}` names it", cel::line(rule));
                    findings.add(&rule::REQUIRED_ADDED, what);
                }
            });
        }
        for (name, old) in &before.properties {
            let Some(new) = after.properties.get(name) else {
                continue;
            };
            let below = self.below(
                |part| part.properties.get(name),
                |rule| cel::names(rule, name),
            );
            findings.below(&step(name), |findings| below.judge(old, new, findings));
        }
        let inner = |part: &'a Schema| part.items.as_deref();
        if let (Some(old), Some(new)) = (&before.items, &after.items) {
            let below = self.below(inner, |_| true);
            findings.below("[]", |findings| below.judge(old, new, findings));
        }
        if let (Some(old), Some(new)) = (before.map_values(), after.map_values()) {
            let below = self.below(|_| None, |_| true);
            findings.below("[*]", |findings| below.judge(old, new, findings));
        }
    }
}

/// Whether `part` may turn so by what becomes of the field `name` of an `object`, without the combinations in it.
fn may_turn(part: &Schema, turn: Turn, object: &Schema, name: &str, change: Change) -> bool {
    let is_required = part.required.contains(name);
    let is_restricted = part.properties.contains_key(name);
    let (most, least) = (most(object), least(object));
    let (fails, holds) = match change {
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
    (fails && turn != Turn::Holds) || (holds && turn != Turn::Fails) || part.values.is_some()
}
