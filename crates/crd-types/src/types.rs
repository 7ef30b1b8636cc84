//! The Rust types of a schema.

mod written;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    known,
    model::QUANTITY,
    name::{self, Used},
    schema::{Object, is_true, sorted, text},
};

/// A name of a type that is shortened.
const LONG: usize = 48;

/// A Rust type. A generated one is a place in [`Types::own`].
pub(crate) type Type = crate::model::Type<usize>;

/// A field of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name in objects.
    pub name: String,
    pub ident: String,
    pub type_: Type,
    pub required: bool,
    /// The schema that was read.
    pub schema: Object,
}

/// What a generated type consists of.
#[derive(Debug)]
pub(crate) enum Body {
    Struct {
        fields: Vec<Field>,
        /// The type of further fields.
        rest: Option<Type>,
    },
    /// Variants and their values.
    Enum(Vec<(String, String)>),
    /// Variants, their keys and their types.
    Choice(Vec<(String, String, Type)>),
}

/// A generated type.
#[derive(Debug)]
pub(crate) struct Own {
    pub name: String,
    pub body: Body,
    /// The schema of the type's values wherever no field adds something.
    pub schema: Object,
    /// The part of the schema that an attribute at the type has to say.
    pub extra: Object,
    /// Whether the type can derive `Default`.
    pub default: bool,
}

/// What the schema of list items or map values adds to its core, and the path that names its type.
#[derive(Clone)]
struct Extra {
    schema: Object,
    path: Vec<String>,
}

/// The generated types of one module.
pub(crate) struct Types {
    pub own: Vec<Own>,
    pub names: Used,
    /// The name of the root type.
    root: String,
    /// Whether to use the types of k8s-openapi.
    known: bool,
    by_schema: HashMap<String, usize>,
    /// What list items and map values add to a core; fields with the same core use one of these types.
    extras: HashMap<String, Vec<Extra>>,
    /// The places in `extras`, by core and addition.
    noted: HashMap<(String, String), usize>,
}

/// The keywords that the body of a struct or an enum says.
const CORE: &[&str] = &["type", "properties", "required", "enum"];

/// Divides a schema into what the body of a type says, and the rest.
fn divide(schema: &Object) -> (Object, Object) {
    let in_core = |keyword: &str, value: &Value| match keyword {
        "x-kubernetes-preserve-unknown-fields" => schema.contains_key("properties"),
        "additionalProperties" => schema.contains_key("properties") && value.is_object(),
        _ => CORE.contains(&keyword),
    };
    let all = schema.clone().into_iter();
    all.partition(|(keyword, value)| in_core(keyword, value))
}

fn key(schema: &Object) -> String {
    Value::Object(schema.clone()).to_string()
}

impl Types {
    pub(crate) fn new(root: &str, known: bool) -> Self {
        let mut names = Used::default();
        names.take(root);
        Types {
            own: Vec::new(),
            names,
            root: root.to_owned(),
            known,
            by_schema: HashMap::new(),
            extras: HashMap::new(),
            noted: HashMap::new(),
        }
    }

    /// Notes the schemas of list items and map values, so that fields can share their types.
    pub(crate) fn note(&mut self, schema: &Object, path: &[String]) {
        for (name, property) in entries(schema.get("properties")) {
            self.note(property, &[path, &[name::camel(name)]].concat());
        }
        for keyword in ["items", "additionalProperties"] {
            let Some(inner) = schema.get(keyword).and_then(Value::as_object) else {
                continue;
            };
            let path = of_one(path);
            self.note(inner, &path);
            if (is_struct(inner) || is_enum(inner)) && !is_choice(inner) {
                let (core, mut schema) = divide(inner);
                schema.remove("nullable");
                let core = key(&core);
                let extras = self.extras.entry(core.clone()).or_default();
                self.noted.entry((core, key(&schema))).or_insert_with(|| {
                    extras.push(Extra { schema, path });
                    extras.len() - 1
                });
            }
        }
    }

    /// The type of a field's values. `path` names the types.
    pub(crate) fn of_field(&mut self, schema: &Object, path: &[String]) -> Type {
        self.choose(schema, path, false)
    }

