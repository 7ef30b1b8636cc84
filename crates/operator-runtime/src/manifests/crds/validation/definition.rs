//! The CRD around its schemas: names, versions, subresources, columns.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionVersion, CustomResourceSubresourceScale, JSONSchemaProps,
    SelectableField,
};

use super::{Refusals, fields, schema};

const NAMES: &str = "the names are those of `#[kube(group = \"…\", version = \"…\", kind = \"…\", plural = \"…\", shortname = \"…\")]`";
const APPROVED: &str = "`#[kube(annotation(\"api-approved.kubernetes.io\", \"unapproved, for tests\"))]`, or another group";
const STORAGE: &str = "one version is added with `add_storage`, the others with `add_served`";
const DEPRECATED: &str = "the text is that of `#[kube(deprecated = \"…\")]`";
const SCALE: &str = "`#[kube(scale(spec_replicas_path = \".spec.replicas\", status_replicas_path = \".status.replicas\"))]`";
const COLUMN: &str =
    "`#[kube(printcolumn(name = \"Size\", type_ = \"integer\", json_path = \".spec.size\"))]`";
const SELECTABLE: &str = "`#[kube(selectable = \".spec.…\")]` names up to 8 fields that are strings, integers or booleans";
const SIZE: &str =
    "`#[schemars(with = \"serde_json::Value\")]` at a large field leaves its schema out";

/// etcd's limit of one request, in bytes (etcd documentation, "System limits").
const LARGEST: usize = 1_572_864;

