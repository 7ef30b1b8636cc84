//! Finds the types of an expression.

use std::rc::Rc;

use super::{
    Fault,
    expressions::{Call, Expr, Fold, Kind, Literal, Select},
    functions::{self, Functions, Overload},
    parser::RESERVED,
    types::{Declared, Form, Known, Type, more_general},
};

/// The macros, which are calls if they have other arguments.
const MACROS: [&str; 12] = [
    "all",
    "exists",
    "exists_one",
    "filter",
    "has",
    "map",
    "optFlatMap",
    "optMap",
    "sortBy",
    "transformList",
    "transformMap",
    "transformMapEntry",
];

/// An expression whose types are known.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) root: Expr,
    /// The types of the nodes, by their numbers.
    pub(super) types: Vec<Option<Type>>,
    /// The ways to call that fit, of the calls.
    pub(super) overloads: Vec<Vec<Rc<Overload>>>,
    pub(super) uses_old: bool,
    /// A field that is named by a reserved word, and has another name for the API server.
    pub(super) word: Option<String>,
}

impl Checked {
    /// The type of a node; that of the name of an optional field has none.
    pub(super) fn type_of(&self, node: &Expr) -> &Type {
        self.types[node.id].as_ref().unwrap_or(&Type::Text)
    }
}

/// Checks an expression of `count` nodes whose variable `self` is `declared`.
pub(super) fn check(
    mut root: Expr,
    count: usize,
    declared: &Rc<Declared>,
    has_optional_old: bool,
) -> Result<Checked, Fault> {
    let self_ = declared.type_();
    let old = match has_optional_old {
        true => Type::optional(self_.clone()),
        false => self_.clone(),
    };
    let mut checker = Checker {
        known: Known::default(),
        functions: functions::functions(),
        variables: [("self", self_), ("oldSelf", old)],
        locals: Vec::new(),
        types: vec![None; count],
        overloads: vec![Vec::new(); count],
        uses_old: false,
        word: None,
    };
    checker.check(&mut root)?;
    let Checker {
        known,
        types,
        overloads,
        uses_old,
        word,
        ..
    } = checker;
    let resolve = |type_: Option<Type>| type_.map(|type_| known.resolve(&type_, true));
    let types = types.into_iter().map(resolve).collect();
    Ok(Checked {
        root,
        types,
        overloads,
        uses_old,
        word,
    })
}

