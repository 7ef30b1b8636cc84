//! What `range` visits.

use crate::value::Value;

/// Keys and items.
pub type Steps = Box<dyn Iterator<Item = (Value, Value)>>;

/// What `range` visits.
pub enum Pairs {
    /// The numbers below one. They have no keys.
    Numbers(Steps),
    /// Items with their keys or places.
    Items(Steps),
}

/// The keys and items of a value, if it can be ranged over.
pub fn pairs(value: &Value) -> Option<Pairs> {
    let numbers = |numbers: Box<dyn Iterator<Item = Value>>| {
        Pairs::Numbers(Box::new(numbers.map(|it| (Value::Nil, it))))
    };
    let entries = |entries: Vec<(String, Value)>| {
        let entries = entries.into_iter();
        Pairs::Items(Box::new(entries.map(|(key, it)| (Value::from(key), it))))
    };
    Some(match value {
        Value::Nil => Pairs::Items(Box::new(std::iter::empty())),
        Value::Int(end) => numbers(Box::new((0..*end).map(Value::Int))),
        Value::Int64(end) => numbers(Box::new((0..*end).map(Value::Int64))),
        Value::Uint64(end) => numbers(Box::new((0..*end).map(Value::Uint64))),
        Value::List(list) => {
            let items = list.items.clone();
            let item = move |at: usize| (Value::Int(at as i64), items[at].clone());
            Pairs::Items(Box::new((0..list.items.len()).map(item)))
        }
        Value::Bytes(bytes) => {
            let all = bytes.clone();
            let byte = move |at: usize| (Value::Int(at as i64), Value::Int(all[at].into()));
            Pairs::Items(Box::new((0..bytes.len()).map(byte)))
        }
        Value::Map(map) => entries(map.entries()),
        Value::Object(object) => entries(object.entries()?),
        _ => return None,
    })
}