pub(super) fn check(crd: &CustomResourceDefinition, refusals: &mut Refusals) {
    let spec = &crd.spec;
    let expected = format!("{}.{}", spec.names.plural, spec.group);
    if crd.metadata.name.as_deref() != Some(&expected) {
        refusals.add(NAMES, format!("its name is not `{expected}`"));
    }
    if !is_subdomain(&spec.group) || !spec.group.contains('.') {
        let group = &spec.group;
        refusals.add(
            NAMES,
            format!("the group `{group}` is not a domain with a dot"),
        );
    }
    let is_protected = |domain: &str| {
        let rest = spec.group.strip_suffix(domain);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if ["k8s.io", "kubernetes.io"].into_iter().any(is_protected) && !is_approved(crd) {
        let group = &spec.group;
        refusals.add(
            APPROVED,
            format!("the group `{group}` belongs to Kubernetes, and no annotation says that it is approved"),
        );
    }
    if !["Cluster", "Namespaced"].contains(&spec.scope.as_str()) {
        let scope = &spec.scope;
        refusals.add(
            NAMES,
            format!("the scope `{scope}` is neither `Cluster` nor `Namespaced`"),
        );
    }
    if spec.preserve_unknown_fields == Some(true) {
        refusals.add(
            NAMES,
            "`preserveUnknownFields` is on, which this API version does not have",
        );
    }
    names(&spec.names, refusals);
    let stored = spec
        .versions
        .iter()
        .filter(|version| version.storage)
        .count();
    if stored != 1 {
        refusals.add(
            STORAGE,
            format!("{stored} of its versions are storage versions, and not 1"),
        );
    }
    let mut seen = BTreeSet::new();
    for version in &spec.versions {
        if !seen.insert(&version.name) {
            refusals.add(
                STORAGE,
                format!("the version `{}` is there twice", version.name),
            );
        }
    }
    // The API server takes equal schemas for one, and then judges it for the subresources of all versions.
    let shares_schema = spec
        .versions
        .windows(2)
        .all(|two| two[0].schema == two[1].schema);
    let shares_fields = spec
        .versions
        .windows(2)
        .all(|two| two[0].selectable_fields == two[1].selectable_fields);
    let has_fields = |version: &CustomResourceDefinitionVersion| {
        let fields = version.selectable_fields.as_ref();
        fields.is_some_and(|fields| !fields.is_empty())
    };
    if shares_schema != shares_fields && spec.versions.iter().any(has_fields) {
        refusals.add(
            SELECTABLE,
            "of its schemas and its selectable fields, only one are the same in all versions: the API server wants both or neither",
        );
    }
    let any_status = spec.versions.iter().any(has_status);
    for version in &spec.versions {
        refusals.version.clone_from(&version.name);
        let has_status = has_status(version) || (shares_schema && any_status);
        check_version(version, has_status, refusals);
    }
    refusals.version.clear();
    let size = serde_json::to_vec(crd).map_or(0, |text| text.len());
    if size > LARGEST {
        refusals.add(
            SIZE,
            format!("it has {size} bytes, and etcd takes no more than {LARGEST}"),
        );
    }
}

fn has_status(version: &CustomResourceDefinitionVersion) -> bool {
    let subresources = version.subresources.as_ref();
    subresources.is_some_and(|it| it.status.is_some())
}

/// Whether the annotation has a URL, or says that the API is not approved.
fn is_approved(crd: &CustomResourceDefinition) -> bool {
    let annotations = crd.metadata.annotations.as_ref();
    let approval = annotations.and_then(|all| all.get("api-approved.kubernetes.io"));
    approval.is_some_and(|text| text.starts_with("unapproved") || text.contains("://"))
}

fn names(names: &CustomResourceDefinitionNames, refusals: &mut Refusals) {
    let list = names.list_kind.clone().filter(|list| !list.is_empty());
    let list = list.unwrap_or_else(|| format!("{}List", names.kind));
    let lower = [&names.kind, &list].map(|name| name.to_lowercase());
    let singular = names.singular.as_ref().filter(|name| !name.is_empty());
    let labels = [&names.plural, &lower[0], &lower[1]]
        .into_iter()
        .chain(singular)
        .chain(names.short_names.iter().flatten())
        .chain(names.categories.iter().flatten());
    for name in labels.filter(|name| !is_label(name)) {
        refusals.add(
            NAMES,
            format!(
                "the name `{}` is not 1 to 63 lower-case letters, digits and `-` that start with a letter",
                name.escape_debug()
            ),
        );
    }
    if names.kind == list {
        refusals.add(
            NAMES,
            format!("the kind and the kind of its list are both `{list}`"),
        );
    }
}

fn check_version(
    version: &CustomResourceDefinitionVersion,
    has_status: bool,
    refusals: &mut Refusals,
) {
    if !is_label(&version.name) {
        refusals.add(
            NAMES,
            "the version is not lower-case letters, digits and `-` that start with a letter",
        );
    }
    if let Some(warning) = &version.deprecation_warning {
        if version.deprecated != Some(true) {
            refusals.add(
                DEPRECATED,
                "it has a warning about a deprecation, and is not deprecated",
            );
        }
        if warning.is_empty() || warning.len() > 256 || warning.chars().any(char::is_control) {
            refusals.add(
                DEPRECATED,
                "the warning about its deprecation is not 1 to 256 printable bytes",
            );
        }
    }
    let schema = version.schema.as_ref();
    match schema.and_then(|schema| schema.open_api_v3_schema.as_ref()) {
        Some(schema) => {
            schema::check(schema, has_status, refusals);
            selectable(version.selectable_fields.iter().flatten(), schema, refusals);
        }
        None => refusals.add(STORAGE, "it has no schema"),
    }
    let subresources = version.subresources.as_ref();
    if let Some(paths) = subresources.and_then(|it| it.scale.as_ref()) {
        scale(paths, refusals);
    }
    for column in version.additional_printer_columns.iter().flatten() {
        check_column(column, refusals);
    }
}

fn scale(scale: &CustomResourceSubresourceScale, refusals: &mut Refusals) {
    let selector = scale.label_selector_path.as_deref().unwrap_or_default();
    let paths: [(&str, &[&str]); 3] = [
        (&scale.spec_replicas_path, &[".spec."]),
        (&scale.status_replicas_path, &[".status."]),
        (selector, &[".spec.", ".status."]),
    ];
    for (index, (path, starts)) in paths.into_iter().enumerate() {
        let is_left_out = index == 2 && path.is_empty();
        let fits = starts.iter().any(|start| path.starts_with(start));
        if !fits && !is_left_out {
            let starts = starts.join("` or `");
            refusals.add(
                SCALE,
                format!("the path `{path}` of its scale does not start with `{starts}`"),
            );
        }
    }
}

fn check_column(column: &CustomResourceColumnDefinition, refusals: &mut Refusals) {
    let name = &column.name;
    if name.is_empty() {
        refusals.add(COLUMN, "a printer column has no name");
    }
    let types = ["boolean", "date", "integer", "number", "string"];
    if !types.contains(&column.type_.as_str()) {
        let type_ = &column.type_;
        refusals.add(
            COLUMN,
            format!(
                "the type `{type_}` of the printer column `{name}` is not one of {}",
                types.join(", ")
            ),
        );
    }
    let formats = [
        "byte",
        "date",
        "date-time",
        "double",
        "float",
        "int32",
        "int64",
        "password",
    ];
    let format = column.format.as_deref().unwrap_or_default();
    if !format.is_empty() && !formats.contains(&format) {
        refusals.add(
            COLUMN,
            format!(
                "the format `{format}` of the printer column `{name}` is not one of {}",
                formats.join(", ")
            ),
        );
    }
    if !column.json_path.starts_with('.') {
        let path = &column.json_path;
        refusals.add(
            COLUMN,
            format!("the path `{path}` of the printer column `{name}` does not start with `.`"),
        );
    }
}

fn selectable<'a>(
    selectable: impl Iterator<Item = &'a SelectableField>,
    schema: &JSONSchemaProps,
    refusals: &mut Refusals,
) {
    let mut seen = BTreeSet::new();
    for path in selectable.map(|field| field.json_path.as_str()) {
        let found = fields::at(schema, path).filter(|_| !path.contains('['));
        let type_ = found.and_then(|field| field.type_.as_deref());
        if path.split('.').nth(1) == Some("metadata")
            || !matches!(type_, Some("boolean" | "integer" | "string"))
        {
            refusals.add(
                SELECTABLE,
                format!(
                    "the selectable field `{path}` is not a string, integer or boolean of the type"
                ),
            );
        }
        if !seen.insert(path) {
            refusals.add(
                SELECTABLE,
                format!("the selectable field `{path}` is there twice"),
            );
        }
    }
    if seen.len() > 8 {
        refusals.add(
            SELECTABLE,
            format!("it has {} selectable fields", seen.len()),
        );
    }
}

/// Whether it is a label of RFC 1035, as Kubernetes names have to be.
fn is_label(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_lowercase());
    starts && name.len() <= 63 && is_part(name)
}

/// Whether it is a subdomain of RFC 1123.
fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_part)
}

/// Whether it is lower-case letters, digits and `-`, which neither starts nor ends with `-`.
fn is_part(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_bounded = !name.is_empty() && !name.starts_with('-') && !name.ends_with('-');
    is_bounded && name.chars().all(is_plain)
}
