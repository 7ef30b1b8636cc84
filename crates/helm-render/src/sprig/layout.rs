//! Go's layouts of times: the parts of a reference time that stand for parts of any other.

use super::time::Time;

pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// How a number of the date or the time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    None,
    Zero,
    Space,
}

/// An offset from UTC, such as `Z07:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// Whether UTC is `Z`.
    pub z: bool,
    pub colon: bool,
    pub minutes: bool,
    pub seconds: bool,
}

/// A part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    LongYear,
    Year,
    LongMonth,
    ShortMonth,
    Month(Pad),
    LongWeekday,
    ShortWeekday,
    Day(Pad),
    YearDay(Pad),
    Hour,
    Hour12(Pad),
    Minute(Pad),
    Second(Pad),
    /// `PM`, or `pm`.
    Half {
        is_upper: bool,
    },
    Zone,
    Offset(Offset),
    /// Digits of the second behind a sign.
    Fraction {
        sign: char,
        digits: usize,
        trims: bool,
    },
}

const OFFSETS: [(&str, Offset); 10] = {
    const fn offset(z: bool, colon: bool, minutes: bool, seconds: bool) -> Offset {
        Offset {
            z,
            colon,
            minutes,
            seconds,
        }
    }
    [
        ("-070000", offset(false, false, true, true)),
        ("-07:00:00", offset(false, true, true, true)),
        ("-0700", offset(false, false, true, false)),
        ("-07:00", offset(false, true, true, false)),
        ("-07", offset(false, false, false, false)),
        ("Z070000", offset(true, false, true, true)),
        ("Z07:00:00", offset(true, true, true, true)),
        ("Z0700", offset(true, false, true, false)),
        ("Z07:00", offset(true, true, true, false)),
        ("Z07", offset(true, false, false, false)),
    ]
};

/// The names that stand for a part, the longer ones before those that they start with.
const NAMES: [(&str, Part); 23] = [
    ("January", Part::LongMonth),
    ("Monday", Part::LongWeekday),
    ("MST", Part::Zone),
    ("2006", Part::LongYear),
    ("002", Part::YearDay(Pad::Zero)),
    ("__2", Part::YearDay(Pad::Space)),
    ("01", Part::Month(Pad::Zero)),
    ("02", Part::Day(Pad::Zero)),
    ("03", Part::Hour12(Pad::Zero)),
    ("04", Part::Minute(Pad::Zero)),
    ("05", Part::Second(Pad::Zero)),
    ("06", Part::Year),
    ("15", Part::Hour),
    ("_2", Part::Day(Pad::Space)),
    ("PM", Part::Half { is_upper: true }),
    ("pm", Part::Half { is_upper: false }),
    ("1", Part::Month(Pad::None)),
    ("2", Part::Day(Pad::None)),
    ("3", Part::Hour12(Pad::None)),
    ("4", Part::Minute(Pad::None)),
    ("5", Part::Second(Pad::None)),
    // Neither may a small letter follow.
    ("Jan", Part::ShortMonth),
    ("Mon", Part::ShortWeekday),
];

fn starts(rest: &str) -> Option<(Part, usize)> {
    if let Some((name, offset)) = OFFSETS.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((Part::Offset(*offset), name.len()));
    }
    for (name, part) in NAMES {
        let Some(after) = rest.strip_prefix(name) else {
            continue;
        };
        let is_short = matches!(part, Part::ShortMonth | Part::ShortWeekday);
        if is_short && after.starts_with(|c: char| c.is_ascii_lowercase()) {
            continue;
        }
        return Some((part, name.len()));
    }
    let sign = rest.chars().next().filter(|c| matches!(c, '.' | ','))?;
    let digit = rest[1..]
        .chars()
        .next()
        .filter(|c| matches!(c, '0' | '9'))?;
    let digits = rest[1..].chars().take_while(|c| *c == digit).count();
    if rest[1 + digits..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let part = Part::Fraction {
        sign,
        digits,
        trims: digit == '9',
    };
    Some((part, 1 + digits))
}

