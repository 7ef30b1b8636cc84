//! The ready conditions in CRDs and in the output of `manifests --conditions`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion,
    JSONSchemaProps,
};

use crate::{apply::conditions::ReadyCondition, object::ScopedResource};

/// Adds a column of `kubectl get` for the condition of each controller, before the age. A version that has
/// a column for it or with its name, which kubectl prints in capitals, or that has no conditions, stays
/// unchanged.
pub(super) fn add_columns<'a>(
    crds: &mut [CustomResourceDefinition],
    conditions: impl Iterator<Item = (&'a ScopedResource, ReadyCondition)>,
) {
    for (kind, condition) in conditions {
        let type_ = condition.type_();
        let json_path = format!(".status.conditions[?(@.type==\"{type_}\")].status");
        let crds = crds.iter_mut().filter(|crd| defines(crd, kind));
        let versions = crds.flat_map(|crd| &mut crd.spec.versions);
        for version in versions.filter(|version| has_conditions(version)) {
            let columns = version.additional_printer_columns.get_or_insert_default();
            let is_there = |column: &CustomResourceColumnDefinition| {
                column.name.eq_ignore_ascii_case(type_) || column.json_path == json_path
            };
            if columns.iter().any(is_there) {
                continue;
            }
            let is_age = |column: &CustomResourceColumnDefinition| column.type_ == "date";
            let at = columns.iter().position(is_age).unwrap_or(columns.len());
            let column = CustomResourceColumnDefinition {
                name: type_.to_owned(),
                type_: "string".to_owned(),
                json_path: json_path.clone(),
                ..CustomResourceColumnDefinition::default()
            };
            columns.insert(at, column);
        }
    }
}

/// One line per condition, `memcacheds.cache.example.com Ready=True`: the two arguments of `kubectl wait`.
pub(super) fn lines<'a>(
    crds: &[CustomResourceDefinition],
    conditions: impl Iterator<Item = (&'a ScopedResource, ReadyCondition)>,
) -> String {
    let mut lines = String::new();
    for (kind, condition) in conditions {
        let mut crds = crds.iter().filter(|crd| defines(crd, kind));
        if crds.any(|crd| crd.spec.versions.iter().any(has_conditions)) {
            let resource = &kind.resource;
            let (plural, group) = (&resource.plural, &resource.group);
            lines.push_str(&format!("{plural}.{group} {condition}\n"));
        }
    }
    lines
}

fn defines(crd: &CustomResourceDefinition, kind: &ScopedResource) -> bool {
    let (spec, resource) = (&crd.spec, &kind.resource);
    (&spec.group, &spec.names.plural) == (&resource.group, &resource.plural)
}

fn has_conditions(version: &CustomResourceDefinitionVersion) -> bool {
    let schema = version.schema.as_ref();
    let schema = schema.and_then(|schema| schema.open_api_v3_schema.as_ref());
    let status = schema.and_then(|schema| property(schema, "status"));
    let conditions = status.and_then(|status| property(status, "conditions"));
    conditions.is_some()
}

fn property<'a>(schema: &'a JSONSchemaProps, name: &str) -> Option<&'a JSONSchemaProps> {
    schema.properties.as_ref()?.get(name)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Condition};
    use kube::{CustomResource, CustomResourceExt};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1",
        kind = "Part",
        status = "PartStatus"
    )]
    #[kube(printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ))]
    struct PartSpec {}

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    struct PartStatus {
        conditions: Option<Vec<Condition>>,
    }

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(group = "test.example.com", version = "v1", kind = "Bare")]
    struct BareSpec {}

    #[test]
    fn the_columns_of_the_author_stay() {
        let mut crd = Part::crd();
        let own = CustomResourceColumnDefinition {
            name: "READY".to_owned(),
            type_: "integer".to_owned(),
            json_path: ".status.readyReplicas".to_owned(),
            ..CustomResourceColumnDefinition::default()
        };
        crd.spec.versions[0].additional_printer_columns = Some(vec![own.clone()]);
        let kind = ScopedResource::of::<Part>();
        let conditions = [(&kind, ReadyCondition::default())].into_iter();
        add_columns(std::slice::from_mut(&mut crd), conditions);
        let columns = &crd.spec.versions[0].additional_printer_columns;
        assert_eq!(*columns, Some(vec![own]));
    }

    #[test]
    fn a_condition_is_a_column_once() {
        let mut crds = [Part::crd(), Bare::crd()];
        let of_crds = [ScopedResource::of::<Part>(), ScopedResource::of::<Bare>()];
        let core = ScopedResource::of::<ConfigMap>();
        let degraded = ReadyCondition::negative("Degraded");
        let conditions = || {
            let all = of_crds.iter().chain([&core]);
            all.map(|kind| (kind, degraded))
                .chain([(&of_crds[0], ReadyCondition::default())])
        };
        for _ in 0..2 {
            add_columns(&mut crds, conditions());
            let columns = |crd: &CustomResourceDefinition| {
                let columns = crd.spec.versions[0].additional_printer_columns.clone();
                let columns = columns.unwrap_or_default().into_iter();
                columns.map(|column| column.name).collect::<Vec<_>>()
            };
            assert_eq!(columns(&crds[0]), ["Degraded", "Ready", "Age"]);
            assert!(columns(&crds[1]).is_empty());
        }
        assert_eq!(
            lines(&crds, conditions()),
            "parts.test.example.com Degraded=False\nparts.test.example.com Ready=True\n"
        );
    }
}
