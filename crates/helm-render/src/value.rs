//! Values as Go's templates have them: with the types that `typeOf` and errors name, and with maps that are changed in place.

pub(crate) mod held;

use std::{any::Any, cell::RefCell, collections::BTreeMap, fmt, rc::Rc, sync::Arc};

pub(crate) use self::held::Held;

/// The deepest nesting of a value that is written or printed. Go has no limit, and ends when its stack does.
pub const DEEPEST: usize = 1_000;

/// The most parts of a value that is written or printed.
pub const MOST_PARTS: usize = 5_000_000;

/// A value of a template.
#[derive(Clone, Default)]
pub enum Value {
    /// `nil`, and what a map does not have.
    #[default]
    Nil,
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i64),
    /// `int64`.
    Int64(i64),
    /// `uint64`.
    Uint64(u64),
    /// `float64`: every number of a values file.
    Float(f64),
    /// `string`. The bytes of Go's strings need not be UTF-8; here they are.
    String(Rc<str>),
    /// `[]byte`.
    Bytes(Arc<[u8]>),
    /// A slice.
    List(List),
    /// A map with strings as keys.
    Map(Map),
    /// A value with fields or methods of its own, such as `.Files`.
    Object(Rc<dyn Object>),
}

/// A slice. No function changes one in place.
#[derive(Clone)]
pub struct List {
    /// The type of its items.
    pub of: Item,
    /// The items.
    pub items: Rc<[Value]>,
}

/// The type of the items of a slice or of the values of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `interface {}`.
    Any,
    /// `string`.
    String,
    /// `int`.
    Int,
    /// `[]interface {}`.
    List,
    /// `string`, in a `common.VersionSet`: the type of `.Capabilities.APIVersions`, which has the method `Has`.
    Version,
}

/// A map. Two names of one map see the same entries: `set` changes it in place.
#[derive(Clone)]
pub struct Map {
    /// The name of its type.
    pub of: MapType,
    entries: Rc<Entries>,
}

type Entries = RefCell<BTreeMap<String, Value>>;

/// The type of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapType {
    /// `map[string]interface {}`.
    Any,
    /// `map[string]string`.
    Strings,
    /// `common.Values`, the type of `.Values` and `.Template`.
    Values,
}

/// A value with fields or methods.
pub trait Object {
    /// The name of its Go type, such as `engine.files`.
    fn type_name(&self) -> &'static str;

    /// Its kind, such as `map`, `struct` or `ptr`.
    fn kind(&self) -> &'static str;

    /// A field, or the result of a method with these arguments; `None` if it has neither.
    ///
    /// # Errors
    /// The message of a method that fails.
    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>>;

    /// The text that `print` has for it.
    fn text(&self) -> String;

    /// The text that `{{ }}` writes for it: Go calls a method `String` there that `print` does not see.
    fn output(&self) -> String {
        self.text()
    }

    /// What `toJson` and `toYaml` write of it, if they can.
    fn json(&self) -> Option<serde_json::Value> {
        None
    }

    /// How many parts a method may look at.
    fn weight(&self) -> usize {
        0
    }

    /// The entries that `range` visits, for one that is a map.
    fn entries(&self) -> Option<Vec<(String, Value)>> {
        None
    }

    /// Whether it is true in a condition.
    fn is_true(&self) -> bool {
        true
    }

    /// Itself, for the functions that know its Rust type; `None` if no function does.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

impl Map {
    /// A `map[string]interface {}`.
    pub fn new(entries: BTreeMap<String, Value>) -> Self {
        Self::of(MapType::Any, entries)
    }

    /// A map of a type.
    pub fn of(of: MapType, entries: BTreeMap<String, Value>) -> Self {
        let entries = Rc::new(RefCell::new(entries));
        held::hold_map(&entries);
        Self { of, entries }
    }

    /// The same map under another type, as Go converts it.
    pub fn as_type(&self, of: MapType) -> Self {
        Self {
            of,
            entries: self.entries.clone(),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.entries.borrow().get(key).cloned()
    }

    /// Sets the value of a key, for every name of the map.
    pub fn set(&self, key: impl Into<String>, value: Value) {
        let before = self.entries.borrow_mut().insert(key.into(), value);
        if before.is_none() {
            held::add_entry();
        }
    }

    /// Removes a key, for every name of the map.
    pub fn remove(&self, key: &str) -> Option<Value> {
        self.entries.borrow_mut().remove(key)
    }

    /// The entries as they are now, by key.
    pub fn entries(&self) -> Vec<(String, Value)> {
        let entries = self.entries.borrow();
        let entries = entries.iter();
        entries
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether both are one map.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.entries, &other.entries)
    }

