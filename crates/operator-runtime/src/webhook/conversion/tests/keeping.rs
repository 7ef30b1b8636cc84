//! Tests of the annotation with the kept fields.

use super::{types::*, *};
use crate::webhook::Spoke;

const KEY: &str = "conversion.test.example.com/v1";

fn full() -> Value {
    let mut full = widget(
        "v1",
        &json!({
            "displayName": "a",
            "limits": { "max": 5 },
            "parts": [{ "name": "x", "color": "red" }, { "name": "y" }, { "name": "z", "color": "blue" }],
            "options": { "o": "p" },
        }),
    );
    full["metadata"]["annotations"] = json!({ "other": "1" });
    full
}

#[test]
fn nothing_is_lost_through_a_version_that_holds_less() {
    let spoke = one(all(), "v1alpha1", &full()).unwrap();
    let kept = spoke["metadata"]["annotations"][KEY].as_str().unwrap();
    let expected = json!([
        { "path": ["spec", "limits"], "kept": { "max": 5 } },
        { "path": ["spec", "options"], "kept": { "o": "p" } },
        { "path": ["spec", "parts", { "field": "name", "is": "x" }, "color"], "kept": "red" },
        { "path": ["spec", "parts", { "field": "name", "is": "z" }, "color"], "kept": "blue" },
    ]);
    assert_eq!(serde_json::from_str::<Value>(kept).unwrap(), expected);
    assert_eq!(spoke["metadata"]["annotations"]["other"], "1");
    let parts = json!([{ "name": "x" }, { "name": "y" }, { "name": "z" }]);
    assert_eq!(spoke["spec"], json!({ "name": "a", "parts": parts }));
    assert_eq!(one(all(), "v1", &spoke), Ok(full()));

    // Nor through a third version, which holds still less.
    let mut number = spoke;
    number["spec"]["name"] = "1".into();
    let mut expected = full();
    expected["spec"]["displayName"] = "1".into();
    let third = one(all(), "v2", &number).unwrap();
    assert_eq!(third["spec"], json!({ "number": 1 }));
    assert_eq!(one(all(), "v1", &third), Ok(expected));
}

#[test]
fn fields_that_may_be_lost_are_not_kept() {
    let drops = |fields: &[&str]| {
        let mut widget = Conversion::to::<v1::Widget>();
        widget.add(Spoke::of::<v1alpha1::Widget>().drops(fields));
        let spoke = one(widget, "v1alpha1", &full()).unwrap();
        spoke["metadata"]["annotations"][KEY].clone()
    };
    let expected = r#"[{"path":["spec","limits"],"kept":{"max":5}}]"#;
    assert_eq!(drops(&["spec.options", "spec.parts.color"]), expected);
    assert_eq!(drops(&["spec"]), Value::Null);
}

#[test]
fn an_object_that_fits_has_no_annotation() {
    let hub = widget(
        "v1",
        &json!({ "displayName": "a", "parts": [{ "name": "x" }] }),
    );
    let spoke = one(all(), "v1alpha1", &hub).unwrap();
    assert_eq!(spoke["metadata"], hub["metadata"]);
    assert_eq!(one(all(), "v1", &spoke), Ok(hub.clone()));

    // An annotation that a user copied to the hub is ignored.
    let mut copied = hub;
    copied["metadata"]["annotations"] = json!({ KEY: "[]" });
    assert_eq!(one(all(), "v1alpha1", &copied), Ok(spoke));
}

