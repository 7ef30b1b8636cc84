//! The value that an expression of a template refers to, if that follows from the text alone.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shape::{ELEMENT, Path, below};

/// What an expression stands for.
#[derive(Clone, Debug)]
pub enum Reference {
    /// The dot of a whole chart: `$`, with `.Values`, `.Release` and the like.
    Root,
    /// A value, by its path.
    Values(Path),
    /// Something else of the root, such as `Release.IsUpgrade`.
    Given(Vec<String>),
    /// A literal.
    Literal(Value),
    /// What `dict` makes.
    Dict(BTreeMap<String, Reference>),
    /// A boolean.
    Test(Condition),
    /// What a named template gives, and what it is called with.
    Included(String, Box<Reference>),
    /// What a function makes of a value.
    Made,
    /// Anything else.
    Unknown,
}

/// A condition of a template.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The value of a path is not empty.
    Is(Path),
    /// The value of a path is this one.
    Equals(Path, Value),
    /// The list of a path has this element.
    Holds(Path, Value),
    /// The number of a path is this one or more.
    AtLeast(Path, i64),
    /// The cluster has an API.
    Has(String),
    /// The version of Kubernetes fits.
    Version,
    /// The release is there already.
    IsUpgrade,
    /// The release is in this namespace.
    Namespace(String),
    /// A named template gives this text, or any.
    Included {
        /// The name.
        name: String,
        /// What it is called with.
        with: Box<Reference>,
        /// The text.
        text: Option<String>,
    },
    /// The condition does not hold.
    Not(Box<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// One or more hold.
    Any(Vec<Condition>),
    /// It always or never holds.
    Constant(bool),
    /// Nothing is known of it.
    Unknown,
}

impl Reference {
    /// When it is true.
    pub fn truth(&self) -> Condition {
        match self {
            Self::Values(path) => Condition::Is(path.clone()),
            Self::Test(condition) => condition.clone(),
            Self::Literal(value) => Condition::Constant(is_true(value)),
            Self::Included(name, with) => Condition::Included {
                name: name.clone(),
                with: with.clone(),
                text: None,
            },
            Self::Given(names) => match names.last().map(String::as_str) {
                Some("IsUpgrade") => Condition::IsUpgrade,
                Some("IsInstall") => Condition::Not(Box::new(Condition::IsUpgrade)),
                _ => Condition::Unknown,
            },
            Self::Root | Self::Dict(_) => Condition::Constant(true),
            Self::Made | Self::Unknown => Condition::Unknown,
        }
    }

    /// What is equal to a value when `if` decides.
    pub fn is(&self, value: &Value) -> Condition {
        let text = value.as_str();
        match (self, value, text) {
            (Self::Values(path), ..) => Condition::Equals(path.clone(), value.clone()),
            (Self::Test(condition), Value::Bool(true), _) => condition.clone(),
            (Self::Test(condition), _, Some("true")) => condition.clone(),
            (Self::Test(condition), Value::Bool(false), _)
            | (Self::Test(condition), _, Some("false")) => {
                Condition::Not(Box::new(condition.clone()))
            }
            (Self::Included(name, with), _, Some(text)) => Condition::Included {
                name: name.clone(),
                with: with.clone(),
                text: Some(text.to_owned()),
            },
            (Self::Given(names), _, Some(text)) => match names.join(".").as_str() {
                "Release.Namespace" => Condition::Namespace(text.to_owned()),
                name if name.starts_with("Capabilities.KubeVersion") => Condition::Version,
                _ => Condition::Unknown,
            },
            (Self::Literal(literal), ..) => Condition::Constant(literal == value),
            _ => Condition::Unknown,
        }
    }

    /// Whether it is a value, or made of one.
    pub fn is_of_values(&self) -> bool {
        match self {
            Self::Values(_) | Self::Made => true,
            Self::Test(Condition::Any(all)) => all.iter().any(|it| matches!(it, Condition::Is(_))),
            _ => false,
        }
    }

    /// The path, if it is a value.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Values(path) => Some(path),
            _ => None,
        }
    }

    /// The value, if it is a literal.
    pub fn literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The text, if it is a literal one.
    pub fn text(&self) -> Option<&str> {
        self.literal()?.as_str()
    }

    /// The reference, or an unknown one if it has too many parts.
    pub fn bounded(self) -> Self {
        match is_small(&self) {
            true => self,
            false => Self::Unknown,
        }
    }

    /// What `range` and `index` find in it.
    pub fn element(&self) -> Self {
        match self {
            Self::Values(path) => Self::Values(below(path, ELEMENT)),
            Self::Literal(Value::Array(items)) => {
                items.first().cloned().map_or(Self::Unknown, Self::Literal)
            }
            Self::Made => Self::Made,
            _ => Self::Unknown,
        }
    }

    /// What the dot is where this is true: of several values, the first one.
    pub fn dot(self) -> Self {
        match self {
            Self::Test(Condition::Any(all)) => {
                let first = all.into_iter().find_map(|it| match it {
                    Condition::Is(path) => Some(Self::Values(path)),
                    _ => None,
                });
                first.unwrap_or(Self::Unknown)
            }
            it => it,
        }
    }
}

/// How many parts a condition or a reference may have: one that names itself again and again would grow without end.
const PARTS: usize = 400;

/// Takes parts from those that are left.
trait Parts {
    fn take(&self, left: &mut usize);
}

impl Parts for Reference {
    fn take(&self, left: &mut usize) {
        *left = left.saturating_sub(1);
        match self {
            _ if *left == 0 => {}
            Self::Dict(entries) => entries.values().for_each(|it| it.take(left)),
            Self::Test(condition) => condition.take(left),
            Self::Included(_, with) => with.take(left),
            _ => {}
        }
    }
}

impl Parts for Condition {
    fn take(&self, left: &mut usize) {
        *left = left.saturating_sub(1);
        match self {
            _ if *left == 0 => {}
            Self::Not(inner) => inner.take(left),
            Self::All(all) | Self::Any(all) => all.iter().for_each(|it| it.take(left)),
            Self::Included { with, .. } => with.take(left),
            _ => {}
        }
    }
}

fn is_small(it: &impl Parts) -> bool {
    let mut left = PARTS;
    it.take(&mut left);
    left > 0
}

impl Condition {
    /// The condition, or an unknown one if it has too many parts.
    pub fn bounded(self) -> Self {
        match is_small(&self) {
            true => self,
            false => Self::Unknown,
        }
    }
}

/// Whether templates take a value for true.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::Number(it) => it.as_f64() != Some(0.0),
        Value::String(it) => !it.is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
    }
}
