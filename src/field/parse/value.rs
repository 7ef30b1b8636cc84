//! The values of markers, and the rules between the markers of a field.

use std::ops::Range;

use serde_json::{Number, Value};

use super::{MARKERS, Wrong, name};
use crate::{
    field::{
        ListType, Markers, Own, Type,
        marker::FORMATS,
        quoted,
        type_::{self, DURATION, of_values},
    },
    name::nearest,
};

/// The marker that a word of kubebuilder, OpenAPI or Kubernetes means.
pub(super) fn meant(word: &str) -> Option<&'static str> {
    Some(match word {
        "minimum" | "Minimum" => "min",
        "maximum" | "Maximum" => "max",
        "description" | "desc" => "doc",
        "omitempty" | "nullable" => "optional",
        "regex" => "pattern",
        "key" => "listMapKey",
        _ => return None,
    })
}

/// Why a type cannot have a marker.
pub(super) fn unfit(type_: &Type, word: &str) -> Option<&'static str> {
    let values = of_values(type_);
    let is_list = matches!(type_, Type::List(_));
    let is_number = matches!(values, Type::Int32 | Type::Int64 | Type::Float);
    match word {
        "min" | "max" if !is_number => Some("limits numbers"),
        "minLength" | "maxLength" | "pattern" | "format" if *values != Type::String => {
            Some("is for strings")
        }
        "minItems" | "maxItems" | "listType" | "listMapKey" if !is_list => Some("is for lists"),
        "default" => match type_ {
            Type::Time | Type::Any | Type::Known(_) | Type::Own(Own::Named(_)) => {
                Some("is for simple values")
            }
            Type::List(_) | Type::Map(_) => Some("is for simple values"),
            _ => None,
        },
        // The API server refuses a CRD with such a rule.
        "immutable" if *type_.innermost() == Type::Any => {
            Some("is a CEL rule, which cannot compare values of the type any")
        }
        _ => None,
    }
}

const DEFAULT: &str = "a default is a value of the field's type, in one line";
const LIMITS: &str = "a limit is a number: `min=1`, `maxLength=63`";

/// Sets the value of a marker. `rest` is the text from the value on.
pub(super) fn set(
    markers: &mut Markers,
    word: &str,
    value: String,
    (at, rest): (Range<usize>, &str),
    type_: &Type,
) -> Result<(), Wrong> {
    let number = |value: &str| {
        number(of_values(type_), value).ok_or_else(|| {
            let what = format!("`{value}` is not a valid {}", kind(of_values(type_)));
            Wrong::new(at.clone(), what, LIMITS)
        })
    };
    let count = |value: &str| {
        value.parse::<u32>().map(u64::from).map_err(|_| {
            let what = format!("`{value}` is not a number of characters or items");
            Wrong::new(at.clone(), what, LIMITS)
        })
    };
    match word {
        "min" => markers.min = Some(number(&value)?),
        "max" => markers.max = Some(number(&value)?),
        "minLength" => markers.min_length = Some(count(&value)?),
        "maxLength" => markers.max_length = Some(count(&value)?),
        "minItems" => markers.min_items = Some(count(&value)?),
        "maxItems" => markers.max_items = Some(count(&value)?),
        "pattern" => {
            if crd_types::matches(&value, "").is_none() {
                let rule = "a pattern is a regular expression as in Go (RE2); if it has a `:`, it is in double quotes: `pattern=\"^a:b$\"`";
                let whole = at.start..at.start + rest.len();
                let wrong = Wrong::new(whole, format!("`{value}` is not a pattern"), rule);
                let is_cut = rest.len() > value.len() && crd_types::matches(rest, "").is_some();
                return Err(match is_cut {
                    true => wrong.fix(quoted(rest, &[':'])),
                    false => wrong,
                });
            }
            markers.pattern = Some(value);
        }
        "format" => {
            let format = FORMATS.into_iter().find(|it| *it == value);
            let rule = "formats are byte, cidr, date, duration, email, hostname, ipv4, ipv6, mac, password, uri and uuid; a moment is a Time";
            markers.format = Some(format.ok_or_else(|| Wrong {
                fix: nearest(&value, FORMATS).map(str::to_owned),
                ..Wrong::new(at, format!("`{value}` is not a format"), rule)
            })?);
        }
        "listType" => {
            let found = ListType::ALL.into_iter().find(|it| it.word() == value);
            let rule = "list types are atomic, set and map, as in `x-kubernetes-list-type`";
            markers.list_type = Some(found.ok_or_else(|| Wrong {
                fix: nearest(&value, ListType::ALL.map(ListType::word)).map(str::to_owned),
                ..Wrong::new(at, format!("`{value}` is not a list type"), rule)
            })?);
        }
        "listMapKey" => {
            let key = name(&value, at.clone())?;
            if markers.list_map_keys.contains(&key) {
                return Err(Wrong::new(at, format!("`{key}` is a key already"), MARKERS));
            }
            markers.list_map_keys.push(key);
        }
        "default" if value.contains(char::is_control) => {
            return Err(Wrong::new(at, "the default is more than a line", DEFAULT));
        }
        "default" => markers.default = Some(default(type_, &value, at)?),
        "optional" => markers.optional = true,
        "immutable" => markers.immutable = true,
        _ => {
            if value.trim().is_empty() || value.contains(char::is_control) {
                let rule = "the description is one line of text";
                return Err(Wrong::new(at, "this is not a description", rule));
            }
            markers.doc = Some(value.trim().to_owned());
        }
    }
    Ok(())
}

