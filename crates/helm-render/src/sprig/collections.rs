//! Lists, maps, types and defaults.

use std::collections::HashSet;

use super::{
    cast::text,
    deep,
    strings::{number, string},
};
use crate::{
    function::{Call, Functions, Kind, Result},
    value::{Item, List, Map, Value},
};

/// What Go says where it takes the type of nothing.
const NIL: &str = "runtime error: invalid memory address or nil pointer dereference";

pub fn add(all: &mut Functions) {
    defaults(all);
    lists(all);
    maps(all);
    types(all);
}

fn defaults(all: &mut Functions) {
    all.add_variadic("default", &[Kind::Any], Kind::Any, |_, given| {
        let value = given.get(1).filter(|value| value.is_true());
        Ok(value.unwrap_or(&given[0]).clone())
    });
    all.add("empty", &[Kind::Any], |_, given| {
        Ok((!given[0].is_true()).into())
    });
    all.add_variadic("coalesce", &[], Kind::Any, |_, given| {
        Ok(given
            .iter()
            .find(|it| it.is_true())
            .cloned()
            .unwrap_or_default())
    });
    all.add_variadic("all", &[], Kind::Any, |_, given| {
        Ok(given.iter().all(Value::is_true).into())
    });
    all.add_variadic("any", &[], Kind::Any, |_, given| {
        Ok(given.iter().any(Value::is_true).into())
    });
    all.add(
        "ternary",
        &[Kind::Any, Kind::Any, Kind::Bool],
        |_, given| Ok(given[usize::from(!given[2].is_true())].clone()),
    );
}

/// Counts values that were compared or merged: one call may do that with millions.
fn compared(call: &Call<'_>, count: usize) -> std::result::Result<(), String> {
    call.scope.budget.work(count as u64 / 64)
}

/// The items of a list. `what` is what the function would do with them.
fn items(value: &Value, what: &str) -> std::result::Result<Vec<Value>, String> {
    match value {
        Value::List(list) => Ok(list.items.to_vec()),
        Value::Bytes(bytes) => Ok(bytes
            .iter()
            .map(|byte| Value::Int(i64::from(*byte)))
            .collect()),
        Value::Nil => Err(NIL.to_owned()),
        other => Err(format!("Cannot {what} type {}", other.kind())),
    }
}

/// Adds a function under its name and under that with `must`: both fail alike, because Go turns a panic into an error.
fn both(
    all: &mut Functions,
    name: &str,
    parameters: &[Kind],
    call: impl Fn(&[Value]) -> Result + Clone + 'static,
) {
    let mut must = name.to_owned();
    must[..1].make_ascii_uppercase();
    for name in [name, &format!("must{must}")] {
        let call = call.clone();
        all.add(name, parameters, move |_, given| call(given));
    }
}

