//! What loading a chart may use.

use crate::Error;

/// What loading a chart may use. Archives in archives count together, which Helm does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The bytes of the files of one directory or archive: 100 MiB, as Helm has it.
    pub size: u64,
    /// The bytes of all files, also of those in archives in archives: 400 MiB.
    pub all: u64,
    /// The number of all files, also of those in archives in archives: 100,000.
    pub files: usize,
    /// How deep charts are in others: 50.
    pub depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            size: 100 << 20,
            all: 400 << 20,
            files: 100_000,
            depth: 50,
        }
    }
}

/// What is left of the bounds.
pub(super) struct Budget {
    pub(super) bounds: Bounds,
    size: u64,
    files: usize,
}

impl Budget {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            size: bounds.all,
            files: bounds.files,
        }
    }

    /// Counts a file of that size.
    pub(super) fn file(&mut self, size: u64) -> Result<(), Error> {
        let Some(files) = self.files.checked_sub(1) else {
            let most = self.bounds.files;
            return Err(Error::new(format!("the chart has more than {most} files")));
        };
        self.files = files;
        match self.size.checked_sub(size) {
            Some(left) => {
                self.size = left;
                Ok(())
            }
            None => Err(Error::new(format!(
                "the chart and the archives in it hold more than {} bytes",
                self.bounds.all
            ))),
        }
    }
}

/// The mark that texts of Windows begin with.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// The bytes of a file without the mark.
pub(super) fn without_mark(data: &[u8]) -> &[u8] {
    data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data)
}