#[test]
fn changes_of_the_user_win() {
    let change = |change: fn(&mut Value)| {
        let mut spoke = one(all(), "v1alpha1", &full()).unwrap();
        change(&mut spoke["spec"]);
        let mut hub = one(all(), "v1", &spoke).unwrap();
        assert_eq!(hub["metadata"]["annotations"], json!({ "other": "1" }));
        hub["spec"].take()
    };
    let mut expected = full()["spec"].take();
    expected["displayName"] = "b".into();
    assert_eq!(change(|spec| spec["name"] = "b".into()), expected);

    // The remaining parts keep their color.
    let mut expected = full()["spec"].take();
    expected["parts"] = json!([{ "name": "z", "color": "blue" }, { "name": "new" }]);
    assert_eq!(
        change(|spec| spec["parts"] = json!([{ "name": "z" }, { "name": "new" }])),
        expected
    );

    let mut expected = full()["spec"].take();
    expected.as_object_mut().unwrap().remove("parts");
    assert_eq!(change(|spec| spec["parts"] = json!([])), expected);

    // A field of the hub that the version preserves.
    let mut expected = full()["spec"].take();
    expected["limits"] = json!({ "max": 6 });
    assert_eq!(
        change(|spec| spec["limits"] = json!({ "max": 6 })),
        expected
    );
}

/// A version with one field, the words of two fields of the hub. A hub without a first field is kept as such.
fn words() -> Conversion {
    let up = |spoke: v1alpha1::Widget| {
        let mut hub = v1::Widget::new("", v1::WidgetSpec::default());
        hub.metadata = spoke.metadata;
        let (first, rest) = spoke
            .spec
            .name
            .split_once(' ')
            .unwrap_or((&spoke.spec.name, ""));
        hub.spec.display_name = first.to_owned();
        if !rest.is_empty() {
            hub.spec.options = [("rest".to_owned(), rest.to_owned())].into();
        }
        Ok(hub)
    };
    let down = |hub: v1::Widget| {
        let rest = hub.spec.options.get("rest").map_or("", String::as_str);
        let name = format!("{} {rest}", hub.spec.display_name);
        let mut spoke = v1alpha1::Widget::new("", v1alpha1::WidgetSpec::default());
        spoke.spec.name = name.trim().to_owned();
        spoke.metadata = hub.metadata;
        Ok(spoke)
    };
    let mut hub = Conversion::to::<v1::Widget>();
    hub.add(Spoke::new(false, up, down));
    hub.into()
}

#[test]
fn a_kept_value_does_not_change_what_the_user_wrote() {
    let spec = json!({ "displayName": "", "limits": { "max": 5 }, "options": { "rest": "a" } });
    let hub = widget("v1", &spec);
    let mut spoke = one(words(), "v1alpha1", &hub).unwrap();
    assert_eq!(spoke["spec"]["name"], "a");
    assert_eq!(one(words(), "v1", &spoke).unwrap()["spec"], spec);

    // The kept name alone, which is empty, would leave only the second word.
    spoke["spec"]["name"] = "a c".into();
    let hub = one(words(), "v1", &spoke).unwrap();
    let expected =
        json!({ "displayName": "a", "limits": { "max": 5 }, "options": { "rest": "c" } });
    assert_eq!(hub["spec"], expected);
    assert_eq!(
        one(words(), "v1alpha1", &hub).unwrap()["spec"]["name"],
        "a c"
    );
}

#[test]
fn fields_that_only_a_newer_replica_knows_are_kept_too() {
    let mut hub = full();
    hub["spec"]["newer"] = json!({ "x": 1 });
    let mut spoke = one(all(), "v1alpha1", &hub).unwrap();
    assert_eq!(spoke["spec"]["newer"], json!({ "x": 1 }));
    assert_eq!(one(all(), "v1", &spoke), Ok(hub.clone()));
    // Pruned, as the API server does if the schema lacks it.
    spoke["spec"].as_object_mut().unwrap().remove("newer");
    assert_eq!(one(all(), "v1", &spoke), Ok(hub));
}

#[test]
fn an_invalid_annotation_is_ignored() {
    let hub = widget("v1", &json!({ "displayName": "a" }));
    let wrong = json!([{ "path": ["spec", "limits"], "kept": 5 }]).to_string();
    let lost = json!([{ "path": [] }, { "path": ["spec", "no", "such"], "kept": 1 }]).to_string();
    for kept in ["", "{", "[5]", &wrong, &lost] {
        let mut spoke = widget("v1alpha1", &json!({ "name": "a" }));
        spoke["metadata"]["annotations"] = json!({ KEY: kept });
        assert_eq!(one(all(), "v1", &spoke), Ok(hub.clone()), "{kept}");
    }
}
