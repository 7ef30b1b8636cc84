//! The source of a module: imports, types, generated functions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    Options,
    attributes::{self, Attributes, UNREAD},
    definition::{Crd, Version},
    doc,
    imports::Imports,
    literal,
    meta::{self, Meta},
    name,
    root::{Root, Status},
    schema::Object,
    types::{Body, Field, Own, Type, Types},
};

/// Lints about Markdown, which descriptions are not.
const LINTS: &str = "\
// Descriptions are text for kubectl and the docs of the API, not Markdown.
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    rustdoc::invalid_rust_codeblocks
)]
";

/// A lint about the columns of `#[kube(…)]`.
const COLUMNS: &str = "\
// Two columns may have the same type.
#![allow(clippy::duplicated_attributes)]
";

/// The generated functions, by name.
const FUNCTIONS: [(&str, &str); 3] = [
    (
        "undescribed",
        "/// Removes the description that a Kubernetes type has on its own from list items and map values.
fn undescribed(schema: &mut Schema) {
    for inner in [\"items\", \"additionalProperties\"] {
        if let Some(inner) = schema.get_mut(inner).and_then(Value::as_object_mut) {
            inner.remove(\"description\");
        }
    }
}
",
    ),
    (
        "unwrapped",
        "/// Joins the wrapped lines of a description; a paragraph is a line of the original.
fn unwrapped(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut(\"description\") {
        let lines = text.split(\"\\n\\n\").map(|line| line.replace('\\n', \" \"));
        *text = lines.collect::<Vec<_>>().join(\"\\n\");
    }
}
",
    ),
    (
        "kept",
        "/// A schema as the CRD has it.
fn kept(name: &str) -> Schema {
    let schemas: BTreeMap<String, Schema> =
        serde_json::from_str(SCHEMAS).expect(\"the file is generated with these types\");
    let mut schema = schemas.get(name).cloned().unwrap_or_default();
    RecursiveTransform(as_written).transform(&mut schema);
    schema
}

/// Keeps kube from rewriting the alternatives of a schema: it cannot read one whose `contains` is no
/// schema. The CRD has no such keyword, and loses it.
fn as_written(schema: &mut Schema) {
    if schema.get(\"anyOf\").is_some() || schema.get(\"oneOf\").is_some() {
        schema.insert(\"contains\".into(), \"UNREAD\".into());
    }
}
",
    ),
];

/// A module that is being written.
pub(crate) struct Module<'a> {
    types: &'a Types,
    imports: Imports,
    functions: BTreeSet<&'static str>,
    /// The schemas that are kept, by the name of their function.
    kept: BTreeMap<String, Object>,
    /// Their functions, by the text of the schema.
    keepers: HashMap<String, String>,
    used: name::Used,
    body: String,
    options: &'a Options,
}

/// The source of a version's module, and its kept schemas.
pub(crate) fn module(
    crd: &Crd,
    version: &Version,
    root: &Root,
    types: &Types,
    options: &Options,
) -> (String, BTreeMap<String, Object>) {
    let mut module = Module {
        types,
        imports: Imports::default(),
        functions: BTreeSet::new(),
        kept: BTreeMap::new(),
        keepers: HashMap::new(),
        used: name::Used::default(),
        body: String::new(),
        options,
    };
    for (function, _) in FUNCTIONS {
        module.used.take(function);
    }
    module.used.take("as_written");
    module.import("kube", "CustomResource");
    module.import("serde", "Deserialize");
    module.import("serde", "Serialize");
    if options.json_schema {
        for name in ["JsonSchema", "Schema", "SchemaGenerator", "json_schema"] {
            module.import("schemars", name);
        }
        module.import("std::borrow", "Cow");
        if root.is_flat {
            module.import("serde_json", "Value");
        }
    }
    for (index, own) in types.own.iter().enumerate() {
        let kube = (index == root.derived).then(|| root.kube(crd, version, types, options));
        let is_remote = kube.is_some() && root.is_spec_optional;
        module.type_(own, kube, is_remote);
        if index == root.derived {
            if root.is_spec_optional {
                module.import("serde", "Deserializer");
                module.import("serde", "Serializer");
                module.body.push_str(&root.optional_spec(types));
            }
            if options.json_schema {
                module.body.push_str(&root.schema(version, types));
                module.body.push('\n');
            }
        }
    }
    module.status(root);
    module.finish()
}

impl Module<'_> {
    fn import(&mut self, path: &'static str, name: &'static str) {
        self.imports.add(path, name);
    }

    /// The type in source. What it needs is imported.
    fn source(&mut self, type_: &Type) -> String {
        let Self { types, imports, .. } = self;
        type_.source(
            &|index| types.own[*index].name.clone(),
            &mut |module, name| {
                imports.add(module, name);
                name.to_owned()
            },
        )
    }

    fn line(&mut self, indent: usize, text: &str) {
        if !text.is_empty() {
            self.body.push_str(&" ".repeat(indent));
            self.body.push_str(text);
        }
        self.body.push('\n');
    }

    fn lines(&mut self, lines: Vec<String>) {
        lines.iter().for_each(|line| self.line(0, line));
    }

    /// Writes a type. That of a spec that objects may lack implements serde's traits by functions of its own.
    fn type_(&mut self, own: &Own, kube: Option<Vec<String>>, is_remote: bool) {
        let attributes = attributes::of_type(own);
        self.doc(&attributes, 0);
        let mut derives = vec!["Clone", "Debug"];
        if own.default {
            derives.push("Default");
        }
        derives.push("PartialEq");
        if kube.is_some() {
            derives.push("CustomResource");
        }
        derives.push("Deserialize");
        if self.options.json_schema {
            derives.push("JsonSchema");
        }
        derives.push("Serialize");
        self.line(0, &format!("#[derive({})]", derives.join(", ")));
        self.lines(kube.unwrap_or_default());
        match &own.body {
            Body::Struct { fields, rest } => {
                self.struct_(own, &attributes, fields, rest.as_ref(), is_remote);
            }
            Body::Enum(variants) => self.enum_(own, &attributes, variants),
            Body::Choice(variants) => self.choice(own, variants),
        }
        self.line(0, "");
    }

    fn struct_(
        &mut self,
        own: &Own,
        attributes: &Attributes,
        fields: &[Field],
        rest: Option<&Type>,
        is_remote: bool,
    ) {
        let ident = |field: &Field| field.ident.trim_start_matches("r#").to_owned();
        let is_camel = |field: &Field| {
            field.name != ident(field) && field.name == name::camel_case(&field.ident)
        };
        let camel = fields.iter().any(is_camel);
        let mut serde = Vec::new();
        if is_remote {
            serde.push(Meta::word("remote = \"Self\""));
        }
        if camel {
            serde.push(Meta::word("rename_all = \"camelCase\""));
        }
        if !serde.is_empty() {
            self.lines(meta::attribute("serde", serde, 0));
        }
        self.schemars(attributes, 0);
        if fields.is_empty() && rest.is_none() {
            self.line(0, &format!("pub struct {} {{}}", own.name));
            return;
        }
        self.line(0, &format!("pub struct {} {{", own.name));
        for field in fields {
            let plain = if camel {
                name::camel_case(&field.ident)
            } else {
                ident(field)
            };
            self.field(own, field, field.name != plain);
        }
        if let Some(rest) = rest {
            self.rest(fields, rest);
        }
        self.line(0, "}");
    }

    fn field(&mut self, own: &Own, field: &Field, renamed: bool) {
        let mut attributes = match self.options.json_schema {
            true => attributes::of_field(field, self.types),
            false => attributes::of_plain_field(field),
        };
        if renamed {
            meta::rename(&mut attributes.serde, &field.name);
        }
        if let Some(schema) = attributes.kept.take() {
            let function = self.keep(own, field, schema);
            let with = format!("schema_with = \"{function}\"");
            attributes.schemars.insert(0, Meta::word(&with));
        }
        self.doc(&attributes, 4);
        if !attributes.serde.is_empty() {
            let serde = std::mem::take(&mut attributes.serde);
            self.lines(meta::attribute("serde", serde, 4));
        }
        self.schemars(&attributes, 4);
        let nullable = field.schema.get("nullable") == Some(&Value::Bool(true));
        let mut type_ = self.source(&field.type_);
        if !field.required || nullable {
            type_ = format!("Option<{type_}>");
        }
        self.lines(meta::field(&field.ident, &type_));
    }

    fn rest(&mut self, fields: &[Field], rest: &Type) {
        let taken = |name: &str| fields.iter().any(|field| field.ident == name);
        let name = ["other", "other_fields", "unknown_fields"]
            .into_iter()
            .find(|name| !taken(name));
        self.line(4, "/// Further fields.");
        self.line(4, "#[serde(flatten)]");
        self.import("std::collections", "BTreeMap");
        let type_ = self.source(rest);
        let name = name.unwrap_or("all_unknown_fields");
        self.line(4, &format!("pub {name}: BTreeMap<String, {type_}>,"));
    }

    fn enum_(&mut self, own: &Own, attributes: &Attributes, variants: &[(String, String)]) {
        let (rule, lines) = meta::variants(variants, None);
        self.lines(rule.into_iter().collect());
        self.schemars(attributes, 0);
        self.line(0, &format!("pub enum {} {{", own.name));
        self.lines(lines);
        self.line(0, "}");
    }

    /// Writes an enum for an object with one of several keys.
    fn choice(&mut self, own: &Own, variants: &[(String, String, Type)]) {
        let keys: Vec<_> = variants
            .iter()
            .map(|(variant, key, _)| (variant.clone(), key.clone()))
            .collect();
        let rule = name::rule(&keys);
        if let Some(rule) = rule {
            self.line(0, &format!("#[serde(rename_all = \"{rule}\")]"));
        }
        self.line(0, "#[allow(clippy::large_enum_variant)]");
        self.line(0, &format!("pub enum {} {{", own.name));
        for (variant, key, type_) in variants {
            let description = own.schema["properties"][key]["description"].as_str();
            let doc = description.map(|text| doc::of(text).lines);
            for line in doc.into_iter().flatten() {
                self.line(4, format!("/// {line}").trim_end());
            }
            if rule.is_none() && variant != key {
                self.line(4, &format!("#[serde(rename = {})]", literal::string(key)));
            }
            let type_ = self.source(type_);
            self.line(4, &format!("{variant}({type_}),"));
        }
        self.line(0, "}");
    }

    /// Keeps the schema of a field, and returns the function that gives it.
    fn keep(&mut self, own: &Own, field: &Field, schema: Object) -> String {
        let text = Value::Object(schema.clone()).to_string();
        if let Some(name) = self.keepers.get(&text) {
            return name.clone();
        }
        use heck::ToSnakeCase as _;
        let path = format!(
            "{}_{}",
            own.name.to_snake_case(),
            field.ident.trim_start_matches("r#")
        );
        let function = self.used.once(path);
        self.kept.insert(function.clone(), schema);
        self.keepers.insert(text, function.clone());
        function
    }

    fn doc(&mut self, attributes: &Attributes, indent: usize) {
        for line in &attributes.doc {
            let line = format!("/// {line}");
            self.line(indent, line.trim_end());
        }
    }

    fn schemars(&mut self, attributes: &Attributes, indent: usize) {
        if !self.options.json_schema {
            return;
        }
        for function in ["undescribed", "unwrapped"] {
            if attributes.uses(function) {
                self.functions.insert(function);
                self.import("serde_json", "Value");
            }
        }
        let lines = meta::schemars(attributes.schemars.clone(), &attributes.extend, indent);
        self.lines(lines);
    }

    /// The type of a status that is no struct.
    fn status(&mut self, root: &Root) {
        let name = format!("{}Status", root.name);
        match root.status {
            Status::Open => {
                self.import("std::collections", "BTreeMap");
                self.import("serde_json", "Value");
                self.line(0, "/// The status, which may have any fields.");
                self.line(0, &format!("pub type {name} = BTreeMap<String, Value>;"));
                self.line(0, "");
            }
            Status::Dropped => {
                self.line(0, "/// The status, of which the API server keeps nothing.");
                self.line(
                    0,
                    "#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]",
                );
                self.line(0, &format!("pub struct {name} {{}}"));
                self.line(0, "");
            }
            Status::None | Status::Own(_) => {}
        }
    }

    /// Puts the parts together.
    fn finish(mut self) -> (String, BTreeMap<String, Object>) {
        if !self.kept.is_empty() {
            self.functions.insert("kept");
            self.import("std::collections", "BTreeMap");
            self.import("schemars::transform", "RecursiveTransform");
            self.import("schemars::transform", "Transform");
        }
        let mut source = LINTS.to_owned();
        if self.options.json_schema {
            source.push_str(COLUMNS);
        }
        source.push_str(&format!("\n{}\n", self.imports.lines()));
        if !self.kept.is_empty() {
            let file = literal::string(&self.options.schemas);
            source.push_str("/// Schemas of the CRD that no Rust type has.\n");
            source.push_str(&format!("const SCHEMAS: &str = include_str!({file});\n\n"));
        }
        source.push_str(&self.body);
        for name in self.kept.keys() {
            source.push_str(&keeper(name));
        }
        for (name, text) in FUNCTIONS {
            if self.functions.contains(name) {
                source.push_str(&text.replace("UNREAD", UNREAD));
                source.push('\n');
            }
        }
        (source.trim_end().to_owned() + "\n", self.kept)
    }
}

/// The function that gives a kept schema.
fn keeper(name: &str) -> String {
    let line = format!("fn {name}(_: &mut SchemaGenerator) -> Schema {{");
    let signature = match line.len() <= meta::LINE {
        true => line,
        false => format!("fn {name}(\n    _: &mut SchemaGenerator,\n) -> Schema {{"),
    };
    format!("{signature}\n    kept(\"{name}\")\n}}\n\n")
}
