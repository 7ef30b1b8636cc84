//! Random rules for the value of a schema.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    Kind::{
        self, Bool, Bytes, Double, Duration, Dyn, Int, List, Named, Optional, Text, Time, Uint,
    },
    kind, pick,
};

/// A rule whose variable `self` has a type.
pub(super) fn rule(rng: &mut Rng, self_: &Kind) -> Value {
    let is_optional = rng.u8(..6) == 0;
    let old = match is_optional {
        true => Optional(Box::new(self_.clone())),
        false => self_.clone(),
    };
    let variables = vec![
        ("self".to_owned(), self_.clone()),
        ("oldSelf".to_owned(), old),
    ];
    let mut writer = Writer { rng, variables };
    let depth = writer.rng.u32(1..6);
    let text = writer.value(&Bool, depth);
    let mut rule = json!({ "rule": disturbed(writer.rng, text) });
    if writer.rng.u8(..4) == 0 {
        let text = writer.value(&Text, 2);
        rule["messageExpression"] = json!(disturbed(writer.rng, text));
    }
    if is_optional {
        rule["optionalOldSelf"] = json!(true);
    }
    rule
}

/// Changes a rule in one of six cases.
fn disturbed(rng: &mut Rng, text: String) -> String {
    const PARTS: [&str; 30] = [
        "self",
        "oldSelf",
        ".a",
        ".b",
        "!",
        "-",
        "--1",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".?",
        "null",
        "1",
        "1u",
        "1.5",
        "'a'",
        "b'a'",
        " in ",
        " + ",
        " == ",
        " && ",
        ".namespace",
        "string",
        "type(",
        "has(",
        "\\",
        "r'\\d'",
        ".`x-y`",
    ];
    let words: Vec<_> = text
        .split_inclusive(|c: char| !c.is_alphanumeric())
        .collect();
    if words.len() < 2 || rng.u8(..6) > 0 {
        return text;
    }
    let at = rng.usize(..words.len());
    let (before, after) = (words[..at].concat(), words[at + 1..].concat());
    match rng.u8(..3) {
        0 => format!("{before} {after}"),
        1 => format!("{before}{}{after}", pick(rng, &PARTS)),
        _ => format!("{before}{}{}{after}", words[at], pick(rng, &PARTS)),
    }
}

pub(super) struct Writer<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) variables: Vec<(String, Kind)>,
}

/// A value and its type.
type Typed = (String, Kind);

