//! Limits of single values: numbers, lengths, counts, enums, patterns, formats. A limit that lets more through breaks
//! nobody, but for enums, whose values clients know by heart.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::{Findings, rule, schema::Schema};

/// The formats that the API server checks, and those that say how many bits a number has.
const FORMATS: [&str; 30] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "double",
    "duration",
    "email",
    "float",
    "hexcolor",
    "hostname",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Compares the limits of two schemas of one type.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    values(before, after, findings);
    bounds(before, after, findings);
    type Count = fn(&Schema) -> Option<u64>;
    let counts: [(_, _, Count); 6] = [
        (&rule::MAX_LENGTH_LOWERED, "maxLength", |it| it.max_length),
        (&rule::MAX_ITEMS_LOWERED, "maxItems", |it| it.max_items),
        (&rule::MAX_PROPERTIES_LOWERED, "maxProperties", |it| {
            it.max_properties
        }),
        (&rule::MIN_LENGTH_RAISED, "minLength", |it| it.min_length),
        (&rule::MIN_ITEMS_RAISED, "minItems", |it| it.min_items),
        (&rule::MIN_PROPERTIES_RAISED, "minProperties", |it| {
            it.min_properties
        }),
    ];
    for (rule, what, count) in counts {
        let (old, new) = (count(before), count(after));
        let is_tighter = match what.starts_with("max") {
            true => new.is_some_and(|new| old.is_none_or(|old| new < old)),
            false => new.unwrap_or(0) > old.unwrap_or(0),
        };
        if is_tighter {
            let shown = |limit: Option<u64>| limit.map_or("none".to_owned(), |it| it.to_string());
            let what = format!("{what} was {}, now {}", shown(old), shown(new));
            findings.add(rule, what);
        }
    }
    if let Some(new) = &after.multiple_of {
        let allows = |old: &Number| old == new || is_multiple(old, new);
        if !before.multiple_of.as_ref().is_some_and(allows) {
            let what = format!("has to be a multiple of {new} now");
            findings.add(&rule::MULTIPLE_OF_CHANGED, what);
        }
    }
    if let Some(new) = &after.pattern
        && before.pattern != after.pattern
    {
        let what = match &before.pattern {
            Some(old) => format!("pattern was `{old}`, now `{new}`"),
            None => format!("has to match `{new}` now"),
        };
        findings.add(&rule::PATTERN_CHANGED, what);
    }
    format(before, after, findings);
    if after.unique_items && !before.unique_items {
        findings.add(&rule::UNIQUE_ITEMS_ADDED, "may hold no item twice now");
    }
}

fn values(before: &Schema, after: &Schema, findings: &mut Findings) {
    let list = |values: &[Value], but: &[Value]| {
        let rest = values.iter().filter(|value| !but.contains(value));
        rest.map(show).collect::<Vec<String>>().join(", ")
    };
    match (&before.values, &after.values) {
        (None, Some(new)) => {
            let what = format!("has to be one of {} now", list(new, &[]));
            findings.add(&rule::ENUM_ADDED, what);
        }
        (Some(old), Some(new)) => {
            let (removed, added) = (list(old, new), list(new, old));
            if !removed.is_empty() {
                findings.add(
                    &rule::ENUM_VALUE_REMOVED,
                    format!("may no longer be {removed}"),
                );
            }
            if !added.is_empty() {
                findings.add(&rule::ENUM_VALUE_ADDED, format!("may be {added} now"));
            }
        }
        (Some(_), None) => findings.add(&rule::ENUM_VALUE_ADDED, "may have any value now"),
        (None, None) => {}
    }
}

fn bounds(before: &Schema, after: &Schema, findings: &mut Findings) {
    let is_whole = before.type_name.as_deref() == Some("integer");
    let maximum = |schema: &Schema| Bound::of(&schema.maximum, schema.exclusive_maximum);
    let minimum = |schema: &Schema| Bound::of(&schema.minimum, schema.exclusive_minimum);
    let (old, new) = (maximum(before), maximum(after));
    bound(findings, "maximum", (old, new), Ordering::Less, is_whole);
    let (old, new) = (minimum(before), minimum(after));
    bound(findings, "minimum", (old, new), Ordering::Greater, is_whole);
}

