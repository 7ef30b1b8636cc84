//! Times from texts, by Go's layouts.

use super::{
    durations::quote,
    layout::{DAYS, MONTHS, Offset, Pad, Part, next},
    time::{Time, Zone, days_of, unix_of},
};

/// Why a part of a text cannot be read.
enum Fault {
    /// It is something else.
    Bad,
    /// A number is out of its range.
    Range(&'static str),
}

/// What is known of a time.
#[derive(Default)]
struct Known {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    yday: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    is_pm: bool,
    is_am: bool,
    is_utc: bool,
    offset: Option<i64>,
    zone: String,
}

/// Reads a time. What the layout lacks is zero; a text without a zone is in `local`.
///
/// # Errors
/// As Go's.
pub fn parse(layout: &str, text: &str, local: &Zone) -> Result<Time, String> {
    let mut known = Known::default();
    let (mut rest_of_layout, mut rest) = (layout, text);
    let cannot = |value: &str, element: &str| {
        let (text, layout) = (quote(text), quote(layout));
        format!(
            "parsing time {text} as {layout}: cannot parse {} as {}",
            quote(value),
            quote(element)
        )
    };
    loop {
        let found = next(rest_of_layout);
        let before = found.map_or(rest_of_layout, |(before, ..)| before);
        rest = skip(rest, before).map_err(|rest| cannot(rest, before))?;
        let Some((_, part, element, after)) = found else {
            break;
        };
        rest_of_layout = after;
        let held = rest;
        match known.read(part, &mut rest, after) {
            Ok(()) => {}
            Err(Fault::Bad) => return Err(cannot(held, element)),
            Err(Fault::Range(what)) => return Err(out_of_range(text, what)),
        }
    }
    if !rest.is_empty() {
        return Err(format!(
            "parsing time {}: extra text: {}",
            quote(text),
            quote(rest)
        ));
    }
    known
        .into_time(local)
        .map_err(|what| format!("parsing time {}: {what}", quote(text)))
}

fn out_of_range(text: &str, what: &str) -> String {
    format!("parsing time {}: {what} out of range", quote(text))
}

/// The text behind what the layout has literally; a space stands for any number of them.
fn skip<'a>(mut text: &'a str, mut literal: &str) -> Result<&'a str, &'a str> {
    while let Some(c) = literal.chars().next() {
        if c == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return Err(text);
            }
            literal = literal.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(c).ok_or(text)?;
        literal = &literal[c.len_utf8()..];
    }
    Ok(text)
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The first bytes of a text, which goes on behind them.
fn take<'a>(text: &mut &'a str, count: usize) -> Result<&'a str, Fault> {
    match (text.get(..count), text.get(count..)) {
        (Some(taken), Some(rest)) => {
            *text = rest;
            Ok(taken)
        }
        _ => Err(Fault::Bad),
    }
}

/// A number of one or two digits, or of exactly two.
fn number(text: &mut &str, is_fixed: bool) -> Result<i64, Fault> {
    let count = digits(text).min(2);
    if count == 0 || (is_fixed && count < 2) {
        return Err(Fault::Bad);
    }
    take(text, count)?.parse().map_err(|_| Fault::Bad)
}

fn in_range(value: i64, least: i64, most: i64, name: &'static str) -> Result<i64, Fault> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(Fault::Range(name)),
    }
}

/// The place of the name that a text starts with, in any case.
fn name(text: &mut &str, names: &[&str], length: Option<usize>) -> Result<i64, Fault> {
    for (at, name) in names.iter().enumerate() {
        let name = &name[..length.unwrap_or(name.len())];
        if text
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
        {
            take(text, name.len())?;
            return Ok(at as i64);
        }
    }
    Err(Fault::Bad)
}

/// Nanoseconds of a point with digits, of which nine count.
fn nanoseconds(text: &str) -> Result<i64, Fault> {
    if !text.starts_with(['.', ',']) {
        return Err(Fault::Bad);
    }
    let cut = &text.as_bytes()[1..text.len().min(10)];
    let all: String = cut.iter().copied().map(char::from).collect();
    let (sign, digits) = match all.strip_prefix(['-', '+']) {
        Some(digits) => (all.starts_with('-'), digits),
        None => (false, &*all),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Bad);
    }
    let value: i64 = if digits.is_empty() {
        0
    } else {
        digits.parse().map_err(|_| Fault::Bad)?
    };
    if sign && value > 0 {
        return Err(Fault::Range("fractional second"));
    }
    Ok(value * 10i64.pow(9 - cut.len().min(9) as u32))
}

