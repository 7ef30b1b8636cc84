//! YAML as typed values, with the rules and messages of Go's `encoding/json` and of sigs.k8s.io/yaml: keys match in any case, null
//! changes nothing, and a number or a boolean is taken as text where text is wanted.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::go::number;

/// Where a value is, for errors.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    /// The innermost struct around it.
    of: &'static str,
    /// The names of the fields that lead to it.
    fields: &'a str,
}

/// A value that is read from YAML.
pub(crate) trait Decode {
    /// The name of its Go type.
    const GO: &'static str;

    /// Takes what the value says.
    fn decode(&mut self, value: &Value, at: At<'_>) -> Result<(), String>;
}

/// Reads a text over what is there already.
pub(crate) fn read<T: Decode>(text: &str, into: &mut T) -> Result<(), String> {
    let value = crate::yaml::read(text)?;
    let at = At { of: "", fields: "" };
    into.decode(&value, at)
        .map_err(|error| format!("error unmarshaling JSON: while decoding JSON: {error}"))
}

/// The error of a value of another type.
pub(crate) fn mismatch<T>(
    value: &Value,
    wanted: &str,
    At { of, fields }: At<'_>,
) -> Result<T, String> {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    Err(match fields {
        "" => format!("json: cannot unmarshal {is} into Go value of type {wanted}"),
        fields => {
            format!(
                "json: cannot unmarshal {is} into Go struct field {of}.{fields} of type {wanted}"
            )
        }
    })
}

/// Gives each field of an object to `take`, which says `None` to one that it does not know. Keys come in the order of the
/// JSON that Go makes of YAML: by name.
pub(crate) fn object(
    value: &Value,
    go: &str,
    at: At<'_>,
    mut take: impl FnMut(&str, &Value, &dyn Fn(&'static str) -> String) -> Option<Result<(), String>>,
) -> Result<(), String> {
    let entries = match value {
        Value::Null => return Ok(()),
        Value::Object(entries) => entries,
        other => return mismatch(other, go, at),
    };
    let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    let path = |field: &'static str| match at.fields {
        "" => field.to_owned(),
        fields => format!("{fields}.{field}"),
    };
    for (key, value) in entries {
        if let Some(result) = take(key, value, &path) {
            result?;
        }
    }
    Ok(())
}

/// Implements [`Decode`] for a struct, by the names that its fields have in YAML.
macro_rules! decode_fields {
    ($type:ty, $name:literal, $go:literal, { $($key:literal => $field:ident),* $(,)? }) => {
        impl $crate::chart::Decode for $type {
            const GO: &'static str = $go;

            fn decode(
                &mut self,
                value: &serde_json::Value,
                at: $crate::chart::At<'_>,
            ) -> Result<(), String> {
                $crate::chart::object(value, $go, at, |key, value, path| {
                    $(
                        if key.eq_ignore_ascii_case($key) {
                            let fields = path($key);
                            let at = $crate::chart::At::new($name, &fields);
                            return Some($crate::chart::Decode::decode(&mut self.$field, value, at));
                        }
                    )*
                    None
                })
            }
        }
    };
}
pub(crate) use decode_fields;

impl<'a> At<'a> {
    pub(crate) fn new(of: &'static str, fields: &'a str) -> Self {
        Self { of, fields }
    }
}

impl Decode for String {
    const GO: &'static str = "string";

    fn decode(&mut self, value: &Value, at: At<'_>) -> Result<(), String> {
        *self = match value {
            Value::Null => return Ok(()),
            Value::String(text) => text.clone(),
            Value::Bool(it) => it.to_string(),
            Value::Number(number) if number.is_f64() => {
                // So few digits does sigs.k8s.io/yaml keep.
                number::float_32(number.as_f64().unwrap_or_default() as f32)
            }
            Value::Number(number) => number.to_string(),
            other => return mismatch(other, Self::GO, at),
        };
        Ok(())
    }
}

impl Decode for bool {
    const GO: &'static str = "bool";

    fn decode(&mut self, value: &Value, at: At<'_>) -> Result<(), String> {
        match value {
            Value::Null => {}
            Value::Bool(it) => *self = *it,
            other => return mismatch(other, Self::GO, at),
        }
        Ok(())
    }
}

/// `interface {}`.
impl Decode for Value {
    const GO: &'static str = "interface {}";

    fn decode(&mut self, value: &Value, _: At<'_>) -> Result<(), String> {
        *self = value.clone();
        Ok(())
    }
}

/// A pointer.
impl<T: Decode + Default> Decode for Option<T> {
    const GO: &'static str = T::GO;

    fn decode(&mut self, value: &Value, at: At<'_>) -> Result<(), String> {
        if value.is_null() {
            *self = None;
            return Ok(());
        }
        self.get_or_insert_default().decode(value, at)
    }
}

impl<T: Decode + Default> Decode for Vec<T> {
    const GO: &'static str = "";

    fn decode(&mut self, value: &Value, at: At<'_>) -> Result<(), String> {
        let items = match value {
            Value::Null => {
                self.clear();
                return Ok(());
            }
            Value::Array(items) => items,
            other => return mismatch(other, &format!("[]{}", go_item::<T>()), at),
        };
        // Go decodes into the items that are there already.
        self.truncate(items.len());
        for (index, item) in items.iter().enumerate() {
            if index == self.len() {
                self.push(T::default());
            }
            self[index].decode(item, at)?;
        }
        Ok(())
    }
}

/// The name of the type of an item of a slice: of structs there are pointers.
fn go_item<T: Decode>() -> String {
    match T::GO.contains('.') {
        true => format!("*{}", T::GO),
        false => T::GO.to_owned(),
    }
}

impl Decode for BTreeMap<String, String> {
    const GO: &'static str = "map[string]string";

    fn decode(&mut self, value: &Value, at: At<'_>) -> Result<(), String> {
        let entries = match value {
            Value::Null => {
                self.clear();
                return Ok(());
            }
            Value::Object(entries) => entries,
            other => return mismatch(other, Self::GO, at),
        };
        let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        for (key, value) in entries {
            let mut text = String::new();
            text.decode(value, at)?;
            self.insert(key.clone(), text);
        }
        Ok(())
    }
}
