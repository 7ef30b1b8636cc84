//! Structs for a schema that was chosen, as a person writes them for kube.
//!
//! A schema that was read is kept, whatever the Rust types say. One that was chosen follows from its types: it is what schemars,
//! serde and kube's derive make of the structs, so no attribute repeats it.

mod attribute;
mod value;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use heck::ToSnakeCase as _;
use serde_json::Value;

use self::{
    attribute::{comment, enum_, rules_of_field, rules_of_type, said, strategy},
    value::{implementation, initial, is_initial, literal},
};
use crate::{
    ORDER, TYPE, known, literal as source,
    meta::{self, Meta},
    name::{self, Used},
    render::imports,
    schema::{Object, is_true, text},
    types::QUANTITY,
};

/// The source of the structs of a kind, in parts: the root's attributes are the caller's.
#[derive(Clone, Debug)]
pub struct Structs {
    /// What the structs import, with what the root needs.
    pub imports: Imports,
    /// The struct of `spec`.
    pub spec: Struct,
    /// The struct of `status`.
    pub status: Struct,
    /// The types of the fields, and the functions that return their defaults.
    pub others: String,
}

/// The source of a struct, without its name and the attributes that every struct has.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// Whether it derives `Default`.
    pub derives_default: bool,
    /// The lines of `#[x_kube(…)]`.
    pub attributes: String,
    /// The lines of its fields.
    pub fields: String,
    /// The implementation of `Default`, if it is not derived.
    pub default: String,
    /// The identifiers of its fields, and their values in that implementation.
    pub values: Vec<(String, String)>,
    /// Whether fields have attributes of kube's derive.
    is_for_kube: bool,
}

/// Names by the path of their module.
#[derive(Clone, Debug, Default)]
pub struct Imports(BTreeMap<&'static str, BTreeSet<&'static str>>);

impl Imports {
    fn add(&mut self, module: &'static str, name: &'static str) {
        self.0.entry(module).or_default().insert(name);
    }

    /// Each module with its names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &BTreeSet<&'static str>)> {
        self.0.iter().map(|(module, names)| (*module, names))
    }

    /// The lines, formatted.
    pub fn lines(&self) -> String {
        imports(&self.0)
    }
}

/// The structs `<root>Spec` and `<root>Status` for two schemas, in a file that has the names `taken` already: a type that a schema
/// names so is there, and other types and functions have other names.
///
/// Beside the keywords of OpenAPI, a schema may have [`TYPE`] and [`ORDER`].
pub fn structs(root: &str, taken: &[&str], spec: &Value, status: &Value) -> Structs {
    let mut module = Module::new(root, taken);
    let none = Object::new();
    let [spec, status] = [spec, status].map(|schema| schema.as_object().unwrap_or(&none));
    module.reserve(spec);
    module.reserve(status);
    let spec = module.struct_(&format!("{root}Spec"), "Spec", spec);
    let status = module.struct_(&format!("{root}Status"), "Status", status);
    let mut others = String::new();
    while let Some((name, schema)) = module.waiting.pop_front() {
        others.push_str(&module.type_(&name, &schema));
    }
    others.push_str(&module.functions);
    for (path, names) in [
        ("kube", ["CustomResource", "KubeSchema"]),
        ("serde", ["Deserialize", "Serialize"]),
    ] {
        for name in names {
            module.imports.add(path, name);
        }
    }
    Structs {
        imports: module.imports,
        spec,
        status,
        others,
    }
}

/// A Rust type.
#[derive(Clone, Debug, PartialEq)]
enum Type {
    Bool,
    Integer(&'static str),
    Float,
    Text,
    /// A type of a crate, by module and name.
    Known(&'static str, &'static str),
    /// A generated struct.
    Struct(String),
    /// A generated enum.
    Enum(String),
    List(Box<Type>),
    Map(Box<Type>),
}

const ANY: Type = Type::Known("serde_json", "Value");
const INT_OR_STRING: Type = Type::Known(
    "k8s_openapi::apimachinery::pkg::util::intstr",
    "IntOrString",
);
const QUANTITY_TYPE: Type =
    Type::Known("k8s_openapi::apimachinery::pkg::api::resource", "Quantity");
const TIME: Type = Type::Known("k8s_openapi::apimachinery::pkg::apis::meta::v1", "Time");

/// A module that is being written.
struct Module {
    root: String,
    names: Used,
    functions_used: Used,
    /// Names that the file has already.
    there: BTreeSet<String>,
    imports: Imports,
    /// Types of fields that are not written yet.
    waiting: VecDeque<(String, Object)>,
    /// Every type of a field, so that fields share one.
    known: BTreeMap<String, Object>,
    functions: String,
}

impl Module {
    fn new(root: &str, taken: &[&str]) -> Self {
        let mut names = Used::default();
        let mut functions_used = Used::default();
        for name in taken {
            names.take(name);
            functions_used.take(name);
        }
        for suffix in ["", "Spec", "Status"] {
            names.take(&format!("{root}{suffix}"));
        }
        Self {
            root: root.to_owned(),
            names,
            functions_used,
            there: taken.iter().map(|name| (*name).to_owned()).collect(),
            imports: Imports::default(),
            waiting: VecDeque::new(),
            known: BTreeMap::new(),
            functions: String::new(),
        }
    }

