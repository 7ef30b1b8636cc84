//! A JSON schema as nodes: references are written out, and what a structural schema cannot say is left to Helm.

use helm_render::values::Table;
use serde_json::{Value as Json, json};

use super::{
    checks::{self, Draft},
    merge::{Of, both, either},
    node::{Node, Object, Rest, Shape},
    progress::{NODE_BYTES, Progress, listed},
};

/// The most schemas of `anyOf` or `oneOf` that are looked at.
const MOST_ALTERNATIVES: usize = 100;
/// The characters of a description.
const MOST_OF_DESCRIPTION: usize = 1000;

/// What a structural schema does not have.
const LEFT_OUT: [&str; 14] = [
    "$dynamicRef",
    "$recursiveRef",
    "not",
    "if",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "minProperties",
    "maxProperties",
    "contains",
];

/// The default values at a place: Helm checks what a user gives only after they were added.
#[derive(Clone, Copy)]
pub(super) struct Defaults<'a> {
    /// Those that are known.
    pub(super) values: Option<&'a Table>,
    /// Whether there are surely no others.
    pub(super) are_all: bool,
}

impl Defaults<'_> {
    fn of_field(self, name: &str) -> Self {
        let field = self.values.and_then(|it| it.get(name));
        Self {
            values: field.and_then(Json::as_object),
            ..self
        }
    }

    /// Those of any value in a map, under whatever key.
    fn of_any_field(self) -> Self {
        Self {
            values: None,
            are_all: self.are_all && self.values.is_none_or(Table::is_empty),
        }
    }

    /// Those of an item: lists are never merged.
    fn of_item(self) -> Self {
        Self {
            values: None,
            ..self
        }
    }

    fn have(self, name: &str) -> bool {
        let field = self.values.and_then(|it| it.get(name));
        field.is_some_and(|it| !it.is_null())
    }
}

/// The node for values that fit a schema, as far as it can be said.
pub(super) fn convert(schema: &Json, defaults: Defaults<'_>, progress: &mut Progress) -> Node {
    let mut converter = Converter {
        root: schema,
        draft: Draft::of(schema),
        inside: vec![schema],
    };
    converter.schema(schema, defaults, progress)
}

struct Converter<'a> {
    root: &'a Json,
    draft: Draft,
    /// What was referred to on the way to the current place.
    inside: Vec<&'a Json>,
}

impl<'a> Converter<'a> {
    fn schema(
        &mut self,
        schema: &'a Json,
        defaults: Defaults<'_>,
        progress: &mut Progress,
    ) -> Node {
        let Json::Object(table) = schema else {
            if schema == &json!(false) {
                progress.note("Helm refuses any value here");
            }
            return progress
                .node(NODE_BYTES, |_| Node::default())
                .unwrap_or_default();
        };
        if progress.is_over() {
            return Shape::Anything.into();
        }
        if table.contains_key("$id") && !std::ptr::eq(schema, self.root) {
            progress.note("a schema with an `$id` of its own is left to Helm");
            return Shape::Anything.into();
        }
        let node = progress.node(NODE_BYTES + checks::size(table), |progress| {
            self.table(table, defaults, progress)
        });
        node.unwrap_or(Shape::Anything.into())
    }

    fn table(&mut self, table: &'a Table, defaults: Defaults<'_>, progress: &mut Progress) -> Node {
        let texts = ["description", "title"].into_iter();
        let mut texts = texts.filter_map(|it| table.get(it)?.as_str());
        let described = Node {
            description: texts.next().map(shortened),
            ..Node::default()
        };
        let mut node = described;
        if let Some(Json::String(reference)) = table.get("$ref") {
            node = both(node, self.target(reference, defaults, progress));
            if self.draft.is_reference_alone() {
                return node;
            }
        }
        node = both(node, self.own(table, defaults, progress));
        for part in list(table, "allOf") {
            node = both(node, self.schema(part, defaults, progress));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(fitting) = self.alternatives(word, list(table, word), defaults, progress) {
                node = both(node, fitting);
            }
        }
        node
    }

