//! Versions, as the Go package `Masterminds/semver` reads and compares them.

use std::{any::Any, cmp::Ordering, rc::Rc};

use crate::{
    go::number::quote,
    value::{Object, Value},
};

/// The longest text that may be a version, in bytes.
const LONGEST: usize = 256;

/// A version.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pub prerelease: String,
    metadata: String,
    original: String,
    /// Whether Go has it as a pointer: only then it has all methods.
    is_pointer: bool,
}

const INVALID: &str = "invalid semantic version";

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn check_prerelease(text: &str) -> Result<(), String> {
    for part in text.split('.') {
        if !is_word(part) {
            return Err("invalid prerelease string".to_owned());
        }
        if is_number(part) && part.len() > 1 && part.starts_with('0') {
            return Err("version segment starts with 0".to_owned());
        }
    }
    Ok(())
}

fn check_metadata(text: &str) -> Result<(), String> {
    match text.split('.').all(is_word) {
        true => Ok(()),
        false => Err("invalid metadata string".to_owned()),
    }
}

impl Version {
    /// Reads a version, which may lack its minor and patch numbers and may start with `v`.
    ///
    /// # Errors
    /// As Go's.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("version string is too long (max {LONGEST} bytes)"));
        }
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = match rest.split_once('+') {
            Some((rest, metadata)) => (rest, Some(metadata)),
            None => (rest, None),
        };
        let (numbers, prerelease) = match rest.split_once('-') {
            Some((numbers, prerelease)) => (numbers, Some(prerelease)),
            None => (rest, None),
        };
        let numbers: Vec<&str> = numbers.split('.').collect();
        let words_of = |part: Option<&str>| part.is_none_or(|part| part.split('.').all(is_word));
        let is_version = numbers.len() <= 3 && numbers.iter().all(|it| is_number(it));
        if !is_version || !words_of(prerelease) || !words_of(metadata) {
            return Err(INVALID.to_owned());
        }
        let number = |at: usize| {
            match numbers.get(at) {
            None => Ok(0),
            Some(text) => text.parse().map_err(|_| {
                let text = quote(text);
                format!("error parsing version segment: strconv.ParseUint: parsing {text}: value out of range")
            }),
        }
        };
        let version = Self {
            major: number(0)?,
            minor: number(1)?,
            patch: number(2)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
            is_pointer: true,
        };
        prerelease.map_or(Ok(()), check_prerelease)?;
        Ok(version)
    }

    /// The version that a deep copy is: Go copies no private fields.
    pub fn empty(is_pointer: bool) -> Self {
        Self {
            major: 0,
            minor: 0,
            patch: 0,
            prerelease: String::new(),
            metadata: String::new(),
            original: String::new(),
            is_pointer,
        }
    }

    /// Whether Go has it as a pointer.
    pub fn is_pointer(&self) -> bool {
        self.is_pointer
    }

    /// The order of two versions. Metadata do not count.
    pub fn order(&self, other: &Self) -> Ordering {
        let numbers = |it: &Self| (it.major, it.minor, it.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => order_of_prereleases(&self.prerelease, &other.prerelease),
            }
        })
    }

    fn shown(&self) -> String {
        let mut shown = format!("{}.{}.{}", self.major, self.minor, self.patch);
        for (sign, part) in [('-', &self.prerelease), ('+', &self.metadata)] {
            if !part.is_empty() {
                shown.push(sign);
                shown.push_str(part);
            }
        }
        shown
    }

    /// A version made of this one, as the methods of Go return it.
    fn changed(&self, change: impl FnOnce(&mut Self)) -> Value {
        let mut next = self.clone();
        change(&mut next);
        let prefix = if self.original.starts_with('v') {
            "v"
        } else {
            ""
        };
        next.original = format!("{prefix}{}", next.shown());
        next.is_pointer = false;
        Value::Object(Rc::new(next))
    }

    fn increased(&self, part: usize) -> Result<Value, String> {
        let name = ["patch", "minor", "major"][part];
        let now = [self.patch, self.minor, self.major][part];
        let is_only_release = part == 0 && !self.prerelease.is_empty();
        let next = match now.checked_add(u64::from(!is_only_release)) {
            Some(next) => next,
            None => return Err(format!("{name} version increment would overflow uint64")),
        };
        Ok(self.changed(|it| {
            it.prerelease.clear();
            it.metadata.clear();
            match part {
                0 => it.patch = next,
                1 => (it.minor, it.patch) = (next, 0),
                _ => (it.major, it.minor, it.patch) = (next, 0, 0),
            }
        }))
    }
}

