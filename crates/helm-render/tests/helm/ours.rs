//! Renders with this crate, and answers as the oracle does.

use std::collections::BTreeMap;

use helm_render::{
    Map, MapType, Options, Rendered, Value,
    chart::{Chart, Template},
    engine::{self, Settings},
    manifest::DeletePolicy,
};
use serde_json::json;

/// The name that the oracle gives a template.
const NAME: &str = "t/templates/t.yaml";

/// The text of a template that sees data as `.Values`.
pub fn template(text: &str, data: &serde_json::Value) -> Result<String, String> {
    let values = match Value::of_json(data) {
        Value::Map(values) => Value::Map(values.as_type(MapType::Values)),
        other => other,
    };
    let dot = BTreeMap::from([("Values".to_owned(), values)]);
    let template = Template {
        name: NAME.to_owned(),
        base_path: "t/templates".to_owned(),
        text: text.into(),
        dot: Map::of(MapType::Values, dot),
    };
    let rendered = engine::render(&[template], &Settings::default());
    rendered.map(|mut texts| texts.remove(NAME).unwrap())
}

/// Whether an error says that this crate does not do what Go does, which is no difference.
pub fn is_refusal(error: &str) -> bool {
    let signs = [
        "not supported",
        "larger than",
        "more than",
        "would end in a character",
        "cuts a character",
    ];
    signs.iter().any(|sign| error.contains(sign))
}

/// What a request of the kind `chart` is answered with.
pub fn render(request: &serde_json::Value) -> serde_json::Value {
    let given = request["values"].as_object().cloned().unwrap_or_default();
    let path = request["path"].as_str().unwrap();
    let rendered = Chart::load(path)
        .and_then(|chart| helm_render::render(&chart, &given, &Options::default()));
    match rendered {
        Ok(rendered) => answer(&rendered),
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// The answer, without the parts that are empty.
fn answer(
    Rendered {
        templates,
        manifests,
        crds,
        values,
        ..
    }: &Rendered,
) -> serde_json::Value {
    let policy = |policy: &DeletePolicy| match policy {
        DeletePolicy::HookSucceeded => "hook-succeeded".to_owned(),
        DeletePolicy::HookFailed => "hook-failed".to_owned(),
        DeletePolicy::BeforeHookCreation => "before-hook-creation".to_owned(),
        DeletePolicy::Other(word) => word.clone(),
    };
    let sorted = manifests.manifests.iter();
    let sorted = sorted.map(|it| json!({"path": it.path, "content": it.text}));
    let hooks = manifests.hooks.iter().map(|it| {
        json!({
            "path": it.path, "content": it.text, "name": it.name, "kind": it.kind, "weight": it.weight,
            "events": it.events.iter().map(|it| it.name()).collect::<Vec<_>>(),
            "deletePolicies": it.delete_policies.iter().map(policy).collect::<Vec<_>>(),
        })
    });
    let crds = crds
        .iter()
        .map(|it| json!({"path": it.path, "content": it.file.text()}));
    let mut answer = json!({
        "templates": templates,
        "manifests": sorted.collect::<Vec<_>>(),
        "hooks": hooks.collect::<Vec<_>>(),
        "crds": crds.collect::<Vec<_>>(),
        "notes": manifests.notes,
        "values": values,
    });
    let parts = answer.as_object_mut().unwrap();
    parts.retain(|_, part| match part {
        serde_json::Value::Array(items) => !items.is_empty(),
        serde_json::Value::Object(entries) => !entries.is_empty(),
        serde_json::Value::String(text) => !text.is_empty(),
        _ => true,
    });
    answer
}
