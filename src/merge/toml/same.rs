//! Whether two items say the same, whatever the white space and comments around and in them.

use toml_edit::{Item, TableLike, Value};

/// Compares values; the order of keys says nothing, and a table is one however it is written.
pub fn same(a: &Item, b: &Item) -> bool {
    if let (Some(a), Some(b)) = (a.as_table_like(), b.as_table_like()) {
        return same_table(a, b);
    }
    match (a, b) {
        (Item::Value(a), Item::Value(b)) => same_value(a, b),
        (Item::ArrayOfTables(a), Item::ArrayOfTables(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_table(a, b))
        }
        (Item::None, Item::None) => true,
        _ => false,
    }
}

/// [`same`] for values.
pub fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        (Value::Float(a), Value::Float(b)) => a.value().to_bits() == b.value().to_bits(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        (Value::Datetime(a), Value::Datetime(b)) => a.value() == b.value(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::InlineTable(a), Value::InlineTable(b)) => same_table(a, b),
        _ => false,
    }
}

fn same_table(a: &dyn TableLike, b: &dyn TableLike) -> bool {
    let in_b = |(key, item)| b.get(key).is_some_and(|other| same(item, other));
    a.len() == b.len() && a.iter().all(in_b)
}
