//! What the expressions of a template stand for.

use gotmpl::parse::{CommandNode, Expr, Number, PipeNode};
use serde_json::Value;

use super::{
    reference::{Condition, Reference},
    shape::{Hint, Path, Shape, below},
};

/// The most parts of a path.
const LONGEST: usize = 40;

/// What names mean at a place of a template.
#[derive(Clone)]
pub struct Scope {
    /// The path of the values of the chart: empty for the outermost one.
    pub chart: Path,
    /// What `.` is.
    pub dot: Reference,
    /// The variables, `$` among them.
    pub variables: Vec<(String, Reference)>,
}

impl Scope {
    /// The scope of a template that is called with `dot`.
    pub fn of(chart: &Path, dot: Reference) -> Self {
        Self {
            chart: chart.clone(),
            variables: vec![("$".to_owned(), dot.clone())],
            dot,
        }
    }

    fn field(&self, of: Reference, name: &str) -> Reference {
        match of {
            Reference::Root if name == "Values" => Reference::Values(self.chart.clone()),
            Reference::Root => Reference::Given(vec![name.to_owned()]),
            // All charts share one table.
            Reference::Values(path) if name == "global" && path == self.chart => {
                Reference::Values(vec![name.to_owned()])
            }
            Reference::Values(path) if path.len() < LONGEST => {
                Reference::Values(below(&path, name))
            }
            Reference::Given(mut names) if names.len() < LONGEST => {
                names.push(name.to_owned());
                Reference::Given(names)
            }
            Reference::Dict(mut entries) => entries.remove(name).unwrap_or(Reference::Unknown),
            Reference::Made => Reference::Made,
            _ => Reference::Unknown,
        }
    }

    fn fields(&self, of: Reference, names: &[impl AsRef<str>]) -> Reference {
        names
            .iter()
            .fold(of.dot(), |of, name| self.field(of, name.as_ref()))
    }

    /// What a pipeline stands for. What it reads is added to the shape of the values.
    pub fn pipe(&self, pipe: &PipeNode, shape: &mut Shape) -> Reference {
        let mut last = None;
        for command in &pipe.commands {
            last = Some(self.command(command, last, shape));
        }
        last.unwrap_or(Reference::Unknown).bounded()
    }

    fn command(
        &self,
        command: &CommandNode,
        last: Option<Reference>,
        shape: &mut Shape,
    ) -> Reference {
        let Some((first, arguments)) = command.args.split_first() else {
            return Reference::Unknown;
        };
        let arguments = arguments.iter().map(|it| self.expression(it, shape));
        let arguments: Vec<Reference> = arguments.chain(last).collect();
        if let Expr::Identifier(_, name) = first {
            return self.call(name, arguments, shape);
        }
        let found = self.expression(first, shape);
        match (&found, arguments.as_slice()) {
            (Reference::Given(names), [api]) if names.last().is_some_and(|it| it == "Has") => {
                let api = api.text().map(str::to_owned);
                Reference::Test(api.map_or(Condition::Unknown, Condition::Has))
            }
            _ => found,
        }
    }

    fn expression(&self, expr: &Expr, shape: &mut Shape) -> Reference {
        let found = match expr {
            Expr::Dot(_) => self.dot.clone(),
            Expr::Field(_, names) => self.fields(self.dot.clone(), names),
            Expr::Variable(_, name, names) => {
                let variable = self.variables.iter().rev().find(|it| it.0 == name.as_str());
                let of = variable.map_or(Reference::Unknown, |it| it.1.clone());
                self.fields(of, names)
            }
            Expr::Identifier(_, name) => self.call(name, Vec::new(), shape),
            Expr::String(_, text) => Reference::Literal(Value::from(&**text)),
            Expr::Number(_, Number::Int(it)) => Reference::Literal(Value::from(*it)),
            Expr::Bool(_, it) => Reference::Literal(Value::from(*it)),
            Expr::Nil(_) => Reference::Literal(Value::Null),
            Expr::Pipe(_, pipe) => self.pipe(pipe, shape),
            Expr::Chain(_, of, names) => {
                let of = self.expression(of, shape);
                self.fields(of, names)
            }
            Expr::Number(..) => Reference::Unknown,
        };
        if let Some(path) = found.path() {
            shape.read(path);
        }
        found
    }