impl Known {
    fn read(&mut self, part: Part, text: &mut &str, rest_of_layout: &str) -> Result<(), Fault> {
        match part {
            Part::Year => {
                let year = take(text, 2)?.parse::<i8>().map_err(|_| Fault::Bad)?;
                self.year = i64::from(year) + if year >= 69 { 1900 } else { 2000 };
            }
            Part::LongYear => {
                if digits(text) == 0 {
                    return Err(Fault::Bad);
                }
                self.year = take(text, 4)?.parse().map_err(|_| Fault::Bad)?;
            }
            Part::ShortMonth => self.month = Some(name(text, &MONTHS, Some(3))? + 1),
            Part::LongMonth => self.month = Some(name(text, &MONTHS, None)? + 1),
            Part::Month(pad) => {
                self.month = Some(in_range(number(text, pad == Pad::Zero)?, 1, 12, "month")?);
            }
            Part::ShortWeekday => _ = name(text, &DAYS, Some(3))?,
            Part::LongWeekday => _ = name(text, &DAYS, None)?,
            Part::Day(pad) => {
                if pad == Pad::Space {
                    *text = text.strip_prefix(' ').unwrap_or(text);
                }
                self.day = Some(number(text, pad == Pad::Zero)?);
            }
            Part::YearDay(pad) => {
                for _ in 0..2 {
                    if pad == Pad::Space {
                        *text = text.strip_prefix(' ').unwrap_or(text);
                    }
                }
                let count = digits(text).min(3);
                if count == 0 || (pad == Pad::Zero && count < 3) {
                    return Err(Fault::Bad);
                }
                self.yday = take(text, count)?.parse().ok();
            }
            Part::Hour => self.hour = in_range(number(text, false)?, 0, 23, "hour")?,
            Part::Hour12(pad) => {
                self.hour = in_range(number(text, pad == Pad::Zero)?, 0, 12, "hour")?;
            }
            Part::Minute(pad) => {
                self.minute = in_range(number(text, pad == Pad::Zero)?, 0, 59, "minute")?;
            }
            Part::Second(pad) => {
                self.second = in_range(number(text, pad == Pad::Zero)?, 0, 59, "second")?;
                let is_next = matches!(next(rest_of_layout), Some((_, Part::Fraction { .. }, ..)));
                let count = text.get(1..).map_or(0, digits);
                if text.starts_with(['.', ',']) && count > 0 && !is_next {
                    self.nanos = nanoseconds(take(text, 1 + count)?)?;
                }
            }
            Part::Half { is_upper } => match (take(text, 2)?, is_upper) {
                ("PM", true) | ("pm", false) => self.is_pm = true,
                ("AM", true) | ("am", false) => self.is_am = true,
                _ => return Err(Fault::Bad),
            },
            Part::Offset(form) => self.read_offset(form, text)?,
            Part::Zone => match text.strip_prefix("UTC") {
                Some(rest) => {
                    self.is_utc = true;
                    *text = rest;
                }
                None => {
                    let length = zone_length(text).ok_or(Fault::Bad)?;
                    self.zone = take(text, length)?.to_owned();
                }
            },
            Part::Fraction {
                digits,
                trims: false,
                ..
            } => {
                self.nanos = nanoseconds(take(text, 1 + digits)?)?;
            }
            Part::Fraction { .. } => {
                let count = text.get(1..).map_or(0, digits);
                if text.starts_with(['.', ',']) && count > 0 {
                    self.nanos = nanoseconds(take(text, 1 + count)?)?;
                }
            }
        }
        Ok(())
    }

    fn read_offset(&mut self, form: Offset, text: &mut &str) -> Result<(), Fault> {
        if let Some(rest) = text.strip_prefix('Z').filter(|_| form.z) {
            self.is_utc = true;
            *text = rest;
            return Ok(());
        }
        let length = match (form.minutes, form.seconds, form.colon) {
            (false, ..) => 3,
            (_, false, false) => 5,
            (_, false, true) => 6,
            (_, true, false) => 7,
            (_, true, true) => 9,
        };
        let mut shown = take(text, length)?;
        let sign = take(&mut shown, 1)?;
        let parts = match form.colon {
            true => shown.split(':').map(str::to_owned).collect(),
            false => shown
                .as_bytes()
                .chunks(2)
                .map(|it| String::from_utf8_lossy(it).into_owned())
                .collect::<Vec<_>>(),
        };
        if parts.iter().any(|part| part.len() != 2) {
            return Err(Fault::Bad);
        }
        // A number out of its range is the error even where what follows is no number.
        let mut values = [0; 3];
        let mut is_bad = false;
        for (part, value) in parts.iter().zip(&mut values) {
            match number(&mut &**part, true) {
                Ok(it) if !is_bad => *value = it,
                _ => is_bad = true,
            }
        }
        let [hours, minutes, seconds] = values;
        in_range(seconds, 0, 60, "time zone offset second")?;
        in_range(minutes, 0, 60, "time zone offset minute")?;
        in_range(hours, 0, 24, "time zone offset hour")?;
        if is_bad {
            return Err(Fault::Bad);
        }
        let offset = (hours * 60 + minutes) * 60 + seconds;
        self.offset = Some(match sign {
            "+" => offset,
            "-" => -offset,
            _ => return Err(Fault::Bad),
        });
        Ok(())
    }

