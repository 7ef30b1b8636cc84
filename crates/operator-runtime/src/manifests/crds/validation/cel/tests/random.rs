//! Random schemas with random rules, about two of three of which compile.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// A type of a value in a rule.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Duration,
    Time,
    Dyn,
    Named(&'static str),
    List(Box<Kind>),
    Map(Box<Kind>),
    Optional(Box<Kind>),
    Object(Value),
}

use Kind::{Bool, Bytes, Double, Duration, Dyn, Int, List, Named, Optional, Text, Time, Uint};

const QUANTITY: Kind = Named("quantity");

/// Schemas, each with some rules: the same for the same seed.
pub(crate) fn schemas(seed: u64, count: usize, rules: usize) -> impl Iterator<Item = Value> {
    let mut rng = Rng::with_seed(seed);
    (0..count).map(move |_| one(&mut rng, rules))
}

fn one(rng: &mut Rng, rules: usize) -> Value {
    let spec = object(rng, 3);
    let mut schema = json!({ "type": "object", "properties": { "spec": spec } });
    if rng.u8(..4) == 0 {
        let names = json!({ "name": { "type": "string", "maxLength": 63 } });
        schema["properties"]["metadata"] = json!({ "type": "object", "properties": names });
    }
    let count = places(&schema);
    for _ in 0..rng.usize(1..4) {
        let mut index = rng.usize(..count);
        add_rules(rng, &mut schema, &mut index, rules);
    }
    schema
}

fn pick<T: Clone>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())].clone()
}

fn object(rng: &mut Rng, depth: u32) -> Value {
    const NAMES: [&str; 10] = [
        "a",
        "b",
        "c",
        "name",
        "in",
        "namespace",
        "x-y",
        "e.f/g",
        "d__e",
        "9",
    ];
    let mut fields = Map::new();
    for _ in 0..rng.usize(2..7) {
        fields.insert(
            pick(rng, &NAMES).to_owned(),
            schema(rng, depth.saturating_sub(1)),
        );
    }
    let mut object = json!({ "type": "object", "properties": fields });
    if rng.bool() {
        object["required"] = json!([pick(rng, &["a", "b", "x-y"])]);
    }
    if rng.u8(..12) == 0 {
        object["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if rng.u8(..16) == 0 {
        object["x-kubernetes-embedded-resource"] = json!(true);
    }
    object
}

fn schema(rng: &mut Rng, depth: u32) -> Value {
    let mut schema = match rng.u8(..if depth == 0 { 11 } else { 18 }) {
        0..4 => json!({ "type": "string" }),
        4 => json!({ "type": "string", "enum": ["a", "bcd"] }),
        5 => {
            let format = pick(rng, &["byte", "date", "date-time", "duration", "uuid"]);
            json!({ "type": "string", "format": format })
        }
        6 | 7 => json!({ "type": "integer" }),
        8 => json!({ "type": pick(rng, &["boolean", "number"]) }),
        9 => json!({ "x-kubernetes-int-or-string": true }),
        10 => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        11..14 => json!({ "type": "array", "items": schema(rng, depth - 1) }),
        14 => {
            json!({ "type": "array", "items": object(rng, depth), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] })
        }
        15 | 16 => json!({ "type": "object", "additionalProperties": schema(rng, depth - 1) }),
        _ => object(rng, depth),
    };
    let most = pick(rng, &[0, 1, 3, 10, 63, 253, 1000]);
    let limit = match (schema["type"].as_str(), schema.get("additionalProperties")) {
        (Some("array"), _) => "maxItems",
        (Some("object"), Some(_)) => "maxProperties",
        (Some("object"), None) => return schema,
        _ => "maxLength",
    };
    if rng.bool() {
        schema[limit] = json!(most);
    }
    if rng.u8(..8) == 0 {
        schema["nullable"] = json!(true);
    }
    schema
}

fn places(schema: &Value) -> usize {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let below = properties.map(|(_, field)| field);
    let below = below
        .chain(schema.get("items"))
        .chain(schema.get("additionalProperties"));
    1 + below.map(places).sum::<usize>()
}

