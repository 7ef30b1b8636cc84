//! Durations and times in texts, as Go reads them.

/// Whether it is one of Go's durations, such as `1h30m` (documentation of Go's `time.ParseDuration`).
pub(super) fn is_duration(text: &str) -> bool {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("μs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 6e10),
        ("h", 3.6e12),
    ];
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let (mut parts, mut nanoseconds) = (0, 0.0);
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit = UNITS.iter().find(|(unit, _)| after.starts_with(unit));
        // Go ends a number at its second point.
        let number = number
            .split_once('.')
            .map_or(Some(number.to_owned()), |(whole, part)| {
                let has_digits = !whole.is_empty() || !part.is_empty();
                let is_number = has_digits && !part.contains('.');
                is_number.then(|| format!("0{whole}.{part}0"))
            });
        let number = number.and_then(|number| number.parse::<f64>().ok());
        let (Some((unit, size)), Some(number)) = (unit, number) else {
            return false;
        };
        nanoseconds += number * size;
        parts += 1;
        rest = &after[unit.len()..];
    }
    parts > 0 && nanoseconds < 9_223_372_036_854_775_807.0
}

/// Whether it is a time of RFC 3339 in a year from 1 to 9999. Go reads hours of one digit, and a comma before parts of seconds.
pub(super) fn is_timestamp(text: &str) -> bool {
    read(text).is_some()
}

fn read(text: &str) -> Option<()> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    let rest = rest.strip_prefix('T')?;
    let (hour, rest) = number(rest, 2).or_else(|| number(rest, 1))?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = number(rest.strip_prefix(':')?, 2)?;
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(parts) if parts.starts_with(|c: char| c.is_ascii_digit()) => {
            parts.trim_start_matches(|c: char| c.is_ascii_digit())
        }
        Some(_) => return None,
        None => rest,
    };
    let offset = rest.strip_prefix(['+', '-']).map(|offset| {
        let (hours, rest) = number(offset, 2)?;
        let (minutes, rest) = number(rest.strip_prefix(':')?, 2)?;
        (hours <= 24 && minutes < 60 && rest.is_empty()).then_some(())
    });
    let is_zoned = rest == "Z" || offset.is_some_and(|offset| offset.is_some());
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let is_time = hour < 24 && minute < 60 && second < 60;
    (is_zoned && is_time && year > 0 && (1..=days).contains(&day)).then_some(())
}

fn number(text: &str, digits: usize) -> Option<(u32, &str)> {
    let number = text.get(..digits)?;
    let is_number = number.chars().all(|c| c.is_ascii_digit());
    is_number.then_some(())?;
    Some((number.parse().ok()?, &text[digits..]))
}
