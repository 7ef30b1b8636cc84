//! Evaluates pipelines: fields, variables, and calls of functions with arguments of the right types.

use gotmpl::parse::{CommandNode, Expr, Number, PipeNode};

use super::{
    state::{At, Found, State},
    text::Shown,
};
use crate::{
    Error,
    function::{Call, Function, Kind, Scope},
    go::{number::quote, print},
    value::{Item, Map, MapType, Value, held},
};

impl<'n> State<'_, 'n> {
    /// Evaluates a pipeline, and sets its variables.
    pub fn pipeline(&mut self, dot: &Value, pipe: &'n PipeNode) -> Result<Value, Error> {
        let value = self.value_of(dot, pipe)?;
        for name in &pipe.decl {
            match pipe.is_assign {
                true => self.assign(name, Found::plain(value.clone()))?,
                false => {
                    let found = Found::plain(value.clone());
                    self.variables.push((name.to_string(), found));
                }
            }
        }
        Ok(value)
    }

    pub fn value_of(&mut self, dot: &Value, pipe: &'n PipeNode) -> Result<Value, Error> {
        self.at = Some(At::Pipe(pipe.pos, pipe));
        self.enter()?;
        self.step(1)?;
        let mut last = None;
        for command in &pipe.commands {
            last = Some(self.command(dot, command, last)?);
        }
        self.depth -= 1;
        Ok(last.unwrap_or_default())
    }

    fn command(
        &mut self,
        dot: &Value,
        command: &'n CommandNode,
        last: Option<Value>,
    ) -> Result<Value, Error> {
        let (first, arguments) = match command.args.split_first() {
            Some(it) => it,
            None => return Ok(Value::Nil),
        };
        match first {
            Expr::Field(_, fields) => {
                self.at = Some(At::Operand(first));
                let found = self.dot(dot);
                Ok(self.chain(dot, found, fields, arguments, last)?.value)
            }
            Expr::Chain(_, inner, fields) => {
                self.at = Some(At::Operand(first));
                if matches!(**inner, Expr::Nil(_)) {
                    return self.error(format!(
                        "indirection through explicit nil in {}",
                        self.shown(first)
                    ));
                }
                let found = self.argument(dot, inner)?;
                Ok(self.chain(dot, found, fields, arguments, last)?.value)
            }
            Expr::Variable(_, name, fields) => {
                self.at = Some(At::Operand(first));
                let found = self.variable(name)?;
                if fields.is_empty() {
                    self.not_a_function(first, arguments, &last)?;
                    return Ok(found.value);
                }
                Ok(self.chain(dot, found, fields, arguments, last)?.value)
            }
            Expr::Identifier(_, name) => {
                self.at = Some(At::Operand(first));
                self.function(dot, name, At::Command(command), arguments, last)
            }
            Expr::Pipe(_, pipe) => {
                self.not_a_function(first, arguments, &last)?;
                self.pipeline(dot, pipe)
            }
            _ => {
                self.at = Some(At::Operand(first));
                self.not_a_function(first, arguments, &last)?;
                match first {
                    Expr::Nil(_) => self.error("nil is not a command"),
                    _ => Ok(self.argument(dot, first)?.value),
                }
            }
        }
    }

    fn not_a_function(
        &self,
        first: &Expr,
        arguments: &'n [Expr],
        last: &Option<Value>,
    ) -> Result<(), Error> {
        match arguments.is_empty() && last.is_none() {
            true => Ok(()),
            false => self.error(format!(
                "can't give argument to non-function {}",
                self.shown(first)
            )),
        }
    }

    fn dot(&self, dot: &Value) -> Found {
        Found {
            value: dot.clone(),
            boxed: self.is_dot_boxed,
        }
    }

    fn variable(&self, name: &str) -> Result<Found, Error> {
        match self.variables.iter().rev().find(|it| it.0 == name) {
            Some((_, value)) => Ok(value.clone()),
            None => self.error(format!("undefined variable: {name}")),
        }
    }

    /// `.a.b.c` of a value. Only the last field takes arguments.
    fn chain(
        &mut self,
        dot: &Value,
        mut found: Found,
        fields: &[impl AsRef<str>],
        arguments: &'n [Expr],
        last: Option<Value>,
    ) -> Result<Found, Error> {
        let Some((end, before)) = fields.split_last() else {
            return Ok(found);
        };
        for field in before {
            found = self.field(found, field.as_ref(), None)?;
        }
        let mut given = Vec::new();
        for argument in arguments {
            given.push(self.argument(dot, argument)?.value);
        }
        given.extend(last);
        self.field(found, end.as_ref(), Some(given))
    }

    fn field(
        &mut self,
        of: Found,
        name: &str,
        arguments: Option<Vec<Value>>,
    ) -> Result<Found, Error> {
        let arguments = arguments.unwrap_or_default();
        let found = |map: &Map, value| {
            let boxed = map.of != MapType::Strings;
            Ok(Found { value, boxed })
        };
        let type_name = if of.boxed {
            "interface {}"
        } else {
            of.value.type_name()
        };
        match &of.value {
            Value::Nil if of.boxed => {
                self.error(format!("nil pointer evaluating {type_name}.{name}"))
            }
            Value::Nil if self.templates.strict => {
                self.error(format!("nil data; no entry for key {}", quote(name)))
            }
            // Go's zero reflect.Value: nothing, whose fields are nothing.
            Value::Nil => Ok(Found::plain(Value::Nil)),
            Value::Map(_) if !arguments.is_empty() => {
                self.error(format!("{name} is not a method but has arguments"))
            }
            Value::Map(map) => match map.get(name) {
                Some(value) => found(map, value),
                None if self.templates.strict => {
                    self.error(format!("map has no entry for key {}", quote(name)))
                }
                None => found(map, map.zero()),
            },
            Value::List(list) if list.of == Item::Version && name == "Has" => {
                match &arguments[..] {
                    [Value::String(version)] => {
                        let mut versions = list.items.iter();
                        let has = versions.any(|it| it.as_str() == Some(version));
                        Ok(Found::plain(Value::Bool(has)))
                    }
                    [other] => self.error(format!(
                        "wrong type for value; expected string; got {}",
                        other.type_name()
                    )),
                    given => self.error(format!(
                        "wrong number of args for Has: want 1 got {}",
                        given.len()
                    )),
                }
            }
            Value::Object(object) => match object.field(name, &arguments) {
                Some(Ok(value)) => {
                    let made = print::check().and_then(|()| self.made(&value));
                    let steps = 1 + cost(&arguments) + object.weight() as u64 / 4;
                    match made.and_then(|()| self.scope.budget.work(steps)) {
                        Ok(()) => Ok(Found::plain(value)),
                        Err(what) => self.error(what),
                    }
                }
                Some(Err(error)) => self.error(format!("error calling {name}: {error}")),
                None => self.error(format!("can't evaluate field {name} in type {type_name}")),
            },
            _ => self.error(format!("can't evaluate field {name} in type {type_name}")),
        }
    }

    /// An argument of a command.
    fn argument(&mut self, dot: &Value, expression: &'n Expr) -> Result<Found, Error> {
        self.at = Some(At::Operand(expression));
        let value = match expression {
            Expr::Dot(_) => return Ok(self.dot(dot)),
            Expr::Field(_, fields) => {
                let found = self.dot(dot);
                return self.chain(dot, found, fields, &[], None);
            }
            Expr::Variable(_, name, fields) => {
                let found = self.variable(name)?;
                return self.chain(dot, found, fields, &[], None);
            }
            Expr::Chain(_, inner, fields) => {
                let found = self.argument(dot, inner)?;
                return self.chain(dot, found, fields, &[], None);
            }
            Expr::Nil(_) => Value::Nil,
            Expr::Bool(_, it) => Value::Bool(*it),
            Expr::String(_, it) => Value::from(&**it),
            Expr::Number(_, Number::Int(it)) => Value::Int(*it),
            Expr::Number(_, Number::Uint(_)) => {
                return self.error(format!("{} overflows int", self.shown(expression)));
            }
            Expr::Number(_, Number::Float(it)) => Value::Float(*it),
            Expr::Pipe(_, pipe) => self.pipeline(dot, pipe)?,
            Expr::Identifier(_, name) => {
                self.function(dot, name, At::Operand(expression), &[], None)?
            }
        };
        Ok(Found::plain(value))
    }

    fn function(
        &mut self,
        dot: &Value,
        name: &str,
        at: At<'n>,
        arguments: &'n [Expr],
        last: Option<Value>,
    ) -> Result<Value, Error> {
        let functions = self.templates.functions.clone();
        let Some(function) = functions.get(name) else {
            return self.error(format!("{name:?} is not a defined function"));
        };
        self.count(
            name,
            function,
            arguments.len() + usize::from(last.is_some()),
        )?;
        // `and` and `or` evaluate no further than they have to.
        if name == "and" || name == "or" {
            let mut value = Value::Nil;
            for argument in arguments {
                value = self.argument(dot, argument)?.value;
                if value.is_true() == (name == "or") {
                    return Ok(value);
                }
            }
            return Ok(last.unwrap_or(value));
        }
        // What was evaluated last stays the place of errors, as in Go.
        let mut given = Vec::with_capacity(arguments.len() + 1);
        for (at, argument) in arguments.iter().enumerate() {
            let found = self.argument(dot, argument)?;
            let kind = function.kind(at);
            let value = constant(argument, found.value, kind);
            self.literal_fits(argument, &value, kind)?;
            let boxed = found.boxed;
            given.push(self.fits(Found { value, boxed }, kind)?);
        }
        if let Some(last) = last {
            let kind = function.kind(given.len());
            given.push(self.fits(Found::plain(last), kind)?);
        }
        self.step(1 + cost(&given))?;
        let call = Call {
            templates: self.templates,
            scope: Scope {
                depth: self.depth,
                budget: self.scope.budget.clone(),
            },
        };
        let result = (function.call)(&call, &given);
        let result = print::check().map_err(Error::new).and(result);
        match result {
            Ok(value) => match self.made(&value) {
                Ok(()) => Ok(value),
                Err(what) => {
                    self.at = Some(at);
                    self.error(what)
                }
            },
            Err(mut error) => {
                self.at = Some(at);
                if let ("call", Some(end)) = (name, error.text.strip_prefix("non-function")) {
                    let callee = self.callee(arguments.first(), &given[0]);
                    error.text = format!("non-function {callee}{end}");
                }
                match self.scope.budget.make(error.text.len()) {
                    Ok(()) => Err(Error {
                        is_execution: true,
                        cause: Some(Box::new(error)),
                        ..Error::new(self.located(&format_args!("error calling {name}: ")))
                    }),
                    Err(what) => self.error(what),
                }
            }
        }
    }

    /// What `call` was asked to call, in the words of its error.
    fn callee(&self, written: Option<&Expr>, value: &Value) -> String {
        match (written, value) {
            (Some(Expr::Pipe(_, inner)), _) => Shown(&self.template.source.text).pipe(inner),
            (Some(written), _) => self.shown(written),
            (None, Value::String(text)) => text.to_string(),
            (None, other) => format!("<{} Value>", other.type_name()),
        }
    }

    /// Counts what a function or a method gave: texts and lists are new, and maps are held until the end.
    fn made(&self, value: &Value) -> Result<(), String> {
        let bytes = match value {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => {
                held::hold_list(&list.items);
                list.items.len() * size_of::<Value>()
            }
            _ => 0,
        };
        self.scope.budget.make(bytes)?;
        self.scope.budget.hold(held::parts())
    }

    fn count(&self, name: &str, function: &Function, given: usize) -> Result<(), Error> {
        let wanted = function.parameters.len();
        match function.variadic {
            Some(_) if given < wanted => self.error(format!(
                "wrong number of args for {name}: want at least {wanted} got {given}"
            )),
            None if given != wanted => self.error(format!(
                "wrong number of args for {name}: want {wanted} got {given}"
            )),
            _ => Ok(()),
        }
    }

    /// Checks that a parameter of this kind takes what is written in the template.
    fn literal_fits(&self, argument: &Expr, value: &Value, kind: Kind) -> Result<(), Error> {
        let is_literal = matches!(
            argument,
            Expr::Nil(_) | Expr::Bool(..) | Expr::String(..) | Expr::Number(..)
        );
        if !is_literal || kind.takes(value) {
            return Ok(());
        }
        let shown = self.shown(argument);
        let expected = match kind {
            _ if matches!(argument, Expr::Nil(_)) => {
                return self.error(format!("cannot assign nil to {}", kind.type_name()));
            }
            Kind::String => "string",
            Kind::Bool => "bool",
            Kind::Int | Kind::Int64 => "integer",
            Kind::Uint32 => "unsigned integer",
            Kind::Float => "float",
            Kind::Any | Kind::Reflect | Kind::Map | Kind::Filled | Kind::List | Kind::Object(_) => {
                return self.error(format!(
                    "can't handle {shown} for arg of type {}",
                    kind.type_name()
                ));
            }
        };
        self.error(format!("expected {expected}; found {shown}"))
    }

    /// The value, if a parameter of this kind takes it.
    fn fits(&self, found: Found, kind: Kind) -> Result<Value, Error> {
        let value = found.value;
        let is_any = matches!(kind, Kind::Any | Kind::Reflect);
        let is_boxed_nil = found.boxed && matches!(value, Value::Nil);
        let type_name = match &value {
            value if kind.takes(value) && (is_any || !is_boxed_nil) => {
                return Ok(kind.zero_for_nil(value.clone()));
            }
            Value::Nil if !found.boxed => {
                return self.error(format!("invalid value; expected {}", kind.type_name()));
            }
            Value::Nil => "interface {}",
            value => value.type_name(),
        };
        self.error(format!(
            "wrong type for value; expected {}; got {type_name}",
            kind.type_name()
        ))
    }
}

