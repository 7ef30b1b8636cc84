//! How much the merges of values may copy: aliases, globals and imports copy the same values again and again.

use serde_json::Value;

use super::Table;

/// What one entry counts beside its texts, in bytes.
const ENTRY: usize = 64;

/// What a table counts beside its entries: also one of a single entry has room for eleven.
const TABLE: usize = 640;

/// What merges may still copy.
pub(crate) struct Room {
    left: usize,
    most: usize,
}

impl Room {
    /// The most bytes of the values of one merge, which are in memory together.
    pub(crate) const VALUES: usize = 256 << 20;

    /// The most bytes that processing the dependencies of a chart copies, also of what is thrown away.
    pub(crate) const DEPENDENCIES: usize = 512 << 20;

    /// Room for that many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { left: most, most }
    }

    /// Counts a table without its entries.
    pub(crate) fn shell(&mut self) -> Result<(), String> {
        self.entry(TABLE)
    }

    /// Counts the bytes of an entry with these in its texts.
    pub(crate) fn entry(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.left.checked_sub(bytes.saturating_add(ENTRY));
        self.left = left.ok_or_else(|| {
            format!(
                "the values of charts are larger than {} bytes, with what aliases, globals and imports copy",
                self.most
            )
        })?;
        Ok(())
    }

    /// The bytes of a value.
    pub(crate) fn size(value: &Value) -> usize {
        let mut room = Self::new(usize::MAX);
        match room.value(value) {
            Ok(()) => room.most - room.left,
            Err(_) => usize::MAX,
        }
    }

    /// Counts a table that is copied for a chart.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), String> {
        if table.is_empty() {
            return Ok(());
        }
        self.shell()?;
        table.iter().try_for_each(|(key, value)| {
            self.entry(key.len())?;
            self.value(value)
        })
    }

    /// Counts a value that is copied.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Object(table) => self.table(table),
            Value::Array(items) => items.iter().try_for_each(|item| {
                self.entry(0)?;
                self.value(item)
            }),
            Value::String(text) => self.entry(text.len()),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
}

/// The error with the chart that it is about.
pub(crate) fn in_chart(name: &str) -> impl Fn(String) -> crate::Error {
    move |what| crate::Error::new(format!("chart {name}: {what}"))
}