    /// The node of what a reference leads to.
    fn target(&mut self, reference: &str, defaults: Defaults<'_>, progress: &mut Progress) -> Node {
        let pointer = reference.strip_prefix('#');
        let pointer = pointer.filter(|it| !it.contains('%'));
        let Some(target) = pointer.and_then(|it| self.root.pointer(it)) else {
            progress.note("what `$ref` leads to is left to Helm");
            return Shape::Anything.into();
        };
        if self.inside.iter().any(|it| std::ptr::eq(*it, target)) {
            progress.note("the schema contains itself here, and anything is accepted");
            return Shape::Anything.into();
        }
        self.inside.push(target);
        let node = self.schema(target, defaults, progress);
        self.inside.pop();
        node
    }

    /// The node of what a schema says itself, without the schemas that it combines.
    fn own(&mut self, table: &'a Table, defaults: Defaults<'_>, progress: &mut Progress) -> Node {
        let left_out = LEFT_OUT.into_iter().filter(|it| table.contains_key(*it));
        let mut left_out: Vec<&str> = left_out.collect();
        let shape = match Type::of(table, self.draft) {
            Type::None => Shape::Unsaid,
            Type::Scalar(shape) => shape,
            Type::List => self.list(table, defaults, &mut left_out, progress),
            Type::Object => self.object(table, defaults, &mut left_out, progress),
            Type::Several(types) => {
                let types = listed(&types);
                progress.note(format_args!(
                    "may be of the types {types}, and Helm checks which when it renders"
                ));
                Shape::Anything
            }
        };
        let checks = checks::of(table, &shape, self.draft, &mut left_out);
        match left_out.as_slice() {
            [] => {}
            [one] => progress.note(format_args!(
                "`{one}` is left to Helm, which checks it when it renders"
            )),
            all => progress.note(format_args!(
                "{} are left to Helm, which checks them when it renders",
                listed(all)
            )),
        }
        Node {
            shape,
            description: None,
            checks,
        }
    }

    fn list(
        &mut self,
        table: &'a Table,
        defaults: Defaults<'_>,
        left_out: &mut Vec<&str>,
        progress: &mut Progress,
    ) -> Shape {
        let items = match table.get("items") {
            _ if table.contains_key("prefixItems") => {
                left_out.push("prefixItems");
                Node::default()
            }
            Some(Json::Array(_)) => {
                left_out.push("items");
                Node::default()
            }
            Some(items) => progress.within("[]", |progress| {
                self.schema(items, defaults.of_item(), progress)
            }),
            None => Node::default(),
        };
        Shape::List(Box::new(items))
    }

    fn object(
        &mut self,
        table: &'a Table,
        defaults: Defaults<'_>,
        left_out: &mut Vec<&str>,
        progress: &mut Progress,
    ) -> Shape {
        let mut object = Object::default();
        for (name, schema) in table
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
        {
            if progress.is_over() {
                break;
            }
            let node = progress.within(name, |progress| {
                self.schema(schema, defaults.of_field(name), progress)
            });
            object.properties.insert(name.clone(), node);
        }
        let is_alone = object.properties.is_empty() && !table.contains_key("patternProperties");
        object.rest = match table.get("additionalProperties") {
            _ if progress.is_over() => Rest::Judged,
            _ if table.contains_key("patternProperties") => Rest::Judged,
            Some(Json::Bool(false)) => Rest::Refused,
            Some(Json::Object(schema)) if !schema.is_empty() => {
                if is_alone {
                    let values = &table["additionalProperties"];
                    let values = progress.within("*", |progress| {
                        self.schema(values, defaults.of_any_field(), progress)
                    });
                    if !list(table, "required").is_empty() {
                        left_out.push("required");
                    }
                    return Shape::Map(Box::new(values));
                }
                left_out.push("additionalProperties");
                Rest::Judged
            }
            _ => Rest::Accepted,
        };
        let required = list(table, "required").iter().filter_map(Json::as_str);
        let mut required = required.filter(|name| !defaults.have(name)).peekable();
        if defaults.are_all {
            object.required = required.map(str::to_owned).collect();
        } else if required.peek().is_some() {
            left_out.push("required");
        }
        Shape::Object(object)
    }

