//! Random values for a chart: what its own values and its schema suggest, and what they do not.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Values for a run of this number, always the same ones. The first runs stay close to the defaults, so that a chart renders; the
/// last ones give anything.
pub fn values(run: u64, defaults: &Value, schema: &Value) -> Value {
    let changes = [1.0, 4.0, 15.0, 2.0, 8.0][run as usize % 5];
    let mut random = Random {
        rng: Rng::with_seed(run),
        change: (changes / leaves(defaults) as f64).min(0.5),
        odd: if run % 5 < 3 { 0.0 } else { 0.5 },
    };
    match random.below(defaults, schema) {
        Some(value @ Value::Object(_)) => value,
        _ => json!({}),
    }
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(entries) if !entries.is_empty() => entries.values().map(leaves).sum(),
        _ => 1,
    }
}

struct Random {
    rng: Rng,
    /// How often a value is another one than the default.
    change: f64,
    /// How often such a value has another type.
    odd: f64,
}

const TEXTS: [&str; 22] = [
    "",
    "a",
    "web",
    "x-y_z",
    "true",
    "no",
    "1",
    "0x1F",
    "1.50",
    "1e3",
    "null",
    "~",
    "nginx:1.27",
    "a: b",
    "# no comment",
    "{{ .Release.Name }}",
    "{{ include \"none\" . }}",
    "größe",
    " blanks ",
    "two\nlines\n",
    "10Gi",
    "*.example.com",
];

const NUMBERS: [f64; 12] = [
    0.0,
    1.0,
    -1.0,
    3.0,
    80.0,
    8080.0,
    1.5,
    0.1,
    1_000_000.0,
    123_456_789.0,
    1e21,
    1e-7,
];

impl Random {
    fn is(&mut self, probability: f64) -> bool {
        self.rng.f64() < probability
    }

    /// Another value instead of a default, or `None` to keep it.
    fn below(&mut self, default: &Value, schema: &Value) -> Option<Value> {
        match default {
            Value::Object(entries) if !entries.is_empty() => {
                let odd = self.change * self.odd * 0.2;
                if self.is(odd) {
                    return Some(self.odd());
                }
                let mut changed = Map::new();
                for (key, value) in entries {
                    let schema = &schema["properties"][key];
                    if let Some(value) = self.below(value, schema) {
                        changed.insert(key.clone(), value);
                    }
                }
                (!changed.is_empty()).then_some(Value::Object(changed))
            }
            default => {
                let change = self.change;
                self.is(change).then(|| self.leaf(default, schema))
            }
        }
    }

    fn leaf(&mut self, default: &Value, schema: &Value) -> Value {
        let odd = self.odd;
        if self.is(odd) {
            return self.odd();
        }
        if let Some(words) = schema["enum"].as_array().filter(|it| !it.is_empty()) {
            return self.rng.choice(words).unwrap().clone();
        }
        let of_schema = match &schema["type"] {
            Value::String(kind) => Some(kind.as_str()),
            Value::Array(kinds) => self.rng.choice(kinds).and_then(Value::as_str),
            _ => None,
        };
        let of_default = match default {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        match of_schema.unwrap_or(of_default) {
            "boolean" => json!(self.rng.bool()),
            "integer" => json!(self.rng.i32(-2..70_000)),
            "number" => self.number(),
            "string" => self.text(),
            "array" => self.list(default),
            "object" => self.map(),
            _ => self.odd(),
        }
    }

    fn odd(&mut self) -> Value {
        match self.rng.u8(0..7) {
            0 | 1 => Value::Null,
            2 => json!(self.rng.bool()),
            3 => self.number(),
            4 => self.text(),
            5 => self.list(&json!([])),
            _ => self.map(),
        }
    }

    fn text(&mut self) -> Value {
        json!(self.rng.choice(TEXTS).unwrap())
    }

    /// Whole numbers are written without a fraction, as people do.
    fn number(&mut self) -> Value {
        let number = self.rng.choice(NUMBERS).unwrap();
        match number.fract() == 0.0 && number.abs() < 1e15 {
            true => json!(number as i64),
            false => json!(number),
        }
    }

    fn list(&mut self, default: &Value) -> Value {
        let like = default.as_array().and_then(|it| it.first()).cloned();
        let length = self.rng.usize(0..4);
        let items = (0..length).map(|_| match (&like, self.rng.u8(0..4)) {
            (Some(like), 1..) => self.below(like, &Value::Null).unwrap_or(like.clone()),
            (_, 0) => self.text(),
            (_, 1) => json!({"name": self.text(), "value": self.text()}),
            (_, 2) => json!({"name": "n", "enabled": true, "port": self.number()}),
            _ => self.number(),
        });
        Value::Array(items.collect())
    }

    fn map(&mut self) -> Value {
        let mut map = Map::new();
        for key in ["a", "b.c/d", "enabled", "name", "1"] {
            if self.rng.bool() {
                let value = match self.rng.u8(0..4) {
                    0 => json!({"x": self.number(), "y": [self.text()]}),
                    1 => json!(true),
                    _ => self.text(),
                };
                map.insert(key.to_owned(), value);
            }
        }
        Value::Object(map)
    }
}

#[test]
fn values_are_the_same_in_each_run() {
    let defaults = json!({"a": {"b": 1, "c": "x"}, "d": [{"name": "n"}], "e": {}});
    let all = |()| -> Vec<Value> {
        let all = 0..20;
        all.map(|run| values(run, &defaults, &Value::Null))
            .collect()
    };
    assert_eq!(all(()), all(()));
    assert!(all(()).iter().any(|it| it["a"]["c"].is_string()));
    assert!(all(()).iter().any(|it| it["a"]["b"].is_string()));
}
