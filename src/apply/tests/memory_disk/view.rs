//! The files on the disk, as tests see them.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::LOCAL, MemoryDisk};

impl MemoryDisk {
    /// The project's files.
    pub fn files(&self) -> BTreeMap<String, String> {
        let files = self.files.borrow();
        files
            .iter()
            .filter(|(path, _)| !path.starts_with(LOCAL.as_str()))
            .map(|(path, file)| {
                (
                    path.clone(),
                    String::from_utf8_lossy(&file.bytes).into_owned(),
                )
            })
            .collect()
    }

    /// Files, directories and their texts, but for the name of the lock's holder.
    pub fn everything(&self) -> (Vec<(String, Vec<u8>)>, BTreeSet<String>) {
        let files = self.files.borrow();
        let files = files
            .iter()
            .filter(|(path, _)| !path.ends_with("local/lock"));
        (
            files
                .map(|(path, file)| (path.clone(), file.bytes.clone()))
                .collect(),
            self.directories.borrow().clone(),
        )
    }

    /// Files of the tool that should not be there when no command runs.
    pub fn strays(&self) -> Vec<String> {
        let files = self.files.borrow();
        let known = ["lock", "undo", ".gitignore"].map(|name| format!("{LOCAL}/{name}"));
        files
            .keys()
            .filter(|path| path.starts_with(LOCAL.as_str()) && !known.contains(path))
            .cloned()
            .collect()
    }
}
