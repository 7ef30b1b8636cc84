use std::{collections::BTreeMap, rc::Rc};

use super::*;
use crate::{
    function::{Functions, Kind},
    go::builtin,
    limit::{Budget, Limits},
    value::Map,
};

fn render(text: &str) -> Result<String, String> {
    let mut functions = Functions::default();
    builtin::add(&mut functions);
    functions.add("set", &[Kind::Map, Kind::String, Kind::Any], |_, given| {
        if let Value::Map(map) = &given[0] {
            map.set(given[1].as_str().unwrap_or_default(), given[2].clone());
        }
        Ok(given[0].clone())
    });
    functions.add("include", &[Kind::String, Kind::Any], |call, given| {
        let name = given[0].as_str().unwrap_or_default();
        let text = call.templates.execute(name, &given[1], &call.scope);
        text.map(Value::from).map_err(|error| error.to_string())
    });
    let mut templates = Templates::new(functions);
    templates
        .parse("t.yaml", text)
        .map_err(|error| error.to_string())?;
    let values = serde_json::json!({"a": {"b": 1, "c": "x"}, "list": ["p", "q"], "nothing": null});
    let values = Value::of_json(&values);
    let dot = Value::Map(Map::new(BTreeMap::from([("Values".to_owned(), values)])));
    let scope = Scope {
        depth: 0,
        budget: Rc::new(Budget::new(Limits::default())),
    };
    templates
        .execute("t.yaml", &dot, &scope)
        .map_err(|error| error.to_string())
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(render(text).as_deref(), Ok(expected));
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    assert_eq!(render(text).unwrap_err(), expected);
}

#[test]
fn fields_and_pipelines() {
    check(
        "{{ .Values.a.b }}-{{ .Values.a.c | printf \"%s%s\" \"y\" }}",
        "1-yx",
    );
    check(
        "{{ .Values.none }}|{{ (.Values.a).c }}|{{ $.Values.a.c }}",
        "<no value>|x|x",
    );
    check(
        "{{- if and .Values.a (not .Values.none) -}} yes {{- else -}} no {{- end }}",
        "yes",
    );
    check("{{ with .Values.a }}{{ .c }}{{ else }}none{{ end }}", "x");
}

#[test]
fn ranges_and_variables() {
    check(
        "{{ range $i, $it := .Values.list }}{{ $i }}={{ $it }};{{ end }}",
        "0=p;1=q;",
    );
    check(
        "{{ range $key, $it := .Values.a }}{{ $key }}={{ $it }};{{ end }}",
        "b=1;c=x;",
    );
    check(
        "{{ $x := 1 }}{{ range .Values.list }}{{ $x = . }}{{ end }}{{ $x }}",
        "q",
    );
    check(
        "{{ range 3 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}",
        "02",
    );
    check("{{ range .Values.none }}a{{ else }}b{{ end }}", "b");
}

/// What gotmpl's own executor cannot do: a map has one value under all of its names.
#[test]
fn maps_change_in_place() {
    check(
        "{{ $a := .Values.a }}{{ $_ := set $a \"d\" 5 }}{{ .Values.a.d }}",
        "5",
    );
}

#[test]
fn templates_call_each_other() {
    check(
        "{{ define \"f\" }}<{{ .c }}>{{ end }}{{ template \"f\" .Values.a }}{{ include \"f\" .Values.a }}",
        "<x><x>",
    );
}

#[test]
fn errors_have_a_place() {
    fails(
        "a\n  {{ .Values.none.x }}",
        "template: t.yaml:2:12: executing \"t.yaml\" at <.Values.none.x>: nil pointer evaluating interface {}.x",
    );
    fails(
        "{{ .Values.a.c.d }}",
        "template: t.yaml:1:10: executing \"t.yaml\" at <.Values.a.c.d>: can't evaluate field d in type interface {}",
    );
    fails(
        "{{ nope }}",
        "template: t.yaml:1: function \"nope\" not defined",
    );
    fails(
        "{{ eq .Values.a.b 1 }}",
        "template: t.yaml:1:3: executing \"t.yaml\" at <eq .Values.a.b 1>: error calling eq: incompatible types for comparison: float64 and int",
    );
}

#[test]
fn comments_trim_what_they_say() {
    check("a \n{{- /* c */}}\n b", "a\n b");
    check("a \n{{/* c */ -}}\n b", "a \nb");
    check("a \n{{- /* c\n */ -}}\n b", "ab");
    check("a {{/* c */}} b", "a  b");
    check("a {{/* c */ -}} {{- /* d */}} b", "a  b");
    check("{{- /**/}}\n{{ 1 }} {{- /**/}} {{- /**/}}x", "\n1x");
    fails(
        "a\n\n{{- /* c\n */}}\n{{ .a.b.c }}",
        "template: t.yaml:5:5: executing \"t.yaml\" at <.a.b.c>: nil pointer evaluating interface {}.b",
    );
}

/// gotmpl takes these, and leaves out what follows.
#[test]
fn each_block_has_one_end() {
    for (text, error) in [
        ("{{ if .a }}\nb\n", "3: unexpected EOF"),
        (
            "{{- define \"a\" -}}\n{{ if(.a) }}{{ end }}",
            "2: unexpected EOF",
        ),
        ("a\n{{- end }}\nb", "2: unexpected {{end}}"),
        ("{{ with .a }}{{ end }}{{end}}", "1: unexpected {{end}}"),
        ("\n{{ else }}b", "2: unexpected {{else}}"),
    ] {
        fails(text, &format!("template: t.yaml:{error}"));
    }
    check(
        "{{ if .Values.none }}{{ else if .Values.a }}{{/* end */}}{{ \"{{ end }}\" }}{{end}}",
        "{{ end }}",
    );
}