fn add_rules(rng: &mut Rng, schema: &mut Value, index: &mut usize, count: usize) {
    if *index == 0 {
        *index = usize::MAX;
        let kind = kind(schema);
        let rules: Vec<_> = (0..rng.usize(1..=count))
            .map(|_| rule(rng, &kind))
            .collect();
        schema["x-kubernetes-validations"] = json!(rules);
        return;
    }
    if *index == usize::MAX {
        return;
    }
    *index -= 1;
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    for (keyword, below) in schema {
        match (keyword.as_str(), below) {
            ("properties", Value::Object(fields)) => {
                for (_, field) in fields {
                    add_rules(rng, field, index, count);
                }
            }
            ("items" | "additionalProperties", below) => add_rules(rng, below, index, count),
            _ => {}
        }
    }
}

/// The type that a rule sees of a schema.
fn kind(schema: &Value) -> Kind {
    if schema["x-kubernetes-int-or-string"] == true {
        return Dyn;
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("byte")) => Bytes,
        (Some("string"), Some("duration")) => Duration,
        (Some("string"), Some("date" | "date-time")) => Time,
        (Some("string"), _) => Text,
        (Some("integer"), _) => Int,
        (Some("number"), _) => Double,
        (Some("boolean"), _) => Bool,
        (Some("array"), _) => List(Box::new(kind(&schema["items"]))),
        _ => match schema.get("additionalProperties") {
            Some(values) => Kind::Map(Box::new(kind(values))),
            None => Kind::Object(schema.clone()),
        },
    }
}

fn rule(rng: &mut Rng, self_: &Kind) -> Value {
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

struct Writer<'a> {
    rng: &'a mut Rng,
    variables: Vec<(String, Kind)>,
}

/// A value and its type.
type Typed = (String, Kind);

