//! The limits of a value: numbers, lengths, counts, enums, patterns, formats, CEL rules and combinations of schemas. Only a
//! tighter limit breaks anything, except for enums, because clients handle each of their values.
//!
//! Whether one pattern, CEL rule or combination is tighter than another cannot be computed, so a new one counts as tighter.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::{Findings, Rule, rule, schema::Schema};

/// The formats that the API server validates, and those that give the size of a number.
const FORMATS: &str = "bsonobjectid byte cidr creditcard date date-time datetime double duration \
    email float hexcolor hostname int32 int64 ipv4 ipv6 isbn isbn10 isbn13 k8s-long-name \
    k8s-short-name mac rgbcolor ssn uri uuid uuid3 uuid4 uuid5";

/// Compares the limits of two schemas of one type.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    values(before, after, findings);
    for (tighter, rule, name) in [
        (Ordering::Less, &rule::MAXIMUM_LOWERED, "maximum"),
        (Ordering::Greater, &rule::MINIMUM_RAISED, "minimum"),
    ] {
        let [old, new] = [before, after].map(|schema| Bound::of(schema, tighter));
        if let Some(new) = &new
            && old.as_ref().is_none_or(|old| new.is_tighter(old, tighter))
        {
            let old = old.map(|old| old.shown);
            findings.add_if_changed(rule, name, old.as_ref(), Some(&new.shown));
        }
    }
    for ((rule, name, old), (.., new)) in counts(before).into_iter().zip(counts(after)) {
        let is_tighter = match name.starts_with("max") {
            true => new.unwrap_or(u64::MAX) < old.unwrap_or(u64::MAX),
            false => new.unwrap_or(0) > old.unwrap_or(0),
        };
        if is_tighter {
            findings.add_if_changed(rule, name, old, new);
        }
    }
    if let Some(new) = &after.multiple_of {
        let allows = |old: &Number| old == new || is_multiple(old, new);
        if !before.multiple_of.as_ref().is_some_and(allows) {
            let what = format!("must now be a multiple of {new}");
            findings.add(&rule::MULTIPLE_OF_CHANGED, what);
        }
    }
    match (&before.pattern, &after.pattern) {
        (Some(old), Some(new)) if old != new => {
            let what = format!("pattern was `{old}`, now `{new}`");
            findings.add(&rule::PATTERN_CHANGED, what);
        }
        (None, Some(new)) => {
            findings.add(&rule::PATTERN_CHANGED, format!("must now match `{new}`"))
        }
        _ => {}
    }
    format(before, after, findings);
    if after.unique_items && !before.unique_items {
        findings.add(
            &rule::UNIQUE_ITEMS_ADDED,
            "must no longer contain duplicates",
        );
    }
    for rule in &after.validations {
        if !before.validations.contains(rule) {
            let what = format!("must now satisfy `{}`", rule.rule.replace('\n', " "));
            findings.add(&rule::CEL_RULE_ADDED, what);
        }
    }
    combinations(before, after, findings);
}

fn values(before: &Schema, after: &Schema, findings: &mut Findings) {
    let list = |values: &[Value], but: &[Value]| {
        let rest = values.iter().filter(|value| !but.contains(value));
        rest.map(show).collect::<Vec<String>>().join(", ")
    };
    match (&before.values, &after.values) {
        (None, Some(new)) => {
            let what = format!("must now be one of {}", list(new, &[]));
            findings.add(&rule::ENUM_ADDED, what);
        }
        (Some(old), Some(new)) => {
            let (removed, added) = (list(old, new), list(new, old));
            if !removed.is_empty() {
                let what = format!("may no longer be {removed}");
                findings.add(&rule::ENUM_VALUE_REMOVED, what);
            }
            if !added.is_empty() {
                findings.add(&rule::ENUM_VALUE_ADDED, format!("may now be {added}"));
            }
        }
        (Some(_), None) => findings.add(&rule::ENUM_VALUE_ADDED, "may now have any value"),
        (None, None) => {}
    }
}

/// The limits of lengths and counts, each with the rule for a tighter one.
fn counts(schema: &Schema) -> [(&'static Rule, &'static str, Option<u64>); 6] {
    [
        (&rule::MAX_LENGTH_LOWERED, "maxLength", schema.max_length),
        (&rule::MAX_ITEMS_LOWERED, "maxItems", schema.max_items),
        (
            &rule::MAX_PROPERTIES_LOWERED,
            "maxProperties",
            schema.max_properties,
        ),
        (&rule::MIN_LENGTH_RAISED, "minLength", schema.min_length),
        (&rule::MIN_ITEMS_RAISED, "minItems", schema.min_items),
        (
            &rule::MIN_PROPERTIES_RAISED,
            "minProperties",
            schema.min_properties,
        ),
    ]
}

