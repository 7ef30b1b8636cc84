//! What templates read of the values, and values that look like it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A path in the values.
pub type Path = Vec<String>;

/// The part of a path that stands for any element of a list or a map.
pub const ELEMENT: &str = "[]";

/// The text that is given where any text will do. What is named so in an object comes from the values.
pub const ANY: &str = "any-text";

/// How many values of other types are tried where nothing says which one is meant.
pub const VARIANTS: usize = 6;

/// A path with one more part.
pub fn below(path: &Path, name: &str) -> Path {
    let mut path = path.clone();
    path.push(name.to_owned());
    path
}

/// What a function says of the type of its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A map or a list.
    Tree,
}

impl Hint {
    /// What the name of a function says of the values that it is called with.
    pub fn of_function(name: &str) -> Option<Self> {
        Some(match name {
            "quote" | "squote" | "lower" | "upper" | "trim" | "trunc" | "trimSuffix" | "b64enc"
            | "tpl" | "printf" | "replace" | "contains" | "splitList" | "hasPrefix"
            | "hasSuffix" | "sha256sum" => Self::Text,
            "int" | "int64" | "float64" | "add" | "sub" | "mul" | "div" => Self::Number,
            "toYaml" | "toJson" | "len" => Self::Tree,
            _ => return None,
        })
    }
}

/// What templates read of a value.
#[derive(Debug, Default)]
pub struct Shape {
    /// Its fields; [`ELEMENT`] for what it is iterated over.
    fields: BTreeMap<String, Shape>,
    /// What it is compared with.
    literals: Vec<Value>,
    hint: Option<Hint>,
}

impl Shape {
    fn at(&mut self, path: &Path) -> &mut Self {
        path.iter()
            .fold(self, |it, name| it.fields.entry(name.clone()).or_default())
    }

    /// Notes that a value is read.
    pub fn read(&mut self, path: &Path) {
        self.at(path);
    }

    /// Notes what a function says of a value. The first one counts.
    pub fn hint(&mut self, path: &Path, hint: Hint) {
        self.at(path).hint.get_or_insert(hint);
    }

    /// Notes that a value is compared with a literal.
    pub fn compare(&mut self, path: &Path, literal: &Value) {
        let literals = &mut self.at(path).literals;
        if !literals.contains(literal) {
            literals.push(literal.clone());
        }
    }

    /// The shape of a path, if anything reads it.
    pub fn get(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |it, name| it.fields.get(name))
    }

    /// Whether it is a list or a map.
    pub fn is_tree(&self) -> bool {
        self.hint == Some(Hint::Tree) || !self.fields.is_empty()
    }

    /// What it is compared with.
    pub fn literals(&self) -> &[Value] {
        &self.literals
    }

    /// Each path that has no fields, with what it is compared with.
    pub fn leaves(&self) -> Vec<(Path, &[Value])> {
        let mut leaves = Vec::new();
        self.add_leaves(&mut Vec::new(), &mut leaves);
        leaves
    }

    fn add_leaves<'a>(&'a self, path: &mut Path, leaves: &mut Vec<(Path, &'a [Value])>) {
        if !self.literals.is_empty() || self.fields.is_empty() {
            leaves.push((path.clone(), self.literals.as_slice()));
        }
        for (name, field) in &self.fields {
            path.push(name.clone());
            field.add_leaves(path, leaves);
            path.pop();
        }
    }

    /// A value that is not empty and that templates may take. Where its type is not known, the number of the variant decides.
    pub fn example(&self, variant: usize) -> Value {
        if let Some(literal) = self.literals.first() {
            return literal.clone();
        }
        if let Some(element) = self.fields.get(ELEMENT) {
            let element = element.example(variant);
            return match variant % 2 {
                0 => json!([element]),
                _ => json!({ANY: element}),
            };
        }
        if !self.fields.is_empty() && variant + 1 < VARIANTS {
            let fields = self.fields.iter();
            let fields = fields.map(|(name, field)| (name.clone(), field.example(variant)));
            return Value::Object(fields.collect());
        }
        match (self.hint, variant) {
            (Some(Hint::Tree), 0) => json!({ANY: ANY}),
            (Some(Hint::Number), 0) => json!(1),
            (_, 0) => json!(ANY),
            (_, 1) => json!({ANY: ANY}),
            (_, 2) => json!([ANY]),
            (_, 3) => json!([{"name": ANY}]),
            (_, 4) => json!(1),
            _ => json!(true),
        }
    }
}

/// The value of a path. Of a list or a map, any element is the first one.
pub fn value<'a>(of: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter()
        .try_fold(of, |it, name| match (it, name.as_str()) {
            (Value::Array(items), ELEMENT) => items.first(),
            (Value::Object(entries), ELEMENT) => entries.values().next(),
            (it, name) => it.get(name),
        })
}

/// Sets the value of a path over defaults: tables are merged, so only what is on the path is set; lists are taken as a whole.
pub fn set(over: &mut Value, defaults: Option<&Value>, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else {
        *over = value;
        return;
    };
    if name == ELEMENT {
        if !over.is_array() && !over.is_object() {
            *over = match defaults {
                Some(it @ (Value::Array(_) | Value::Object(_))) => it.clone(),
                _ => json!([]),
            };
        }
        match over {
            Value::Array(items) => {
                if items.is_empty() {
                    items.push(Value::Null);
                }
                set(&mut items[0], None, rest, value);
            }
            Value::Object(entries) => match entries.values_mut().next() {
                Some(first) => set(first, None, rest, value),
                None => {
                    let mut first = Value::Null;
                    set(&mut first, None, rest, value);
                    entries.insert(ANY.to_owned(), first);
                }
            },
            _ => {}
        }
        return;
    }
    if !over.is_object() {
        *over = Value::Object(Map::new());
    }
    if let Value::Object(entries) = over {
        let at = entries.entry(name.clone()).or_insert(Value::Null);
        set(at, defaults.and_then(|it| it.get(name)), rest, value);
    }
}
