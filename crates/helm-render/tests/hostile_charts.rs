//! Charts whose values, schemas or expressions would grow without end are refused, and soon.

use std::time::{Duration, Instant};

use helm_render::{
    Limits, Options,
    chart::{Chart, File},
    render,
    values::Table,
};

/// The error of a chart of these files.
fn refused(files: Vec<(String, String)>, limits: Limits) -> String {
    let files = files.into_iter();
    let files = files.map(|(name, text)| File::new(name, text.into_bytes()));
    let chart = Chart::from_files(files.collect()).unwrap();
    let options = Options {
        limits,
        ..Options::default()
    };
    let begin = Instant::now();
    let error = render(&chart, &Table::new(), &options).unwrap_err();
    println!("{:?}", begin.elapsed());
    let error = error.to_string();
    error.chars().take(400).collect()
}

fn file(name: &str, text: impl Into<String>) -> (String, String) {
    (name.to_owned(), text.into())
}

fn chart(path: &str, name: &str, more: &str) -> (String, String) {
    let text = format!("{{apiVersion: v2, name: {name}, version: 1.0.0{more}}}");
    (format!("{path}Chart.yaml"), text)
}

#[test]
fn aliases_copy_values() {
    let listed: Vec<String> = (0..3_000)
        .map(|at| format!("{{name: c, version: 1.0.0, alias: a{at}}}"))
        .collect();
    let dependencies = format!(", dependencies: [{}]", listed.join(","));
    let large = format!("a: {}", "x".repeat(300_000));
    let error = refused(
        vec![
            chart("", "p", &dependencies),
            chart("charts/c/", "c", ""),
            file("charts/c/values.yaml", &large),
        ],
        Limits::default(),
    );
    assert!(
        error.contains("the values of charts are larger than"),
        "{error}"
    );
    let error = refused(
        vec![
            chart("", "p", &dependencies),
            file("values.yaml", format!("global: {{{large}}}")),
            chart("charts/c/", "c", ""),
        ],
        Limits::default(),
    );
    assert!(
        error.contains("the values of charts are larger than"),
        "{error}"
    );
}

#[test]
fn imports_double_values() {
    let mut files = Vec::new();
    let mut path = String::new();
    for level in 0..28 {
        let next = level + 1;
        files.push(chart(
            &path,
            &format!("c{level}"),
            &format!(", dependencies: [{{name: c{next}, version: 1.0.0, import-values: [{{child: v, parent: v.a}}, {{child: v, parent: v.b}}]}}]"),
        ));
        path += &format!("charts/c{next}/");
    }
    files.push(chart(&path, "c28", ""));
    files.push(file(&format!("{path}values.yaml"), "v: {x: {y: 1}}"));
    let error = refused(files, Limits::default());
    assert!(
        error.contains("the values of charts are larger than"),
        "{error}"
    );
}

#[test]
fn schemas_that_branch() {
    let mut definitions = Vec::new();
    for level in 0..24 {
        let next = level + 1;
        definitions.push(format!(
            r##""a{level}": {{"allOf": [{{"$ref": "#/$defs/a{next}"}}, {{"$ref": "#/$defs/a{next}"}}]}}"##
        ));
    }
    let schema = format!(
        r##"{{"$ref": "#/$defs/a0", "$defs": {{{}, "a24": {{"not": {{"type": "string"}}}}}}}}"##,
        definitions.join(",")
    );
    let files = vec![chart("", "p", ""), file("values.schema.json", schema)];
    let error = refused(files, Limits::default());
    assert!(error.contains("steps"), "{error}");
    let deep = format!("{}{}", "{v: ".repeat(24), "}".repeat(24));
    let schema = r##"{"properties": {"v": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}"##;
    let files = vec![
        chart("", "p", ""),
        file("values.yaml", deep),
        file("values.schema.json", schema),
    ];
    let error = refused(files, Limits::default());
    assert!(error.contains("steps"), "{error}");
}

/// The time that a template takes, which has a limit of 2 s.
fn ends_in_time(template: &str) {
    let limits = Limits {
        time: Some(Duration::from_secs(2)),
        steps: 2_000_000,
        ..Limits::default()
    };
    let begin = Instant::now();
    let error = refused(
        vec![chart("", "p", ""), file("templates/a.yaml", template)],
        limits,
    );
    println!("{:?} {template}: {error}", begin.elapsed());
    assert!(
        error.contains("steps") || error.contains("the time is over"),
        "{error}"
    );
    assert!(begin.elapsed() < Duration::from_secs(60), "{template}");
}