impl Writer<'_> {
    pub(super) fn pick(&mut self, choices: &[&str]) -> String {
        pick(self.rng, choices).to_owned()
    }

    /// Something of a type.
    pub(super) fn value(&mut self, kind: &Kind, depth: u32) -> String {
        if depth == 0 || self.rng.u8(..4) == 0 {
            return match self.rng.u8(..4) {
                0 => self.literal(kind),
                _ => self.found(kind),
            };
        }
        let depth = depth - 1;
        match self.rng.u8(..12) {
            0 => {
                let [condition, then, otherwise] =
                    [&Bool, kind, kind].map(|kind| self.value(kind, depth));
                format!("({condition} ? {then} : {otherwise})")
            }
            1 => {
                let [list, index] =
                    [&List(Box::new(kind.clone())), &Int].map(|kind| self.value(kind, depth));
                format!("{list}[{index}]")
            }
            2 => {
                let [optional, otherwise] =
                    [&Optional(Box::new(kind.clone())), kind].map(|kind| self.value(kind, depth));
                format!("{optional}.orValue({otherwise})")
            }
            3 if self.rng.u8(..4) == 0 => format!("dyn({})", self.value(kind, depth)),
            _ => self.made(kind, depth),
        }
    }

    /// A value of a type that is reached from a variable.
    pub(super) fn found(&mut self, kind: &Kind) -> String {
        for _ in 0..8 {
            let (text, found) = self.walk(|found| found == kind);
            if found == *kind || (found == Dyn && self.rng.u8(..3) == 0) {
                return text;
            }
        }
        self.literal(kind)
    }

    pub(super) fn walk(&mut self, is_end: impl Fn(&Kind) -> bool) -> Typed {
        let (mut text, mut kind) = pick(self.rng, &self.variables);
        for _ in 0..5 {
            if is_end(&kind) && self.rng.u8(..8) > 0 {
                break;
            }
            match self.step(&text, &kind) {
                Some(next) => (text, kind) = next,
                None => break,
            }
        }
        (text, kind)
    }

    pub(super) fn step(&mut self, text: &str, from: &Kind) -> Option<Typed> {
        Some(match from {
            Kind::Object(schema) => {
                let fields: Vec<_> = schema["properties"].as_object()?.iter().collect();
                let (name, field) = pick(self.rng, &fields);
                let (name, found) = (escape(name), kind(field));
                match self.rng.u8(..10) {
                    0 => (format!("{text}.?{name}"), Optional(Box::new(found))),
                    1 => (format!("{text}.?{name}.value()"), found),
                    _ => (format!("{text}.{name}"), found),
                }
            }
            List(of) => match self.rng.u8(..6) {
                0 => (format!("{text}[?0]"), Optional(of.clone())),
                1 => (
                    format!("{text}.{}()", self.pick(&["first", "last"])),
                    Optional(of.clone()),
                ),
                _ => (format!("{text}[0]"), (**of).clone()),
            },
            Kind::Map(of) => match self.rng.u8(..6) {
                0 => (format!("{text}[?'a']"), Optional(of.clone())),
                1 => (format!("{text}.a"), (**of).clone()),
                _ => (format!("{text}['a']"), (**of).clone()),
            },
            Optional(of) => match self.rng.u8(..3) {
                0 => (format!("{text}.value()"), (**of).clone()),
                _ => {
                    return self
                        .step(text, of)
                        .map(|(text, kind)| (text, Optional(Box::new(kind))));
                }
            },
            _ => return None,
        })
    }

    fn literal(&mut self, kind: &Kind) -> String {
        match kind {
            Bool => self.pick(&["true", "false"]),
            Int => self.pick(&["0", "1", "-1", "0x1f", "300", "int('7')"]),
            Uint => self.pick(&["0u", "1U", "0xfu"]),
            Double => self.pick(&["0.5", "-1.0", "1e3", ".5", "double('1.5')"]),
            Text => self.pick(&[
                "''",
                "'a'",
                "\"a'b\"",
                "r'\\d'",
                "'''a\nb'''",
                "'\\u00e9é'",
                "'%s is %d'",
                "string(1)",
            ]),
            Bytes => self.pick(&["b''", "b'\\xffa'", "br'\\d'", "bytes('é')"]),
            Duration => self.pick(&["duration('1h')", "duration('1.5s')", "duration('0')"]),
            Time => self.pick(&["timestamp('2020-01-02T03:04:05Z')", "timestamp(0)"]),
            Dyn => self.pick(&["dyn(1)", "dyn('a')"]),
            Named("quantity") => self.pick(&["quantity('1Gi')", "quantity('2')"]),
            Named("ip") => self.pick(&["ip('10.0.0.1')", "ip('::1')"]),
            Named("cidr") => "cidr('10.0.0.0/8')".to_owned(),
            Named("url") => "url('https://a.example')".to_owned(),
            Named("semver") => "semver('1.2.3')".to_owned(),
            Named(_) => self.pick(&["format.dns1123Label()", "format.named('uuid').value()"]),
            List(of) => match self.rng.u8(..3) {
                0 => "[]".to_owned(),
                _ => format!("[{}]", self.literal(of)),
            },
            Kind::Map(of) => match self.rng.u8(..3) {
                0 => "{}".to_owned(),
                _ => format!("{{'a': {}}}", self.literal(of)),
            },
            Optional(of) => match self.rng.u8(..3) {
                0 => "optional.none()".to_owned(),
                1 => format!("optional.ofNonZeroValue({})", self.literal(of)),
                _ => format!("optional.of({})", self.literal(of)),
            },
            Kind::Object(_) => self.pick(&["self", "null", "oldSelf"]),
        }
    }
}

/// The name that a rule writes for a field.
fn escape(name: &str) -> String {
    let name = name.replace("__", "__underscores__");
    let name = name
        .replace('-', "__dash__")
        .replace('.', "__dot__")
        .replace('/', "__slash__");
    if name == "in" {
        "__in__".to_owned()
    } else {
        name
    }
}
