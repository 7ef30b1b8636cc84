//! Functions that templates call, with the types of their parameters: Go checks arguments before a call.

use std::{collections::BTreeMap, rc::Rc};

use crate::{Error, limit::Budget, value::Value};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `interface {}`.
    Any,
    /// `string`.
    String,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `int64`.
    Int64,
    /// `float64`.
    Float,
    /// `map[string]interface {}`.
    Map,
    /// `map[string]interface {}` of a function that does not work with `nil` as with an empty map.
    Filled,
    /// `[]interface {}`.
    List,
    /// `reflect.Value`: anything, also nothing.
    Reflect,
    /// `uint32`. Only constants have this type.
    Uint32,
    /// The type of an object, by its name.
    Object(&'static str),
}

impl Kind {
    /// The name of the type in errors.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::String => "string",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Int64 => "int64",
            Self::Float => "float64",
            Self::Map | Self::Filled => "map[string]interface {}",
            Self::List => "[]interface {}",
            Self::Reflect => "reflect.Value",
            Self::Uint32 => "uint32",
            Self::Object(name) => name,
        }
    }

    /// Whether a parameter of this type takes a value. `nil` is taken by types that can be nil.
    pub fn takes(self, value: &Value) -> bool {
        use crate::value::{Item, MapType};
        match (self, value) {
            (Self::Any | Self::Reflect, _) => true,
            (Self::Map | Self::Filled | Self::List, Value::Nil) => true,
            (Self::String, Value::String(_)) => true,
            (Self::Bool, Value::Bool(_)) => true,
            (Self::Int, Value::Int(_)) => true,
            (Self::Int64, Value::Int64(_)) => true,
            (Self::Float, Value::Float(_)) => true,
            (Self::Uint32, Value::Uint64(_)) => true,
            (Self::Object(name), Value::Object(object)) => object.type_name() == name,
            (Self::Map | Self::Filled, Value::Map(map)) => map.of != MapType::Strings,
            (Self::List, Value::List(list)) => list.of == Item::Any,
            _ => false,
        }
    }

    /// `nil` as the empty value of a type that can be nil.
    pub fn zero_for_nil(self, value: Value) -> Value {
        match (self, &value) {
            (Self::Map, Value::Nil) => Value::map(),
            (Self::List, Value::Nil) => Value::list(Vec::new()),
            _ => value,
        }
    }
}

/// What all templates of a rendering share.
#[derive(Clone)]
pub struct Scope {
    /// How deep the call that executes is in others.
    pub depth: usize,
    /// The bounds of a rendering.
    pub budget: Rc<Budget>,
}

/// The templates that know each other, for the functions that execute some of them.
pub trait Nested {
    /// Executes a template with `dot`.
    ///
    /// # Errors
    /// As Go's, with the place in the template.
    fn execute(&self, name: &str, dot: &Value, scope: &Scope)
    -> std::result::Result<String, Error>;

    /// Executes a text under a name. What it defines is known to itself alone.
    ///
    /// # Errors
    /// The text is no template; in the result, as [`execute`](Self::execute).
    fn execute_text(
        &self,
        name: &str,
        text: &str,
        dot: &Value,
        scope: &Scope,
    ) -> std::result::Result<std::result::Result<String, Error>, Error>;
}

/// A call of a function: what it may use of the template that calls it.
pub struct Call<'a> {
    /// The templates that know each other.
    pub templates: &'a dyn Nested,
    /// Where the call is.
    pub scope: Scope,
}

/// What a call of a function gives, or the message of its failure.
pub type Result = std::result::Result<Value, String>;

/// What a function does.
type Run = dyn Fn(&Call<'_>, &[Value]) -> std::result::Result<Value, Error>;

/// A function.
#[derive(Clone)]
pub struct Function {
    /// The types of its parameters, but the variadic one.
    pub parameters: Vec<Kind>,
    /// The type of any number of further arguments.
    pub variadic: Option<Kind>,
    /// What it does. The arguments have the types of the parameters.
    pub call: Rc<Run>,
}

impl Function {
    /// The type of the parameter at an index.
    pub fn kind(&self, at: usize) -> Kind {
        let further = self.variadic.unwrap_or(Kind::Any);
        self.parameters.get(at).copied().unwrap_or(further)
    }
}

/// Functions by name.
#[derive(Clone, Default)]
pub struct Functions(BTreeMap<String, Function>);

impl Functions {
    /// The function of a name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.0.get(name)
    }

    /// The names of all.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds a function with these parameters.
    pub fn add(
        &mut self,
        name: &str,
        parameters: &[Kind],
        call: impl Fn(&Call<'_>, &[Value]) -> Result + 'static,
    ) {
        self.insert(name, parameters, None, call);
    }

    /// Adds a function that takes any number of further arguments.
    pub fn add_variadic(
        &mut self,
        name: &str,
        parameters: &[Kind],
        further: Kind,
        call: impl Fn(&Call<'_>, &[Value]) -> Result + 'static,
    ) {
        self.insert(name, parameters, Some(further), call);
    }

    /// Adds a function that executes templates: its error may have one of theirs as its cause.
    pub fn add_nested(
        &mut self,
        name: &str,
        parameters: &[Kind],
        call: impl Fn(&Call<'_>, &[Value]) -> std::result::Result<Value, Error> + 'static,
    ) {
        let function = Function {
            parameters: parameters.to_vec(),
            variadic: None,
            call: Rc::new(call),
        };
        self.0.insert(name.to_owned(), function);
    }

    fn insert(
        &mut self,
        name: &str,
        parameters: &[Kind],
        variadic: Option<Kind>,
        call: impl Fn(&Call<'_>, &[Value]) -> Result + 'static,
    ) {
        let function = Function {
            parameters: parameters.to_vec(),
            variadic,
            call: Rc::new(move |of, given| call(of, given).map_err(Error::from)),
        };
        self.0.insert(name.to_owned(), function);
    }
}
