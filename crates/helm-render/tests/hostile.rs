//! Charts that would take all memory, all time or the whole stack end with an error.

use std::time::Duration;

use helm_render::{
    Limits, Options,
    chart::{Chart, File},
    render,
    values::Table,
};

fn rendered(template: &str, limits: Limits) -> Result<String, String> {
    let chart = Chart::from_files(vec![
        File::new("Chart.yaml", *b"{apiVersion: v2, name: c, version: 1.0.0}"),
        File::new("templates/NOTES.txt", template.as_bytes()),
    ])
    .map_err(|error| error.to_string())?;
    let options = Options {
        limits,
        ..Options::default()
    };
    let rendered = render(&chart, &Table::new(), &options);
    rendered
        .map(|it| it.manifests.notes)
        .map_err(|error| error.to_string())
}

/// A rendering that ends with an error. It has fewer steps than usual, because they take long without optimization.
#[track_caller]
fn ends(template: &str, error: &str) {
    let limits = Limits {
        steps: 1_500_000,
        ..Limits::default()
    };
    let found = rendered(template, limits).unwrap_err();
    let shown: String = found.chars().rev().take(200).collect();
    let shown: String = shown.chars().rev().collect();
    assert!(found.contains(error), "{shown}");
}

#[test]
fn templates_that_call_themselves() {
    ends(
        r#"{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}"#,
        "rendering template has a nested reference name: a: unable to execute template",
    );
    ends(
        r#"{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}"#,
        "exceeded maximum template depth",
    );
    ends(
        r#"{{ define "a" }}{{ if true }}{{ with . }}{{ range list 1 }}{{ include "b" $ | quote | nindent 2 }}{{ end }}{{ end }}{{ end }}{{ end }}
{{ define "b" }}{{ include "a" . | indent 2 }}{{ end }}{{ include "a" . }}"#,
        "rendering template has a nested reference name",
    );
    ends(
        r#"{{ $text := "{{ tpl .text . }}" }}{{ tpl $text (dict "text" $text) }}"#,
        "exceeded maximum template depth",
    );
}

#[test]
fn templates_that_only_branch() {
    let mut template = String::new();
    for level in 0..60 {
        let next = level + 1;
        template += &format!(
            r#"{{{{ define "a{level}" }}}}{{{{ template "a{next}" }}}}{{{{ template "a{next}" }}}}{{{{ end }}}}"#
        );
    }
    template += r#"{{ define "a60" }}{{ end }}{{ template "a0" }}"#;
    ends(&template, "more than 1500000 steps");
    let chain = r#"{{ tpl (print "{{if 0}}" (repeat 100000 "{{else if 0}}") "{{end}}") . }}"#;
    ends(chain, "more than 5000 `else if` are not supported");
}

