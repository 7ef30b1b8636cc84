//! The merge of values: those of a chart, of the charts that it depends on, and those that are given.
//!
//! Two merges exist. The one that renders removes a key whose given value is null; the one that comes before it, for charts that
//! import values of others, keeps the null, so that the later one can see it.

mod room;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub(crate) use self::room::{Room, in_chart};
use crate::{Error, go::number::quote};

/// Values by key.
pub type Table = Map<String, Value>;

/// The key of the values that all charts share.
pub const GLOBAL: &str = "global";

/// Whether a null removes a key, or is kept for a later merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// A null removes the key.
    Remove,
    /// A null stays.
    Keep,
}

/// What the merge needs of a chart.
pub trait Defaults {
    /// Its name, which may be an alias.
    fn name(&self) -> &str;
    /// The values of its `values.yaml`.
    fn values(&self) -> &Table;
    /// The charts that it depends on.
    fn dependencies(&self) -> Vec<&Self>;
}

/// The values of a chart and its dependencies under the given ones.
///
/// # Errors
/// The value of a dependency is no table, or the values are too large. The messages of what was left out are added to `warnings`.
pub fn coalesce<C: Defaults>(
    chart: &C,
    given: &Table,
    nulls: Nulls,
    warnings: &mut Vec<String>,
) -> Result<Table, Error> {
    let mut room = Room::new(Room::VALUES);
    coalesce_within(chart, given, nulls, warnings, &mut room)
}

/// As [`coalesce`], with what it may copy.
pub(crate) fn coalesce_within<C: Defaults>(
    chart: &C,
    given: &Table,
    nulls: Nulls,
    warnings: &mut Vec<String>,
    room: &mut Room,
) -> Result<Table, Error> {
    room.table(given).map_err(in_chart(chart.name()))?;
    let mut merge = Merge { warnings, room };
    merge.chart(chart, given.clone(), "", nulls)
}

/// Merges tables, of which the first wins.
///
/// # Errors
/// The tables are too large.
pub fn merge_tables(
    into: Table,
    from: Table,
    nulls: Nulls,
    warnings: &mut Vec<String>,
) -> Result<Table, Error> {
    let room = &mut Room::new(Room::VALUES);
    let merged = Merge { warnings, room }.tables(into, from, "", nulls);
    merged.map_err(Error::new)
}

/// Several tables as one, as `helm -f a -f b` takes them: the later ones win, tables are merged, and lists are replaced. A null of
/// a later one replaces what was there and stays, so that the merge with the values of the chart removes the key.
pub fn layered(layers: impl IntoIterator<Item = Table>) -> Table {
    let mut all = Table::new();
    for layer in layers {
        overwrite(&mut all, layer);
    }
    all
}

/// Merges a table into another, which loses.
pub(crate) fn overwrite(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(into)), Value::Object(from)) => overwrite(into, from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

struct Merge<'a> {
    warnings: &'a mut Vec<String>,
    room: &'a mut Room,
}

fn below(prefix: &str, key: &str) -> String {
    match prefix {
        "" => key.to_owned(),
        prefix => format!("{prefix}.{key}"),
    }
}

