//! The schemas with rules, and what is known around them.

use std::rc::Rc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrBool, ValidationRule,
};

use super::{
    super::node::{is_true, items, type_of},
    declared::{LARGEST, below, declare, escape},
    types::{Declared, Form, Limit},
};

/// A schema with rules.
#[derive(Debug)]
pub(super) struct Site<'a> {
    schema: &'a JSONSchemaProps,
    pub(super) path: String,
    /// What rules see; `None` if they see nothing.
    pub(super) declared: Option<Rc<Declared>>,
    /// The lists and maps around it.
    pub(super) around: Vec<Around>,
    /// The API server knows the old value.
    pub(super) has_old: bool,
}

/// A list or a map around a schema, and how many values it has at most.
#[derive(Clone, Debug)]
pub(super) struct Around {
    pub(super) path: String,
    pub(super) limit: Limit,
    pub(super) most: Option<u64>,
}

impl Site<'_> {
    pub(super) fn rules(&self) -> &[ValidationRule] {
        let rules = self.schema.x_kubernetes_validations.as_deref();
        rules.unwrap_or_default()
    }

    /// How many times a rule may run.
    pub(super) fn runs(&self, declared: &Declared) -> u64 {
        let product = self.around.iter().try_fold(1_u64, |product, around| {
            Some(product.saturating_mul(around.most?))
        });
        let most = LARGEST / (declared.least_bytes + 1);
        product.unwrap_or_else(|| u64::try_from(most).unwrap_or_default())
    }
}

/// Visits the schemas with rules.
pub(super) fn visit<'a>(schema: &'a JSONSchemaProps, visitor: &mut dyn FnMut(&Site<'a>)) {
    let site = Site {
        schema,
        path: String::new(),
        declared: None,
        around: Vec::new(),
        has_old: true,
    };
    walk(site, None, true, visitor);
}

/// `seen` is what rules see of the schema, if there are rules around it.
fn walk<'a>(
    site: Site<'a>,
    seen: Option<Option<Rc<Declared>>>,
    is_root: bool,
    visitor: &mut dyn FnMut(&Site<'a>),
) {
    let mut site = site;
    let has_rules = !site.rules().is_empty();
    let schema = site.schema;
    let seen = match seen {
        None if has_rules => Some(declare(schema, is_root || is_embedded(schema), &site.path)),
        seen => seen,
    };
    if has_rules {
        site.declared = seen.clone().flatten();
        visitor(&site);
    }
    let form = seen
        .as_ref()
        .and_then(Option::as_ref)
        .map(|seen| &seen.form);
    let field = |name: &str| match form? {
        Form::Object(fields) => fields.get(&escape(name)?).cloned(),
        _ => None,
    };
    let of = match form {
        Some(Form::List(of) | Form::Map(of)) => Some(of.clone()),
        _ => None,
    };
    // What rules around cannot name is declared by itself.
    let inside = |known: Option<Rc<Declared>>, schema: &JSONSchemaProps, path: &str| match &seen {
        Some(Some(_)) => Some(known.or_else(|| declare(schema, is_embedded(schema), path))),
        seen => seen.clone(),
    };
    let around = |limit: Option<(Limit, Option<i64>)>| {
        let around = limit.map(|(limit, most)| {
            let most = most.map(|most| u64::try_from(most).unwrap_or_default());
            Around {
                path: site.path.clone(),
                limit,
                most,
            }
        });
        site.around
            .iter()
            .cloned()
            .chain(around)
            .collect::<Vec<_>>()
    };
    let values = (Limit::Values, schema.max_properties);
    let mut go = |below: &'a JSONSchemaProps, path: String, limit, has_old, known| {
        let seen = inside(known, below, &path);
        let site = Site {
            schema: below,
            path,
            declared: None,
            around: around(limit),
            has_old,
        };
        walk(site, seen, false, visitor);
    };
    let is_map = type_of(schema) == Some("object") && schema.additional_properties.is_some();
    for (name, schema) in schema.properties.iter().flatten() {
        let path = below(&site.path, name);
        go(
            schema,
            path,
            is_map.then_some(values),
            site.has_old,
            field(name),
        );
    }
    if let Some(JSONSchemaPropsOrBool::Schema(schema)) = &schema.additional_properties {
        let path = format!("{}{{}}", site.path);
        go(
            schema,
            path,
            is_map.then_some(values),
            site.has_old,
            of.clone(),
        );
    }
    if let Some(items) = items(schema) {
        let has_old = site.has_old && schema.x_kubernetes_list_type.as_deref() == Some("map");
        let limit = (type_of(schema) == Some("array")).then_some((Limit::Items, schema.max_items));
        go(items, format!("{}[]", site.path), limit, has_old, of);
    }
}

fn is_embedded(schema: &JSONSchemaProps) -> bool {
    is_true(schema.x_kubernetes_embedded_resource)
}