#[test]
fn long_formats_and_comments() {
    assert_eq!(
        rendered(r#"{{ printf "%.70000f" 1.5 | len }}"#, Limits::default()).unwrap(),
        "70002"
    );
    let comment = format!("a {{{{- /* {} */ -}}}} b", "x".repeat(70_000));
    assert_eq!(rendered(&comment, Limits::default()).unwrap(), "ab");
    ends(
        r#"{{ printf (repeat 1200000 "%[1]999999d") 1 }}"#,
        "what is printed is nested deeper",
    );
    assert_eq!(
        rendered(r#"{{ untilStep (int "-9223372036854775808") 9223372036854775807 9223372036854775807 | len }}"#, Limits::default()).unwrap(),
        "3"
    );
    ends(
        r#"{{ (now).AddDate 0 0 (int "-9223372036854775808") }}"#,
        "out of range",
    );
}

#[test]
fn lists_and_texts_of_texts() {
    let many = r#"{{ $s := repeat 1000000 "x" }}{{ $all := list }}{{ range until 1000 }}{{ $all = append $all $s }}{{ end }}"#;
    for end in ["print $all", "toString $all", r#"join "" $all"#, "cat $all"] {
        ends(&format!("{many}{{{{ {end} }}}}"), "parts, or is as long");
    }
    for end in ["mustToJson $all", "mustToYaml $all"] {
        ends(
            &format!("{many}{{{{ {end} }}}}"),
            "a value has more than 5000000 parts",
        );
    }
    let lists = r#"{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (toString $i) (until 1000000) }}{{ end }}"#;
    ends(lists, "the texts of functions are larger than");
    let maps = r#"{{ range until 1000000 }}{{ range until 10 }}{{ $_ := dict "a" 1 "b" 2 "c" 3 }}{{ end }}{{ end }}"#;
    let limits = Limits {
        entries: 100_000,
        ..Limits::default()
    };
    let error = rendered(maps, limits).unwrap_err();
    assert!(
        error.contains("maps have more than 100000 entries"),
        "{error}"
    );
    ends(
        r#"{{ $s := repeat 16000000 "x" }}{{ range until 1000000 }}{{ $_ := sha256sum $s }}{{ end }}"#,
        "more than 1500000 steps",
    );
}

#[test]
fn aliases_of_long_texts() {
    let template = r#"{{ $text := print "a: &x " (repeat 1000000 "x") "\nb: [" (repeat 100000 "*x,") "]" }}{{ fromYaml $text | toJson }}"#;
    let text = rendered(template, Limits::default()).unwrap();
    assert!(text.contains("the document has more than 268435456 bytes"));
}

#[test]
fn merges_of_what_is_shared() {
    let shared = r#"{{ $a := dict "k" 1 }}{{ $b := dict "k" 1 }}{{ range until 60 }}{{ $a = dict "l" $a "r" $a }}{{ $b = dict "l" $b "r" $b }}{{ end }}"#;
    ends(
        &format!("{shared}{{{{ merge $a $b }}}}"),
        "more than 5000000 values",
    );
}

#[test]
fn output_without_end() {
    let texts = "the texts of functions are larger than 536870912 bytes";
    ends(
        r#"{{ range until 1000000 }}{{ repeat 100000 "x" }}{{ end }}"#,
        "bytes",
    );
    ends(
        r#"{{ $x := repeat 100000 "x" }}{{ range until 1000000 }}{{ $x }}{{ end }}"#,
        "the output is larger than 67108864 bytes",
    );
    ends(
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}"#,
        texts,
    );
    ends(
        r#"{{ $x := dict }}{{ range $i := until 1000000 }}{{ $_ := set $x (toString $i) (repeat 100000 "x") }}{{ end }}"#,
        texts,
    );
    ends(
        r#"{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}"#,
        "more than 1500000 steps",
    );
}

#[test]
fn values_that_contain_themselves() {
    let cycle = r#"{{ $x := dict }}{{ $_ := set $x "x" $x }}"#;
    for end in [
        "{{ $x }}",
        "{{ print $x }}",
        r#"{{ printf "%s" $x }}"#,
        r#"{{ printf "%#v" $x }}"#,
        "{{ $x | quote }}",
    ] {
        ends(
            &format!("{cycle}{end}"),
            "what is printed is nested deeper than 1000",
        );
    }
    ends(
        &format!("{cycle}{{{{ deepCopy $x }}}}"),
        "a value nested more than 1000 deep is not supported",
    );
    ends(
        &format!("{cycle}{{{{ mustToYaml $x }}}}"),
        "encountered a cycle",
    );
    // What cannot be written is empty, as in Helm.
    assert_eq!(
        rendered(
            &format!("{cycle}a{{{{ toYaml $x }}}}{{{{ toJson $x }}}}"),
            Limits::default()
        )
        .unwrap(),
        "a"
    );
    let shared = r#"{{ $x := dict }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x }}{{ end }}"#;
    ends(
        &format!("{shared}{{{{ $x }}}}"),
        "has more than 5000000 parts",
    );
    ends(
        &format!("{shared}{{{{ mustToJson $x }}}}"),
        "a value has more than 5000000 parts",
    );
    ends(
        &format!("{shared}{{{{ deepCopy $x }}}}"),
        "more than 5000000 values",
    );
}

/// Values are freed one by one: nested as deep as here, they would take the whole stack.
#[test]
fn deep_values_are_freed() {
    let deep = r#"{{ $x := list }}{{ $y := dict }}{{ range until 200000 }}{{ $x = list $x }}{{ $y = dict "y" $y }}{{ end }}ok"#;
    assert_eq!(rendered(deep, Limits::default()).unwrap(), "ok");
}

#[test]
fn the_time_ends() {
    let limits = Limits {
        time: Some(Duration::from_millis(50)),
        ..Limits::default()
    };
    let endless = "{{ range until 1000000 }}{{ range until 1000 }}{{ end }}{{ end }}";
    let error = rendered(endless, limits).unwrap_err();
    assert!(error.contains("the time is over"), "{error}");
}