/// The text before the first part of a layout, the part with its text, and the rest.
pub fn next(layout: &str) -> Option<(&str, Part, &str, &str)> {
    for (at, c) in layout.char_indices() {
        let rest = &layout[at..];
        // An underscore in front of the year is none of its padding.
        if c == '_' && rest.starts_with("_2006") {
            return Some((
                &layout[..at + 1],
                Part::LongYear,
                &layout[at + 1..at + 5],
                &layout[at + 5..],
            ));
        }
        if let Some((part, length)) = starts(rest) {
            return Some((&layout[..at], part, &rest[..length], &rest[length..]));
        }
    }
    None
}

fn number(it: i64, width: usize, pad: Pad) -> String {
    match pad {
        Pad::None => it.to_string(),
        Pad::Space => format!("{it:>width$}"),
        // The sign does not count.
        Pad::Zero if it < 0 => format!("-{:0width$}", it.unsigned_abs()),
        Pad::Zero => format!("{it:0width$}"),
    }
}

/// A time in a layout.
pub fn format(time: &Time, layout: &str) -> String {
    let civil = time.civil();
    let (offset, zone) = time.zone.at(time.unix);
    let mut out = String::with_capacity(layout.len() + 10);
    let mut rest = layout;
    while let Some((before, part, _, after)) = next(rest) {
        out += before;
        rest = after;
        let hour12 = if civil.hour % 12 == 0 {
            12
        } else {
            civil.hour % 12
        };
        let month = MONTHS[(civil.month - 1).clamp(0, 11) as usize];
        let weekday = DAYS[civil.weekday.clamp(0, 6) as usize];
        match part {
            Part::LongYear => out += &number(civil.year, 4, Pad::Zero),
            Part::Year => out += &number(civil.year.abs() % 100, 2, Pad::Zero),
            Part::LongMonth => out += month,
            Part::ShortMonth => out += &month[..3],
            Part::Month(pad) => out += &number(civil.month, 2, pad),
            Part::LongWeekday => out += weekday,
            Part::ShortWeekday => out += &weekday[..3],
            Part::Day(pad) => out += &number(civil.day, 2, pad),
            Part::YearDay(pad) => out += &number(civil.yday, 3, pad),
            Part::Hour => out += &number(civil.hour, 2, Pad::Zero),
            Part::Hour12(pad) => out += &number(hour12, 2, pad),
            Part::Minute(pad) => out += &number(civil.minute, 2, pad),
            Part::Second(pad) => out += &number(civil.second, 2, pad),
            Part::Half { is_upper } => {
                out += match (civil.hour >= 12, is_upper) {
                    (true, true) => "PM",
                    (true, false) => "pm",
                    (false, true) => "AM",
                    (false, false) => "am",
                }
            }
            Part::Zone if !zone.is_empty() => out += &zone,
            Part::Zone => out += &shown_offset(offset, OFFSETS[2].1),
            Part::Offset(form) => out += &shown_offset(offset, form),
            Part::Fraction {
                sign,
                digits,
                trims,
            } => {
                let all = format!("{:09}", time.nanos);
                let cut = &all[..digits.min(9)];
                let cut = if trims {
                    cut.trim_end_matches('0')
                } else {
                    cut
                };
                if !(trims && cut.is_empty()) {
                    out.push(sign);
                    out += cut;
                }
            }
        }
    }
    out + rest
}

fn shown_offset(offset: i64, form: Offset) -> String {
    if form.z && offset == 0 {
        return "Z".to_owned();
    }
    let minutes = offset / 60;
    // Less than a minute west has no sign.
    let (sign, seconds) = if minutes < 0 {
        ('-', -offset)
    } else {
        ('+', offset)
    };
    let minutes = minutes.abs();
    let colon = if form.colon { ":" } else { "" };
    let mut shown = format!("{sign}{:02}", minutes / 60);
    if form.minutes {
        shown += &format!("{colon}{:02}", minutes % 60);
    }
    if form.seconds {
        shown += &format!("{colon}{}", number(seconds % 60, 2, Pad::Zero));
    }
    shown
}