/// A `maximum` or `minimum`.
struct Bound {
    number: Number,
    exclusive: bool,
    shown: String,
}

impl Bound {
    /// The bound of a schema: the maximum if a tighter one is less. An exclusive bound of integers becomes the next integer.
    fn of(schema: &Schema, tighter: Ordering) -> Option<Self> {
        let (number, exclusive, next) = match tighter {
            Ordering::Less => (&schema.maximum, schema.exclusive_maximum, -1),
            _ => (&schema.minimum, schema.exclusive_minimum, 1),
        };
        let number = number.clone()?;
        let shown = format!("{number}{}", if exclusive { " (exclusive)" } else { "" });
        let next = number.as_i64().and_then(|it| it.checked_add(next));
        let (number, exclusive) = match next {
            Some(next) if exclusive && schema.shape() == "integer" => (next.into(), false),
            _ => (number, exclusive),
        };
        Some(Self {
            number,
            exclusive,
            shown,
        })
    }

    fn is_tighter(&self, old: &Self, tighter: Ordering) -> bool {
        let float = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
        let order = match (self.number.as_i64(), old.number.as_i64()) {
            (Some(new), Some(old)) => new.cmp(&old),
            _ => float(&self.number).total_cmp(&float(&old.number)),
        };
        order == tighter || (order == Ordering::Equal && self.exclusive && !old.exclusive)
    }
}

/// Whether `a` is a multiple of `b`. Of fractions, none counts as one.
fn is_multiple(a: &Number, b: &Number) -> bool {
    let whole = a.as_i64().zip(b.as_i64());
    whole.and_then(|(a, b)| a.checked_rem(b)) == Some(0)
}

fn format(before: &Schema, after: &Schema, findings: &mut Findings) {
    let known = |schema: &Schema| {
        let format = schema.format.clone();
        format.filter(|format| FORMATS.split(' ').any(|known| known == format))
    };
    let (old, new) = (known(before), known(after));
    let rule = match (old.as_deref(), new.as_deref()) {
        // Without a format, a number has this size already.
        (_, None) | (None, Some("int64" | "double")) => return,
        (Some("int32"), Some("int64")) | (Some("float"), Some("double")) => &rule::TYPE_WIDENED,
        _ => &rule::FORMAT_CHANGED,
    };
    let [old, new] = [old, new].map(|format| format.map(|format| format!("`{format}`")));
    findings.add_if_changed(rule, "format", old, new);
}

fn combinations(before: &Schema, after: &Schema, findings: &mut Findings) {
    let any = |schema| beyond_type(schema, &schema.any_of);
    let all = |schema| beyond_type(schema, &schema.all_of);
    let (old_any, new_any, old_all, new_all) = (any(before), any(after), all(before), all(after));
    let (old_one, new_one) = (&before.one_of, &after.one_of);
    // A third copy of an alternative changes nothing: what a second one accepts is accepted by none.
    let times = |all: &[Schema], one| all.iter().filter(|other| *other == one).count().min(2);
    let tightened = [
        ("allOf", new_all.iter().any(|it| !old_all.contains(it))),
        // Fewer alternatives accept less, and so do the first ones.
        (
            "anyOf",
            !new_any.is_empty()
                && (old_any.is_empty() || old_any.iter().any(|it| !new_any.contains(it))),
        ),
        // More alternatives, or a second copy of one, reject what two of them accept.
        (
            "oneOf",
            !new_one.is_empty() && old_one.iter().any(|it| !new_one.contains(it))
                || new_one
                    .iter()
                    .any(|it| times(new_one, it) > times(old_one, it)),
        ),
        ("not", after.not.is_some() && before.not != after.not),
    ];
    for (name, _) in tightened.into_iter().filter(|(_, tightened)| *tightened) {
        let what = format!("`{name}` is new or changed");
        findings.add(&rule::COMBINATION_TIGHTENED, what);
    }
}

/// `anyOf` or `allOf` without the parts that only spell out `x-kubernetes-int-or-string`: the two types, or one schema that
/// holds both.
fn beyond_type<'a>(schema: &Schema, combination: &'a [Schema]) -> Vec<&'a Schema> {
    let types = ["integer", "string"].map(|name| Schema {
        type_name: Some(name.to_owned()),
        ..Schema::default()
    });
    if schema.int_or_string && combination == types {
        return Vec::new();
    }
    let holder = Schema {
        any_of: types.into(),
        ..Schema::default()
    };
    let says_more = |one: &&Schema| !schema.int_or_string || **one != holder;
    combination.iter().filter(says_more).collect()
}

/// A value as JSON, at most 80 characters of it.
pub fn show(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
