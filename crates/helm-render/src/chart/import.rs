//! The values that a chart takes over of those that it depends on.
//!
//! Helm merges tables that several places share. So what one dependency gives also shows up in the values of another, where both
//! give tables for the same place. Charts are rendered with that, and tables are shared here as well.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use serde_json::Value as Json;

use super::{Chart, Import};
use crate::{
    Error,
    values::{self, Nulls, Room, Table, in_chart},
};

/// The deepest nesting of tables: two imports can put a table into itself.
const DEEPEST: usize = 200;

impl Chart {
    /// Imports values into the charts below, and then into this one.
    pub(super) fn import(
        &mut self,
        room: &mut Room,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        for dependency in &mut self.dependencies {
            dependency.import(room, warnings)?;
        }
        if self.metadata.dependencies.is_empty() {
            return Ok(());
        }
        let values = values::coalesce_within(self, &Table::new(), Nulls::Keep, warnings, room)?;
        let in_this = in_chart(&self.metadata.name);
        let values = Shared::of(values);
        let imported = Shared::default();
        for dependency in self.metadata.dependencies.iter_mut().flatten() {
            let imports: Vec<Import> = dependency.import_values.iter().filter_map(wish).collect();
            for Import { child, parent } in &imports {
                let path = format!("{}.{child}", dependency.name);
                let Some(table) = values.at(&path) else {
                    warnings.push(format!(
                        "ImportValues missing table from chart {}: {path:?} is not a table",
                        dependency.name
                    ));
                    continue;
                };
                let mut merge = Merge { room, warnings };
                merge
                    .tables(&imported, &table.below(parent), DEEPEST)
                    .map_err(&in_this)?;
            }
            dependency.imports = Some(imports);
        }
        // The chart's own values win over those that it imports.
        let values = Shared::of(values.plain(DEEPEST, room).map_err(&in_this)?);
        let mut merge = Merge { room, warnings };
        merge
            .tables(&values, &imported, DEEPEST)
            .map_err(&in_this)?;
        // This is held: it may not be larger than what is rendered with.
        let mut held = Room::new(Room::VALUES);
        self.values = values.plain(DEEPEST, &mut held).map_err(&in_this)?;
        Ok(())
    }
}

/// What an item of `import-values` wants. Items of other types want nothing.
fn wish(item: &Json) -> Option<Import> {
    match item {
        Json::String(name) => Some(Import {
            child: format!("exports.{name}"),
            parent: ".".to_owned(),
        }),
        Json::Object(entries) => {
            let text = |key| {
                let value = entries.get(key).map(crate::Value::of_json);
                let text = crate::go::print::any(&value.unwrap_or_default());
                // What is printed here is not what templates print.
                crate::go::print::check().map_or(String::new(), |()| text)
            };
            Some(Import {
                child: text("child"),
                parent: text("parent"),
            })
        }
        _ => None,
    }
}

/// A table that several places may share.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<BTreeMap<String, Node>>>);

#[derive(Clone)]
enum Node {
    Table(Shared),
    Other(Json),
}

impl Node {
    fn is_null(&self) -> bool {
        matches!(self, Self::Other(Json::Null))
    }
}

fn too_deep() -> String {
    format!("values are nested deeper than {DEEPEST}")
}

impl Shared {
    fn of(table: Table) -> Self {
        let entries = table.into_iter().map(|(key, value)| match value {
            Json::Object(table) => (key, Node::Table(Self::of(table))),
            value => (key, Node::Other(value)),
        });
        Self(Rc::new(RefCell::new(entries.collect())))
    }

    fn plain(&self, depth: usize, room: &mut Room) -> Result<Table, String> {
        let below = depth.checked_sub(1).ok_or_else(too_deep)?;
        room.shell()?;
        let entries = self.0.borrow();
        let entries = entries.iter().map(|(key, node)| {
            room.entry(key.len())?;
            match node {
                Node::Table(table) => Ok((key.clone(), Json::Object(table.plain(below, room)?))),
                Node::Other(value) => {
                    room.value(value)?;
                    Ok((key.clone(), value.clone()))
                }
            }
        });
        entries.collect()
    }

    /// The table at a path with dots.
    fn at(&self, path: &str) -> Option<Self> {
        let mut names = path.split('.');
        names.try_fold(self.clone(), |table, name| {
            match table.0.borrow().get(name)? {
                Node::Table(table) => Some(table.clone()),
                Node::Other(_) => None,
            }
        })
    }

    /// The table at a path with dots in otherwise empty ones.
    fn below(&self, path: &str) -> Self {
        if path == "." {
            return self.clone();
        }
        let names = path.split('.').rev();
        names.fold(self.clone(), |table, name| {
            let entries = BTreeMap::from([(name.to_owned(), Node::Table(table))]);
            Self(Rc::new(RefCell::new(entries)))
        })
    }
}

/// Merges shared tables.
struct Merge<'a> {
    room: &'a mut Room,
    warnings: &'a mut Vec<String>,
}

impl Merge<'_> {
    /// Adds the entries of another table that the first lacks, and merges tables. Nulls of the first are put into the other, too.
    fn tables(&mut self, into: &Shared, from: &Shared, depth: usize) -> Result<(), String> {
        let below = depth.checked_sub(1).ok_or_else(too_deep)?;
        if Rc::ptr_eq(&into.0, &from.0) {
            return Ok(());
        }
        let own = into.0.borrow();
        let nulls = own.iter().filter(|(_, it)| it.is_null());
        let nulls: Vec<String> = nulls.map(|(key, _)| key.clone()).collect();
        drop(own);
        for key in nulls {
            let mut from = from.0.borrow_mut();
            from.insert(key, Node::Other(Json::Null));
        }
        let entries = from.0.borrow().clone();
        for (key, value) in entries {
            self.room.entry(key.len())?;
            let there = into.0.borrow().get(&key).cloned();
            match (there, value) {
                (None, value) => {
                    if let Node::Other(value) = &value {
                        self.room.value(value)?;
                    }
                    into.0.borrow_mut().insert(key, value);
                }
                (Some(Node::Table(there)), Node::Table(value)) => {
                    self.tables(&there, &value, below)?;
                }
                (Some(Node::Other(_)), Node::Table(_)) => {
                    self.warn(format!("cannot overwrite table with non table for {key}"))?;
                }
                (Some(Node::Table(_)), value @ Node::Other(_)) if !value.is_null() => {
                    self.warn(format!(
                        "destination for {key} is a table. Ignoring non-table value"
                    ))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn warn(&mut self, text: String) -> Result<(), String> {
        self.room.entry(text.len())?;
        self.warnings.push(text);
        Ok(())
    }
}