    /// Takes the names that a schema gives its types.
    fn reserve(&mut self, schema: &Object) {
        if let Some(name) = text(schema, TYPE) {
            self.names.take(name);
        }
        for inner in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(inner).and_then(Value::as_object) {
                self.reserve(inner);
            }
        }
        for (_, property) in properties(schema) {
            self.reserve(property);
        }
    }

    /// A struct. The names of its enums start with `owner` where a shorter name is taken.
    fn struct_(&mut self, name: &str, owner: &str, schema: &Object) -> Struct {
        let mut used = Used::default();
        let mut made = Struct {
            derives_default: true,
            attributes: rules_of_type(schema),
            is_for_kube: !rules_of_type(schema).is_empty(),
            ..Struct::default()
        };
        for (name, property) in properties(schema) {
            let ident = used.once(name::field(name));
            let required = is_required(schema, name);
            self.field(owner, (name, &ident), property, required, &mut made);
        }
        if !made.derives_default {
            made.default = implementation(name, &made.values);
            if made.default.contains("Timestamp::") {
                self.imports.add("k8s_openapi::jiff", "Timestamp");
            }
        }
        made
    }

    /// Adds a field to a struct.
    fn field(
        &mut self,
        owner: &str,
        (name, ident): (&str, &str),
        schema: &Object,
        required: bool,
        to: &mut Struct,
    ) {
        let type_ = self.type_of(owner, name, schema);
        let mut rust = self.text(&type_);
        let mut value = initial(&type_, &rust);
        let mut is_plain = value.is_plain;
        let mut serde = Vec::new();
        let skip = |of: &str| Meta::word(&format!("skip_serializing_if = \"{of}::is_empty\""));
        match (schema.get("default"), &type_) {
            (Some(default), _) if is_initial(&type_, schema, default) => {
                serde.push(Meta::word("default"));
            }
            (Some(default), _) => {
                let function =
                    self.default_function(owner, ident, &rust, &literal(&type_, default));
                serde.push(Meta::word(&format!("default = \"{function}\"")));
                (value.text, is_plain) = (format!("{function}()"), false);
            }
            (None, _) if required => {}
            (None, Type::List(_)) => serde.extend([Meta::word("default"), skip("Vec")]),
            (None, Type::Map(_)) => serde.extend([Meta::word("default"), skip("BTreeMap")]),
            (None, _) => {
                serde.push(Meta::word("skip_serializing_if = \"Option::is_none\""));
                rust = format!("Option<{rust}>");
                (value.text, is_plain) = ("None".to_owned(), true);
            }
        }
        if name != name::camel_case(ident) {
            let rename = Meta::word(&format!("rename = {}", source::string(name)));
            let is_default = |meta: &&Meta| meta.line().starts_with("default");
            serde.insert(serde.iter().take_while(is_default).count(), rename);
        }
        let fields = &mut to.fields;
        let mut push = |line: &str| fields.push_str(&format!("{line}\n"));
        comment(schema, 4).lines().for_each(&mut push);
        if !serde.is_empty() {
            let lines = meta::attribute("serde", serde, 4);
            lines.iter().for_each(|line| push(line));
        }
        let (metas, extend) = said(schema);
        let lines = meta::schemars(metas, &extend, 4);
        lines.iter().for_each(|line| push(line));
        let for_kube = strategy(schema) + &rules_of_field(schema);
        for_kube.lines().for_each(&mut push);
        let line = format!("    pub {ident}: {rust},");
        match line.len() <= meta::LINE {
            true => push(&line),
            false => push(&format!("    pub {ident}:\n        {rust},")),
        }
        to.is_for_kube |= !for_kube.is_empty();
        to.derives_default &= is_plain;
        to.values.push((ident.to_owned(), value.text));
    }

    /// The function that returns the default of a field.
    fn default_function(&mut self, owner: &str, ident: &str, rust: &str, value: &str) -> String {
        let ident = ident.trim_start_matches("r#");
        let mut name = format!("default_{ident}");
        if !self.functions_used.allows(&name) {
            name = format!("default_{}_{ident}", owner.to_snake_case());
        }
        let name = self.functions_used.once(name);
        self.functions
            .push_str(&format!("\nfn {name}() -> {rust} {{\n{value}}}\n"));
        name
    }