#[test]
fn expressions_are_compiled_again_and_again() {
    ends_in_time(r#"{{ range until 1000 }}{{ regexMatch (printf "%d\\pL{200}" .) "x" }}{{ end }}"#);
}

#[test]
fn expressions_look_again_and_again() {
    ends_in_time(r#"{{ regexFindAll "x.*y|x" (repeat 60000 "x") -1 | len }}"#);
}

#[test]
fn lists_are_compared_again_and_again() {
    ends_in_time(r#"{{ range until 1000 }}{{ until 3000 | uniq | len }}{{ end }}"#);
}

#[test]
fn yaml_is_read_again_and_again() {
    ends_in_time(
        r#"{{ $text := print "a: &x " (repeat 100000 "x") "\nb: [" (repeat 1000 "*x,") "]" }}{{ range until 1000 }}{{ $_ := fromYaml $text }}{{ end }}"#,
    );
}

#[test]
fn maps_and_files_are_looked_through_again_and_again() {
    ends_in_time(
        r#"{{ $m := dict }}{{ range until 20000 }}{{ $_ := set $m (toString .) 1 }}{{ end }}{{ range until 100000 }}{{ range $m }}{{ break }}{{ end }}{{ end }}"#,
    );
    let template = r#"{{ range until 100000 }}{{ $_ := $.Files.Glob "**x" }}{{ end }}"#;
    let mut files = vec![chart("", "p", ""), file("templates/a.yaml", template)];
    files.extend((0..5_000).map(|at| file(&format!("a{at}"), "")));
    let limits = Limits {
        steps: 500_000,
        ..Limits::default()
    };
    let error = refused(files, limits);
    assert!(error.contains("more than 500000 steps"), "{error}");
}

#[test]
fn dependencies_are_compared_with_each_other() {
    let listed: Vec<_> = (0..3_000)
        .map(|at| format!("{{name: c, version: 1.0.0, alias: a{at}}}"))
        .collect();
    let listed = listed.join(",");
    let mut files = vec![chart("", "p", &format!(", dependencies: [{listed}]"))];
    files.extend((0..1_000).map(|at| chart(&format!("charts/c{at}/"), "c", "")));
    let error = refused(files, Limits::default());
    assert!(error.contains("too many to compare"), "{error}");
}

#[test]
fn schemas_that_go_around_in_circles() {
    let all: Vec<_> = (0..14)
        .map(|at| format!(r##"{{"$ref": "#/$defs/a{at}"}}"##))
        .collect();
    let all = all.join(",");
    let definitions: Vec<_> = (0..14)
        .map(|at| format!(r##""a{at}": {{"allOf": [{all}]}}"##))
        .collect();
    let schema = format!(
        r##"{{"$ref": "#/$defs/a0", "$defs": {{{}}}}}"##,
        definitions.join(",")
    );
    let files = vec![chart("", "p", ""), file("values.schema.json", schema)];
    let error = refused(files, Limits::default());
    assert!(error.contains("steps"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_to_the_side_lead_deep() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (name, text) = chart("", "p", "");
    std::fs::write(path.join(name), text).unwrap();
    for at in 0..400 {
        let here = path.join(format!("d{at}"));
        std::fs::create_dir(&here).unwrap();
        if at < 399 {
            std::os::unix::fs::symlink(format!("../d{}", at + 1), here.join("next")).unwrap();
        }
    }
    let error = Chart::load(path).unwrap_err().to_string();
    assert!(error.contains("nested deeper than 250"), "{error}");
    std::fs::write(path.join(".helmignore"), "a\n".repeat(1_001)).unwrap();
    let error = Chart::load(path).unwrap_err().to_string();
    assert!(error.contains("more than 1000 rules"), "{error}");
}

/// What is compiled and not used is compiled once, or refused.
#[test]
fn schemas_that_branch_where_no_value_is() {
    for more in ["", r#""unevaluatedProperties": false, "#] {
        let definitions: Vec<_> = (0..20)
            .map(|level| {
                let next = format!(r##"{{"$ref": "#/$defs/a{}"}}"##, level + 1);
                format!(r##""a{level}": {{{more}"allOf": [{next}, {next}]}}"##)
            })
            .collect();
        let schema = format!(
            r##"{{"properties": {{"x": {{"$ref": "#/$defs/a0"}}}}, "$defs": {{{}, "a20": {{"properties": {{"y": true}}}}}}}}"##,
            definitions.join(",")
        );
        let begin = Instant::now();
        let files = [chart("", "p", ""), file("values.schema.json", schema)];
        let files = files.map(|(name, text)| File::new(name, text.into_bytes()));
        let chart = Chart::from_files(files.into()).unwrap();
        let rendered = render(&chart, &Table::new(), &Options::default());
        println!("{more}: {:?} {:?}", begin.elapsed(), rendered.err());
        assert!(begin.elapsed() < Duration::from_secs(5), "{more}");
    }
}