fn order_of_prereleases(one: &str, other: &str) -> Ordering {
    let mut ones = one.split('.');
    let mut others = other.split('.');
    loop {
        let order = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(other)) => match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(other),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The order that two prereleases have in constraints, also where one is none.
pub fn prereleases_differ(one: &str, other: &str) -> bool {
    order_of_prereleases(one, other) != Ordering::Equal
}

impl Object for Version {
    fn json(&self) -> Option<serde_json::Value> {
        Some(self.text().into())
    }

    fn type_name(&self) -> &'static str {
        if self.is_pointer {
            "*semver.Version"
        } else {
            "semver.Version"
        }
    }

    fn kind(&self) -> &'static str {
        if self.is_pointer { "ptr" } else { "struct" }
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let wanted = match name {
            "Major" | "Minor" | "Patch" | "Prerelease" | "Metadata" | "String" => 0,
            "IncMajor" | "IncMinor" | "IncPatch" => 0,
            "SetPrerelease" | "SetMetadata" => 1,
            "Original" if self.is_pointer => 0,
            "Compare" | "Equal" | "LessThan" | "LessThanEqual" | "GreaterThan"
            | "GreaterThanEqual"
                if self.is_pointer =>
            {
                1
            }
            _ => return None,
        };
        let given = arguments.len();
        if given != wanted {
            return Some(Err(format!(
                "wrong number of args for {name}: want {wanted} got {given}"
            )));
        }
        let text = |given: &Value| match given {
            Value::String(text) => Ok(text.to_string()),
            other => Err(format!(
                "wrong type for value; expected string; got {}",
                other.type_name()
            )),
        };
        let order = || match arguments[0].as_object::<Self>() {
            Some(other) if other.is_pointer => Ok(self.order(other)),
            _ => Err(format!(
                "wrong type for value; expected *semver.Version; got {}",
                arguments[0].type_name()
            )),
        };
        let compared = |is: fn(Ordering) -> bool| Ok(is(order()?).into());
        Some(match name {
            "Major" => Ok(Value::Uint64(self.major)),
            "Minor" => Ok(Value::Uint64(self.minor)),
            "Patch" => Ok(Value::Uint64(self.patch)),
            "Prerelease" => Ok(self.prerelease.as_str().into()),
            "Metadata" => Ok(self.metadata.as_str().into()),
            "Original" => Ok(self.original.as_str().into()),
            "String" => Ok(self.shown().into()),
            "IncPatch" => self.increased(0),
            "IncMinor" => self.increased(1),
            "IncMajor" => self.increased(2),
            "SetPrerelease" => text(&arguments[0]).and_then(|text| {
                if !text.is_empty() {
                    check_prerelease(&text)?;
                }
                Ok(self.changed(|it| it.prerelease = text))
            }),
            "SetMetadata" => text(&arguments[0]).and_then(|text| {
                if !text.is_empty() {
                    check_metadata(&text)?;
                }
                Ok(self.changed(|it| it.metadata = text))
            }),
            "Compare" => order().map(|order| Value::Int(order as i64)),
            "Equal" => compared(Ordering::is_eq),
            "LessThan" => compared(Ordering::is_lt),
            "LessThanEqual" => compared(Ordering::is_le),
            "GreaterThan" => compared(Ordering::is_gt),
            _ => compared(Ordering::is_ge),
        })
    }

    fn text(&self) -> String {
        self.shown()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
