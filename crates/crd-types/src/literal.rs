//! Rust literals: strings, numbers and JSON, as `serde_json::json!` reads them.

use serde_json::Value;

/// A string literal; raw where that is easier to read.
pub(crate) fn string(text: &str) -> String {
    let strange = |c: char| c.is_control() || !c.is_ascii() && !c.is_alphanumeric();
    if text.contains(strange) || !text.contains(['\\', '"']) {
        return escaped(text);
    }
    if !text.contains('"') {
        return format!("r\"{text}\"");
    }
    let mut hashes = String::from("#");
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    match hashes.len() <= MAX_HASHES {
        true => format!("r{hashes}\"{text}\"{hashes}"),
        false => escaped(text),
    }
}

/// The most `#` of a raw string (Rust reference, "raw string literals").
const MAX_HASHES: usize = 255;

fn escaped(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => literal.extend(c.escape_unicode()),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Whether a character cannot be seen, or changes the direction of the text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

/// JSON inside of `json!`.
pub(crate) fn json(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(json).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", escaped(name), json(value));
            let fields: Vec<_> = fields.iter().map(field).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Number(_) => number(value),
        Value::Bool(_) | Value::Null => value.to_string(),
    }
}

/// A number, with a suffix where its type would not follow from it.
pub(crate) fn number(value: &Value) -> String {
    match (value.as_i64(), value.as_u64()) {
        (Some(number), _) if i32::try_from(number).is_ok() => number.to_string(),
        (Some(number), _) => format!("{number}_i64"),
        (None, Some(number)) => format!("{number}_u64"),
        (None, None) => match value.as_f64() {
            Some(number) => format!("{number:?}_f64"),
            None => value.to_string(),
        },
    }
}

/// How many values a JSON value consists of: `json!` cannot read many.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(|value| 1 + size(value)).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_reads_a_string_as_it_was() {
        for text in ["a", "a\\d", "say \"a\"", "\"#", "\u{200b}\u{7f}\"\\"] {
            check(text);
        }
        for hashes in [254, 255, 300] {
            check(&format!("\"{}", "#".repeat(hashes)));
        }
    }

    fn check(text: &str) {
        let literal: syn::LitStr = syn::parse_str(&string(text)).unwrap();
        assert_eq!(literal.value(), text);
    }
}
