//! The values that a chart takes over of those that it depends on.
//!
//! Helm merges tables that several places share. So what one dependency gives also shows up in the values of another, where both
//! give tables for the same place. Charts are rendered with that, and tables are shared here as well.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use serde_json::Value as Json;

use super::{Chart, Import};
use crate::{
    Error,
    values::{self, Nulls, Table},
};

/// The deepest nesting of tables: two imports can put a table into itself.
const DEEPEST: usize = 200;

impl Chart {
    /// Imports values into the charts below, and then into this one.
    pub(super) fn import(&mut self, warnings: &mut Vec<String>) -> Result<(), Error> {
        for dependency in &mut self.dependencies {
            dependency.import(warnings)?;
        }
        if self.metadata.dependencies.is_empty() {
            return Ok(());
        }
        let values =
            values::coalesce(self, &Table::new(), Nulls::Keep, warnings).map_err(Error::new)?;
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
                imported.merge(&table.below(parent), DEEPEST, warnings)?;
            }
            dependency.imports = Some(imports);
        }
        // The chart's own values win over those that it imports.
        let values = Shared::of(values.plain(DEEPEST)?);
        values.merge(&imported, DEEPEST, warnings)?;
        self.values = values.plain(DEEPEST)?;
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

fn too_deep() -> Error {
    Error::new(format!("values are nested deeper than {DEEPEST}"))
}

impl Shared {
    fn of(table: Table) -> Self {
        let entries = table.into_iter().map(|(key, value)| match value {
            Json::Object(table) => (key, Node::Table(Self::of(table))),
            value => (key, Node::Other(value)),
        });
        Self(Rc::new(RefCell::new(entries.collect())))
    }

    fn plain(&self, depth: usize) -> Result<Table, Error> {
        let below = depth.checked_sub(1).ok_or_else(too_deep)?;
        let entries = self.0.borrow();
        let entries = entries.iter().map(|(key, node)| match node {
            Node::Table(table) => Ok((key.clone(), Json::Object(table.plain(below)?))),
            Node::Other(value) => Ok((key.clone(), value.clone())),
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

    /// Adds the entries of another table that it lacks, and merges tables. Nulls of this one are put into the other one, too.
    fn merge(&self, from: &Self, depth: usize, warnings: &mut Vec<String>) -> Result<(), Error> {
        let below = depth.checked_sub(1).ok_or_else(too_deep)?;
        if Rc::ptr_eq(&self.0, &from.0) {
            return Ok(());
        }
        let own = self.0.borrow().clone();
        for key in own
            .iter()
            .filter(|(_, it)| it.is_null())
            .map(|(key, _)| key)
        {
            from.0
                .borrow_mut()
                .insert(key.clone(), Node::Other(Json::Null));
        }
        let entries = from.0.borrow().clone();
        for (key, value) in entries {
            let there = self.0.borrow().get(&key).cloned();
            match (there, value) {
                (None, value) => {
                    self.0.borrow_mut().insert(key, value);
                }
                (Some(Node::Table(there)), Node::Table(value)) => {
                    there.merge(&value, below, warnings)?;
                }
                (Some(Node::Other(_)), Node::Table(_)) => {
                    warnings.push(format!("cannot overwrite table with non table for {key}"));
                }
                (Some(Node::Table(_)), value @ Node::Other(_)) if !value.is_null() => {
                    warnings.push(format!(
                        "destination for {key} is a table. Ignoring non-table value"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
