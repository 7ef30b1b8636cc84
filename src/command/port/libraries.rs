//! The Go modules that a port has to replace.

use kubebuilder_port::Library;

use super::Port;
use crate::command::checklist::{Item, Title};

impl Port<'_> {
    /// Lists the modules to replace.
    pub fn libraries(&mut self) {
        for library in self.files.libraries() {
            let Library { module, files, .. } = &library;
            let what = match library.advice {
                Some(advice) => format!("`{module}`: {advice}"),
                None if library.is_api => format!(
                    "`{module}`: types of another project, which `create api --from-crd … --external` makes"
                ),
                None => format!("`{module}`"),
            };
            let more = files.len().saturating_sub(3);
            let mut notes: Vec<_> = files
                .iter()
                .take(3)
                .map(|file| format!("in `{file}`"))
                .collect();
            if more > 0 {
                notes.push(format!("and in {more} more"));
            }
            let item = Item {
                what,
                notes,
                ..Item::default()
            };
            self.checklist.add(Title::Libraries, item);
        }
    }
}