fn lists(all: &mut Functions) {
    for name in ["list", "tuple"] {
        all.add_variadic(name, &[], Kind::Any, |_, given| {
            Ok(Value::list(given.to_vec()))
        });
    }
    for name in ["append", "push"] {
        both(all, name, &[Kind::Any; 2], |given| {
            let mut all = items(&given[0], "push on")?;
            all.push(given[1].clone());
            Ok(Value::list(all))
        });
    }
    both(all, "prepend", &[Kind::Any; 2], |given| {
        let mut all = items(&given[0], "prepend on")?;
        all.insert(0, given[1].clone());
        Ok(Value::list(all))
    });
    both(all, "first", &[Kind::Any], |given| {
        Ok(items(&given[0], "find first on")?
            .first()
            .cloned()
            .unwrap_or_default())
    });
    both(all, "last", &[Kind::Any], |given| {
        Ok(items(&given[0], "find last on")?
            .last()
            .cloned()
            .unwrap_or_default())
    });
    both(all, "rest", &[Kind::Any], |given| {
        let all = items(&given[0], "find rest on")?;
        Ok(Value::list(all.get(1..).unwrap_or_default().to_vec()))
    });
    both(all, "initial", &[Kind::Any], |given| {
        let all = items(&given[0], "find initial on")?;
        Ok(Value::list(all[..all.len().saturating_sub(1)].to_vec()))
    });
    both(all, "reverse", &[Kind::Any], |given| {
        let mut all = items(&given[0], "find reverse on")?;
        all.reverse();
        Ok(Value::list(all))
    });
    both(all, "compact", &[Kind::Any], |given| {
        let mut all = items(&given[0], "compact on")?;
        all.retain(Value::is_true);
        Ok(Value::list(all))
    });
    let uniq = |call: &Call<'_>, given: &[Value]| {
        let (mut unique, mut count) = (Vec::new(), 0);
        for item in items(&given[0], "find uniq on")? {
            if !deep::contains(&unique, &item, &mut count)? {
                unique.push(item);
            }
        }
        compared(call, count)?;
        Ok(Value::list(unique))
    };
    let has = |call: &Call<'_>, given: &[Value]| match &given[1] {
        Value::Nil => Ok(false.into()),
        list => {
            let (all, mut count) = (items(list, "find has on")?, 0);
            let found = deep::contains(&all, &given[0], &mut count)?;
            compared(call, count)?;
            Ok(found.into())
        }
    };
    for name in ["uniq", "mustUniq"] {
        all.add(name, &[Kind::Any], uniq);
    }
    for name in ["has", "mustHas"] {
        all.add(name, &[Kind::Any; 2], has);
    }
    both(all, "chunk", &[Kind::Int, Kind::Any], |given| {
        let all = items(&given[1], "chunk")?;
        let chunks: Vec<_> = match (number(&given[0]), all.len()) {
            (size @ 1.., _) => all
                .chunks(size as usize)
                .map(|it| Value::list(it.to_vec()))
                .collect(),
            // What Go makes of a negative size.
            (size, 1) if size < -1 => vec![Value::list(all)],
            (size, length @ 2..) if size < 0 && length as u64 <= size.unsigned_abs() + 1 => {
                Vec::new()
            }
            _ => return Err("runtime error: makeslice: len out of range".to_owned()),
        };
        Ok(Value::List(List {
            of: Item::List,
            items: chunks.into(),
        }))
    });
    for name in ["without", "mustWithout"] {
        all.add_variadic(name, &[Kind::Any], Kind::Any, |call, given| {
            let (mut left, mut count) = (Vec::new(), 0);
            for item in items(&given[0], "find without on")? {
                if !deep::contains(&given[1..], &item, &mut count)? {
                    left.push(item);
                }
            }
            compared(call, count)?;
            Ok(Value::list(left))
        });
    }
    for name in ["slice", "mustSlice"] {
        all.add_variadic(name, &[Kind::Any], Kind::Any, |_, given| {
            let Value::List(list) = &given[0] else {
                if matches!(given[0], Value::Nil) {
                    return Err(NIL.to_owned());
                }
                return Err(format!(
                    "list should be type of slice or array but {}",
                    given[0].kind()
                ));
            };
            let length = list.items.len();
            if length == 0 {
                return Ok(Value::Nil);
            }
            let place = |at: usize, usual: usize| match given.get(at) {
                Some(value) => usize::try_from(super::cast::int(value)).unwrap_or(usize::MAX),
                None => usual,
            };
            let (start, end) = (place(1, 0), place(2, length));
            match list.items.get(start..end) {
                Some(part) => Ok(Value::List(List {
                    of: list.of,
                    items: part.into(),
                })),
                None => Err("reflect.Value.Slice: slice index out of bounds".to_owned()),
            }
        });
    }
    all.add_variadic("concat", &[], Kind::Any, |_, given| {
        let mut all = Vec::new();
        for list in given {
            let items = items(list, "concat");
            all.extend(items.map_err(|error| match list {
                Value::Nil => error,
                _ => error + " as list",
            })?);
        }
        Ok(Value::list(all))
    });
}

/// A map that a parameter is.
fn map(value: &Value) -> std::result::Result<&Map, String> {
    match value {
        Value::Map(map) => Ok(map),
        other => Err(format!("{} is no map", other.type_name())),
    }
}

