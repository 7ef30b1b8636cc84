//! How many steps the check of values by a schema takes: references can make a small schema take longer than anybody waits.
//!
//! The steps are counted before the check, once for each pair of a schema and a value, however often the check comes to that pair.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

/// The most steps of a check: each is a part of the schema that is held against a part of the values.
const MOST: u64 = 20_000_000;

/// The most pairs that are counted.
const MOST_PAIRS: usize = 1_000_000;

/// How deep references and values may lead.
const DEEPEST: usize = 2_000;

/// What stands for the names of properties.
static NAME: Json = Json::Null;

/// The most distinct patterns with classes or repetitions, of which each may take milliseconds to compile.
const MOST_PATTERNS: usize = 1_000;

/// The most steps of all parts that ask what is not evaluated: the library follows its references when it compiles them, also if there is
/// no value for them.
const MOST_UNEVALUATED: u64 = 20_000;

/// Fails if the check of values takes too many steps.
pub(super) fn count(schema: &Json, values: &Json) -> Result<(), String> {
    let mut counter = Counter {
        root: schema,
        named: Vec::new(),
        known: HashMap::new(),
        visits: 0,
        circles: 0,
        patterns: HashSet::new(),
        unevaluated: Vec::new(),
    };
    counter.name(schema, 0);
    if counter.patterns.len() > MOST_PATTERNS {
        return Err(format!("it has more than {MOST_PATTERNS} patterns"));
    }
    let mut unevaluated = 0u64;
    for part in std::mem::take(&mut counter.unevaluated) {
        unevaluated = unevaluated.saturating_add(counter.steps(part, &NAME, 0)?);
        if unevaluated > MOST_UNEVALUATED {
            return Err(format!(
                "what is unevaluated takes more than {MOST_UNEVALUATED} steps to find"
            ));
        }
    }
    let steps = counter.steps(schema, values, 0)?;
    match steps > MOST {
        true => Err(too_many()),
        false => Ok(()),
    }
}

fn too_many() -> String {
    format!("the check takes more than {MOST} steps")
}

struct Counter<'a> {
    root: &'a Json,
    /// The parts that have a name of their own, with it.
    named: Vec<(&'a str, &'a Json)>,
    /// The steps of pairs of a schema and a value. One that is being counted has none.
    known: HashMap<(*const Json, *const Json), Option<u64>>,
    /// How many pairs were counted, with those that were counted again.
    visits: usize,
    /// How often a pair led to itself.
    circles: usize,
    patterns: HashSet<&'a str>,
    /// The parts that ask what is not evaluated.
    unevaluated: Vec<&'a Json>,
}

