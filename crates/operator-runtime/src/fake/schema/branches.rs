//! The alternatives of a schema.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::scalar;

/// The schema with each of its alternatives, if it has some.
pub(super) fn branches(schema: &JSONSchemaProps) -> Vec<JSONSchemaProps> {
    if scalar::is_int_or_string(schema) {
        return Vec::new();
    }
    let choices = schema.one_of.as_ref().or(schema.any_of.as_ref());
    let choices: Vec<_> = choices
        .into_iter()
        .flatten()
        .filter(|choice| !is_null(choice))
        .collect();
    let required = |choice: &JSONSchemaProps| choice.required.clone().unwrap_or_default();
    let branch = |choice: &&JSONSchemaProps| {
        let mut merged = schema.clone();
        (merged.one_of, merged.any_of) = (None, None);
        let own = required(choice);
        let others = choices.iter().flat_map(|other| required(other));
        let excluded: BTreeSet<_> = others.filter(|name| !own.contains(name)).collect();
        let properties = merged.properties.get_or_insert_default();
        properties.retain(|name, _| !excluded.contains(name));
        for (name, property) in choice.properties.iter().flatten() {
            // In a structural schema, an alternative only narrows the properties.
            let there = properties
                .entry(name.clone())
                .or_insert_with(|| property.clone());
            there.enum_ = property.enum_.clone().or(there.enum_.take());
        }
        if properties.is_empty() {
            merged.properties = None;
        }
        merged.required.get_or_insert_default().extend(own);
        merged.type_ = merged.type_.take().or(choice.type_.clone());
        merged.enum_ = merged.enum_.take().or(choice.enum_.clone());
        merged.items = merged.items.take().or(choice.items.clone());
        merged.format = merged.format.take().or(choice.format.clone());
        merged.pattern = merged.pattern.take().or(choice.pattern.clone());
        merged
    };
    choices.iter().map(branch).collect()
}

/// The null alternative of an optional enum.
fn is_null(schema: &JSONSchemaProps) -> bool {
    let nulls = schema
        .enum_
        .as_ref()
        .is_some_and(|values| values.iter().all(|value| value.0.is_null()));
    nulls || schema.type_.as_deref() == Some("null")
}