/// A number of a type.
fn number(type_: &Type, text: &str) -> Option<Number> {
    match type_ {
        Type::Int32 => text.parse::<i32>().ok().map(Number::from),
        Type::Int64 => text.parse::<i64>().ok().map(Number::from),
        _ => match text.parse::<i64>() {
            Ok(number) => Some(number.into()),
            Err(_) => Number::from_f64(text.parse().ok()?),
        },
    }
}

/// A default of a type.
fn default(type_: &Type, text: &str, at: Range<usize>) -> Result<Value, Wrong> {
    let matching = |pattern| {
        let is = crd_types::matches(pattern, text) == Some(true);
        is.then(|| text.into())
    };
    let value = match type_ {
        Type::Bool => text.parse().ok().map(Value::Bool),
        Type::Int32 | Type::Int64 | Type::Float => number(type_, text).map(Value::Number),
        Type::IntOrString => Some(match text.parse::<i32>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        }),
        Type::Quantity => matching(crd_types::QUANTITY),
        Type::Duration => matching(DURATION),
        Type::Own(Own::Enum(values)) => values.iter().any(|it| it == text).then(|| text.into()),
        _ => Some(text.into()),
    };
    value.ok_or_else(|| {
        let what = format!("`{text}` is not a valid {}", kind(type_));
        let fix = match type_ {
            Type::Own(Own::Enum(values)) => {
                let values = || values.iter().map(String::as_str);
                let near = nearest(text, values()).or_else(|| values().next());
                near.map(|value| quoted(value, &[':']))
            }
            _ => None,
        };
        Wrong {
            fix,
            ..Wrong::new(at, what, DEFAULT)
        }
    })
}

/// A type in words.
fn kind(type_: &Type) -> String {
    match type_ {
        Type::Int32 | Type::Int64 | Type::Float => {
            format!("number of the type {}", type_::text(type_))
        }
        Type::Own(Own::Enum(_)) => "value of the enum".to_owned(),
        _ => type_::text(type_),
    }
}

/// Checks markers against each other.
pub(super) fn check(
    type_: &Type,
    markers: &Markers,
    place: &Range<usize>,
    seen: &[(&'static str, Range<usize>)],
) -> Result<(), Wrong> {
    let at = |word: &str| {
        let found = seen.iter().find(|(it, _)| *it == word);
        found.map_or_else(|| place.clone(), |(_, at)| at.clone())
    };
    let number = |number: &Option<Number>| number.as_ref().and_then(Number::as_f64);
    let count = |count: Option<u64>| count.map(|count| count as f64);
    let (min, max) = (number(&markers.min), number(&markers.max));
    let (min_length, max_length) = (count(markers.min_length), count(markers.max_length));
    let (min_items, max_items) = (count(markers.min_items), count(markers.max_items));
    let is_within = |value: f64, min: Option<f64>, max: Option<f64>| {
        min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
    };
    for (word, other, min, max) in [
        ("max", "min", min, max),
        ("maxLength", "minLength", min_length, max_length),
        ("maxItems", "minItems", min_items, max_items),
    ] {
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let what = format!("`{word}` is less than `{other}`");
            return Err(Wrong::new(at(word), what, "no value would be allowed"));
        }
    }
    keys(type_, markers, &at)?;
    let Some(default) = &markers.default else {
        return Ok(());
    };
    let is_allowed = match default {
        Value::Number(value) => value.as_f64().is_none_or(|it| is_within(it, min, max)),
        Value::String(text) if *type_ == Type::String => {
            let pattern = markers.pattern.as_deref();
            is_within(text.chars().count() as f64, min_length, max_length)
                && pattern.is_none_or(|it| crd_types::matches(it, text) != Some(false))
        }
        _ => true,
    };
    match is_allowed {
        true => Ok(()),
        false => {
            let rule = "the API server refuses a default that the field's own limits exclude";
            let what = "the limits exclude the default";
            Err(Wrong::new(at("default"), what, rule))
        }
    }
}

/// Checks how a list is merged.
fn keys(type_: &Type, markers: &Markers, at: &impl Fn(&str) -> Range<usize>) -> Result<(), Wrong> {
    let Type::List(items) = type_ else {
        return Ok(());
    };
    let is_object = matches!(**items, Type::Own(Own::Named(_)) | Type::Known(_));
    let rule = "a list of objects is merged as a map by its keys, a list of simple values as a set";
    let wrong = |what, fix| Wrong::new(at("listType"), what, rule).fix(fix);
    match markers.list_type {
        Some(ListType::Map) if !is_object => Err(wrong(
            "the items of the list are no objects",
            "listType=set",
        )),
        Some(ListType::Map) if markers.list_map_keys.is_empty() => Err(wrong(
            "`listMapKey` is missing",
            "listType=map:listMapKey=name",
        )),
        Some(ListType::Set) if is_object || matches!(**items, Type::List(_) | Type::Map(_)) => Err(
            wrong("the items of a set are simple values", "listType=atomic"),
        ),
        Some(ListType::Map) => Ok(()),
        _ if !markers.list_map_keys.is_empty() => {
            let key = at("listMapKey");
            let fix = format!("listType=map:listMapKey={}", markers.list_map_keys[0]);
            Err(match markers.list_type {
                None => Wrong::new(key, "`listType=map` is missing", rule).fix(fix),
                Some(_) => Wrong::new(key, "only a list with `listType=map` has keys", rule),
            })
        }
        _ => Ok(()),
    }
}
