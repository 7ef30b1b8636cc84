//! Durations on the command line.

use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;

/// Parses a positive duration in Go's format, such as `15s`, `1m30s` or `500ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let duration = text.parse::<SignedDuration>().ok();
    duration
        .and_then(|duration| Duration::try_from(duration).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected a duration such as `15s` or `500ms`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, milliseconds) in [
            ("15s", Some(15_000)),
            ("500ms", Some(500)),
            ("10h", Some(36_000_000)),
            ("1m30s", Some(90_000)),
            ("15", None),
            ("s", None),
            ("0s", None),
            ("-1s", None),
            ("99999999999999999999h", None),
            ("", None),
        ] {
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(duration(text).ok(), expected, "{text}");
        }
    }
}