    /// A type that fields have.
    fn type_(&mut self, name: &str, schema: &Object) -> String {
        let comment = comment(schema, 0);
        if schema.contains_key("enum") {
            self.imports.add("schemars", "JsonSchema");
            return format!("\n{comment}{}", enum_(name, schema));
        }
        let made = self.struct_(name, name, schema);
        let derive = match made.is_for_kube {
            true => "KubeSchema",
            false => "JsonSchema",
        };
        if !made.is_for_kube {
            self.imports.add("schemars", "JsonSchema");
        }
        let of_default = if made.derives_default {
            "Default, "
        } else {
            ""
        };
        let (attributes, fields, default) = (made.attributes, made.fields, made.default);
        format!(
            "\n{comment}#[derive(Clone, Debug, {of_default}PartialEq, Deserialize, {derive}, Serialize)]\n\
             #[serde(rename_all = \"camelCase\")]\n{attributes}pub struct {name} {{\n{fields}}}\n{default}"
        )
    }

    /// The type of the values of a field.
    fn type_of(&mut self, owner: &str, field: &str, schema: &Object) -> Type {
        let either = is_true(schema, "x-kubernetes-int-or-string");
        match (text(schema, "type"), text(schema, "format")) {
            _ if text(schema, TYPE).is_some_and(|path| path.contains("::")) => {
                let known = text(schema, TYPE).and_then(known::of_path);
                known.map_or(ANY, |(module, name)| Type::Known(module, name))
            }
            _ if either && text(schema, "pattern") == Some(QUANTITY) => QUANTITY_TYPE,
            _ if either => INT_OR_STRING,
            (Some("boolean"), _) => Type::Bool,
            (Some("integer"), Some("int32")) => Type::Integer("i32"),
            (Some("integer"), _) => Type::Integer("i64"),
            (Some("number"), _) => Type::Float,
            (Some("string"), _) if schema.contains_key("enum") => {
                Type::Enum(self.own(owner, field, schema))
            }
            (Some("string"), Some("date-time")) => TIME,
            (Some("string"), _) => Type::Text,
            (Some("array"), _) => Type::List(self.inner(owner, field, schema, "items")),
            (Some("object"), _) if schema.contains_key("properties") => {
                Type::Struct(self.own(owner, field, schema))
            }
            (Some("object"), _) => {
                Type::Map(self.inner(owner, field, schema, "additionalProperties"))
            }
            _ => ANY,
        }
    }

    fn inner(&mut self, owner: &str, field: &str, schema: &Object, keyword: &str) -> Box<Type> {
        let inner = schema.get(keyword).and_then(Value::as_object);
        let field = name::singular(field);
        Box::new(inner.map_or(ANY, |inner| self.type_of(owner, &field, inner)))
    }

    /// The name of the struct or enum of a field. Fields with the same values share an enum.
    fn own(&mut self, owner: &str, field: &str, schema: &Object) -> String {
        let mut schema = schema.clone();
        if schema.contains_key("enum") {
            // What is said of the field is no part of the type.
            schema.retain(|keyword, _| ["default", "enum", "type", TYPE].contains(&&**keyword));
        }
        if let Some(name) = text(&schema, TYPE) {
            let name = name.to_owned();
            if !self.there.contains(&name) {
                self.wait(&name, schema);
            }
            return name;
        }
        let short = name::camel(field);
        for name in [short.clone(), format!("{owner}{short}")] {
            if self.known.get(&name) == Some(&schema) {
                return name;
            }
            if self.names.allows(&name) && !name::is_reserved(&name) {
                self.names.take(&name);
                self.wait(&name, schema);
                return name;
            }
        }
        let name = self.names.once(format!("{owner}{short}"));
        self.wait(&name, schema);
        name
    }

    fn wait(&mut self, name: &str, schema: Object) {
        if self.known.insert(name.to_owned(), schema.clone()).is_none() {
            self.waiting.push_back((name.to_owned(), schema));
        }
    }

    /// A type in source; what it needs is imported.
    fn text(&mut self, type_: &Type) -> String {
        match type_ {
            Type::Bool => "bool".to_owned(),
            Type::Integer(name) => (*name).to_owned(),
            Type::Float => "f64".to_owned(),
            Type::Text => "String".to_owned(),
            Type::Known(module, name) => {
                let root = &self.root;
                if ["", "Spec", "Status"]
                    .iter()
                    .any(|it| *name == format!("{root}{it}"))
                {
                    return format!("{module}::{name}");
                }
                self.imports.add(module, name);
                (*name).to_owned()
            }
            Type::Struct(name) | Type::Enum(name) => name.clone(),
            Type::List(items) => format!("Vec<{}>", self.text(items)),
            Type::Map(values) => {
                self.imports.add("std::collections", "BTreeMap");
                format!("BTreeMap<String, {}>", self.text(values))
            }
        }
    }
}

/// The keyword for CEL rules.
const RULES: &str = "x-kubernetes-validations";

/// The properties of an object, in their order.
fn properties(schema: &Object) -> impl Iterator<Item = (&str, &Object)> {
    let all = schema.get("properties").and_then(Value::as_object);
    let order = schema.get(ORDER).and_then(Value::as_array);
    let order = order.into_iter().flatten().filter_map(Value::as_str);
    order.filter_map(move |name| Some((name, all?.get(name)?.as_object()?)))
}

fn is_required(schema: &Object, name: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|it| it == name))
}
