//! Dates and durations.

use std::rc::Rc;

use super::{
    durations, layout, layout_parse,
    numbers::decimal,
    strings::string,
    time::{Time, Zone},
};
use crate::{
    function::{Functions, Kind, Result},
    value::Value,
};

const TIME: Kind = Kind::Object("time.Time");

/// The longest layout, in bytes.
const LONGEST: usize = 1 << 20;

pub fn add(all: &mut Functions) {
    all.add("now", &[], |_, _| value(Time::now()));
    all.add("date", &[Kind::String, Kind::Any], |_, given| {
        format(&given[0], &given[1], "Local")
    });
    for name in ["dateInZone", "date_in_zone"] {
        all.add(
            name,
            &[Kind::String, Kind::Any, Kind::String],
            |_, given| format(&given[0], &given[1], string(&given[2])),
        );
    }
    all.add("htmlDate", &[Kind::Any], |_, given| {
        format(&"2006-01-02".into(), &given[0], "Local")
    });
    all.add("htmlDateInZone", &[Kind::Any, Kind::String], |_, given| {
        format(&"2006-01-02".into(), &given[0], string(&given[1]))
    });
    for name in ["dateModify", "date_modify"] {
        all.add(name, &[Kind::String, TIME], |_, given| {
            let by = durations::parse(string(&given[0])).unwrap_or_default();
            value(time(&given[1])?.plus(by))
        });
    }
    for name in ["mustDateModify", "must_date_modify"] {
        all.add(name, &[Kind::String, TIME], |_, given| {
            value(time(&given[1])?.plus(durations::parse(string(&given[0]))?))
        });
    }
    all.add("toDate", &[Kind::String; 2], |_, given| {
        value(parse(&given[0], &given[1]).unwrap_or_else(|_| Time::zero()))
    });
    all.add("mustToDate", &[Kind::String; 2], |_, given| {
        value(parse(&given[0], &given[1])?)
    });
    all.add("unixEpoch", &[TIME], |_, given| {
        Ok(time(&given[0])?.unix.to_string().into())
    });
    all.add("ago", &[Kind::Any], |_, given| {
        let since = Time::now().since(&any_time(&given[0]));
        // To the second, halves away from zero.
        let half = durations::SECOND / 2 * since.signum();
        let seconds = since.saturating_add(half) / durations::SECOND;
        Ok(durations::show(seconds.saturating_mul(durations::SECOND)).into())
    });
    all.add("duration", &[Kind::Any], |_, given| {
        let seconds = match &given[0] {
            Value::String(text) => decimal(text),
            Value::Int64(it) => *it,
            _ => 0,
        };
        Ok(durations::show(seconds.wrapping_mul(durations::SECOND)).into())
    });
    all.add("durationRound", &[Kind::Any], |_, given| {
        let nanoseconds = match &given[0] {
            Value::String(text) => durations::parse(text).unwrap_or_default(),
            Value::Int64(it) => *it,
            other => match other.as_object::<Time>() {
                Some(time) => Time::now().since(time),
                None => 0,
            },
        };
        Ok(durations::largest_unit(nanoseconds).into())
    });
}

fn value(time: Time) -> Result {
    Ok(Value::Object(Rc::new(time)))
}

fn time(value: &Value) -> std::result::Result<&Time, String> {
    value
        .as_object()
        .ok_or_else(|| "the argument is no time".to_owned())
}

fn parse(layout: &Value, text: &Value) -> std::result::Result<Time, String> {
    layout_parse::parse(string(layout), string(text), &Zone::local())
}

/// The time that a value is: of this moment for whatever is neither a time nor an integer.
fn any_time(value: &Value) -> Time {
    match value {
        Value::Int(it) | Value::Int64(it) => Time::of_unix(*it),
        other => other.as_object::<Time>().cloned().unwrap_or_else(Time::now),
    }
}

fn format(layout: &Value, date: &Value, zone: &str) -> Result {
    let layout = string(layout);
    if layout.len() > LONGEST {
        return Err(format!("a layout of more than {LONGEST} bytes"));
    }
    let time = any_time(date).in_zone(Zone::named(zone));
    Ok(layout::format(&time, layout).into())
}
