//! What Go does at the edges of functions, as a program with sprig printed it.

use std::rc::Rc;

use super::*;
use crate::{Budget, Limits, Scope, Templates, Value, go};

fn render(template: &str) -> Result<String, String> {
    let mut functions = Functions::default();
    go::builtin::add(&mut functions);
    add(&mut functions);
    let mut templates = Templates::new(functions);
    templates
        .parse("t", template)
        .map_err(|error| error.to_string())?;
    let scope = Scope {
        depth: 0,
        budget: Rc::new(Budget::new(Limits::default())),
    };
    templates
        .execute("t", &Value::map(), &scope)
        .map_err(|error| error.to_string())
}

#[track_caller]
fn check(template: &str, text: &str) {
    assert_eq!(render(template).as_deref(), Ok(text), "{template}");
}

#[track_caller]
fn fails(template: &str, error: &str) {
    let found = render(template).unwrap_err();
    let message = found.split_once(">: ").map(|(_, message)| message);
    assert_eq!(message, Some(error), "{template}");
}

#[test]
fn results_are_those_of_go() {
    check(r#"{{ atoi "9223372036854775808" }}"#, "9223372036854775807");
    check(r#"{{ b32dec "NBSWY3DPEE======X" }}"#, "hello!");
    check(r#"{{ typeOf (chunk 3 (list 1)) }}"#, "[][]interface {}");
    check(r#"{{ deepCopy (semver "1.2.3-a+b") }}"#, "0.0.0");
    check(r#"{{ initials "über Straße k" }}"#, "ÃSk");
    check(
        r#"{{ lower "İiı" }}|{{ upper "über Straße" }}"#,
        "iiı|ÜBER STRAßE",
    );
    check(r#"{{ title "ǅ dz" }}"#, "ǅ Dz");
    check(
        r#"{{ round 123456789 100 0.5 0.9 }}"#,
        "1.2345678900000001e+08",
    );
    check(r#"{{ sortAlpha nil }}"#, "[<nil>]");
    check(
        r#"{{ divf 9223372036854775807 1000000.5 }}"#,
        "9.223367425171062e+12",
    );
    check(
        r#"{{ toJson (float64 9223372036854775807) }}"#,
        "9223372036854776000",
    );
    check(
        r#"{{ dateInZone "15:04:05 MST" 1000000000000 "Australia/Lord_Howe" }}"#,
        "12:16:40 +1030",
    );
}

#[test]
fn errors_are_those_of_go() {
    fails(
        r#"{{ decryptAES "a" "aGVsbG8=" }}"#,
        "error calling decryptAES: runtime error: slice bounds out of range [:16] with capacity 6",
    );
    fails(
        r#"{{ deepCopy nil }}"#,
        "error calling deepCopy: reflect: call of reflect.Value.Type on zero Value",
    );
    fails(
        r#"{{ dig "a" 1.5 0 (dict) }}"#,
        "error calling dig: interface conversion: interface {} is float64, not string",
    );
    fails(
        r#"{{ mustChunk -5 (list) }}"#,
        "error calling mustChunk: runtime error: makeslice: len out of range",
    );
    fails(
        r#"{{ mustFromJson "1e" }}"#,
        "error calling mustFromJson: invalid character ' ' in exponent of numeric literal",
    );
    fails(
        r#"{{ mustToDate "Z070000" "060 2024-02-29" }}"#,
        "error calling mustToDate: parsing time \"060 2024-02-29\": time zone offset hour out of range",
    );
    fails(
        r#"{{ substr 12 3 "some_words-here" }}"#,
        "error calling substr: runtime error: slice bounds out of range [12:3]",
    );
    fails(
        r#"{{ hasKey .missing "a" }}"#,
        "wrong type for value; expected map[string]interface {}; got interface {}",
    );
    fails(
        r#"{{ set nil "a" 1 }}"#,
        "error calling set: assignment to entry in nil map",
    );
    fails(r#"{{ upper 0 }}"#, "expected string; found 0");
}