    /// The value of a key that it lacks.
    pub fn zero(&self) -> Value {
        match self.of {
            MapType::Strings => Value::from(""),
            MapType::Any | MapType::Values => Value::Nil,
        }
    }
}

impl List {
    /// A `[]interface {}`.
    pub fn new(items: impl Into<Rc<[Value]>>) -> Self {
        Self {
            of: Item::Any,
            items: items.into(),
        }
    }

    /// A `[]string`.
    pub fn of_strings<S: Into<Value>>(items: impl IntoIterator<Item = S>) -> Self {
        Self {
            of: Item::String,
            items: items.into_iter().map(Into::into).collect(),
        }
    }
}

impl Value {
    /// An empty `map[string]interface {}`.
    pub fn map() -> Self {
        Self::Map(Map::new(BTreeMap::new()))
    }

    /// A `[]interface {}`.
    pub fn list(items: impl Into<Rc<[Value]>>) -> Self {
        Self::List(List::new(items))
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object of a Rust type, if it is one.
    pub fn as_object<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Object(object) => object.as_any()?.downcast_ref(),
            _ => None,
        }
    }

    /// The kind, as `kindOf` and Go's `reflect.Kind` name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Uint64(_) => "uint64",
            Self::Float(_) => "float64",
            Self::String(_) => "string",
            Self::Bytes(_) | Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Object(object) => object.kind(),
        }
    }

    /// The type, as `typeOf` and `%T` name it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bytes(_) => "[]uint8",
            Self::List(list) => match list.of {
                Item::Any => "[]interface {}",
                Item::String => "[]string",
                Item::Int => "[]int",
                Item::List => "[][]interface {}",
                Item::Version => "common.VersionSet",
            },
            Self::Map(map) => match map.of {
                MapType::Any => "map[string]interface {}",
                MapType::Strings => "map[string]string",
                MapType::Values => "common.Values",
            },
            Self::Object(object) => object.type_name(),
            _ => self.kind(),
        }
    }

    /// Whether it is true in a condition: neither zero, empty nor `nil`.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(it) => *it,
            Self::Int(it) | Self::Int64(it) => *it != 0,
            Self::Uint64(it) => *it != 0,
            Self::Float(it) => *it != 0.0,
            Self::String(text) => !text.is_empty(),
            Self::Bytes(bytes) => !bytes.is_empty(),
            Self::List(list) => !list.items.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.is_true(),
        }
    }

    /// Checks that the value can be walked through: a map may contain itself, and two maps of two maps and so on are soon millions.
    ///
    /// # Errors
    /// It is nested deeper than 1,000, or has more than 5,000,000 parts. Long texts count as several.
    pub fn check_size(&self) -> Result<(), String> {
        fn walk(value: &Value, depth: usize, left: &mut usize) -> Result<(), String> {
            if depth > DEEPEST {
                let of = value.type_name();
                return Err(format!(
                    "json: unsupported value: encountered a cycle via {of}"
                ));
            }
            if *left == 0 {
                return Err(format!("a value has more than {MOST_PARTS} parts"));
            }
            // A text with line breaks is indented, and 64 bytes count like a part.
            let bytes = match value {
                Value::String(text) => text.len() + text.matches('\n').count() * 2 * depth,
                _ => 0,
            };
            *left = left.saturating_sub(1 + bytes / 64);
            match value {
                Value::List(list) => list
                    .items
                    .iter()
                    .try_for_each(|it| walk(it, depth + 1, left)),
                Value::Map(map) => {
                    let entries = map.entries.borrow();
                    entries
                        .values()
                        .try_for_each(|it| walk(it, depth + 1, left))
                }
                _ => Ok(()),
            }
        }
        walk(self, 0, &mut MOST_PARTS.clone())
    }

    /// A value of JSON, as Go decodes it into `interface {}`.
    pub fn of_json(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Nil,
            serde_json::Value::Bool(it) => Self::Bool(*it),
            serde_json::Value::Number(number) => {
                Self::Float(number.as_f64().unwrap_or(f64::INFINITY))
            }
            serde_json::Value::String(text) => Self::from(text.as_str()),
            serde_json::Value::Array(items) => {
                Self::list(items.iter().map(Self::of_json).collect::<Vec<_>>())
            }
            serde_json::Value::Object(entries) => {
                let entries = entries.iter();
                let entries = entries.map(|(key, value)| (key.clone(), Self::of_json(value)));
                Self::Map(Map::new(entries.collect()))
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Self {
        Self::Bool(it)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.type_name(), crate::go::print::any(self))
    }
}
