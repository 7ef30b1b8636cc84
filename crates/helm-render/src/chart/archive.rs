//! Charts in archives: `.tgz`.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use super::{
    File,
    bounds::{Budget, without_mark},
};
use crate::{
    Error,
    go::{number::quote, path},
};

/// The files of an archive at a path.
pub(super) fn read_file(path: &Path, budget: &mut Budget) -> Result<Vec<File>, Error> {
    let shown = path.display();
    let mut file =
        fs::File::open(path).map_err(|error| Error::new(format!("open {shown}: {error}")))?;
    let mut start = Vec::new();
    let head = file.by_ref().take(3).read_to_end(&mut start);
    head.map_err(|error| Error::new(format!("file '{shown}' cannot be read: {error}")))?;
    if start != [0x1F, 0x8B, 8] {
        let is_yaml = path
            .extension()
            .is_some_and(|it| it == "yml" || it == "yaml");
        return Err(Error::new(match is_yaml {
            true => {
                format!("file '{shown}' seems to be a YAML file, but expected a gzipped archive")
            }
            false => format!("file '{shown}' does not appear to be a gzipped archive"),
        }));
    }
    read(start.chain(file), budget)
        .map_err(|error| Error::new(format!("unable to load chart archive: {error}")))
}

/// The files of an archive. The first name of each path is the chart's directory, and left out.
pub(super) fn read(archive: impl Read, budget: &mut Budget) -> Result<Vec<File>, Error> {
    let size = budget.bounds.size;
    let too_large = || {
        Error::new(format!(
            "decompressed chart is larger than the maximum size {size}"
        ))
    };
    // What surrounds the files costs nothing in Helm's count, but has to be read as well.
    let all = Bounded {
        inner: MultiGzDecoder::new(archive),
        left: size.saturating_mul(2).saturating_add(1 << 20),
    };
    let mut archive = Archive::new(all);
    let broken = |error: io::Error| Error::new(error.to_string());
    let mut files = Vec::new();
    let mut left = size;
    for entry in archive.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        if is_directory(&entry) || entry.header().entry_type() == EntryType::XGlobalHeader {
            continue;
        }
        let name = name(&String::from_utf8_lossy(&entry.path_bytes()))?;
        let is_file = matches!(
            entry.header().entry_type(),
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse
        );
        // Links and devices are empty files to Helm.
        let announced = if is_file { entry.size() } else { 0 };
        if announced > left {
            return Err(too_large());
        }
        budget.file(announced.saturating_add(name.len() as u64))?;
        let mut data = Vec::new();
        if is_file {
            entry.take(left).read_to_end(&mut data).map_err(broken)?;
        }
        left -= data.len() as u64;
        if (data.len() as u64) < announced || left == 0 {
            return Err(too_large());
        }
        files.push(File::new(name, without_mark(&data)));
    }
    match files.is_empty() {
        true => Err(Error::new("no files in chart archive".to_owned())),
        false => Ok(files),
    }
}

fn is_directory<R: Read>(entry: &Entry<'_, R>) -> bool {
    let header = entry.header();
    let is_named_so = header.as_bytes()[156] == 0 && entry.path_bytes().ends_with(b"/");
    let mode = header.mode().unwrap_or_default();
    header.entry_type().is_dir() || mode & 0o170_000 == 0o040_000 || is_named_so
}

/// The path in the chart of an entry.
fn name(whole: &str) -> Result<String, Error> {
    let refuse = |what: &str| Err(Error::new(what.to_owned()));
    // An archive may come from Windows.
    let delimiter = if whole.contains('\\') { '\\' } else { '/' };
    let (first, rest) = whole.split_once(delimiter).unwrap_or((whole, ""));
    let rest = rest.replace(delimiter, "/");
    if rest.starts_with('/') {
        return refuse("chart illegally contains absolute paths");
    }
    let name = path::clean(&rest);
    if name == "." {
        return Err(Error::new(format!(
            "chart illegally contains content outside the base directory: {}",
            quote(whole)
        )));
    }
    if name.starts_with("..") {
        return refuse("chart illegally references parent directory");
    }
    let has_drive =
        matches!(name.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic());
    if has_drive {
        return refuse("chart contains illegally named files");
    }
    if first == "Chart.yaml" {
        return refuse("chart yaml not in base directory");
    }
    Ok(name)
}

/// Reads no more than so many bytes, and fails then.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other("the archive is too large")),
        }
        Ok(count)
    }
}
