//! The types of fields, and their words.

use super::quoted;

/// The durations that a CRD admits: Go's, without a sign.
pub const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+$";

/// The characters that end an unquoted value of an enum.
pub const ENUM_STOPS: [char; 3] = [':', '|', ']'];

/// The longest name of a field or a type.
pub const LONGEST: usize = 60;

/// The type of a field.
pub type Type = crd_types::Type<Own>;

/// A type that is generated.
#[derive(Clone, Debug, PartialEq)]
pub enum Own {
    /// One whose fields are given beside this one, such as `Port`.
    Named(String),
    /// One of these texts.
    Enum(Vec<String>),
}

/// The types with one word.
const WORDS: [(&str, Type); 10] = [
    ("bool", Type::Bool),
    ("int32", Type::Int32),
    ("int64", Type::Int64),
    ("number", Type::Float),
    ("string", Type::String),
    ("Time", Type::Time),
    ("Duration", Type::Duration),
    ("Quantity", Type::Quantity),
    ("IntOrString", Type::IntOrString),
    ("any", Type::Any),
];

/// Words of Go, of OpenAPI and of other tools, with our words for them.
const OTHERS: [(&str, &str); 24] = [
    ("boolean", "bool"),
    ("date-time", "Time"),
    ("datetime", "Time"),
    ("double", "number"),
    ("f64", "number"),
    ("float", "number"),
    ("float32", "number"),
    ("float64", "number"),
    ("i32", "int32"),
    ("i64", "int64"),
    ("int", "int32"),
    ("int-or-string", "IntOrString"),
    ("int16", "int32"),
    ("integer", "int32"),
    ("json", "any"),
    ("long", "int64"),
    ("metav1.duration", "Duration"),
    ("metav1.time", "Time"),
    ("object", "any"),
    ("rawextension", "any"),
    ("str", "string"),
    ("text", "string"),
    ("timestamp", "Time"),
    ("uint32", "int64"),
];

/// The reference to a key of a Secret, which has a word of its own.
const SECRET: (&str, &str) = ("secretRef", "SecretKeySelector");

/// The word of each type, for completion: the types of Kubernetes come last.
pub fn words() -> impl Iterator<Item = &'static str> {
    let simple = WORDS.iter().map(|(word, _)| *word);
    simple
        .chain([SECRET.0])
        .chain(crd_types::well_known().map(name))
}

fn name(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// The type that a word names; a word in CamelCase that names no other type is a type of its own.
pub fn of_word(word: &str) -> Option<Type> {
    if let Some((_, type_)) = WORDS.iter().find(|(it, _)| *it == word) {
        return Some(type_.clone());
    }
    let word = if word == SECRET.0 { SECRET.1 } else { word };
    if let Some(path) = crd_types::well_known().find(|path| name(path) == word) {
        return Some(Type::Known(path));
    }
    is_own(word).then(|| Type::Own(Own::Named(word.to_owned())))
}

/// The word that was meant by one that is no type.
pub fn meant(word: &str) -> Option<&'static str> {
    let lower = word.trim_start_matches('*').to_ascii_lowercase();
    let other = OTHERS.iter().find(|(other, _)| *other == lower);
    let same = || words().find(|it| it.eq_ignore_ascii_case(&lower));
    let near = || crate::name::nearest(word, words());
    other.map(|(_, word)| *word).or_else(same).or_else(near)
}

/// The type whose values `min` and other markers limit: for a list, the type of its items.
pub fn of_values(type_: &Type) -> &Type {
    match type_ {
        Type::List(items) => items,
        other => other,
    }
}

/// The word or the words of a type.
pub fn text(type_: &Type) -> String {
    match type_ {
        Type::Known(path) => name(path).to_owned(),
        Type::Own(Own::Named(name)) => name.clone(),
        Type::Own(Own::Enum(values)) => {
            let values = values.iter().map(|value| quoted(value, &ENUM_STOPS));
            format!("enum={}", values.collect::<Vec<_>>().join("|"))
        }
        Type::List(items) => format!("[{}]", text(items)),
        Type::Map(values) => format!("map[string]{}", text(values)),
        _ => {
            let word = WORDS.iter().find(|(_, it)| it == type_);
            word.map_or("", |(word, _)| word).to_owned()
        }
    }
}

/// Whether a word may name a type of its own.
fn is_own(word: &str) -> bool {
    let is_camel = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric());
    is_camel && word.len() <= LONGEST && !crd_types::is_reserved(word)
}