    /// The type of the items of a list or the values of a map.
    fn of_inner(&mut self, schema: &Object, path: &[String]) -> Type {
        let inner = self.choose(schema, &of_one(path), true);
        match is_true(schema, "nullable") {
            true => Type::Nullable(Box::new(inner)),
            false => inner,
        }
    }

    fn choose(&mut self, schema: &Object, path: &[String], inner: bool) -> Type {
        if let Some(known) =
            known::find(schema, path).filter(|known| self.known && known::name(known) != self.root)
        {
            return Type::Known(known);
        }
        match text(schema, "type") {
            None if is_true(schema, "x-kubernetes-int-or-string") => {
                match text(schema, "pattern") {
                    Some(QUANTITY) => Type::Quantity,
                    _ => Type::IntOrString,
                }
            }
            Some("boolean") => Type::Bool,
            Some("integer") if text(schema, "format") == Some("int32") => Type::Int32,
            Some("integer") => Type::Int64,
            Some("number") => Type::Float,
            Some("string") if is_enum(schema) => self.own(schema, path, inner),
            Some("string") if text(schema, "format") == Some("date-time") => Type::Time,
            Some("string") => Type::String,
            Some("array") => match schema.get("items").and_then(Value::as_object) {
                Some(items) => {
                    let mut items = items.clone();
                    // The API server keeps unknown fields of the items of such a list, too.
                    let open = "x-kubernetes-preserve-unknown-fields";
                    if is_true(schema, open) {
                        items.insert(open.to_owned(), Value::Bool(true));
                    }
                    Type::List(Box::new(self.of_inner(&sorted(items), path)))
                }
                None => Type::List(Box::new(Type::Any)),
            },
            Some("object") if is_choice(schema) => self.choice(schema, path),
            Some("object") if is_struct(schema) => self.own(schema, path, inner),
            Some("object") => match schema.get("additionalProperties") {
                Some(Value::Object(values)) => Type::Map(Box::new(self.of_inner(values, path))),
                _ => Type::Map(Box::new(Type::Any)),
            },
            _ => Type::Any,
        }
    }

    /// The generated type for a schema: one that exists, or a new one.
    fn own(&mut self, schema: &Object, path: &[String], inner: bool) -> Type {
        let (core, mut extra) = divide(schema);
        extra.remove("nullable");
        let core_key = key(&core);
        let mut path = path.to_vec();
        if !inner {
            let extras = self
                .extras
                .get(&core_key)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let noted = self.noted.get(&(core_key, key(&extra)));
            let same = extras.get(noted.copied().unwrap_or_default());
            extra = Object::new();
            if let Some(same) = same {
                (extra, path) = (same.schema.clone(), same.path.clone());
            }
        }
        Type::Own(self.with_extra(core, extra, &path))
    }

    /// The enum for an object with one of several keys.
    fn choice(&mut self, schema: &Object, path: &[String]) -> Type {
        let mut schema = schema.clone();
        for keyword in ["default", "description", "nullable"] {
            schema.remove(keyword);
        }
        let key = key(&schema);
        if let Some(index) = self.by_schema.get(&key) {
            return Type::Own(*index);
        }
        let index = self.own.len();
        let name = self.name(path);
        self.own.push(Own {
            name,
            body: Body::Enum(Vec::new()),
            schema: schema.clone(),
            extra: Object::new(),
            default: false,
        });
        self.by_schema.insert(key, index);
        let mut used = Used::default();
        let mut variants = Vec::new();
        for (name, schema) in entries(schema.get("properties")) {
            let path = [path, &[name::camel(name)]].concat();
            let mut type_ = self.of_field(schema, &path);
            if is_true(schema, "nullable") {
                type_ = Type::Nullable(Box::new(type_));
            }
            variants.push((used.once(name::variant(name)), name.clone(), type_));
        }
        self.own[index].body = Body::Choice(variants);
        Type::Own(index)
    }

    /// The struct of a root property, with everything that its schema says. It is shared with no other.
    pub(crate) fn of_root(&mut self, schema: &Object, path: &[String]) -> usize {
        let (core, extra) = divide(schema);
        self.add(core, extra, schema.clone(), path)
    }