impl Merge<'_> {
    fn chart<C: Defaults>(
        &mut self,
        chart: &C,
        mut values: Table,
        prefix: &str,
        nulls: Nulls,
    ) -> Result<Table, Error> {
        self.defaults(chart, &mut values, prefix, nulls)
            .map_err(in_chart(chart.name()))?;
        for dependency in chart.dependencies() {
            let name = dependency.name();
            let mut own = match values.remove(name) {
                None => Table::new(),
                Some(Value::Object(own)) => own,
                Some(_) => {
                    let what = format!("type mismatch on {name}: it is no table");
                    return Err(Error::new(what));
                }
            };
            let prefix = below(prefix, chart.name());
            self.globals(&mut own, &values, &prefix)
                .map_err(in_chart(name))?;
            let own = self.chart(dependency, own, &prefix, nulls)?;
            values.insert(name.to_owned(), Value::Object(own));
        }
        Ok(values)
    }

    /// Adds the globals of a chart to those of one that it depends on. The chart's own win.
    fn globals(&mut self, into: &mut Table, from: &Table, prefix: &str) -> Result<(), String> {
        let mut own = match into.get(GLOBAL) {
            None => Table::new(),
            Some(Value::Object(own)) => own.clone(),
            Some(_) => {
                return self.warn(format!(
                    "skipping globals because destination {GLOBAL} is not a table."
                ));
            }
        };
        let of_parent = match from.get(GLOBAL) {
            None => Table::new(),
            Some(Value::Object(of_parent)) => of_parent.clone(),
            Some(_) => {
                return self.warn(format!(
                    "skipping globals because source {GLOBAL} is not a table."
                ));
            }
        };
        self.room.table(&own)?;
        self.room.table(&of_parent)?;
        for (key, value) in of_parent {
            match (value, own.get(&key)) {
                (Value::Object(value), None) => {
                    own.insert(key, Value::Object(value));
                }
                (Value::Object(value), Some(Value::Object(there))) => {
                    let prefix = below(prefix, &key);
                    let there = there.clone();
                    let merged = self.tables(value, there, &prefix, Nulls::Keep)?;
                    own.insert(key, Value::Object(merged));
                }
                (Value::Object(_), Some(_)) => {
                    self.warn(format!(
                        "cannot merge map onto non-map for {}. Skipping.",
                        quote(&key)
                    ))?;
                }
                (_, Some(Value::Object(_))) => {
                    self.warn(format!("key {key} is table. Skipping"))?
                }
                (value, _) => {
                    own.insert(key, value);
                }
            }
        }
        into.insert(GLOBAL.to_owned(), Value::Object(own));
        Ok(())
    }

    /// Adds the chart's own values to the given ones, which win.
    fn defaults<C: Defaults>(
        &mut self,
        chart: &C,
        given: &mut Table,
        prefix: &str,
        nulls: Nulls,
    ) -> Result<(), String> {
        let prefix = below(prefix, chart.name());
        let dependencies = chart.dependencies();
        for (key, default) in chart.values() {
            self.room.entry(key.len())?;
            let removes = nulls == Nulls::Remove;
            match given.get_mut(key) {
                Some(Value::Null) if removes => {
                    given.remove(key);
                }
                Some(Value::Object(table)) => {
                    let Value::Object(default) = default else {
                        if !default.is_null() {
                            self.warn(format!("skipped value for {prefix}.{key}: Not a table."))?;
                        }
                        continue;
                    };
                    let is_chart = dependencies.iter().any(|it| it.name() == key);
                    let nulls = if is_chart { Nulls::Keep } else { nulls };
                    self.room.table(default)?;
                    let mut default = default.clone();
                    if nulls == Nulls::Remove {
                        without_nulls(&mut default);
                    }
                    let table = std::mem::take(table);
                    let merged = self.tables(table, default, &below(&prefix, key), nulls)?;
                    given.insert(key.clone(), Value::Object(merged));
                }
                Some(_) => {}
                None if removes && default.is_null() => {}
                None => {
                    self.room.value(default)?;
                    let mut default = default.clone();
                    if let (true, Value::Object(table)) = (removes, &mut default) {
                        without_nulls(table);
                    }
                    given.insert(key.clone(), default);
                }
            }
        }
        Ok(())
    }

    fn tables(
        &mut self,
        mut into: Table,
        mut from: Table,
        prefix: &str,
        nulls: Nulls,
    ) -> Result<Table, String> {
        // The keys that a null of the other table hides.
        let mut was_set = BTreeSet::new();
        for (key, _) in into.iter().filter(|(_, value)| value.is_null()) {
            let hidden = from.insert(key.clone(), Value::Null);
            if hidden.is_some_and(|it| !it.is_null()) {
                was_set.insert(key.clone());
            }
        }
        for (key, value) in from {
            let whole = below(prefix, &key);
            self.room.entry(whole.len())?;
            match (into.get_mut(&key), value) {
                (Some(Value::Null), _) if nulls == Nulls::Remove && was_set.contains(&key) => {
                    into.remove(&key);
                }
                (None, value) => {
                    into.insert(key, value);
                }
                (Some(Value::Object(there)), Value::Object(value)) => {
                    *there = self.tables(std::mem::take(there), value, &whole, nulls)?;
                }
                (Some(_), Value::Object(_)) => {
                    self.warn(format!("cannot overwrite table with non table for {whole}"))?;
                }
                (Some(Value::Object(_)), value) if !value.is_null() => {
                    self.warn(format!(
                        "destination for {whole} is a table. Ignoring non-table value ({value})"
                    ))?;
                }
                _ => {}
            }
        }
        Ok(into)
    }

    fn warn(&mut self, text: String) -> Result<(), String> {
        self.room.entry(text.len())?;
        self.warnings.push(text);
        Ok(())
    }
}