impl<'a> Counter<'a> {
    fn name(&mut self, part: &'a Json, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match part {
            Json::Object(entries) => {
                for key in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                    if let Some(Json::String(name)) = entries.get(key) {
                        self.named.push((name, part));
                    }
                }
                if entries.keys().any(|key| key.starts_with("unevaluated")) {
                    self.unevaluated.push(part);
                }
                let pattern = entries.get("pattern").and_then(Json::as_str);
                let of_names = entries.get("patternProperties").and_then(Json::as_object);
                let of_names = of_names.into_iter().flatten().map(|(it, _)| it.as_str());
                let is_heavy = |it: &&str| it.contains(['{', '\\', '.']) || it.contains("[^");
                self.patterns
                    .extend(of_names.chain(pattern).filter(is_heavy));
                if entries.get("$recursiveAnchor") == Some(&Json::Bool(true)) {
                    self.named.push(("#", part));
                }
                entries.values().for_each(|it| self.name(it, depth + 1));
            }
            Json::Array(items) => items.iter().for_each(|it| self.name(it, depth + 1)),
            _ => {}
        }
    }

    fn steps(&mut self, schema: &'a Json, value: &Json, depth: usize) -> Result<u64, String> {
        let Json::Object(entries) = schema else {
            return Ok(1);
        };
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        match self.known.get(&pair) {
            Some(Some(steps)) => return Ok(*steps),
            Some(None) => {
                self.circles += 1;
                return Ok(1);
            }
            None => {}
        }
        self.visits += 1;
        if depth > DEEPEST || self.visits > MOST_PAIRS {
            return Err(too_many());
        }
        self.known.insert(pair, None);
        let circles = self.circles;
        let mut steps = 1 + own(entries, value);
        for (key, part) in entries {
            let more = match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    let targets = self.targets(part.as_str().unwrap_or_default());
                    self.all(targets, value, depth)?
                }
                "allOf" | "anyOf" | "oneOf" => self.all(parts(part), value, depth)?,
                "not" | "if" | "then" | "else" => self.steps(part, value, depth + 1)?,
                "dependencies" | "dependentSchemas" => self.all(parts(part), value, depth)?,
                "properties" => {
                    let mut all = 0u64;
                    for (name, part) in part.as_object().into_iter().flatten() {
                        if let Some(value) = value.get(name) {
                            all = all.saturating_add(self.steps(part, value, depth + 1)?);
                        }
                    }
                    all
                }
                "items"
                | "prefixItems"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "patternProperties" => {
                    let mut schemas = parts(part);
                    // A schema, or schemas by place or by name.
                    if part.is_object() && key != "patternProperties" {
                        schemas = vec![part];
                    }
                    self.within(&schemas, value, depth)?
                }
                "propertyNames" => {
                    let names = value.as_object().map_or(0, |it| it.len() as u64);
                    let each = self.steps(part, &NAME, depth + 1)?;
                    each.saturating_mul(names)
                }
                _ => 0,
            };
            steps = steps.saturating_add(more);
        }
        // What is left over is found by looking at all parts once more.
        if entries.keys().any(|key| key.starts_with("unevaluated")) {
            steps = steps.saturating_mul(3);
        }
        if steps > MOST {
            return Err(too_many());
        }
        // The check goes around a circle anew from each of its parts: what was counted within one counts only here.
        match self.circles == circles {
            true => self.known.insert(pair, Some(steps)),
            false => self.known.remove(&pair),
        };
        Ok(steps)
    }

    fn all(&mut self, schemas: Vec<&'a Json>, value: &Json, depth: usize) -> Result<u64, String> {
        schemas.into_iter().try_fold(0u64, |all, schema| {
            Ok(all.saturating_add(self.steps(schema, value, depth + 1)?))
        })
    }

    /// The steps of holding each of the schemas against each part of a value.
    fn within(&mut self, schemas: &[&'a Json], value: &Json, depth: usize) -> Result<u64, String> {
        let mut all = 0u64;
        for schema in schemas {
            for part in parts(value) {
                all = all.saturating_add(self.steps(schema, part, depth + 1)?);
            }
        }
        Ok(all)
    }

    /// The parts that a reference may lead to: all that have its name, if that is no path from the root. So a schema with several
    /// parts of one name may seem to take more steps than it does, and never fewer.
    fn targets(&self, reference: &str) -> Vec<&'a Json> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = decoded(fragment);
        if !(fragment.is_empty() || fragment.starts_with('/')) {
            let is_it = |name: &str| name.trim_start_matches('#') == fragment;
            let named = self.named.iter().filter(|(name, _)| is_it(name));
            return distinct(named.map(|(_, part)| *part));
        }
        let last = |address: &'_ str| -> String {
            let address = address.split('#').next().unwrap_or_default();
            address.rsplit('/').next().unwrap_or_default().to_owned()
        };
        let wanted = last(address);
        let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('%');
        let is_like = |name: &str| {
            let name = last(name);
            address.is_empty() || !is_plain(&wanted) || !is_plain(&name) || name == wanted
        };
        let named = self.named.iter().filter(|(name, _)| is_like(name));
        let bases = std::iter::once(self.root).chain(named.map(|(_, part)| *part));
        distinct(bases.filter_map(|base| base.pointer(&fragment)))
    }
}

/// The steps of a schema's own words: lists of values and of names are compared, and a long text is searched.
fn own(entries: &serde_json::Map<String, Json>, value: &Json) -> u64 {
    let listed = ["enum", "required", "properties", "patternProperties"];
    let listed = listed.iter().filter_map(|key| entries.get(*key));
    let listed: usize = listed
        .map(|it| match it {
            Json::Array(items) => items.len(),
            Json::Object(entries) => entries.len(),
            _ => 0,
        })
        .sum();
    let length = match value {
        Json::Array(items) if entries.contains_key("uniqueItems") => {
            items.len().saturating_mul(items.len()) / 16
        }
        Json::String(text) => text.len() / 64,
        _ => 0,
    };
    (listed / 16) as u64 + length as u64
}

fn parts(of: &Json) -> Vec<&Json> {
    match of {
        Json::Object(entries) => entries.values().collect(),
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

fn distinct<'a>(all: impl Iterator<Item = &'a Json>) -> Vec<&'a Json> {
    let mut found: Vec<&Json> = Vec::new();
    for part in all {
        if !found.iter().any(|it| std::ptr::eq(*it, part)) {
            found.push(part);
        }
    }
    found
}

/// The text of a fragment, in which `%24` is `$`.
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = fragment.get(at + 1..at + 3);
        let byte = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        match byte.filter(|_| bytes[at] == b'%') {
            Some(byte) => (out.push(byte), at += 3).1,
            None => (out.push(bytes[at]), at += 1).1,
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