    fn call(&self, name: &str, given: Vec<Reference>, shape: &mut Shape) -> Reference {
        if let Some(hint) = Hint::of_function(name) {
            given
                .iter()
                .filter_map(Reference::path)
                .for_each(|path| shape.hint(path, hint));
        }
        let truths = |given: &[Reference]| given.iter().map(Reference::truth).collect();
        let last = given.last().cloned().unwrap_or(Reference::Unknown);
        let test = match (name, given.as_slice()) {
            ("not" | "empty", [it]) => Condition::Not(Box::new(it.truth())),
            ("and" | "all", given) => Condition::All(truths(given)),
            ("or" | "any" | "coalesce", given) => Condition::Any(truths(given)),
            // An empty value gives way to another one.
            ("default", [default, it])
                if !matches!(default, Reference::Literal(_) | Reference::Dict(_)) =>
            {
                Condition::Any(vec![it.truth(), default.truth()])
            }
            ("eq", [it, others @ ..]) => Self::equal(it, others, shape),
            ("ne", [it, other]) => {
                let other = std::slice::from_ref(other);
                Condition::Not(Box::new(Self::equal(it, other, shape)))
            }
            ("hasKey", [Reference::Values(map), key]) => match key.text() {
                Some(key) => {
                    let path = below(map, key);
                    shape.read(&path);
                    Condition::Is(path)
                }
                None => Condition::Unknown,
            },
            ("has", [Reference::Literal(it), Reference::Values(list)]) => {
                Condition::Holds(list.clone(), it.clone())
            }
            ("contains" | "hasPrefix" | "hasSuffix", [Reference::Literal(part), it]) => it.is(part),
            ("ge", [it, number]) => Self::at_least(it, number, 0),
            ("gt", [it, number]) => Self::at_least(it, number, 1),
            ("lt", [it, number]) => Condition::Not(Box::new(Self::at_least(it, number, 0))),
            ("le", [it, number]) => Condition::Not(Box::new(Self::at_least(it, number, 1))),
            // What matches is not known. Most patterns are those of addresses.
            ("regexMatch", [_, it]) => it.is(&Value::from("10.0.0.1")),
            ("semverCompare", _) => Condition::Version,
            _ => return self.value(name, given, last, shape),
        };
        Reference::Test(test)
    }

    fn equal(it: &Reference, others: &[Reference], shape: &mut Shape) -> Condition {
        let all = others.iter().map(|other| match (it, other) {
            (Reference::Literal(value), it) | (it, Reference::Literal(value)) => {
                if let Some(path) = it.path() {
                    shape.compare(path, value);
                }
                it.is(value)
            }
            _ => Condition::Unknown,
        });
        Condition::Any(all.collect())
    }

    fn at_least(it: &Reference, number: &Reference, more: i64) -> Condition {
        match (it, number.literal().and_then(Value::as_i64)) {
            (Reference::Values(path), Some(number)) => {
                Condition::AtLeast(path.clone(), number.saturating_add(more))
            }
            (Reference::Given(_), _) => Condition::Version,
            _ => Condition::Unknown,
        }
    }

    /// The value that a function gives, if it is that of an argument or a part of it.
    fn value(
        &self,
        name: &str,
        given: Vec<Reference>,
        last: Reference,
        shape: &mut Shape,
    ) -> Reference {
        let within = |of: &Reference, keys: &[Reference]| {
            keys.iter().fold(of.clone(), |of, key| match key.text() {
                Some(key) => self.field(of, key),
                None => of.element(),
            })
        };
        let found = match (name, given.as_slice()) {
            ("include", [Reference::Literal(Value::String(name)), with]) => {
                Reference::Included(name.clone(), Box::new(with.clone()))
            }
            ("dict", entries) => Reference::Dict(
                entries
                    .chunks_exact(2)
                    .filter_map(|pair| Some((pair[0].text()?.to_owned(), pair[1].clone())))
                    .collect(),
            ),
            ("list", items) => {
                let items = items.iter().map(|it| it.literal().cloned());
                let items = items.collect::<Option<Vec<Value>>>();
                items.map_or(Reference::Unknown, |it| {
                    Reference::Literal(Value::Array(it))
                })
            }
            ("index", [of, keys @ ..]) => within(of, keys),
            ("get", [of, key]) => within(of, std::slice::from_ref(key)),
            ("dig", [keys @ .., _, of]) => within(of, keys),
            ("first" | "last", [of]) => of.element(),
            ("tpl" | "deepCopy" | "merge" | "mergeOverwrite", [of, ..]) => of.clone(),
            ("ternary", [_, _, test]) => test.clone(),
            (
                "default" | "required" | "int" | "int64" | "float64" | "len" | "lower" | "upper"
                | "trim" | "quote" | "squote" | "toString" | "toYaml" | "toJson" | "kindIs"
                | "keys" | "trunc" | "trimSuffix" | "trimPrefix" | "indent" | "nindent"
                | "fromYaml" | "toStrings" | "uniq" | "sortAlpha" | "compact",
                _,
            ) => last,
            _ => Reference::Unknown,
        };
        if let Some(path) = found.path() {
            shape.read(path);
        }
        match found {
            Reference::Unknown if given.iter().any(Reference::is_of_values) => Reference::Made,
            found => found,
        }
    }
}
