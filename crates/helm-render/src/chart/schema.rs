//! `values.schema.json`: which values a chart takes.

mod steps;

use jsonschema::{PatternOptions, Retrieve, Uri, ValidationError, ValidationOptions, Validator};
use semver::Version;
use serde_json::Value as Json;

use super::{Chart, bounds::without_mark};
use crate::{Error, values::Table};

impl Chart {
    /// Checks values, as [`Chart::render_values`] gives them, against the schemas of the chart and its dependencies.
    ///
    /// # Errors
    /// What does not fit, of each chart; or a schema is not valid or asks for another one from the network.
    pub fn check_schemas(&self, values: &Table) -> Result<(), Error> {
        match self.misfits(values) {
            what if what.is_empty() => Ok(()),
            what => Err(Error::new(format!(
                "values don't meet the specifications of the schema(s) in the following chart(s):\n{what}"
            ))),
        }
    }

    fn misfits(&self, values: &Table) -> String {
        let mut what = String::new();
        if let Some(schema) = &self.schema
            && let Err(error) = check(values, schema)
        {
            what.push_str(&format!("{}:\n{error}", self.name()));
        }
        for dependency in &self.dependencies {
            match values.get(dependency.name()) {
                None | Some(Json::Null) => {}
                Some(Json::Object(values)) => what.push_str(&dependency.misfits(values)),
                Some(other) => what.push_str(&format!(
                    "{}:\ninvalid type for values: expected object (map), got {}\n",
                    dependency.name(),
                    crate::Value::of_json(other).type_name()
                )),
            }
        }
        what
    }
}

/// How many errors one chart reports at most.
const MOST_MISFITS: usize = 100;

/// The most bytes of memory for a compiled pattern of a schema.
const LARGEST_PATTERN: usize = 2 << 20;

fn check(values: &Table, schema: &[u8]) -> Result<(), String> {
    let schema = read(schema).map_err(|error| format!("values.schema.json: {error}\n"))?;
    let values = Json::Object(values.clone());
    steps::count(&schema, &values).map_err(|what| format!("values.schema.json: {what}\n"))?;
    let validator = validator(&schema);
    let validator =
        validator.map_err(|error| format!("{ADDRESS} is no valid schema: {error}\n"))?;
    let misfits = validator.iter_errors(&values).take(MOST_MISFITS);
    let lines: Vec<String> = misfits.map(|it| line(&it)).collect();
    match lines.is_empty() {
        true => Ok(()),
        false => Err(lines.concat()),
    }
}

/// Why no values can be checked against a schema, with the line if it is no JSON.
pub(crate) fn fault(schema: &[u8]) -> Option<(Option<usize>, String)> {
    match read(schema) {
        Err(error) => Some((Some(error.line()), error.to_string())),
        Ok(schema) => match validator(&schema) {
            Err(error) => Some((None, format!("no valid schema: {error}"))),
            Ok(_) => None,
        },
    }
}

fn read(schema: &[u8]) -> serde_json::Result<Json> {
    serde_json::from_slice(without_mark(schema))
}

fn validator(schema: &Json) -> Result<Validator, ValidationError<'_>> {
    with_formats(jsonschema::options())
        .with_base_uri(ADDRESS)
        .with_retriever(Retriever)
        .with_pattern_options(PatternOptions::regex().size_limit(LARGEST_PATTERN))
        // What a text holds is not judged, as in Helm.
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
        .build(schema)
}

/// The formats that Helm checks under every draft, and this library only under later ones.
const FORMATS: [&str; 8] = [
    "duration",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "uri-template",
    "uuid",
    "idn-email",
];

fn with_formats<'a>(options: ValidationOptions<'a>) -> ValidationOptions<'a> {
    let mut options = options.with_format("semver", |text: &str| Version::parse(text).is_ok());
    for format in FORMATS {
        let validator = of_format(format);
        options = options.with_format(format, move |text: &str| {
            let validator = validator.as_ref();
            validator.is_none_or(|it| it.is_valid(&Json::from(text)))
        });
    }
    let (time, duration) = (of_format("date-time"), of_format("duration"));
    options.with_format("period", move |text: &str| {
        let is = |validator: &Option<Validator>, text: &str| {
            let validator = validator.as_ref();
            validator.is_none_or(|it| it.is_valid(&Json::from(text)))
        };
        let Some((start, end)) = text.split_once('/') else {
            return false;
        };
        match is(&time, start) {
            true => is(&time, end) || is(&duration, end),
            false => is(&duration, start) && is(&time, end),
        }
    })
}