    /// The struct with the properties of a root.
    pub(crate) fn of_flat(&mut self, schema: &Object, suffix: &str) -> usize {
        let path = [suffix.to_owned()];
        let index = self.own.len();
        let name = self.name(&path);
        let body = Body::Enum(Vec::new());
        let extra = Object::new();
        self.own.push(Own {
            name,
            body,
            schema: schema.clone(),
            extra,
            default: false,
        });
        let body = self.fields(schema, &[]);
        if let Body::Struct { fields, .. } = &body {
            let mut fields = fields.iter();
            let default = fields.all(|field| !field.required || self.has_default(&field.type_));
            self.own[index].default = default;
        }
        self.own[index].body = body;
        index
    }

    /// Renames the fields of a flat struct that kube's derive puts beside it.
    pub(crate) fn rename_reserved(&mut self, index: usize) {
        if let Body::Struct { fields, .. } = &mut self.own[index].body {
            let reserved = ["api_version", "kind", "metadata", "status"];
            for field in fields
                .iter_mut()
                .filter(|field| reserved.contains(&field.ident.as_str()))
            {
                field.ident.push('_');
            }
        }
    }

    fn with_extra(&mut self, core: Object, extra: Object, path: &[String]) -> usize {
        let mut schema = core.clone();
        schema.extend(extra.clone());
        let schema = sorted(schema);
        let key = key(&schema);
        if let Some(index) = self.by_schema.get(&key) {
            return *index;
        }
        let index = self.add(core, extra, schema, path);
        self.by_schema.insert(key, index);
        index
    }

    /// Adds a type. It stands before the types of its fields.
    fn add(&mut self, core: Object, mut extra: Object, schema: Object, path: &[String]) -> usize {
        let index = self.own.len();
        let name = self.name(path);
        let body = Body::Enum(Vec::new());
        self.own.push(Own {
            name,
            body,
            schema,
            extra: Object::new(),
            default: false,
        });
        let body = match is_enum(&core) {
            true => {
                let values = core.get("enum").and_then(Value::as_array);
                let values = values.into_iter().flatten();
                Body::Enum(variants(values.filter_map(Value::as_str)))
            }
            false => self.fields(&core, path),
        };
        let default = match &body {
            Body::Struct { fields, .. } => {
                let mut fields = fields.iter();
                fields.all(|field| !field.required || self.has_default(&field.type_))
            }
            Body::Enum(_) | Body::Choice(_) => false,
        };
        self.say_core(&core, &body, &mut extra);
        let own = &mut self.own[index];
        (own.body, own.extra, own.default) = (body, extra, default);
        index
    }

    /// Adds to `extra` what the fields of a struct do not say of its own schema.
    fn say_core(&self, core: &Object, body: &Body, extra: &mut Object) {
        let Body::Struct { rest, .. } = body else {
            return;
        };
        let properties = core.get("properties").and_then(Value::as_object);
        let is_field = |name: &Value| {
            let name = name.as_str().unwrap_or_default();
            properties.is_some_and(|properties| properties.contains_key(name))
        };
        let required = core.get("required").and_then(Value::as_array);
        if let Some(required) = required.filter(|names| !names.iter().all(is_field)) {
            extra.insert("required".to_owned(), Value::Array(required.clone()));
        }
        match (rest, core.get("additionalProperties")) {
            (None, _) => {}
            (Some(Type::Any), None) => {
                extra.insert("additionalProperties".to_owned(), Value::Null);
                let open = "x-kubernetes-preserve-unknown-fields".to_owned();
                extra.insert(open, Value::Bool(true));
            }
            (Some(rest), wanted) => {
                let found = match rest {
                    Type::Any => Value::Bool(true),
                    rest => Value::Object(self.schema(rest)),
                };
                if let Some(wanted) = wanted.filter(|wanted| **wanted != found) {
                    extra.insert("additionalProperties".to_owned(), wanted.clone());
                }
            }
        }
    }

