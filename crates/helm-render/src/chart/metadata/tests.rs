use super::*;

const START: &str = "apiVersion: v2\nname: m\nversion: 1.0.0\n";

fn read(text: &str) -> Result<Metadata, String> {
    let mut metadata = Metadata::read(text).map_err(|error| error.to_string())?;
    metadata.validate().map_err(|error| error.to_string())?;
    Ok(metadata)
}

#[test]
fn numbers_and_booleans_become_text() {
    let text = format!(
        "{START}appVersion: 1.10\nhome: 1e3\nkeywords: [null, 1.5, true, 1234567890.5]\nannotations: {{a: null, b: 1}}"
    );
    let metadata = read(&text).unwrap();
    assert_eq!(metadata.app_version, "1.1");
    assert_eq!(metadata.home, "1000");
    assert_eq!(metadata.keywords, ["", "1.5", "true", "1.234568e+09"]);
    let annotations: Vec<(&str, &str)> = metadata
        .annotations
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(annotations, [("a", ""), ("b", "1")]);
}

#[test]
fn text_is_cleaned() {
    let text = format!("{START}description: \"a\\tb\\u0007c\\u00a0d\\u200be\"");
    assert_eq!(read(&text).unwrap().description, "a bc de");
}

#[test]
fn what_is_wrong() {
    let json = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
    for (text, wrong) in [
        (
            "name: [x]",
            format!("{json} array into Go struct field Metadata.name of type string"),
        ),
        (
            "maintainers: [{name: [1]}]",
            format!("{json} array into Go struct field Maintainer.maintainers.name of type string"),
        ),
        (
            "maintainers: {a: 1}",
            format!(
                "{json} object into Go struct field Metadata.maintainers of type []*v2.Maintainer"
            ),
        ),
        (
            "maintainers: [x]",
            format!(
                "{json} string into Go struct field Metadata.maintainers of type v2.Maintainer"
            ),
        ),
        (
            "annotations: {a: [1]}",
            format!("{json} array into Go struct field Metadata.annotations of type string"),
        ),
        (
            "deprecated: \"true\"",
            format!("{json} string into Go struct field Metadata.deprecated of type bool"),
        ),
        (
            "dependencies: [{tags: [[1]]}]",
            format!(
                "{json} array into Go struct field Dependency.dependencies.tags of type string"
            ),
        ),
        (
            "[1]",
            format!("{json} array into Go value of type v2.Metadata"),
        ),
        (
            "name: a",
            "validation: chart.metadata.apiVersion is required".to_owned(),
        ),
        (
            "apiVersion: v2",
            "validation: chart.metadata.name is required".to_owned(),
        ),
        (
            "apiVersion: v2\nname: ..\nversion: 1",
            "validation: chart.metadata.name \"..\" is not allowed".to_owned(),
        ),
        (
            "apiVersion: v2\nname: m/\nversion: 1",
            "validation: chart.metadata.name \"m/\" is invalid".to_owned(),
        ),
        (
            "apiVersion: v2\nname: m",
            "validation: chart.metadata.version is required".to_owned(),
        ),
        (
            "apiVersion: v2\nname: m\nversion: 1.2.3.4",
            "validation: chart.metadata.version \"1.2.3.4\" is invalid".to_owned(),
        ),
    ] {
        assert_eq!(read(text), Err(wrong));
    }
    for (more, wrong) in [
        (
            "type: foo",
            "chart.metadata.type must be application or library",
        ),
        (
            "maintainers: [null]",
            "maintainers must not contain empty or null nodes",
        ),
        (
            "dependencies: [null]",
            "dependencies must not contain empty or null nodes",
        ),
        (
            "dependencies: [{name: x, alias: a b}]",
            "dependency \"x\" has disallowed characters in the alias",
        ),
        (
            "dependencies: [{name: x}, {name: z, alias: x}]",
            "more than one dependency with name or alias \"x\"",
        ),
    ] {
        let error = read(&format!("{START}{more}"));
        assert_eq!(error, Err(format!("validation: {wrong}")));
    }
}

#[test]
fn a_chart_as_templates_see_it() {
    let metadata = read(&format!("{START}maintainers: [{{name: bob}}]")).unwrap();
    assert_eq!(
        crate::go::print::any(&Value::Map(metadata.value())),
        "map[APIVersion:v2 Annotations:map[] AppVersion: Condition: Dependencies:[] Deprecated:false Description: Home: Icon: Keywords:[] KubeVersion: Maintainers:[map[Email: Name:bob URL:]] Name:m Sources:[] Tags: Type: Version:1.0.0]"
    );
}
