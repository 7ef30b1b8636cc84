//! Metrics of roles, and names that break nothing.

use std::sync::Arc;

use operator_runtime::prometheus_client::{encoding::text::encode, registry::Registry};
use serde_json::json;

use super::*;

fn metric(name: &str, of: &str, options: Value) -> Value {
    json!({ "name": name, "description": "What it is", of: options })
}

fn text(reported: &Arc<Reported>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(reported.clone()));
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    text
}

fn refusal(reported: &Reported, metric: Value) -> String {
    reported.change(&metric).unwrap_err()
}

#[test]
fn metrics_change_as_those_of_operator_sdk() {
    let reported = Arc::new(Reported::default());
    let change = |name, of, options| reported.change(&metric(name, of, options)).unwrap();
    change(
        "made_total",
        "counter",
        json!({ "increment": true, "add": 7.0 }),
    );
    change("made_total", "counter", json!({ "add": 1.5 }));
    change("level", "gauge", json!({ "set": 3.0 }));
    change("level", "gauge", json!({ "increment": true }));
    change("level", "gauge", json!({ "decrement": true }));
    change("level", "gauge", json!({ "add": 2.0 }));
    change("level", "gauge", json!({ "subtract": 1.0, "set": 9.0 }));
    change("zero", "gauge", json!({ "set": 4.0 }));
    change("zero", "gauge", json!({ "set": 0.0 }));
    change("now", "gauge", json!({ "set_to_current_time": true }));
    for value in [0.3, 2.0, 99.0] {
        change("took", "histogram", json!({ "observe": value }));
        change("sizes", "summary", json!({ "observe": value }));
    }
    // Either is as good for operator-sdk.
    change("took", "summary", json!({ "observe": 1.0 }));
    let text = text(&reported);
    for line in [
        "# HELP made_total What it is",
        "# TYPE made_total unknown",
        "made_total 2.5",
        "# TYPE level gauge",
        "level 4.0",
        "zero 0.0",
        "# TYPE took histogram",
        "took_sum 102.3",
        "took_count 4",
        r#"took_bucket{le="0.5"} 1"#,
        r#"took_bucket{le="2.5"} 3"#,
        r#"took_bucket{le="+Inf"} 4"#,
        "sizes_sum 101.3",
        "sizes_count 3.0",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    let now = text.lines().find_map(|line| line.strip_prefix("now "));
    assert!(now.unwrap().parse::<f64>().unwrap() > 1.7e9);
}

#[test]
fn what_operator_sdk_refuses_is_refused() {
    let reported = Reported::default();
    reported
        .change(&metric("a", "gauge", json!({ "set": 1.0 })))
        .unwrap();
    let other = refusal(
        &reported,
        metric("a", "counter", json!({ "increment": true })),
    );
    assert_eq!(
        other,
        "cannot change the type of the metric, which is a gauge"
    );
    let less = refusal(&reported, metric("b", "counter", json!({ "add": -1.0 })));
    assert_eq!(less, "counter metrics cannot decrease in value");
    let mut two = metric("c", "counter", json!({}));
    two["gauge"] = json!({});
    assert_eq!(
        refusal(&reported, two),
        "only one metric can be processed at a time"
    );
    let none = json!({ "name": "c", "description": "" });
    assert_eq!(
        refusal(&reported, none),
        "a request should contain at least one metric"
    );
    assert_eq!(reported.metrics.lock().len(), 1);
}

#[test]
fn hostile_names_and_texts_break_nothing() {
    let registry = "# TYPE own_seconds histogram\nown_seconds_sum 1\nrow{a=\"b\"} 1\n# EOF\n";
    let reported = Arc::new(Reported::beside(registry));
    let long = "a".repeat(LONGEST + 1);
    for name in [
        "",
        "1a",
        "a b",
        "a{b=\"c\"}",
        "a\nb 1",
        "ä",
        "a-b",
        &long,
        "own_seconds",
        "own_seconds_sum",
        "own_seconds_count",
        "row",
        "process_cpu_seconds_total",
        "ansible_operator_reconciles",
    ] {
        let refused = reported.change(&metric(name, "gauge", json!({ "set": 1.0 })));
        assert!(refused.is_err(), "{name}");
    }
    reported
        .change(&metric("h", "histogram", json!({ "observe": 1.0 })))
        .unwrap();
    for name in ["h_count", "h_sum", "h_bucket"] {
        refusal(&reported, metric(name, "gauge", json!({ "set": 1.0 })));
    }
    reported
        .change(&metric("s_count", "gauge", json!({ "set": 1.0 })))
        .unwrap();
    refusal(&reported, metric("s", "summary", json!({ "observe": 1.0 })));
    let mut named = metric("named", "gauge", json!({ "set": 1e308 }));
    named["description"] = "a\nb 1\r\\n\"".into();
    reported.change(&named).unwrap();
    reported
        .change(&metric("named", "gauge", json!({ "add": 1e308 })))
        .unwrap();
    for metric in [json!(null), json!([]), metric("x", "gauge", json!("y"))] {
        refusal(&reported, metric);
    }
    let text = text(&reported);
    assert!(text.contains("# HELP named a b 1 /n'\n"), "{text}");
    assert!(!text.contains("inf"), "{text}");
}

#[test]
fn there_are_only_so_many() {
    let reported = Reported::default();
    for index in 0..MOST {
        let name = format!("m{index}");
        reported
            .change(&metric(&name, "counter", json!({ "increment": true })))
            .unwrap();
    }
    let more = refusal(&reported, metric("more", "counter", json!({})));
    assert!(more.contains("1000"), "{more}");
    reported
        .change(&metric("m1", "counter", json!({ "increment": true })))
        .unwrap();
}