    fn fields(&mut self, core: &Object, path: &[String]) -> Body {
        let required = core.get("required").and_then(Value::as_array);
        let required: BTreeSet<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut used = Used::default();
        let mut fields = Vec::new();
        for (name, schema) in core
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let Some(schema) = schema.as_object() else {
                continue;
            };
            let mut path = path.to_vec();
            path.push(name::camel(name));
            fields.push(Field {
                ident: used.once(name::field(name)),
                type_: self.of_field(schema, &path),
                required: required.contains(name.as_str()),
                schema: schema.clone(),
                name: name.clone(),
            });
        }
        let rest = match core.get("additionalProperties").and_then(Value::as_object) {
            Some(values) => Some(self.of_inner(values, path)),
            None => is_true(core, "x-kubernetes-preserve-unknown-fields").then_some(Type::Any),
        };
        Body::Struct { fields, rest }
    }

    fn has_default(&self, type_: &Type) -> bool {
        match type_ {
            Type::Own(index) => self.own[*index].default,
            Type::Known(path) => known::has_default(path),
            Type::Time => false,
            _ => true,
        }
    }

    /// A name for the type at `path`: the root type and the path, without the middle of a long path if that is
    /// enough to be unique.
    fn name(&mut self, path: &[String]) -> String {
        let whole = self.root.clone() + &path.concat();
        let is_long = path.len() > 3 || whole.len() > LONG;
        let last = path.len().saturating_sub(2).max(1);
        let candidates = (1..=last).rev().filter(|_| is_long);
        let short =
            candidates.map(|from| self.root.clone() + &path[from.min(path.len())..].concat());
        let mut short = short.filter(|name| name.len() > self.root.len());
        let free = |name: &String| self.names.allows(name) && !is_taken(name);
        let found = short.find(free).unwrap_or(whole);
        let mut found: String = found.chars().take(100).collect();
        if is_taken(&found) {
            found.push_str("Type");
        }
        self.names.once(found)
    }

    /// Whether a type occurs whose schema is always kept as it was read: one of k8s-openapi, or an enum of objects.
    pub(crate) fn is_kept(&self, type_: &Type) -> bool {
        match type_.innermost() {
            Type::Known(_) => true,
            Type::Own(index) => matches!(self.own[*index].body, Body::Choice(_)),
            _ => false,
        }
    }

    /// The type as Rust source.
    pub(crate) fn text(&self, type_: &Type) -> String {
        let own = |index: &usize| self.own[*index].name.clone();
        type_.source(&own, &mut |_, name| name.to_owned())
    }
}

/// Whether the module may need the name for another type.
fn is_taken(name: &str) -> bool {
    name::is_taken(name) || known::is_name(name)
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Object)> {
    let values = value.and_then(Value::as_object).into_iter().flatten();
    values.filter_map(|(name, schema)| Some((name, schema.as_object()?)))
}

/// The path of one item of a list.
fn of_one(path: &[String]) -> Vec<String> {
    let mut path = path.to_vec();
    if let Some(last) = path.last_mut() {
        *last = name::singular(last);
    }
    path
}

/// Whether a struct says the schema: it has properties, or may have no fields at all.
pub(crate) fn is_struct(schema: &Object) -> bool {
    let open = schema.contains_key("additionalProperties")
        || is_true(schema, "x-kubernetes-preserve-unknown-fields");
    text(schema, "type") == Some("object") && (schema.contains_key("properties") || !open)
}

/// Whether an object has exactly one of its properties: serde reads it as an enum.
pub(crate) fn is_choice(schema: &Object) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return false;
    };
    let key = |alternative: &Value| {
        let alternative = alternative.as_object().filter(|it| it.len() == 1)?;
        match alternative.get("required")?.as_array()?.as_slice() {
            [Value::String(key)] => Some(key.clone()),
            _ => None,
        }
    };
    let alternatives = schema.get("oneOf").and_then(Value::as_array);
    let keys: Option<BTreeSet<String>> = alternatives.and_then(|all| all.iter().map(key).collect());
    let beyond = [
        "additionalProperties",
        "required",
        "x-kubernetes-preserve-unknown-fields",
    ];
    keys.is_some_and(|keys| keys.len() > 1 && keys.iter().eq(properties.keys()))
        && beyond.iter().all(|keyword| !schema.contains_key(*keyword))
        && properties
            .values()
            .all(|property| property.get("default").is_none())
}

/// Whether the schema lists strings.
fn is_enum(schema: &Object) -> bool {
    let values = schema.get("enum").and_then(Value::as_array);
    text(schema, "type") == Some("string")
        && values.is_some_and(|values| values.iter().all(Value::is_string))
}

/// The variants of an enum, with their values.
pub(crate) fn variants<'a>(values: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    let mut used = Used::default();
    let variant = |value: &str| (used.once(name::variant(value)), value.to_owned());
    values.map(variant).collect()
}