    /// The node for values that fit one of several schemas; that they fit no more than one is left to Helm.
    fn alternatives(
        &mut self,
        word: &str,
        schemas: &'a [Json],
        defaults: Defaults<'_>,
        progress: &mut Progress,
    ) -> Option<Node> {
        let schemas: Vec<&Json> = schemas.iter().filter(|it| !is_only_null(it)).collect();
        let left_to_helm = format!("which schema of `{word}` fits is left to Helm");
        match schemas.as_slice() {
            [] => return None,
            [one] => return Some(self.schema(one, defaults, progress)),
            all if all.len() > MOST_ALTERNATIVES => {
                progress.note(left_to_helm);
                return None;
            }
            _ => {}
        }
        let mut nodes = Vec::new();
        for schema in schemas {
            nodes.push(self.schema(schema, defaults, progress));
        }
        let has_checks = nodes.iter().any(|it| !it.checks.is_empty());
        let node = nodes.into_iter().reduce(|a, b| either(a, b, Of::Schemas))?;
        let is_exact = node.shape.is_scalar() && (!node.checks.is_empty() || !has_checks);
        if !is_exact {
            progress.note(left_to_helm);
        }
        Some(node)
    }
}

/// The type that a schema asks for.
enum Type<'a> {
    None,
    Scalar(Shape),
    List,
    Object,
    Several(Vec<&'a str>),
}

impl<'a> Type<'a> {
    fn of(table: &'a Table, draft: Draft) -> Self {
        let types: Vec<&str> = match table.get("type") {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
            _ => return Self::of_words(table, draft),
        };
        let mut types: Vec<&str> = types.into_iter().filter(|it| *it != "null").collect();
        types.sort_unstable();
        types.dedup();
        match types.as_slice() {
            ["object"] => Self::Object,
            ["array"] => Self::List,
            ["boolean"] => Self::Scalar(Shape::Boolean),
            ["integer"] => Self::Scalar(Shape::Integer),
            ["number"] | ["integer", "number"] => Self::Scalar(Shape::Number),
            ["string"] => Self::Scalar(Shape::Text),
            ["integer", "string"] => Self::Scalar(Shape::IntOrText),
            [] | [_] => Self::Scalar(Shape::Anything),
            _ => Self::Several(types),
        }
    }

    /// The type of a schema that names none: what the rest of it is about.
    fn of_words(table: &Table, draft: Draft) -> Self {
        let has = |words: &[&str]| words.iter().any(|it| table.contains_key(*it));
        if has(&["properties", "additionalProperties", "patternProperties"])
            || !list(table, "required").is_empty()
        {
            return Self::Object;
        }
        if has(&["items", "prefixItems"]) {
            return Self::List;
        }
        let Some(values) = checks::values(table, draft) else {
            let says = ["not", "if", "pattern", "minimum", "maximum", "minLength"];
            return match has(&says) {
                true => Self::Scalar(Shape::Anything),
                false => Self::None,
            };
        };
        let are = |fits: fn(&Json) -> bool| values.iter().all(|it| it.is_null() || fits(it));
        Self::Scalar(match () {
            () if are(Json::is_null) => Shape::Anything,
            () if are(Json::is_string) => Shape::Text,
            () if are(Json::is_boolean) => Shape::Boolean,
            () if are(checks::is_integer) => Shape::Integer,
            () if are(Json::is_number) => Shape::Number,
            () if are(|it| it.is_string() || checks::is_integer(it)) => Shape::IntOrText,
            () => Shape::Anything,
        })
    }
}

fn list<'a>(table: &'a Table, word: &str) -> &'a [Json] {
    let list = table.get(word).and_then(Json::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

fn is_only_null(schema: &Json) -> bool {
    let is_null = |it: &Json| it.is_null();
    schema.get("type").is_some_and(|it| it == "null")
        || schema.get("const").is_some_and(is_null)
        || schema.get("enum").is_some_and(|it| it == &json!([null]))
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(MOST_OF_DESCRIPTION).collect()
}
