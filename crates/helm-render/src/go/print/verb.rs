//! Values under the verbs of `Sprintf`.

use super::{Form, any, visit, visit_text};
use crate::{
    go::number::{float, plain, quote},
    value::Value,
};

/// A value under a verb.
pub fn one(verb: char, form: Form, value: &Value) -> String {
    if !visit(form.depth) {
        return String::new();
    }
    let inside = Form {
        depth: form.depth + 1,
        ..form
    };
    match (verb, value) {
        ('T', _) => pad(value.type_name(), form),
        ('v', Value::Nil) => pad("<nil>", form),
        (_, Value::Nil) => format!("%!{verb}(<nil>)"),
        (_, Value::Object(object)) => match verb {
            'v' | 's' => pad(&object.text(), form),
            'q' => pad(&quote(&object.text()), form),
            _ => bad(verb, value),
        },
        (_, Value::Bool(it)) => match verb {
            't' | 'v' => pad(if *it { "true" } else { "false" }, form),
            _ => bad(verb, value),
        },
        (_, Value::Int(it) | Value::Int64(it)) => integer(verb, form, i128::from(*it), value),
        (_, Value::Uint64(it)) => integer(verb, form, i128::from(*it), value),
        (_, Value::Float(it)) => match verb {
            'v' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => real(verb, form, *it),
            _ => bad(verb, value),
        },
        (_, Value::String(text)) if !visit_text(form.depth, text.len()) => String::new(),
        (_, Value::String(text)) => string(verb, form, text, value),
        (_, Value::Bytes(bytes)) => match verb {
            's' | 'q' | 'x' | 'X' => string(verb, form, &String::from_utf8_lossy(bytes), value),
            _ => pad(&any(value), form),
        },
        (_, Value::List(list)) => {
            if verb == 'v' && form.sharp {
                return go_syntax(value, 0);
            }
            let items: Vec<_> = list
                .items
                .iter()
                .map(|item| inner(verb, inside, item))
                .collect();
            format!("[{}]", items.join(" "))
        }
        (_, Value::Map(map)) => {
            if verb == 'v' && form.sharp {
                return go_syntax(value, 0);
            }
            let entries: Vec<_> = map
                .entries()
                .iter()
                .map(|(key, value)| {
                    format!(
                        "{}:{}",
                        one(verb, inside, &Value::from(key.as_str())),
                        inner(verb, inside, value)
                    )
                })
                .collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// A value in a list or a map, where nothing is `<nil>` under every verb.
fn inner(verb: char, form: Form, value: &Value) -> String {
    match value {
        Value::Nil => "<nil>".to_owned(),
        value => one(verb, form, value),
    }
}

fn bad(verb: char, value: &Value) -> String {
    format!("%!{verb}({}={})", value.type_name(), any(value))
}

/// `%#v`.
fn go_syntax(value: &Value, depth: usize) -> String {
    if !visit(depth) {
        return String::new();
    }
    let part = |value: &Value| go_syntax(value, depth + 1);
    match value {
        Value::Nil => "interface {}(nil)".to_owned(),
        Value::String(text) => quote(text),
        Value::List(list) => {
            let items: Vec<_> = list.items.iter().map(part).collect();
            format!("{}{{{}}}", value.type_name(), items.join(", "))
        }
        Value::Map(map) => {
            let entries = map.entries();
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{}:{}", quote(key), part(value)))
                .collect();
            format!("{}{{{}}}", value.type_name(), entries.join(", "))
        }
        value => any(value),
    }
}

fn string(verb: char, form: Form, text: &str, value: &Value) -> String {
    let cut = |text: &str| -> String {
        match form.precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_owned(),
        }
    };
    match verb {
        'v' if form.sharp => pad(&quote(text), form),
        'v' | 's' => pad(&cut(text), form),
        'q' if form.sharp
            && !text.contains('`')
            && !text.chars().any(|c| c.is_control() && c != '\t') =>
        {
            pad(&format!("`{}`", cut(text)), form)
        }
        'q' => pad(&quote(&cut(text)), form),
        'x' | 'X' => {
            let bytes = text.as_bytes();
            let bytes = &bytes[..form.precision.unwrap_or(bytes.len()).min(bytes.len())];
            let start = match (form.sharp && !bytes.is_empty(), verb) {
                (false, _) => "",
                (true, 'x') => "0x",
                (true, _) => "0X",
            };
            let separator = if form.space {
                format!(" {start}")
            } else {
                String::new()
            };
            let digits: Vec<_> = bytes
                .iter()
                .map(|byte| {
                    if verb == 'x' {
                        format!("{byte:02x}")
                    } else {
                        format!("{byte:02X}")
                    }
                })
                .collect();
            pad(&format!("{start}{}", digits.join(&separator)), form)
        }
        _ => bad(verb, value),
    }
}

fn integer(verb: char, form: Form, it: i128, value: &Value) -> String {
    let (digits, start) = match verb {
        'v' | 'd' => (it.unsigned_abs().to_string(), ""),
        'b' => (
            format!("{:b}", it.unsigned_abs()),
            if form.sharp { "0b" } else { "" },
        ),
        'o' => (
            format!("{:o}", it.unsigned_abs()),
            if form.sharp { "0" } else { "" },
        ),
        'O' => (format!("{:o}", it.unsigned_abs()), "0o"),
        'x' => (
            format!("{:x}", it.unsigned_abs()),
            if form.sharp { "0x" } else { "" },
        ),
        'X' => (
            format!("{:X}", it.unsigned_abs()),
            if form.sharp { "0X" } else { "" },
        ),
        'c' | 'q' | 'U' => {
            let c = u32::try_from(it)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}');
            return match verb {
                'c' => pad(&c.to_string(), form),
                'U' => pad(&format!("U+{:04X}", it.unsigned_abs()), form),
                _ => {
                    let quoted = quote(&c.to_string());
                    let inner = &quoted[1..quoted.len() - 1];
                    let inner = if c == '\'' {
                        "\\'"
                    } else if c == '"' {
                        "\""
                    } else {
                        inner
                    };
                    pad(&format!("'{inner}'"), form)
                }
            };
        }
        // An integer under a verb of floats.
        _ => return bad(verb, value),
    };
    let sign = if it < 0 {
        "-"
    } else if form.plus {
        "+"
    } else if form.space {
        " "
    } else {
        ""
    };
    let mut digits = digits;
    if form.precision == Some(0) && it == 0 {
        return pad(
            "",
            Form {
                zero: false,
                ..form
            },
        );
    }
    let wanted = match form.precision {
        Some(precision) => precision,
        // Zeros stand between the sign and the digits.
        None if form.zero && !form.minus => {
            form.width.unwrap_or_default().saturating_sub(sign.len())
        }
        None => 0,
    };
    if digits.len() < wanted {
        digits = "0".repeat(wanted - digits.len()) + &digits;
    }
    pad(
        &format!("{sign}{start}{digits}"),
        Form {
            zero: false,
            ..form
        },
    )
}

fn real(verb: char, form: Form, it: f64) -> String {
    let text = match (verb, form.precision) {
        ('v', None) => plain(it),
        ('v', precision) => float(it, 'g', precision),
        // Six digits, unless the precision says so; `%g` has the fewest that name the value.
        ('g' | 'G', None) => {
            let text = plain(it);
            if verb == 'G' {
                text.to_uppercase()
            } else {
                text
            }
        }
        (verb, precision) => float(
            it,
            verb,
            Some(precision.unwrap_or(6))
                .filter(|_| !matches!(verb, 'g' | 'G'))
                .or(precision),
        ),
    };
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (&text[..1], digits),
        None => ("", text.as_str()),
    };
    let sign = match (sign, form.plus, form.space) {
        ("-", ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    if form.zero && !form.minus && it.is_finite() {
        let width = form.width.unwrap_or_default().saturating_sub(sign.len());
        let zeros = width.saturating_sub(digits.len());
        return format!("{sign}{}{digits}", "0".repeat(zeros));
    }
    let sign = if it.is_infinite() && it > 0.0 && sign.is_empty() {
        "+"
    } else {
        sign
    };
    pad(
        &format!("{sign}{digits}"),
        Form {
            zero: false,
            ..form
        },
    )
}

fn pad(text: &str, form: Form) -> String {
    let width = form.width.unwrap_or_default();
    let missing = width.saturating_sub(text.chars().count());
    match (form.minus, form.zero) {
        (true, _) => format!("{text}{}", " ".repeat(missing)),
        (false, true) => format!("{}{text}", "0".repeat(missing)),
        (false, false) => format!("{}{text}", " ".repeat(missing)),
    }
}
