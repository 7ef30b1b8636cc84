//! Generates strings, numbers and booleans that fit a schema.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Value, json};

use super::pattern::matching;

/// The number of values of a scalar that are worth a try.
pub(super) fn choices(schema: &JSONSchemaProps) -> usize {
    match (&schema.enum_, schema.type_.as_deref()) {
        (Some(values), _) => values.len().max(1),
        (_, Some("boolean")) => 2,
        (_, Some("string")) => texts(schema, 0).len(),
        (_, Some("integer" | "number")) => numbers(schema, 0).len(),
        _ if is_int_or_string(schema) => 2,
        _ => 1,
    }
}

/// The value of one choice. `seed` varies the values of a schema, where it allows that.
pub(super) fn value(schema: &JSONSchemaProps, choice: usize, seed: usize) -> Option<Value> {
    if let Some(values) = &schema.enum_ {
        let values: Vec<_> = values.iter().filter(|value| !value.0.is_null()).collect();
        return Some(values.get(choice % values.len().max(1))?.0.clone());
    }
    let one_of = |values: Vec<Value>| values.get(choice % values.len().max(1)).cloned();
    match schema.type_.as_deref() {
        _ if is_int_or_string(schema) => {
            one_of(vec![json!(seed), json!(format!("{}%", seed % 100))])
        }
        Some("boolean") => one_of(vec![json!(true), json!(false)]),
        Some("string") => one_of(texts(schema, seed)),
        Some("integer" | "number") => one_of(numbers(schema, seed)),
        _ => None,
    }
}

pub(super) fn is_int_or_string(schema: &JSONSchemaProps) -> bool {
    schema.x_kubernetes_int_or_string == Some(true)
        || schema.format.as_deref() == Some("int-or-string")
}

fn texts(schema: &JSONSchemaProps, seed: usize) -> Vec<Value> {
    let bound = |bound: Option<i64>| bound.and_then(|bound| usize::try_from(bound).ok());
    let least = bound(schema.min_length).unwrap_or_default();
    let most = bound(schema.max_length).unwrap_or(usize::MAX);
    if let Some(pattern) = &schema.pattern {
        let text = matching(pattern, (least, most), seed);
        return text.into_iter().map(Value::from).collect();
    }
    if let Some(text) = schema
        .format
        .as_deref()
        .and_then(|format| formatted(format, seed))
    {
        return vec![text.into()];
    }
    let mut text = format!("text-{seed}");
    if text.len() > most {
        // Cut at the start, because the ends differ.
        text = text.split_off(text.len() - most);
    }
    let text = format!("{text:x<least$}");
    // Strings that a conversion may lose if it splits them, or gives some a special meaning.
    let odd = ["", "*", "a b"].map(str::to_owned);
    let odd = odd
        .into_iter()
        .filter(|text| (least..=most).contains(&text.len()));
    [text].into_iter().chain(odd).map(Value::from).collect()
}

/// A string of a format of the API server, or of a Rust type's schema.
fn formatted(format: &str, seed: usize) -> Option<String> {
    let (two, four) = (seed % 50 + 10, seed % 9000 + 1000);
    Some(match format {
        "date-time" => format!("2026-01-02T03:04:{two}Z"),
        "partial-date-time" => format!("2026-01-02T03:04:{two}"),
        "date" => format!("{four}-01-02"),
        "time" => format!("03:04:{two}Z"),
        "duration" => format!("{two}s"),
        "byte" => format!("AA{two}"),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => format!("c0ffee00-{four}-4000-8000-000000000000"),
        "ip" | "ipv4" => format!("10.0.0.{two}"),
        "ipv6" => format!("fd00::{four}"),
        "cidr" => format!("10.0.{two}.0/24"),
        "mac" => format!("00:00:00:00:00:{two}"),
        "email" => format!("user-{seed}@example.com"),
        "hostname" => format!("host-{seed}.example.com"),
        "uri" | "url" => format!("https://example.com/{seed}"),
        "hexcolor" => format!("#00{four}"),
        "rgbcolor" => format!("rgb(0,0,{two})"),
        _ => return None,
    })
}

