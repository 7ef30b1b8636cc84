//! Preserves fields that a type does not know, so that an older replica drops nothing that a newer one
//! wrote.

use serde_json::{Map, Value};

use super::{
    elements,
    node::{Json, Mark, Node},
    object::HEAD,
};

/// Copies the parts of an object that its type did not take to `output`, at the same place, unless the
/// place is occupied. `taken` is the serialized type.
pub(super) fn carry_object(source: &Node, taken: &Value, output: &mut Value) {
    if let (Json::Map(fields), Value::Object(output)) = (&source.json, output) {
        let fields = fields
            .iter()
            .filter(|(key, _)| !HEAD.contains(&key.as_ref()));
        for (key, field) in fields {
            carry_field(key, field, taken.get(key.as_ref()), output);
        }
    }
}

fn carry(source: &Node, taken: Option<&Value>, output: &mut Value) {
    match (&source.json, output) {
        (Json::Map(fields), Value::Object(output)) => {
            for (key, field) in fields {
                let taken = taken.and_then(|taken| taken.get(key.as_ref()));
                carry_field(key, field, taken, output);
            }
        }
        (Json::List(items), Value::Array(output)) => carry_items(items, taken, output),
        _ => {}
    }
}

fn carry_field(key: &str, field: &Node, taken: Option<&Value>, output: &mut Map<String, Value>) {
    let taken = taken.filter(|taken| !taken.is_null());
    let unknown = match field.mark.get() {
        Mark::Missed => true,
        Mark::Perhaps => taken.is_none(),
        Mark::Taken => false,
    };
    let there = output.get_mut(key).filter(|value| !value.is_null());
    match there {
        _ if field.is_null() => {}
        Some(_) if unknown => {}
        Some(value) => carry(field, taken, value),
        None if unknown => {
            output.insert(key.to_owned(), field.to_value());
        }
        // A field that the type serializes and the conversion dropped stays dropped. A field that the type
        // omits, because it is empty, may contain unknown fields.
        None if taken.is_some() => {}
        None => {
            let mut value = Value::Object(Map::new());
            carry(field, None, &mut value);
            if value != Value::Object(Map::new()) {
                output.insert(key.to_owned(), value);
            }
        }
    }
}

/// Elements with names match by name; others match by index if the lengths are equal.
fn carry_items(items: &[Node], taken: Option<&Value>, output: &mut [Value]) {
    let taken = |index| taken.and_then(|taken: &Value| taken.get(index));
    if let Some((field, names)) = elements::names(items, |item, field| item.get(field)?.as_str()) {
        for (index, (item, name)) in items.iter().zip(names).enumerate() {
            let mut output = output.iter_mut();
            let named = |value: &&mut Value| value.get(field).and_then(Value::as_str) == Some(name);
            if let Some(value) = output.find(named) {
                carry(item, taken(index), value);
            }
        }
    } else if items.len() == output.len() {
        for (index, (item, value)) in items.iter().zip(output).enumerate() {
            carry(item, taken(index), value);
        }
    }
}
