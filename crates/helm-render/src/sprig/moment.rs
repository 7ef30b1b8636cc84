//! What templates see of a time.

use std::{any::Any, rc::Rc};

use super::{
    durations,
    layout::{self, DAYS, MONTHS},
    time::{Time, Zone},
};
use crate::value::{Object, Value};

impl Object for Time {
    fn json(&self) -> Option<serde_json::Value> {
        let text = layout::format(self, "2006-01-02T15:04:05.999999999Z07:00");
        Some(text.into())
    }

    fn type_name(&self) -> &'static str {
        "time.Time"
    }

    fn kind(&self) -> &'static str {
        "struct"
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let time = |time: Self| Ok(Value::Object(Rc::new(time)));
        let number = |it: i64| Ok(Value::Int(it));
        let civil = self.civil();
        let wanted = match name {
            "Format" | "Add" | "Sub" | "Before" | "After" | "Equal" | "Compare" => 1,
            "AddDate" => 3,
            _ => 0,
        };
        let nanoseconds =
            i128::from(self.unix) * i128::from(durations::SECOND) + i128::from(self.nanos);
        let result = match (name, arguments) {
            ("Year", []) => number(civil.year),
            ("Month", []) => Ok(Value::Object(Rc::new(Named {
                type_name: "time.Month",
                number: civil.month,
                name: MONTHS[(civil.month - 1).clamp(0, 11) as usize],
            }))),
            ("Weekday", []) => Ok(Value::Object(Rc::new(Named {
                type_name: "time.Weekday",
                number: civil.weekday,
                name: DAYS[civil.weekday.clamp(0, 6) as usize],
            }))),
            ("Day", []) => number(civil.day),
            ("YearDay", []) => number(civil.yday),
            ("Hour", []) => number(civil.hour),
            ("Minute", []) => number(civil.minute),
            ("Second", []) => number(civil.second),
            ("Nanosecond", []) => number(i64::from(self.nanos)),
            ("Unix", []) => Ok(Value::Int64(self.unix)),
            ("UnixMilli", []) => Ok(Value::Int64(nanoseconds.div_euclid(1_000_000) as i64)),
            ("UnixMicro", []) => Ok(Value::Int64(nanoseconds.div_euclid(1_000) as i64)),
            ("UnixNano", []) => Ok(Value::Int64(nanoseconds as i64)),
            ("UTC", []) => time(self.in_zone(Zone::Utc)),
            ("Local", []) => time(self.in_zone(Zone::local())),
            ("String", []) => Ok(self.text().into()),
            ("IsZero", []) => Ok((self.instant() == Self::zero().instant()).into()),
            ("Format", [Value::String(format)]) => Ok(layout::format(self, format).into()),
            ("Add", [Value::Int(it) | Value::Int64(it)]) => time(self.plus(*it)),
            ("AddDate", [Value::Int(years), Value::Int(months), Value::Int(days)]) => {
                match self.with_months(*years, *months, *days) {
                    Some(later) => time(later),
                    None => Err("the date is out of range".to_owned()),
                }
            }
            ("Before" | "After" | "Equal" | "Compare", [other])
                if other.as_object::<Self>().is_some() =>
            {
                let order = self.instant().cmp(&other.as_object::<Self>()?.instant());
                match name {
                    "Before" => Ok(order.is_lt().into()),
                    "After" => Ok(order.is_gt().into()),
                    "Equal" => Ok(order.is_eq().into()),
                    _ => number(order as i64),
                }
            }
            ("Format" | "Add" | "AddDate" | "Before" | "After" | "Equal" | "Compare", given)
                if given.len() == wanted =>
            {
                let types: Vec<_> = given.iter().map(Value::type_name).collect();
                Err(format!("wrong type for value; got {}", types.join(", ")))
            }
            (
                "Sub" | "Round" | "Truncate" | "In" | "Date" | "Clock" | "Zone" | "ISOWeek"
                | "Location",
                _,
            ) => Err(format!("the method {name} of time.Time is not supported")),
            _ => return None,
        };
        Some(result)
    }

    fn text(&self) -> String {
        layout::format(self, "2006-01-02 15:04:05.999999999 -0700 MST")
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// A month or a day of the week: a number with a name.
struct Named {
    type_name: &'static str,
    number: i64,
    name: &'static str,
}

impl Object for Named {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn kind(&self) -> &'static str {
        "int"
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        (name == "String" && arguments.is_empty()).then(|| Ok(self.name.into()))
    }

    fn text(&self) -> String {
        self.name.to_owned()
    }

    fn is_true(&self) -> bool {
        self.number != 0
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(&self.number)
    }
}
