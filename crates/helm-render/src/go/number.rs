//! Numbers as Go writes them.

use super::printed::is_printed;

/// A float in the format `%g`, `%e` or `%f` of Go's `strconv.FormatFloat`, with the fewest digits that name it, or with as many as
/// `precision` says.
pub fn float(value: f64, format: char, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    match format {
        'f' | 'F' => match precision {
            Some(precision) => fixed(value, precision),
            None => shortest(value),
        },
        'e' | 'E' => {
            let text = exponent(value, precision);
            if format == 'E' {
                text.to_uppercase()
            } else {
                text
            }
        }
        _ => {
            let text = general(value, precision);
            if format == 'G' {
                text.to_uppercase()
            } else {
                text
            }
        }
    }
}

/// `%v` of a float.
pub fn plain(value: f64) -> String {
    float(value, 'g', None)
}

/// `%v` of a float with the precision of 32 bits.
pub fn float_32(value: f32) -> String {
    // The fewest digits that name a 32-bit number name another one in 64 bits, whose digits are the same.
    let digits: f64 = format!("{value:e}").parse().unwrap_or(f64::from(value));
    plain(digits)
}

/// `%g`: with an exponent below -4, and from the precision on; of the fewest digits, from 6 on.
fn general(value: f64, precision: Option<usize>) -> String {
    let scientific = exponent(value, precision.map(|it| it.max(1) - 1));
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
    let exponent: i32 = power.parse().unwrap_or_default();
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let mantissa = without_zeros(mantissa);
    let digits = mantissa.chars().filter(char::is_ascii_digit).count() as i32;
    let limit = match precision {
        None => 6,
        Some(precision) => match precision.max(1) as i32 {
            precision if precision > digits && digits > exponent => digits,
            precision => precision,
        },
    };
    if exponent < -4 || exponent >= limit {
        return format!("{mantissa}e{power}");
    }
    match precision {
        // Rust's `Display` has the fewest digits that name the value, and no exponent.
        None => shortest(value),
        Some(precision) => {
            let decimals = (precision.max(1) as i32 - 1 - exponent).max(0) as usize;
            without_zeros(&fixed(value, decimals))
        }
    }
}

/// The fewest digits that name a float, without an exponent.
fn shortest(value: f64) -> String {
    let text = scientific(value);
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits.replace('.', "")),
        None => ("", mantissa.replace('.', "")),
    };
    let power: i64 = power.parse().unwrap_or_default();
    match usize::try_from(power + 1) {
        Ok(whole @ 1..) if whole < digits.len() => {
            format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
        }
        Ok(whole @ 1..) => format!("{sign}{digits}{}", "0".repeat(whole - digits.len())),
        _ => format!(
            "{sign}0.{}{digits}",
            "0".repeat(power.unsigned_abs() as usize - 1)
        ),
    }
}

/// The fewest digits that name a float, as `d.ddde-d`. Of two texts that are as near, Rust has the larger one and Go the even one,
/// which is how Rust rounds.
fn scientific(value: f64) -> String {
    let text = format!("{value:e}");
    let (mantissa, _) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let rounded = format!("{value:.digits$e}");
    match rounded.parse::<f64>() {
        Ok(same) if value == same => rounded,
        _ => text,
    }
}

/// The most decimals that a float has. Behind them are only zeros, and Rust formats no more than 65,535.
const DECIMALS: usize = 1_100;

/// A float with as many decimals.
fn fixed(value: f64, decimals: usize) -> String {
    let some = decimals.min(DECIMALS);
    let mut text = format!("{value:.some$}");
    text.extend(std::iter::repeat_n('0', decimals - some));
    text
}

/// `d.ddde±dd`, with at least two digits of the exponent.
fn exponent(value: f64, precision: Option<usize>) -> String {
    let text = match precision {
        Some(precision) => {
            let some = precision.min(DECIMALS);
            let text = format!("{value:.some$e}");
            let zeros = "0".repeat(precision - some);
            text.replacen('e', &format!("{zeros}e"), 1)
        }
        None => scientific(value),
    };
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

/// An integer as `strconv.ParseInt` reads it with the base 0: the prefix tells the base, and underscores may stand between digits.
/// It is not bounded by any type.
pub fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    if digits.starts_with(['+', '-']) || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    if base == 10 && digits.starts_with('_') {
        return None;
    }
    let digits = digits.replace('_', "");
    Some(i128::from_str_radix(&digits, base).ok()? * sign)
}

/// A text in Go's quotes: `strconv.Quote`.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            c if c < ' ' || c == '\u{7f}' => quoted.push_str(&format!("\\x{:02x}", c as u32)),
            ' '..='~' => quoted.push(c),
            c if is_printed(c) => quoted.push(c),
            c if (c as u32) < 0x1_0000 => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_with_many_decimals() {
        for format in ['f', 'e', 'g'] {
            let text = float(1.5, format, Some(70_000));
            assert!(text.starts_with("1.5") && text.len() <= 70_006);
        }
        assert_eq!(float(1.5, 'e', Some(70_000)).len(), 70_006);
    }

    #[test]
    fn floats_of_v() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (1e6, "1e+06"),
            (123456.0, "123456"),
            (1234567.0, "1.234567e+06"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-3.25, "-3.25"),
            // As near to this as what ends in 3.
            (9_223_367_425_171.062, "9.223367425171062e+12"),
        ] {
            assert_eq!(plain(value), text);
        }
    }
}