/// Whether a text has a format, as the latest draft says.
fn of_format(format: &str) -> Option<Validator> {
    jsonschema::options()
        .should_validate_formats(true)
        .build(&serde_json::json!({ "format": format }))
        .ok()
}

/// The address that the schema has for itself.
const ADDRESS: &str = "file:///values.schema.json";

/// Gets schemas that others refer to: none from the network and none of the file system.
struct Retriever;

impl Retrieve for Retriever {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Json, Box<dyn std::error::Error + Send + Sync>> {
        match uri.scheme().as_str() {
            // Helm warns, and takes everything.
            "urn" => Ok(Json::Bool(true)),
            _ => Err(format!("schemas that are elsewhere are not read: {uri}").into()),
        }
    }
}

/// The message for a value that its schema refuses. It leaves the value out, which may be a secret.
fn line(misfit: &ValidationError<'_>) -> String {
    use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
    let joined = |names: &[String]| {
        let names = names.iter().map(|name| format!("'{name}'"));
        names.collect::<Vec<_>>().join(", ")
    };
    let what = match misfit.kind() {
        Kind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(all) => {
                    let all = all.iter().map(|it| it.to_string());
                    all.collect::<Vec<_>>().join(" or ")
                }
            };
            format!("got {}, want {wanted}", type_name(misfit.instance()))
        }
        Kind::Required { property } => {
            format!(
                "missing property '{}'",
                property.as_str().unwrap_or_default()
            )
        }
        Kind::AdditionalProperties { unexpected } => {
            format!("additional properties {} not allowed", joined(unexpected))
        }
        Kind::FalseSchema => "false schema".to_owned(),
        Kind::AnyOf { .. } => "'anyOf' failed".to_owned(),
        Kind::OneOfNotValid { .. } => "'oneOf' failed, none matched".to_owned(),
        Kind::Not { .. } => "'not' failed".to_owned(),
        _ => misfit.masked().to_string(),
    };
    format!("- at '{}': {what}\n", misfit.instance_path())
}

fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn misfits(schema: &str, values: Json) -> String {
        let Json::Object(values) = values else {
            panic!("no table");
        };
        check(&values, schema.as_bytes()).err().unwrap_or_default()
    }

    #[test]
    fn misfits_are_told_without_values() {
        let schema = r#"{"type": "object", "required": ["a", "b"], "additionalProperties": false,
            "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}, "c": {"maxLength": 2}}}"#;
        assert_eq!(misfits(schema, json!({"a": 1.0, "b": null})), "");
        assert_eq!(
            misfits(schema, json!({"a": "secret", "c": "secret", "d": 1})),
            "- at '': missing property 'b'\n- at '/a': got string, want integer\n- at '/c': value is longer than 2 characters\n- at '': additional properties 'd' not allowed\n"
        );
    }

    #[test]
    fn other_schemas_are_not_read() {
        for address in ["https://example.com/a.json", "file:///etc/passwd", "b.json"] {
            let schema = json!({"$ref": address}).to_string();
            let what = misfits(&schema, json!({}));
            assert!(what.contains("not read"), "{what}");
        }
        assert_eq!(misfits(r#"{"$ref": "urn:a:b"}"#, json!({})), "");
    }

    #[test]
    fn circles_of_references_end() {
        for schema in [
            r##"{"$ref": "#"}"##,
            r##"{"allOf": [{"$ref": "#"}]}"##,
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}"##,
        ] {
            assert_eq!(misfits(schema, json!({"a": 1})), "", "{schema}");
        }
    }

    #[test]
    fn formats_hold_under_old_drafts() {
        for (format, text, fits) in [
            ("uuid", "x", false),
            ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", true),
            ("duration", "P", false),
            ("duration", "P1D", true),
            ("period", "x", false),
            ("period", "2024-01-01T00:00:00Z/P1D", true),
            ("semver", "1.2", false),
            ("semver", "1.2.3-a", true),
            ("email", "a", false),
            ("unknown", "a", true),
        ] {
            let old = json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"a": {"format": format}},
            });
            let wrong = misfits(&old.to_string(), json!({"a": text}));
            assert_eq!(wrong.is_empty(), fits, "{format} {text}");
            let new = json!({"properties": {"a": {"format": format}}}).to_string();
            assert_eq!(misfits(&new, json!({"a": text})), "", "{format} {text}");
        }
    }
}
