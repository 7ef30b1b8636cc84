//! Durations of Go, such as `1h30m`.

use serde_yaml::Value;

/// The seconds of a duration, rounded up; `None` for another text.
pub fn seconds(value: &Value) -> Option<u64> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => format!("{number}s"),
        _ => return None,
    };
    let mut total = 0.0;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            "us" | "µs" => 0.000_001,
            "ns" => 0.000_000_001,
            _ => return None,
        };
        rest = &rest[end..];
        total += number * unit;
    }
    (!text.is_empty()).then_some(total.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go() {
        for (text, expected) in [
            ("30s", Some(30)),
            ("1h30m", Some(5400)),
            ("0s", Some(0)),
            ("1.5m", Some(90)),
            ("10ms", Some(1)),
            ("", None),
            ("3 days", None),
            ("h", None),
        ] {
            assert_eq!(seconds(&Value::String(text.to_owned())), expected, "{text}");
        }
        assert_eq!(seconds(&Value::Number(20.into())), Some(20));
    }
}