struct Checker {
    known: Known,
    functions: Rc<Functions>,
    variables: [(&'static str, Type); 2],
    /// The variables of the loops around.
    locals: Vec<(String, Type)>,
    types: Vec<Option<Type>>,
    overloads: Vec<Vec<Rc<Overload>>>,
    uses_old: bool,
    word: Option<String>,
}

impl Checker {
    fn check(&mut self, node: &mut Expr) -> Result<Type, Fault> {
        let (id, at) = (node.id, node.at);
        let type_ = match &mut node.kind {
            Kind::Literal(literal) => match literal {
                Literal::Null => Type::Null,
                Literal::Bool(_) => Type::Bool,
                Literal::Int(_) => Type::Int,
                Literal::Uint(_) => Type::Uint,
                Literal::Double(_) => Type::Double,
                Literal::Text(_) => Type::Text,
                Literal::Bytes(_) => Type::Bytes,
            },
            Kind::Name(name) => self.name(at, name)?,
            Kind::Select(select) => {
                if let Some((name, type_)) = self.qualified(select) {
                    node.kind = Kind::Name(name);
                    type_
                } else {
                    self.select(at, select)?
                }
            }
            Kind::Call(call) if call.function == "_?._" => self.optional_select(at, id, call)?,
            Kind::Call(call) => self.call(at, id, call)?,
            Kind::List(items) => {
                let mut of = None;
                for item in items {
                    let type_ = self.check(&mut item.value)?;
                    let type_ = self.unwrapped(item.value.at, type_, item.is_optional)?;
                    of = Some(self.join(of, type_));
                }
                Type::list(of.unwrap_or_else(|| self.known.variable()))
            }
            Kind::Map(entries) => {
                let (mut keys, mut values) = (None, None);
                for entry in entries {
                    let key = self.check(&mut entry.key)?;
                    keys = Some(self.join(keys, key));
                    let value = self.check(&mut entry.value)?;
                    let value = self.unwrapped(entry.value.at, value, entry.is_optional)?;
                    values = Some(self.join(values, value));
                }
                let mut known =
                    |type_: Option<Type>| Rc::new(type_.unwrap_or_else(|| self.known.variable()));
                Type::Map(known(keys), known(values))
            }
            Kind::Fold(fold) => self.fold(fold)?,
        };
        self.types[id] = Some(type_.clone());
        Ok(type_)
    }

    fn name(&mut self, at: usize, name: &mut String) -> Result<Type, Fault> {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        if let Some((_, type_)) = local {
            return Ok(type_.clone());
        }
        let global = name.trim_start_matches('.').to_owned();
        let hidden = self.is_local(&global);
        if matches!(global.as_str(), "google" | "kubernetes" | "net") {
            return Err(Fault::Unknown);
        }
        let variable = self
            .variables
            .iter()
            .find(|(variable, _)| *variable == global);
        let type_ = match variable {
            Some((variable, type_)) => {
                self.uses_old |= *variable == "oldSelf";
                type_.clone()
            }
            None => match functions::named(&global) {
                Some(type_) => Type::Meta(Rc::new(type_)),
                None => {
                    let why = format!(
                        "`{name}` is not known; there is `self`, and there are the variables of loops"
                    );
                    return Err(Fault::at(at, why));
                }
            },
        };
        *name = if hidden { format!(".{global}") } else { global };
        Ok(type_)
    }

    /// Whether it is a name that may be the first part of that of an unknown function, and no variable.
    fn is_unknown(&self, node: &Expr) -> bool {
        let Some(name) = node.name().map(|name| name.trim_start_matches('.')) else {
            return false;
        };
        let variables = self.variables.iter().map(|(variable, _)| *variable);
        let variables = variables.chain(self.locals.iter().map(|(local, _)| local.as_str()));
        functions::named(name).is_none() && nearest(name, variables).is_none()
    }

    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|(local, _)| local == name)
    }

    /// The type that a name with dots stands for, such as `net.IP`.
    fn qualified(&self, select: &Select) -> Option<(String, Type)> {
        let name = select.of.name().filter(|_| !select.is_test)?;
        let full = format!("{}.{}", name.trim_start_matches('.'), select.field);
        let type_ = functions::named(&full)?;
        (!self.is_local(name)).then(|| (full, Type::Meta(Rc::new(type_))))
    }

    fn select(&mut self, at: usize, select: &mut Select) -> Result<Type, Fault> {
        let type_ = self.field(at, &mut select.of, &select.field, false)?;
        match select.is_test {
            true => Ok(Type::Bool),
            false => Ok(self.known.resolve(&type_, false)),
        }
    }

    fn optional_select(&mut self, at: usize, id: usize, call: &mut Call) -> Result<Type, Fault> {
        let [of, field] = &mut call.arguments[..] else {
            return Err(Fault::Unknown);
        };
        let Some(Literal::Text(field)) = field.literal().cloned() else {
            return Err(Fault::Unknown);
        };
        let type_ = self.field(at, of, &field, true)?;
        self.overloads[id].clone_from(&self.functions["_?._"]);
        Ok(self.known.resolve(&type_, false))
    }

