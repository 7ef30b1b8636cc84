//! The types of expressions, and which of them go together.

use std::{collections::BTreeMap, fmt, rc::Rc};

use super::parser::RESERVED;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// Any type: it is known when the rule runs.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Duration,
    Timestamp,
    /// A type, as a value.
    Meta(Rc<Type>),
    List(Rc<Type>),
    Map(Rc<Type>, Rc<Type>),
    Optional(Rc<Type>),
    /// A type of Kubernetes, such as `kubernetes.Quantity`.
    Named(&'static str),
    Object(Object),
    /// Not known yet.
    Variable(usize),
}

/// An object of the schema; two that look the same are different.
#[derive(Clone, Debug)]
pub(super) struct Object(pub(super) Rc<Declared>);

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Dyn | Self::Variable(_) => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::Named(name) => name,
            Self::Object(_) => "object",
            Self::Meta(of) => return write!(f, "type({of})"),
            Self::List(of) => return write!(f, "list({of})"),
            Self::Optional(of) => return write!(f, "optional({of})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
        };
        f.write_str(name)
    }
}

impl Type {
    pub(super) fn list(of: Self) -> Self {
        Self::List(Rc::new(of))
    }

    pub(super) fn optional(of: Self) -> Self {
        Self::Optional(Rc::new(of))
    }

    /// The types that it consists of.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Meta(of) | Self::List(of) | Self::Optional(of) => vec![of],
            Self::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }

    /// The type with other parts.
    pub(super) fn with(&self, part: &mut dyn FnMut(&Self) -> Self) -> Self {
        match self {
            Self::Meta(of) => Self::Meta(Rc::new(part(of))),
            Self::List(of) => Self::List(Rc::new(part(of))),
            Self::Optional(of) => Self::Optional(Rc::new(part(of))),
            Self::Map(key, value) => {
                let key = part(key);
                Self::Map(Rc::new(key), Rc::new(part(value)))
            }
            other => other.clone(),
        }
    }

    fn is_wild(&self) -> bool {
        matches!(self, Self::Dyn | Self::Variable(_))
    }

    /// Whether it can be null.
    fn is_nullable(&self) -> bool {
        use Type::{Duration, Named, Null, Object, Optional, Timestamp};
        matches!(
            self,
            Null | Optional(_) | Object(_) | Named(_) | Duration | Timestamp
        )
    }

    /// Whether its values have a size that is known.
    pub(super) fn is_scalar(&self) -> bool {
        use Type::{Bool, Double, Duration, Int, Optional, Timestamp, Uint};
        match self {
            Bool | Double | Duration | Int | Timestamp | Uint => true,
            Optional(of) => of.is_scalar(),
            _ => false,
        }
    }
}

/// A type of the schema.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) form: Form,
    /// How many bytes, items or values there can be.
    pub(super) most: u64,
    /// How many bytes it has in JSON at least.
    pub(super) least_bytes: i64,
    /// The limit that is missing.
    pub(super) missing: Option<Limit>,
    /// The path from the schema that was declared.
    pub(super) path: String,
}

#[derive(Debug)]
pub(super) enum Form {
    Scalar(Type),
    List(Rc<Declared>),
    Map(Rc<Declared>),
    Object(BTreeMap<String, Rc<Declared>>),
}

/// A limit of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    Length,
    Items,
    Values,
}

impl Declared {
    pub(super) fn type_(self: &Rc<Self>) -> Type {
        match &self.form {
            Form::Scalar(type_) => type_.clone(),
            Form::List(items) => Type::list(items.type_()),
            Form::Map(values) => Type::Map(Rc::new(Type::Text), Rc::new(values.type_())),
            Form::Object(_) => Type::Object(Object(self.clone())),
        }
    }

    /// The type of a field, by the name that a rule writes.
    pub(super) fn field(&self, name: &str) -> Option<&Rc<Self>> {
        let Form::Object(fields) = &self.form else {
            return None;
        };
        let reserved = || {
            RESERVED
                .contains(&name)
                .then(|| fields.get(&format!("__{name}__")))
        };
        fields.get(name).or_else(|| reserved().flatten())
    }
}

/// What is known of the variables of types.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(Vec<Option<Type>>);

impl Known {
    pub(super) fn variable(&mut self) -> Type {
        self.0.push(None);
        Type::Variable(self.0.len() - 1)
    }

    fn find(&self, type_: &Type) -> Option<&Type> {
        match type_ {
            Type::Variable(variable) => self.0[*variable].as_ref(),
            _ => None,
        }
    }

    /// The type with what is known; an unknown one becomes `dyn` in the end.
    pub(super) fn resolve(&self, type_: &Type, is_end: bool) -> Type {
        match self.find(type_) {
            Some(known) => self.resolve(known, is_end),
            None if is_end && matches!(type_, Type::Variable(_)) => Type::Dyn,
            None => type_.with(&mut |part| self.resolve(part, is_end)),
        }
    }

    /// Whether each type fits its place. What follows for variables is kept if all do.
    pub(super) fn fits<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'a Type, &'a Type)>,
    ) -> bool {
        let mut tried = self.clone();
        let fits = pairs
            .into_iter()
            .all(|(place, type_)| tried.fit(place, type_));
        if fits {
            *self = tried;
        }
        fits
    }

    fn fit(&mut self, a: &Type, b: &Type) -> bool {
        if let Type::Variable(_) = b {
            match self.bind(a, b) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Variable(_) = a {
            return self.bind(b, a).0;
        }
        match (a, b) {
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.fit(a, b)
            }
            (Type::Map(key, value), Type::Map(key2, value2)) => {
                self.fit(key, key2) && self.fit(value, value2)
            }
            (a, b) => a == b,
        }
    }

    /// Whether a variable can be `type_`, and whether something was known of it.
    fn bind(&mut self, type_: &Type, variable: &Type) -> (bool, bool) {
        if type_ == variable {
            return (true, true);
        }
        if let Some(known) = self.find(variable).cloned() {
            if *type_ == known {
                return (true, true);
            }
            if !self.fit(type_, &known) {
                return (false, true);
            }
            let general = more_general(type_, &known).clone();
            if self.is_outside(variable, &general) {
                self.set(variable, general);
            }
            return (true, true);
        }
        match self.is_outside(variable, type_) {
            true => {
                self.set(variable, type_.clone());
                (true, false)
            }
            false => (false, false),
        }
    }

    fn set(&mut self, variable: &Type, type_: Type) {
        if let Type::Variable(variable) = variable {
            self.0[*variable] = Some(type_);
        }
    }

    /// Whether the variable is not a part of `type_`.
    fn is_outside(&self, variable: &Type, type_: &Type) -> bool {
        if variable == type_ {
            return false;
        }
        match self.find(type_) {
            Some(known) => self.is_outside(variable, known),
            None => type_
                .parts()
                .into_iter()
                .all(|part| self.is_outside(variable, part)),
        }
    }
}

/// The more general of two types that go together.
pub(super) fn more_general<'a>(a: &'a Type, b: &'a Type) -> &'a Type {
    if is_as_general(a, b) { a } else { b }
}

fn is_as_general(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (a, _) if a.is_wild() => true,
        (_, b) if b.is_wild() => false,
        (Type::Meta(_), Type::Meta(_)) => true,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
            is_as_general(a, b)
        }
        (Type::Map(key, value), Type::Map(key2, value2)) => {
            is_as_general(key, key2) && is_as_general(value, value2)
        }
        (a, b) => a == b,
    }
}
