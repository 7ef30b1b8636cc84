//! Values in source: defaults of fields, and what a type starts with.

use serde_json::Value;

use crate::{chosen::Shape, literal as source, meta, model::Type};

/// What rustfmt leaves on one line of a struct's value.
const WIDTH: usize = 18;

/// The value that a type starts with.
pub(super) struct Initial {
    pub text: String,
    /// Whether it is that of the type's `Default`.
    pub is_plain: bool,
}

/// The value that a type, `rust` in source, starts with: that of its `Default`, if it has one.
pub(super) fn initial(type_: &Type<Shape>, rust: &str) -> Initial {
    let text = match type_ {
        Type::Bool => "false".to_owned(),
        Type::Int32 | Type::Int64 => "0".to_owned(),
        Type::Float => "0.0".to_owned(),
        Type::Time => format!("{rust}(Timestamp::UNIX_EPOCH)"),
        Type::Duration => format!("{rust}::from(std::time::Duration::ZERO)"),
        Type::String => "String::new()".to_owned(),
        Type::List(_) => "Vec::new()".to_owned(),
        Type::Map(_) => "BTreeMap::new()".to_owned(),
        _ => format!("{rust}::default()"),
    };
    Initial {
        is_plain: !matches!(type_, Type::Time | Type::Duration),
        text,
    }
}

/// Whether a field's default is that of its type.
pub(super) fn is_initial(type_: &Type<Shape>, default: &Value) -> bool {
    match (type_, default) {
        (Type::Bool, Value::Bool(value)) => !value,
        (Type::Int32 | Type::Int64 | Type::Float, Value::Number(number)) => {
            number.as_f64() == Some(0.0)
        }
        (Type::String, Value::String(text)) => text.is_empty(),
        // The field's default is that of its enum.
        (Type::Own(_), _) => true,
        _ => false,
    }
}

/// The lines of a function that returns a default.
pub(super) fn literal(type_: &Type<Shape>, default: &Value) -> String {
    let quoted = || source::string(default.as_str().unwrap_or_default());
    match (type_, default) {
        (Type::String, _) => owned(&quoted()),
        (Type::Float, Value::Number(number)) => {
            format!("    {:?}\n", number.as_f64().unwrap_or_default())
        }
        (Type::Quantity, _) => format!("    Quantity({}.to_owned())\n", quoted()),
        (Type::IntOrString, Value::Number(number)) => {
            format!("    IntOrString::Int({number})\n")
        }
        (Type::IntOrString, _) => {
            format!("    IntOrString::String({}.to_owned())\n", quoted())
        }
        (Type::Duration, _) => format!(
            "    {}.parse().expect(\"the text is a duration\")\n",
            quoted()
        ),
        _ => format!("    {default}\n"),
    }
}

/// A string, in two lines where one is too short.
fn owned(quoted: &str) -> String {
    let line = format!("    {quoted}.to_owned()\n");
    match line.chars().count() <= meta::LINE + 1 {
        true => line,
        false => format!("    {quoted}\n        .to_owned()\n"),
    }
}

/// The implementation of `Default` for a struct with these values.
pub(super) fn implementation(name: &str, values: &[(String, String)]) -> String {
    let values: Vec<_> = values
        .iter()
        .map(|(ident, value)| format!("{ident}: {value}"))
        .collect();
    let line = values.join(", ");
    let body = match line.len() <= WIDTH {
        true => format!("        Self {{ {line} }}\n"),
        false => {
            let lines: String = values
                .iter()
                .map(|value| format!("            {value},\n"))
                .collect();
            format!("        Self {{\n{lines}        }}\n")
        }
    };
    format!("\nimpl Default for {name} {{\n    fn default() -> Self {{\n{body}    }}\n}}\n")
}