    fn into_time(mut self, local: &Zone) -> Result<Time, String> {
        if self.is_pm && self.hour < 12 {
            self.hour += 12;
        } else if self.is_am && self.hour == 12 {
            self.hour = 0;
        }
        let (month, day) = self.month_and_day()?;
        let of_day = self.hour * 3_600 + self.minute * 60 + self.second;
        let seconds = days_of(self.year, month, day) * 86_400 + of_day;
        let time = |unix: i64, zone: Zone| Time {
            unix,
            nanos: u32::try_from(self.nanos).unwrap_or_default(),
            zone,
        };
        if self.is_utc {
            return Ok(time(seconds, Zone::Utc));
        }
        // Go has -1 for an offset that the text does not have.
        if let Some(offset) = self.offset.filter(|it| *it != -1) {
            let unix = seconds - offset;
            let (here, name) = local.at(unix);
            let is_local = here == offset && (self.zone.is_empty() || name == self.zone);
            return Ok(match is_local {
                true => time(unix, local.clone()),
                false => time(unix, Zone::Fixed(offset as i32, self.zone.clone())),
            });
        }
        if !self.zone.is_empty() {
            // The zone has its name in summer or in winter, or had it once: the first time is what counts then.
            const HALF_YEAR: i64 = 182 * 86_400;
            let near = [0, HALF_YEAR, -HALF_YEAR].map(|by| seconds + by);
            let ever = std::iter::once(i64::MIN / 2).chain((-240..140).map(|at| at * HALF_YEAR));
            for at in near.into_iter().chain(ever) {
                let (offset, name) = local.at(at);
                if name == self.zone {
                    return Ok(time(seconds - offset, local.clone()));
                }
            }
            // Nobody knows the offset of another zone: Go takes the time as that of UTC.
            let hours = self
                .zone
                .strip_prefix("GMT")
                .and_then(|hours| hours.parse::<i32>().ok());
            let offset = hours.unwrap_or_default() * 3_600;
            return Ok(time(seconds, Zone::Fixed(offset, self.zone.clone())));
        }
        Ok(time(unix_of(seconds, local), local.clone()))
    }

    fn month_and_day(&self) -> Result<(i64, i64), String> {
        let is_leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let lengths = [
            31,
            28 + i64::from(is_leap),
            31,
            30,
            31,
            30,
            31,
            31,
            30,
            31,
            30,
            31,
        ];
        let Some(yday) = self.yday else {
            let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
            let length = lengths[(month - 1).clamp(0, 11) as usize];
            return match (1..=length).contains(&day) {
                true => Ok((month, day)),
                false => Err("day out of range".to_owned()),
            };
        };
        let (mut month, mut day) = (1, yday);
        if yday < 1 || yday > lengths.iter().sum() {
            return Err("day-of-year out of range".to_owned());
        }
        for length in lengths {
            if day > length {
                day -= length;
                month += 1;
            } else {
                break;
            }
        }
        if self.month.is_some_and(|it| it != month) {
            return Err("day-of-year does not match month".to_owned());
        }
        if self.day.is_some_and(|it| it != day) {
            return Err("day-of-year does not match day".to_owned());
        }
        Ok((month, day))
    }
}

/// How long the name of a zone is that a text starts with.
fn zone_length(text: &str) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with("ChST") || text.starts_with("MeST") {
        return Some(4);
    }
    if let Some(rest) = text.strip_prefix("GMT") {
        return Some(3 + signed_hours(rest));
    }
    if text.starts_with(['+', '-']) {
        return Some(signed_hours(text)).filter(|length| *length > 0);
    }
    let letters = text
        .bytes()
        .take(6)
        .take_while(u8::is_ascii_uppercase)
        .count();
    match letters {
        3 => Some(3),
        4 if text.as_bytes()[3] == b'T' || text.starts_with("WITA") => Some(4),
        5 if text.as_bytes()[4] == b'T' => Some(5),
        _ => None,
    }
}

/// The length of `+3` or `-11`; 0 if it is none.
fn signed_hours(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['+', '-']) else {
        return 0;
    };
    let count = digits(rest);
    match rest[..count].parse::<u64>() {
        Ok(hours) if hours <= 23 => 1 + count,
        _ => 0,
    }
}