    fn field(
        &mut self,
        at: usize,
        of: &mut Expr,
        field: &str,
        is_optional: bool,
    ) -> Result<Type, Fault> {
        let of = self.check(of)?;
        let of = self.known.resolve(&of, false);
        let (target, was_optional) = match &of {
            Type::Optional(of) => (&**of, true),
            of => (of, false),
        };
        let type_ = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(object) => match object.0.field(field) {
                Some(declared) => {
                    if RESERVED.contains(&field) {
                        self.word = Some(field.to_owned());
                    }
                    declared.type_()
                }
                None => return Err(Fault::at(at, no_field(&object.0, field))),
            },
            Type::Variable(_) => {
                self.known.fits([(&Type::Dyn, target)]);
                Type::Dyn
            }
            Type::Dyn => Type::Dyn,
            other => {
                return Err(Fault::at(
                    at,
                    format!("`.{field}` is asked of a value of type {other}"),
                ));
            }
        };
        match was_optional || is_optional {
            true => Ok(Type::optional(type_)),
            false => Ok(type_),
        }
    }

    fn call(&mut self, at: usize, id: usize, call: &mut Call) -> Result<Type, Fault> {
        let functions = self.functions.clone();
        let prefix = call.target.as_deref().and_then(dotted);
        let full = prefix.map(|prefix| format!("{prefix}.{}", call.function));
        if let Some(full) = full {
            if functions.contains_key(full.as_str()) {
                call.target = None;
                call.function = full;
            } else if call
                .target
                .as_ref()
                .is_some_and(|target| self.is_unknown(target))
            {
                return Err(unknown_function(at, &full, &functions));
            }
        }
        if call.target.is_none() {
            call.function = call.function.trim_start_matches('.').to_owned();
        }
        // The arguments of an unknown macro have unknown names.
        let Some(overloads) = functions.get(call.function.as_str()) else {
            return Err(unknown_function(at, &call.function, &functions));
        };
        let mut takes = Vec::new();
        for argument in &mut call.arguments {
            takes.push(self.check(argument)?);
        }
        if let Some(target) = &mut call.target {
            takes.insert(0, self.check(target)?);
        }
        self.resolve(at, id, call, overloads, &takes)
    }

    fn resolve(
        &mut self,
        at: usize,
        id: usize,
        call: &Call,
        overloads: &[Rc<Overload>],
        takes: &[Type],
    ) -> Result<Type, Fault> {
        let is_junction = matches!(call.function.as_str(), "_&&_" | "_||_");
        let mut gives: Option<Type> = None;
        let fitting = overloads
            .iter()
            .filter(|it| it.is_method == call.target.is_some());
        for overload in fitting {
            let (wanted, result) = overload.signature(&mut self.known);
            let fits = match is_junction {
                true => takes
                    .iter()
                    .all(|type_| self.known.fits([(type_, &Type::Bool)])),
                false => wanted.len() == takes.len() && self.known.fits(takes.iter().zip(&wanted)),
            };
            if !fits {
                continue;
            }
            self.overloads[id].push(overload.clone());
            let result = self.known.resolve(&result, false);
            gives = match gives {
                None => Some(result),
                Some(Type::Dyn) => Some(Type::Dyn),
                Some(gives) if gives == result => Some(gives),
                Some(_) => Some(Type::Dyn),
            };
        }
        gives.ok_or_else(|| {
            let types = takes
                .iter()
                .map(|type_| self.known.resolve(type_, true).to_string());
            let (types, name) = (
                types.collect::<Vec<_>>().join(" and "),
                operator(&call.function),
            );
            let types = if types.is_empty() { "nothing" } else { &types };
            Fault::at(at, format!("`{name}` does not take {types}"))
        })
    }

    fn unwrapped(&mut self, at: usize, type_: Type, is_optional: bool) -> Result<Type, Fault> {
        match type_ {
            Type::Optional(of) if is_optional => Ok((*of).clone()),
            // The API server fails for a value of any type.
            Type::Dyn if is_optional => Err(Fault::Unknown),
            type_ if is_optional => Err(Fault::at(
                at,
                format!("`?` is before a value of type {type_}, which is not optional"),
            )),
            type_ => Ok(type_),
        }
    }

    /// The type of values of both types; that of different ones is judged later.
    fn join(&mut self, before: Option<Type>, type_: Type) -> Type {
        let Some(before) = before else {
            return type_;
        };
        match self.known.fits([(&before, &type_)]) {
            true => more_general(&before, &type_).clone(),
            false => Type::Dyn,
        }
    }

    fn mixed(&self, at: usize, wanted: &Type, type_: &Type) -> Fault {
        let [wanted, type_] = [wanted, type_].map(|type_| self.known.resolve(type_, true));
        mixed(at, &wanted, &type_)
    }

    fn fold(&mut self, fold: &mut Fold) -> Result<Type, Fault> {
        let range = self.check(&mut fold.range)?;
        let start = self.check(&mut fold.start)?;
        let range = self.known.resolve(&range, false);
        let (first, second) = match &range {
            Type::List(of) if fold.second.is_some() => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Variable(_) => {
                self.known.fits([(&Type::Dyn, &range)]);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let why = format!("a value of type {other} is neither a list nor a map");
                return Err(Fault::at(fold.range.at, why));
            }
        };
        let outside = self.locals.len();
        self.locals.push((fold.result_name.clone(), start.clone()));
        let inside = self.locals.len();
        self.locals.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second {
            self.locals.push((name.clone(), second));
        }
        for (part, wanted) in [(&mut fold.condition, &Type::Bool), (&mut fold.step, &start)] {
            let type_ = self.check(part)?;
            if !self.known.fits([(wanted, &type_)]) {
                return Err(self.mixed(part.at, wanted, &type_));
            }
        }
        self.locals.truncate(inside);
        let result = self.check(&mut fold.result)?;
        self.locals.truncate(outside);
        Ok(self.known.resolve(&result, false))
    }
}