/// `tighter` is the side of the old bound on which a new one refuses more.
fn bound(
    findings: &mut Findings,
    name: &str,
    (old, new): (Option<Bound>, Option<Bound>),
    tighter: Ordering,
    is_whole: bool,
) {
    let Some(new) = new else { return };
    let was = old.as_ref().map_or("none".to_owned(), Bound::show);
    let what = format!("{name} was {was}, now {}", new.show());
    let reach = |bound: Bound| match is_whole {
        true => bound.of_whole(tighter),
        false => bound,
    };
    let new = reach(new);
    if old.is_none_or(|old| new.is_tighter(&reach(old), tighter)) {
        let rule = match tighter {
            Ordering::Less => &rule::MAXIMUM_LOWERED,
            _ => &rule::MINIMUM_RAISED,
        };
        findings.add(rule, what);
    }
}

/// A `maximum` or `minimum`, and whether the number itself is left out.
struct Bound {
    number: Number,
    exclusive: bool,
}

impl Bound {
    fn of(number: &Option<Number>, exclusive: bool) -> Option<Self> {
        let number = number.clone()?;
        Some(Self { number, exclusive })
    }

    /// The same for whole numbers, of which the next one is the bound if this one is left out.
    fn of_whole(self, tighter: Ordering) -> Self {
        let next = |number: i64| match tighter {
            Ordering::Less => number.checked_sub(1),
            _ => number.checked_add(1),
        };
        match self.number.as_i64().and_then(next) {
            Some(next) if self.exclusive => Self {
                number: next.into(),
                exclusive: false,
            },
            _ => self,
        }
    }

    /// `tighter` is the side of the old bound on which a new one refuses more.
    fn is_tighter(&self, old: &Self, tighter: Ordering) -> bool {
        match order(&self.number, &old.number) {
            Ordering::Equal => self.exclusive && !old.exclusive,
            order => order == tighter,
        }
    }

    fn show(&self) -> String {
        let exclusive = if self.exclusive { " (exclusive)" } else { "" };
        format!("{}{exclusive}", self.number)
    }
}

fn format(before: &Schema, after: &Schema, findings: &mut Findings) {
    let known = |schema: &'_ Schema| {
        let format = schema.format.clone();
        format.filter(|format| FORMATS.contains(&format.as_str()))
    };
    let (old, new) = (known(before), known(after));
    let rule = match (old.as_deref(), new.as_deref()) {
        (old, new) if old == new => return,
        (_, None) => return,
        // What has no format is of this size already.
        (None, Some("int64" | "double")) => return,
        (Some("int32"), Some("int64")) | (Some("float"), Some("double")) => &rule::TYPE_WIDENED,
        _ => &rule::FORMAT_CHANGED,
    };
    let shown =
        |format: Option<String>| format.map_or("none".to_owned(), |format| format!("`{format}`"));
    findings.add(
        rule,
        format!("format was {}, now {}", shown(old), shown(new)),
    );
}

fn order(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => number(a).total_cmp(&number(b)),
    }
}

/// Whether `a` is a multiple of `b`, counted in decimal places as people wrote them: in binary, 0.1 is none of 0.01.
fn is_multiple(a: &Number, b: &Number) -> bool {
    let multiple = || {
        let ((a, a_places), (b, b_places)) = (decimal(a)?, decimal(b)?);
        let places = a_places.max(b_places);
        let scaled =
            |digits: i128, own: u32| digits.checked_mul(10_i128.checked_pow(places - own)?);
        scaled(a, a_places)?.checked_rem(scaled(b, b_places)?)
    };
    multiple() == Some(0)
}

/// The digits of a number and how many of them are decimal places; none for a number that is too long for it.
fn decimal(number: &Number) -> Option<(i128, u32)> {
    let text = match (number.as_i64(), number.as_u64()) {
        (None, None) => format!("{}", number.as_f64()?),
        _ => number.to_string(),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, fraction.len().try_into().ok()?))
}

fn number(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// A value as JSON has it, and no more of it than a line holds.
pub fn show(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text =
        serde_json::to_string(value).unwrap_or_else(|_| "a value that is no JSON".to_owned());
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