fn maps(all: &mut Functions) {
    all.add_variadic("dict", &[], Kind::Any, |_, given| {
        let entries = given.chunks(2).map(|pair| {
            let value = pair.get(1).cloned().unwrap_or_else(|| "".into());
            (text(&pair[0]), value)
        });
        Ok(Value::Map(Map::new(entries.collect())))
    });
    all.add("get", &[Kind::Map, Kind::String], |_, given| {
        Ok(map(&given[0])?
            .get(string(&given[1]))
            .unwrap_or_else(|| "".into()))
    });
    all.add(
        "set",
        &[Kind::Filled, Kind::String, Kind::Any],
        |_, given| {
            if matches!(given[0], Value::Nil) {
                return Err("assignment to entry in nil map".to_owned());
            }
            map(&given[0])?.set(string(&given[1]), given[2].clone());
            Ok(given[0].clone())
        },
    );
    all.add("unset", &[Kind::Map, Kind::String], |_, given| {
        map(&given[0])?.remove(string(&given[1]));
        Ok(given[0].clone())
    });
    all.add("hasKey", &[Kind::Map, Kind::String], |_, given| {
        Ok(map(&given[0])?.get(string(&given[1])).is_some().into())
    });
    all.add_variadic("pluck", &[Kind::String], Kind::Map, |_, given| {
        let mut all = Vec::new();
        for it in &given[1..] {
            all.extend(map(it)?.get(string(&given[0])));
        }
        Ok(Value::list(all))
    });
    all.add_variadic("keys", &[], Kind::Map, |_, given| {
        let mut all = Vec::new();
        for it in given {
            all.extend(map(it)?.entries().into_iter().map(|(key, _)| key));
        }
        Ok(Value::List(List::of_strings(all)))
    });
    all.add("values", &[Kind::Map], |_, given| {
        let values = map(&given[0])?
            .entries()
            .into_iter()
            .map(|(_, value)| value);
        Ok(Value::list(values.collect::<Vec<_>>()))
    });
    all.add_variadic("pick", &[Kind::Map], Kind::String, |_, given| {
        let of = map(&given[0])?;
        let picked = given[1..].iter().map(string);
        let picked = picked.filter_map(|key| Some((key.to_owned(), of.get(key)?)));
        Ok(Value::Map(Map::new(picked.collect())))
    });
    all.add_variadic("omit", &[Kind::Map], Kind::String, |_, given| {
        let mut left = map(&given[0])?.entries();
        let omitted: HashSet<&str> = given[1..].iter().map(string).collect();
        left.retain(|(key, _)| !omitted.contains(key.as_str()));
        Ok(Value::Map(Map::new(left.into_iter().collect())))
    });
    for (name, overwrites) in [
        ("merge", false),
        ("mustMerge", false),
        ("mergeOverwrite", true),
        ("mustMergeOverwrite", true),
    ] {
        all.add_variadic(name, &[Kind::Map], Kind::Map, move |call, given| {
            let into = map(&given[0])?;
            for from in &given[1..] {
                let mut count = 0;
                let merged = merge(into, map(from)?, overwrites, 0, &mut count);
                compared(call, count)?;
                merged?;
            }
            Ok(given[0].clone())
        });
    }
    for name in ["deepCopy", "mustDeepCopy"] {
        all.add(name, &[Kind::Any], |_, given| match &given[0] {
            Value::Nil => Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
            value => deep::copy(value),
        });
    }
    all.add_variadic("dig", &[], Kind::Any, |_, given| {
        let [keys @ .., usual, of] = given else {
            return Err("dig needs at least three arguments".to_owned());
        };
        if keys.is_empty() {
            return Err("dig needs at least three arguments".to_owned());
        }
        let mut here = of.clone();
        let is_not = |it: &Value, wanted: &str| {
            let found = if matches!(it, Value::Nil) {
                "nil"
            } else {
                it.type_name()
            };
            Err(format!(
                "interface conversion: interface {{}} is {found}, not {wanted}"
            ))
        };
        const MAP: &str = "map[string]interface {}";
        if here.type_name() != MAP {
            return is_not(&here, MAP);
        }
        if let Some(other) = keys.iter().find(|key| key.as_str().is_none()) {
            return is_not(other, "string");
        }
        for key in keys {
            let Value::Map(map) = here.clone() else {
                return is_not(&here, MAP);
            };
            match map.get(string(key)) {
                Some(value) => here = value,
                None => return Ok(usual.clone()),
            }
        }
        Ok(here)
    });
}

/// Merges a map into another, as the Go package mergo does: where a key has an empty value or none, or where `overwrites`.
fn merge(
    into: &Map,
    from: &Map,
    overwrites: bool,
    depth: usize,
    count: &mut usize,
) -> std::result::Result<(), String> {
    if into.is_same(from) {
        return Ok(());
    }
    if depth > crate::value::DEEPEST {
        return Err(deep::too_deep());
    }
    for (key, value) in from.entries() {
        deep::visit(count)?;
        let there = into.get(&key);
        match (&value, &there) {
            (Value::Nil, _) => {
                if overwrites {
                    into.set(key, Value::Nil);
                }
                continue;
            }
            (Value::Map(value), Some(Value::Map(there))) if !there.is_empty() => {
                merge(there, value, overwrites, depth + 1, count)?;
                continue;
            }
            _ => {}
        }
        if overwrites || !there.is_some_and(|there| there.is_true()) {
            into.set(key, value);
        }
    }
    Ok(())
}

fn types(all: &mut Functions) {
    all.add("typeOf", &[Kind::Any], |_, given| {
        Ok(given[0].type_name().into())
    });
    all.add("kindOf", &[Kind::Any], |_, given| {
        Ok(given[0].kind().into())
    });
    all.add("typeIs", &[Kind::String, Kind::Any], |_, given| {
        Ok((string(&given[0]) == given[1].type_name()).into())
    });
    all.add("typeIsLike", &[Kind::String, Kind::Any], |_, given| {
        let (wanted, found) = (string(&given[0]), given[1].type_name());
        Ok((wanted == found || found.strip_prefix('*') == Some(wanted)).into())
    });
    all.add("kindIs", &[Kind::String, Kind::Any], |_, given| {
        Ok((string(&given[0]) == given[1].kind()).into())
    });
    all.add("deepEqual", &[Kind::Any; 2], |call, given| {
        let mut count = 0;
        let equal = deep::equal(&given[0], &given[1], &mut count);
        compared(call, count)?;
        Ok(equal?.into())
    });
}