/// The steps that a call takes for the texts and lists that it is given.
fn cost(given: &[Value]) -> u64 {
    let steps = given.iter().map(|value| match value {
        Value::String(text) => text.len() / 4096,
        Value::Bytes(bytes) => bytes.len() / 4096,
        Value::List(list) => list.items.len() / 256,
        Value::Map(map) => map.len() / 256,
        _ => 0,
    });
    steps.sum::<usize>() as u64
}

/// Whether a float is an integer.
fn is_integer(it: f64) -> bool {
    it.fract() == 0.0 && it.abs() < 9_223_372_036_854_775_808.0
}

/// A constant has the type that its parameter asks for, where it has no own.
fn constant(expression: &Expr, value: Value, kind: Kind) -> Value {
    match (expression, value, kind) {
        (Expr::Number(..), Value::Int(it), Kind::Float) => Value::Float(it as f64),
        (Expr::Number(..), Value::Int(it), Kind::Int64) => Value::Int64(it),
        (Expr::Number(..), Value::Float(it), Kind::Int) if is_integer(it) => Value::Int(it as i64),
        (Expr::Number(..), Value::Float(it), Kind::Int64) if is_integer(it) => {
            Value::Int64(it as i64)
        }
        (Expr::Number(..), Value::Int(it), Kind::Uint32) if u32::try_from(it).is_ok() => {
            Value::Uint64(it.unsigned_abs())
        }
        (_, value, _) => value,
    }
}