/// A middle value, zero, and both bounds of the schema.
fn numbers(schema: &JSONSchemaProps, seed: usize) -> Vec<Value> {
    let integer = schema.type_.as_deref() == Some("integer");
    // Not beyond the range in which numbers are exact in every language.
    let exact = f64::from(1_u32 << 31) * f64::from(1_u32 << 22);
    let (low, high) = match schema.format.as_deref() {
        Some("int8") => (f64::from(i8::MIN), f64::from(i8::MAX)),
        Some("int16") => (f64::from(i16::MIN), f64::from(i16::MAX)),
        Some("int32") => (f64::from(i32::MIN), f64::from(i32::MAX)),
        Some("uint8") => (0.0, f64::from(u8::MAX)),
        Some("uint16") => (0.0, f64::from(u16::MAX)),
        Some("uint32") => (0.0, f64::from(u32::MAX)),
        Some("uint64" | "uint") => (0.0, exact),
        Some("float") => (-65536.0, 65536.0),
        _ => (-exact, exact),
    };
    let step = schema
        .multiple_of
        .unwrap_or(if integer { 1.0 } else { 0.25 });
    let inside = |bound: f64, exclusive: Option<bool>| match exclusive {
        Some(true) => bound + step,
        _ => bound,
    };
    let low = schema.minimum.map_or(low, |bound| {
        low.max(inside(bound, schema.exclusive_minimum))
    });
    let high = schema.maximum.map_or(high, |bound| {
        high.min(-inside(-bound, schema.exclusive_maximum))
    });
    let (low, high) = ((low / step).ceil() * step, (high / step).floor() * step);
    let middle = (seed as f64 * step).max(low);
    let middle = if middle > high { low } else { middle };
    let mut numbers = vec![middle, low, high];
    numbers.extend((low < 0.0 && 0.0 < high).then_some(0.0));
    numbers.retain(|number| (low..=high).contains(number));
    let number = |number: f64| match integer {
        true => json!(number as i64),
        false => json!(number),
    };
    numbers.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(schema: Value) -> Value {
        let schema: JSONSchemaProps = serde_json::from_value(schema).unwrap();
        (0..choices(&schema))
            .map(|choice| value(&schema, choice, 7))
            .collect()
    }

    #[test]
    fn values_fit_their_schema() {
        let cases = [
            (json!({ "type": "boolean" }), json!([true, false])),
            (
                json!({ "type": "string" }),
                json!(["text-7", "", "*", "a b"]),
            ),
            (
                json!({ "type": "string", "minLength": 8 }),
                json!(["text-7xx"]),
            ),
            (
                json!({ "type": "string", "maxLength": 2 }),
                json!(["-7", "", "*"]),
            ),
            (
                json!({ "type": "string", "pattern": "^[a-c]{2}$" }),
                json!(["bc"]),
            ),
            (
                json!({ "type": "string", "format": "date-time" }),
                json!(["2026-01-02T03:04:17Z"]),
            ),
            (
                json!({ "type": "string", "enum": ["a", "b"] }),
                json!(["a", "b"]),
            ),
            (
                json!({ "x-kubernetes-int-or-string": true }),
                json!([7, "7%"]),
            ),
            (
                json!({ "type": "integer", "format": "uint8" }),
                json!([7, 0, 255]),
            ),
            (
                json!({ "type": "integer", "format": "int8" }),
                json!([7, -128, 127, 0]),
            ),
            (
                json!({ "type": "integer", "minimum": 10, "maximum": 20 }),
                json!([10, 10, 20]),
            ),
            (
                json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 3, "exclusiveMaximum": true }),
                json!([2, 2, 2]),
            ),
            (
                json!({ "type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 4 }),
                json!([4, 4, 8]),
            ),
            (
                json!({ "type": "number", "minimum": 0, "maximum": 1 }),
                json!([0.0, 0.0, 1.0]),
            ),
            (json!({ "type": "string", "pattern": "(" }), json!([])),
        ];
        for (schema, expected) in cases {
            assert_eq!(all(schema.clone()), expected, "{schema}");
        }
    }
}