impl Writer<'_> {
    fn pick(&mut self, choices: &[&str]) -> String {
        pick(self.rng, choices).to_owned()
    }

    /// Something of a type.
    fn value(&mut self, kind: &Kind, depth: u32) -> String {
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
    fn found(&mut self, kind: &Kind) -> String {
        for _ in 0..8 {
            let (text, found) = self.walk(|found| found == kind);
            if found == *kind || (found == Dyn && self.rng.u8(..3) == 0) {
                return text;
            }
        }
        self.literal(kind)
    }

    fn walk(&mut self, is_end: impl Fn(&Kind) -> bool) -> Typed {
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

    fn step(&mut self, text: &str, from: &Kind) -> Option<Typed> {
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

    /// A result of operators, functions and macros.
    fn made(&mut self, kind: &Kind, depth: u32) -> String {
        let templates: &[&str] = match kind {
            Bool => &[
                "L",
                "L",
                "L",
                "B && B",
                "B || B || B",
                "!B",
                "(B)",
                "S.startsWith(S)",
                "S.endsWith(S)",
                "S.contains(S)",
                "S.matches(S)",
                "matches(S, '^a')",
                "S in Ls",
                "S in Ms",
                "I in Li",
                "C",
                "C",
                "C",
                "E",
                "E",
                "has(H)",
                "has(H)",
                "O.hasValue()",
                "isURL(S)",
                "isIP(S)",
                "isCIDR(S)",
                "isQuantity(S)",
                "isSemver(S)",
                "ip.isCanonical(S)",
                "P.isLoopback()",
                "K.containsIP(P)",
                "K.containsIP(S)",
                "K.containsCIDR(K)",
                "K.containsCIDR(S)",
                "Q.isGreaterThan(Q)",
                "V.isLessThan(V)",
                "Ls.isSorted()",
                "Li.isSorted()",
                "sets.contains(Ls, Ls)",
                "sets.intersects(Li, Li)",
                "sets.equivalent(Ls, Ls)",
                "F.validate(S).hasValue()",
                "type(S) == string",
                "type(I) != type(D)",
                "bool(S)",
                "S.find(S) == S",
                "Q.isInteger()",
                "oldSelf == self",
                "self == oldSelf",
                "[B, B] == [B, B]",
                "{S: I} == {S: I}",
            ],
            Int => &[
                "I + I",
                "I - I",
                "I * I",
                "I / I",
                "I % I",
                "-(I)",
                "int(S)",
                "int(D)",
                "int(U)",
                "size(S)",
                "S.size()",
                "size(Ls)",
                "Ms.size()",
                "Lx",
                "S.indexOf(S)",
                "S.lastIndexOf(S, I)",
                "Ls.indexOf(S)",
                "Li.sum()",
                "Li.max()",
                "Li.min()",
                "Q.asInteger()",
                "Q.compareTo(Q)",
                "T.getFullYear()",
                "T.getHours('UTC')",
                "R.getSeconds()",
                "V.major()",
                "K.prefixLength()",
                "P.family()",
                "size(Y)",
                "int(T)",
                "sign(Q)",
            ],
            Uint => &["U + U", "uint(I)", "uint(S)"],
            Double => &[
                "D + D",
                "D * D",
                "double(I)",
                "double(S)",
                "Q.asApproximateFloat()",
            ],
            Text => &[
                "S + S",
                "S + S",
                "S.lowerAscii()",
                "S.upperAscii()",
                "S.trim()",
                "S.substring(I)",
                "S.substring(I, I)",
                "S.charAt(I)",
                "S.replace(S, S)",
                "S.replace('', S, I)",
                "S.replace('ab', S)",
                "Ls.join()",
                "Ls.join(S)",
                "S.find(S)",
                "string(I)",
                "string(Y)",
                "string(T)",
                "string(P)",
                "strings.quote(S)",
                "S.split(S)[0]",
                "'%s and %d'.format([S, I])",
                "S.format([S])",
                "Ls.max()",
                "url(S).getHost()",
                "url(S).getQuery()['a'][0]",
            ],
            Bytes => &["bytes(S)", "Y + Y"],
            Duration => &["R + R", "T - T", "duration(S)"],
            Time => &["T + R", "timestamp(S)", "T - R"],
            Named("quantity") => &["quantity(S)", "Q.add(Q)", "Q.sub(I)"],
            Named("ip") => &["ip(S)", "K.ip()"],
            Named("cidr") => &["cidr(S)", "K.masked()"],
            Named("url") => &["url(S)"],
            Named("semver") => &["semver(S)", "semver(S, true)"],
            List(of) if **of == Text => &[
                "S.split(S)",
                "S.split(S, I)",
                "S.split(S, 3)",
                "S.findAll(S)",
                "S.findAll(S, I)",
                "Ls + Ls",
                "Ls.sort()",
                "Ls.distinct()",
                "Ls.reverse()",
                "Ls.slice(0, 2)",
                "[S, ?O]",
                "M",
                "M",
                "[Ls].flatten()",
            ],
            List(of) if **of == Int => &[
                "lists.range(I)",
                "lists.range(7)",
                "Li.sort()",
                "Li + Li",
                "Li.slice(1, I)",
                "N",
                "N",
            ],
            Kind::Map(of) if **of == Text => &["{S: S}", "{S: S, ?S: O}", "W"],
            Optional(of) if **of == Text => &[
                "O.or(O)",
                "O.optMap(x, x + S)",
                "O.optFlatMap(x, optional.of(x))",
                "Ls.first()",
                "Ms[?S]",
            ],
            _ => return self.found(kind),
        };
        let template = pick(self.rng, templates);
        self.fill(template, depth)
    }

    /// Fills the letters of a template, those of a method before the others.
    fn fill(&mut self, template: &str, depth: u32) -> String {
        let mut text = String::new();
        let mut letters = template.chars().peekable();
        let mut before = ' ';
        while let Some(letter) = letters.next() {
            let after = letters.peek().copied().unwrap_or(' ');
            let is_alone = !before.is_alphanumeric() && letter.is_ascii_uppercase();
            let is_pair = matches!(after, 's' | 'i' | 'x') && matches!(letter, 'L' | 'M');
            if !is_alone || (after.is_alphanumeric() && !is_pair) {
                text.push(letter);
                before = letter;
                continue;
            }
            if is_pair {
                letters.next();
            }
            before = letter;
            let list = |of: Kind| List(Box::new(of));
            let kind = match (letter, after) {
                ('L', 's') => list(Text),
                ('L', 'i') => list(Int),
                ('M', 's') => Kind::Map(Box::new(Text)),
                ('L', 'x') => {
                    let (list, _) = self.walk(|kind| matches!(kind, List(_) | Kind::Map(_)));
                    text.push_str(&format!("size({list})"));
                    continue;
                }
                ('L' | 'M' | 'N' | 'W' | 'C' | 'E' | 'H', _) => {
                    text.push_str(&self.special(letter, depth));
                    continue;
                }
                ('B', _) => Bool,
                ('I', _) => Int,
                ('U', _) => Uint,
                ('D', _) => Double,
                ('S', _) => Text,
                ('Y', _) => Bytes,
                ('R', _) => Duration,
                ('T', _) => Time,
                ('Q', _) => QUANTITY,
                ('P', _) => Named("ip"),
                ('K', _) => Named("cidr"),
                ('V', _) => Named("semver"),
                ('F', _) => Named("format"),
                _ => Optional(Box::new(Text)),
            };
            let value = self.value(&kind, depth);
            let is_method = letters.peek() == Some(&'.');
            let is_bare = value.starts_with(|c: char| c == '-' || c == '!') || value.contains(" ");
            text.push_str(&if is_method && is_bare {
                format!("({value})")
            } else {
                value
            });
        }
        text
    }

    fn special(&mut self, letter: char, depth: u32) -> String {
        match letter {
            'C' => {
                let kind = pick(
                    self.rng,
                    &[Int, Text, Double, Bytes, Duration, Time, Bool, Uint],
                );
                let sign = self.pick(&["<", "<=", ">", ">="]);
                let [a, b] = [&kind, &kind].map(|kind| self.value(kind, depth));
                format!("{a} {sign} {b}")
            }
            'E' => {
                let (found, kind) = self.walk(|_| false);
                let sign = self.pick(&["==", "!="]);
                format!("{found} {sign} {}", self.value(&kind, depth.min(1)))
            }
            'H' => {
                let (found, kind) =
                    self.walk(|kind| matches!(kind, Kind::Object(_) | Kind::Map(_)));
                match self.step(&found, &kind) {
                    Some((field, _)) => field,
                    None => format!("{found}.a"),
                }
            }
            _ => self.looped(letter, depth),
        }
    }

    /// A macro that loops.
    fn looped(&mut self, letter: char, depth: u32) -> String {
        let (text, kind) = self.walk(|kind| matches!(kind, List(_) | Kind::Map(_)));
        let (range, keys, values) = match kind {
            List(of) => (text, Int, *of),
            Kind::Map(of) => (text, Text, *of),
            _ => (self.value(&List(Box::new(Text)), depth), Int, Text),
        };
        let is_list = keys == Int;
        let name = format!("v{}", self.variables.len());
        let second = format!("w{}", self.variables.len());
        let has_two = letter == 'W' || self.rng.u8(..4) == 0;
        let outside = self.variables.len();
        let single = if is_list {
            values.clone()
        } else {
            keys.clone()
        };
        self.variables
            .push((name.clone(), if has_two { keys } else { single }));
        let mut names = name.clone();
        if has_two {
            self.variables.push((second.clone(), values));
            names = format!("{name}, {second}");
        }
        let body = match letter {
            'L' => {
                let macros: &[&str] = match has_two {
                    true => &["all", "exists", "existsOne", "exists_one"],
                    false => &["all", "all", "exists", "exists_one"],
                };
                let name = self.pick(macros);
                format!("{name}({names}, {})", self.value(&Bool, depth))
            }
            'M' | 'N' => {
                let of = if letter == 'M' { Text } else { Int };
                let filter = if self.rng.bool() {
                    format!("{}, ", self.value(&Bool, depth))
                } else {
                    String::new()
                };
                let name = if has_two { "transformList" } else { "map" };
                let value = self.value(&of, depth);
                match self.rng.u8(..6) {
                    0 if !has_two && is_list => format!(
                        "filter({names}, {}).map({names}, {value})",
                        self.value(&Bool, depth)
                    ),
                    1 if !has_two && is_list => format!(
                        "sortBy({names}, {}).map({names}, {value})",
                        self.value(&Text, depth)
                    ),
                    _ => format!("{name}({names}, {filter}{value})"),
                }
            }
            _ => match self.rng.bool() {
                true => format!("transformMap({names}, {})", self.value(&Text, depth)),
                false => format!(
                    "transformMapEntry({names}, {{{}: {}}})",
                    self.value(&Text, depth),
                    self.value(&Text, depth)
                ),
            },
        };
        self.variables.truncate(outside);
        format!("{range}.{body}")
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