/// Why two types do not go together in a list, a map or a loop.
pub(super) fn mixed(at: usize, wanted: &Type, type_: &Type) -> Fault {
    Fault::at(
        at,
        format!("a value of type {type_} is among those of type {wanted}"),
    )
}

/// The name that a chain of names and fields spells.
fn dotted(node: &Expr) -> Option<String> {
    match &node.kind {
        Kind::Name(name) => Some(name.trim_start_matches('.').to_owned()),
        Kind::Select(select) if !select.is_test => {
            Some(format!("{}.{}", dotted(&select.of)?, select.field))
        }
        _ => None,
    }
}

fn no_field(of: &Declared, field: &str) -> String {
    let near = match &of.form {
        Form::Object(fields) => nearest(field, fields.keys().map(String::as_str)),
        _ => None,
    };
    let place = if of.path.is_empty() {
        "the object".to_owned()
    } else {
        format!("`{}`", of.path)
    };
    let near = near
        .map(|near| format!(", but `{near}`"))
        .unwrap_or_default();
    format!("{place} has no field `{field}`{near}")
}

/// A function of a later Kubernetes may have the name, unless it is nearly that of a known one.
fn unknown_function(at: usize, name: &str, functions: &Functions) -> Fault {
    if MACROS.contains(&name) {
        return Fault::at(at, format!("`{name}` does not take these arguments"));
    }
    let known = functions.keys().chain(&MACROS).copied();
    match nearest(name, known.filter(|known| known.len() > 5)) {
        Some(near) => Fault::at(at, format!("there is no function `{name}`, but `{near}`")),
        None => Fault::Unknown,
    }
}

/// The name that is the same but for one letter, two letters in the other order, or the case of letters.
fn nearest<'a>(name: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_near = |other: &str| {
        let (a, b): (Vec<_>, Vec<_>) = (name.chars().collect(), other.chars().collect());
        let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[same..], &b[same..]);
        let rest = |letters: &[char]| letters.get(1..).unwrap_or_default().to_vec();
        let is_turned = a.len() > 1 && b.len() > 1 && [a[1], a[0]] == b[..2] && a[2..] == b[2..];
        let is_other = rest(a) == rest(b) || rest(a) == b || a == rest(b);
        is_turned || is_other || other.eq_ignore_ascii_case(name)
    };
    names.find(|other| is_near(other))
}

/// How an operator is written.
fn operator(function: &str) -> &str {
    match function {
        "_[_]" => "[…]",
        "_[?_]" => "[?…]",
        "_?_:_" => "… ? … : …",
        "@in" => "in",
        name => name.trim_matches('_'),
    }
}
