//! Spans of time in nanoseconds, as Go's `time.Duration` reads and writes them.

/// Nanoseconds of a second.
pub const SECOND: i64 = 1_000_000_000;

/// The unit of a name, in nanoseconds.
fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// A text in the quotes of Go's package `time`, which writes what is not ASCII byte by byte.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=0x7f => quoted.push(char::from(byte)),
            byte => quoted += &format!("\\x{byte:02x}"),
        }
    }
    quoted + "\""
}

/// Reads a duration such as `1h2m3.5s`.
///
/// # Errors
/// As Go's.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut sum: u64 = 0;
    let digits_of = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    while !rest.is_empty() {
        let (whole, after) = rest.split_at(digits_of(rest));
        let (decimals, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits_of(after)),
            None => ("", after),
        };
        if whole.is_empty() && decimals.is_empty() {
            return Err(invalid());
        }
        let end = after
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let most = 1u64 << 63;
        let whole: u64 = match whole {
            "" => 0,
            whole => whole
                .parse()
                .ok()
                .filter(|it| *it <= most)
                .ok_or_else(invalid)?,
        };
        if name.is_empty() {
            return Err(format!("time: missing unit in duration {}", quote(text)));
        }
        let Some(unit) = unit(name) else {
            return Err(format!(
                "time: unknown unit {} in duration {}",
                quote(name),
                quote(text)
            ));
        };
        let mut part = whole
            .checked_mul(unit)
            .filter(|it| *it <= most)
            .ok_or_else(invalid)?;
        part += fraction(decimals, unit);
        sum = sum
            .checked_add(part)
            .filter(|it| *it <= most)
            .ok_or_else(invalid)?;
        rest = after;
    }
    match is_negative {
        true => Ok(0i64.wrapping_sub_unsigned(sum)),
        false => i64::try_from(sum).map_err(|_| invalid()),
    }
}

/// The nanoseconds of the digits behind a point, as far as they fit an integer.
fn fraction(decimals: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1f64);
    for digit in decimals.bytes() {
        if value > i64::MAX as u64 / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > 1 << 63 {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// `1h2m3.5s`.
pub fn show(nanoseconds: i64) -> String {
    let all = nanoseconds.unsigned_abs();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let with_decimals = |value: u64, digits: usize| {
        let scale = 10u64.pow(digits as u32);
        let decimals = format!("{:0digits$}", value % scale);
        match decimals.trim_end_matches('0') {
            "" => (value / scale).to_string(),
            decimals => format!("{}.{decimals}", value / scale),
        }
    };
    match all {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{all}ns"),
        1_000..1_000_000 => format!("{sign}{}\u{b5}s", with_decimals(all, 3)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", with_decimals(all, 6)),
        _ => {
            let minutes = all / 60_000_000_000;
            let seconds = with_decimals(all % 60_000_000_000, 9);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// The largest unit of a duration, such as `3d`.
pub fn largest_unit(nanoseconds: i64) -> String {
    let seconds = |count: u64| count * 1_000_000_000;
    let all = nanoseconds.unsigned_abs();
    for (unit, name) in [
        (seconds(365 * 86_400), "y"),
        (seconds(30 * 86_400), "mo"),
        (seconds(86_400), "d"),
        (seconds(3_600), "h"),
        (seconds(60), "m"),
        (seconds(1), "s"),
    ] {
        if all > unit {
            return format!("{}{name}", all / unit);
        }
    }
    "0s".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, shown) in [
            ("1h2m3.5s", "1h2m3.5s"),
            ("-90m", "-1h30m0s"),
            ("1500us", "1.5ms"),
            (".5s", "500ms"),
            ("0", "0s"),
            ("-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(show(parse(text).unwrap()), shown);
        }
        for (text, error) in [
            ("", "time: invalid duration \"\""),
            ("3", "time: missing unit in duration \"3\""),
            ("3y", "time: unknown unit \"y\" in duration \"3y\""),
            (
                "2562047h47m16.854775808s",
                "time: invalid duration \"2562047h47m16.854775808s\"",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), error);
        }
    }
}