/// Removes nulls at every depth of tables.
fn without_nulls(table: &mut Table) {
    table.retain(|_, value| !value.is_null());
    for value in table.values_mut() {
        if let Value::Object(table) = value {
            without_nulls(table);
        }
    }
}

/// The table at a path with dots.
pub fn table<'a>(values: &'a Table, path: &str) -> Option<&'a Table> {
    let mut names = path.split('.');
    names.try_fold(values, |table, name| table.get(name)?.as_object())
}

/// The value at a path with dots that is no table.
pub fn value<'a>(values: &'a Table, path: &str) -> Option<&'a Value> {
    let (table, key) = match path.rsplit_once('.') {
        Some((path, key)) => (self::table(values, path)?, key),
        None => (values, path),
    };
    table.get(key).filter(|value| !value.is_object())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Chart {
        name: &'static str,
        values: Table,
        dependencies: Vec<Chart>,
    }

    impl Defaults for Chart {
        fn name(&self) -> &str {
            self.name
        }

        fn values(&self) -> &Table {
            &self.values
        }

        fn dependencies(&self) -> Vec<&Self> {
            self.dependencies.iter().collect()
        }
    }

    fn object(value: Value) -> Table {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn values_of_charts_are_merged() {
        let child = Chart {
            name: "child",
            values: object(json!({"a": 1, "b": {"c": 2, "d": 3}, "global": {"x": 1, "y": 2}})),
            dependencies: Vec::new(),
        };
        let parent = Chart {
            name: "parent",
            values: object(
                json!({"image": {"tag": "1", "name": "n"}, "child": {"a": 5}, "global": {"x": 9}, "none": null}),
            ),
            dependencies: vec![child],
        };
        let given = object(json!({"image": {"tag": null}, "child": {"b": {"c": null}}}));
        let mut warnings = Vec::new();
        let merged = coalesce(&parent, &given, Nulls::Remove, &mut warnings).unwrap();
        assert_eq!(
            Value::Object(merged),
            json!({
                "image": {"name": "n"},
                "child": {"a": 5, "b": {"d": 3}, "global": {"x": 9, "y": 2}},
                "global": {"x": 9},
            })
        );
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn later_layers_win() {
        let layers = [
            json!({"a": {"b": 1, "c": [1, 2]}, "d": 1, "e": {"f": 1}}),
            json!({"a": {"b": null, "c": [3]}, "d": {"x": 1}, "e": null}),
            json!({"e": {"g": 2}}),
        ];
        assert_eq!(
            Value::Object(layered(layers.map(object))),
            json!({"a": {"b": null, "c": [3]}, "d": {"x": 1}, "e": {"g": 2}})
        );
    }
}
