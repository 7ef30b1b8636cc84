//! Details that random templates and charts rarely meet.

use helm_render::{
    chart::{Chart, File},
    values::layered,
};
use serde_json::{Value, json};

use crate::{oracle, ours};

/// Every character, also those that Unicode has not assigned.
#[test]
fn quotes_escape_what_go_does_not_print() {
    let template = "{{ quote .Values.s }}";
    for block in (0..=0x10_FFFF_u32)
        .step_by(0x4000)
        .map(|it| it..it + 0x4000)
    {
        let start = block.start;
        let text: String = block.filter_map(char::from_u32).collect();
        let data = json!({ "s": text });
        let (one, other) = (
            ours::template(template, &data),
            oracle::template(template, &data),
        );
        assert!(one.is_ok() && one == other, "from {start:x}");
    }
}

#[test]
fn nil_is_no_map_that_can_be_changed() {
    for (template, fails) in [
        ("{{ set nil \"a\" 1 }}", true),
        ("{{ unset nil \"a\" }}", false),
        ("{{ get nil \"a\" }}", false),
        ("{{ $x := .Values.none }}{{ set $x \"a\" 1 }}", true),
    ] {
        let data = json!({"none": null});
        let (one, other) = (
            ours::template(template, &data),
            oracle::template(template, &data),
        );
        assert_eq!(
            (one.is_err(), other.is_err()),
            (fails, fails),
            "{template}: {other:?}"
        );
        if let (Err(one), Err(other)) = (&one, &other) {
            assert_eq!(one, other);
        }
    }
}

/// Texts that are nearly times, for what is written in quotes and for lock files.
const TIMES: [&str; 30] = [
    "2024-01-31T12:00:00.5+02:00",
    "2024-02-29T12:00:00Z",
    "2023-02-29T12:00:00Z",
    "2024-04-31T12:00:00Z",
    "2024-00-10T12:00:00Z",
    "2024-01-00T12:00:00Z",
    "2024-01-31T24:00:00Z",
    "2024-01-31T23:59:60Z",
    "2024-01-31T1:00:00Z",
    "2024-01-31T12:00:00,5Z",
    "2024-01-31T12:00:00.Z",
    "2024-01-31T12:00:00.1234567890123Z",
    "2024-01-31T12:00:00+24:00",
    "2024-01-31T12:00:00+25:00",
    "2024-01-31T12:00:00+23:60",
    "2024-01-31T12:00:00-23:61",
    "2024-01-31T12:00:00+0200",
    "2024-01-31t12:00:00Z",
    "2024-01-31T12:00:00z",
    "2024-01-31 12:00:00",
    "2024-01-31 12:00:00Z",
    "2024-01-31   1:2:3.4",
    "2024-01-31  ",
    "2024-1-3",
    "2024-001-3",
    "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "2024-01-31T12:00Z",
    "2024-01-31T",
    "2024-01-31T12:00:00",
];

#[test]
fn times_are_those_of_go() {
    for text in TIMES {
        let (template, data) = ("{{ toYaml .Values.s }}", json!({ "s": text }));
        let written = (
            ours::template(template, &data),
            oracle::template(template, &data),
        );
        assert_eq!(written.0, written.1, "{text}");

        let lock = format!("generated: \"{text}\"\n");
        let files = [
            ("Chart.yaml", "{apiVersion: v2, name: c, version: 1.0.0}"),
            ("Chart.lock", &lock),
        ];
        let ours = Chart::from_files(
            files
                .map(|(name, it)| File::new(name, it.as_bytes()))
                .into(),
        );
        let theirs = oracle::ask(&json!({"kind": "chart", "files": {
            "Chart.yaml": files[0].1, "Chart.lock": files[1].1,
        }}));
        let ours = ours.err().map(|it| it.to_string());
        assert_eq!(ours.as_deref(), theirs["error"].as_str(), "{text}");
    }
}

#[test]
fn layers_are_those_of_helm() {
    let layers = [
        json!({"a": {"b": 1, "c": [1, 2], "t": {"x": 1}}, "d": 1, "e": {"f": 1}, "n": null}),
        json!({"a": {"b": null, "c": [3], "t": {}}, "d": {"x": 1}, "e": null, "n": {"a": null}}),
        json!({"a": {"t": {"x": null, "y": [null]}}, "e": {"g": 2}, "n": 1}),
    ];
    for all in [&layers[..], &layers[..2], &layers[1..], &layers[..1], &[]] {
        let theirs = oracle::ask(&json!({"kind": "layers", "layers": all}));
        let tables = all.iter().map(|it| it.as_object().unwrap().clone());
        assert_eq!(Value::Object(layered(tables)), theirs["value"]);
    }
}
