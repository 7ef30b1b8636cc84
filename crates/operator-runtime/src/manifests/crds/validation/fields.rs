//! The field at a path such as `.spec.ports['http'].name`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrBool,
};

/// The schema at `path`; `None` if the path is invalid, or leads to nothing.
pub(super) fn at<'a>(schema: &'a JSONSchemaProps, path: &str) -> Option<&'a JSONSchemaProps> {
    let mut schema = schema;
    let mut rest = path;
    while !rest.is_empty() {
        let name;
        (name, rest) = step(rest)?;
        schema = inside(schema, &name)?;
    }
    Some(schema)
}

/// The name of the first step, and the rest.
fn step(path: &str) -> Option<(String, &str)> {
    if let Some(path) = path.strip_prefix('.') {
        let end = path.find(['.', '[', ']']).unwrap_or(path.len());
        let (name, rest) = path.split_at(end);
        return (!name.is_empty()).then(|| (name.to_owned(), rest));
    }
    let quoted = path.strip_prefix("['")?;
    let mut name = String::new();
    let mut characters = quoted.char_indices();
    while let Some((index, c)) = characters.next() {
        match c {
            '\'' => return Some((name, quoted[index + 1..].strip_prefix(']')?)),
            '\\' => name.push(characters.next()?.1),
            c => name.push(c),
        }
    }
    None
}

/// The schema of the field or value `name`.
fn inside<'a>(schema: &'a JSONSchemaProps, name: &str) -> Option<&'a JSONSchemaProps> {
    let properties = schema.properties.as_ref();
    if let Some(properties) = properties.filter(|properties| !properties.is_empty()) {
        return properties.get(name);
    }
    match schema.additional_properties.as_ref()? {
        JSONSchemaPropsOrBool::Schema(values) => Some(values),
        JSONSchemaPropsOrBool::Bool(_) => None,
    }
}
