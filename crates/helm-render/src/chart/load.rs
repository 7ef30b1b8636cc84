//! Loads a chart from its files.

use std::{collections::BTreeMap, io::Read, path::Path, sync::Arc};

use super::{
    Chart, File, Lock, Metadata, archive,
    bounds::{Bounds, Budget, without_mark},
    decode, directory,
    ignore::Rules,
};
use crate::{
    Error,
    go::path,
    sprig::go_time,
    values::{Table, overwrite},
};

impl Chart {
    /// Loads the chart of a directory, or of a `.tgz`.
    ///
    /// # Errors
    /// There is no chart, it is not valid, or it is too large.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_within(path, Bounds::default(), &mut Vec::new())
    }

    /// Loads the chart of a directory, or of a `.tgz`, within bounds. What Helm warns of is added to `warnings`.
    ///
    /// # Errors
    /// As [`Chart::load`].
    pub fn load_within(
        path: impl AsRef<Path>,
        bounds: Bounds,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let path = path.as_ref();
        let mut loader = Loader::new(bounds, warnings);
        if !path.is_dir() {
            let files = archive::read_file(path, &mut loader.budget)?;
            return loader.root(files);
        }
        loader.check_version(&directory::chart_file(path, &loader.budget)?)?;
        let files = directory::read(path, &mut loader.budget)?;
        loader.chart(files, 0)
    }

    /// Loads the chart of a `.tgz`.
    ///
    /// # Errors
    /// As [`Chart::load`].
    pub fn read_archive(archive: impl Read) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let mut loader = Loader::new(Bounds::default(), &mut warnings);
        let files = archive::read(archive, &mut loader.budget)?;
        loader.root(files)
    }

    /// Loads the chart of the files of a directory, but those that its `.helmignore` names: for a chart that is compiled into a
    /// program.
    ///
    /// # Errors
    /// As [`Chart::load`].
    pub fn from_directory(files: Vec<File>) -> Result<Self, Error> {
        let rules = files.iter().find(|file| file.name == ".helmignore");
        let mut rules = match rules {
            Some(file) => Rules::parse(&file.text())?,
            None => Rules::default(),
        };
        rules.add_defaults();
        let kept = files
            .into_iter()
            .filter(|file| !rules.ignores_file(&file.name));
        let kept = kept.map(|file| File::new(file.name, without_mark(&file.data)));
        Self::from_files(kept.collect())
    }

    /// Loads a chart of files with paths such as `templates/x.yaml` and `charts/child/Chart.yaml`.
    ///
    /// # Errors
    /// As [`Chart::load`].
    pub fn from_files(files: Vec<File>) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let mut loader = Loader::new(Bounds::default(), &mut warnings);
        loader.root(files)
    }
}

struct Loader<'a> {
    budget: Budget,
    warnings: &'a mut Vec<String>,
}

impl<'a> Loader<'a> {
    fn new(bounds: Bounds, warnings: &'a mut Vec<String>) -> Self {
        Self {
            budget: Budget::new(bounds),
            warnings,
        }
    }

    /// The chart of these files, if its `Chart.yaml` is of a version that exists.
    fn root(&mut self, files: Vec<File>) -> Result<Chart, Error> {
        let Some(file) = files.iter().find(|file| file.name == "Chart.yaml") else {
            return Err(Error::new(
                "unable to detect chart version, no Chart.yaml found".to_owned(),
            ));
        };
        self.check_version(file)?;
        self.chart(files, 0)
    }

    fn check_version(&self, file: &File) -> Result<(), Error> {
        let mut version = ApiVersion::default();
        decode::read(&file.text(), &mut version).map_err(within("Chart.yaml"))?;
        match version.api_version.as_str() {
            "" | "v1" | "v2" => Ok(()),
            "v3" => Err(Error::new("invalid chart apiVersion".to_owned())),
            _ => Err(Error::new("unsupported chart version".to_owned())),
        }
    }

    fn chart(&mut self, files: Vec<File>, depth: usize) -> Result<Chart, Error> {
        if depth > self.budget.bounds.depth {
            let most = self.budget.bounds.depth;
            return Err(Error::new(format!("charts are nested deeper than {most}")));
        }
        let mut chart = Chart::default();
        let mut has_metadata = false;
        for file in files.iter().filter(|file| file.name == "Chart.yaml") {
            has_metadata = true;
            let metadata = &mut chart.metadata;
            metadata.add(&file.text()).map_err(within("Chart.yaml"))?;
            if metadata.api_version.is_empty() {
                metadata.api_version = "v1".to_owned();
            }
        }
        let mut charts: BTreeMap<String, Vec<File>> = BTreeMap::new();
        for file in files {
            if file.name == "Chart.yaml" {
                continue;
            }
            if let Some(path) = file.name.strip_prefix("charts/")
                && path::extension(&file.name) != ".prov"
            {
                let name = path.split('/').next().unwrap_or_default().to_owned();
                let file = File::new(path, file.data);
                charts.entry(name).or_default().push(file);
                continue;
            }
            self.file(&mut chart, file, &mut has_metadata)?;
        }
        if !has_metadata {
            return Err(Error::new("Chart.yaml file is missing".to_owned()));
        }
        let valid = chart.metadata.validate();
        valid.map_err(|error| error.of_file("Chart.yaml"))?;
        for (name, files) in charts {
            if name.starts_with(['_', '.']) {
                continue;
            }
            let dependency = self.dependency(&chart, &name, files, depth + 1)?;
            chart.dependencies.push(dependency);
        }
        Ok(chart)
    }

    fn file(
        &mut self,
        chart: &mut Chart,
        file: File,
        has_metadata: &mut bool,
    ) -> Result<(), Error> {
        let is_old = |metadata: &Metadata| metadata.api_version == "v1";
        match file.name.as_str() {
            "Chart.lock" => chart.lock = Some(lock(&file)?),
            "values.yaml" => chart.values = merged(&file.text()).map_err(within("values.yaml"))?,
            "values.schema.json" => chart.schema = Some(file.data),
            "requirements.yaml" => {
                if !is_old(&chart.metadata) {
                    self.warn("Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend migrating dependencies to Chart.yaml.");
                }
                *has_metadata = true;
                let metadata = &mut chart.metadata;
                metadata
                    .add(&file.text())
                    .map_err(within("requirements.yaml"))?;
                if is_old(metadata) {
                    chart.files.push(file);
                }
            }
            "requirements.lock" => {
                *has_metadata = true;
                chart.lock = Some(lock(&file)?);
                if !is_old(&chart.metadata) {
                    self.warn("Dependency locking is handled in Chart.lock since apiVersion \"v2\". We recommend migrating to Chart.lock.");
                }
                if is_old(&chart.metadata) {
                    chart.files.push(file);
                }
            }
            name if name.starts_with("templates/") => chart.templates.push(file),
            _ => chart.files.push(file),
        }
        Ok(())
    }

    /// The chart of what has one name in `charts/`.
    fn dependency(
        &mut self,
        of: &Chart,
        name: &str,
        files: Vec<File>,
        depth: usize,
    ) -> Result<Chart, Error> {
        let chart = if path::extension(name) == ".tgz" {
            let first = &files[0];
            if first.name != name {
                return Err(Error::new(format!(
                    "error unpacking subchart tar in {}: expected {name}, got {}",
                    of.name(),
                    first.name
                )));
            }
            let data: Arc<[u8]> = first.data.clone();
            drop(files);
            archive::read(&*data, &mut self.budget).and_then(|files| self.chart(files, depth))
        } else {
            // A file right in `charts/` is no chart.
            let files = files.into_iter().filter_map(|file| {
                let (_, path) = file.name.split_once('/')?;
                Some(File::new(path, file.data))
            });
            self.chart(files.collect(), depth)
        };
        chart.map_err(|error| {
            let file = error.file.as_ref().map(|it| format!("charts/{name}/{it}"));
            let error = error.within(&format!("error unpacking subchart {name} in {}", of.name()));
            Error { file, ..error }
        })
    }

    fn warn(&mut self, what: &str) {
        self.warnings.push(format!("Warning: {what}"));
    }
}

fn within(name: &str) -> impl Fn(String) -> Error {
    move |error| Error::new(format!("cannot load {name}: {error}")).of_file(name)
}

fn lock(file: &File) -> Result<Lock, Error> {
    let mut lock = Lock::default();
    decode::read(&file.text(), &mut lock).map_err(within(&file.name))?;
    if !lock.generated.is_empty()
        && let Err(error) = go_time(TIME, &lock.generated)
    {
        let what = format!("error unmarshaling JSON: while decoding JSON: {error}");
        return Err(within(&file.name)(what));
    }
    Ok(lock)
}

/// How a lock file writes a time: `time.RFC3339`.
const TIME: &str = "2006-01-02T15:04:05Z07:00";

/// The version in `Chart.yaml`, which is read before anything else.
#[derive(Default)]
struct ApiVersion {
    api_version: String,
}

decode::decode_fields!(ApiVersion, "chartBase", "loader.chartBase", {
    "apiVersion" => api_version,
});

/// The files of the chart in a directory, but those that its `.helmignore` names; or all files of a `.tgz`.
///
/// # Errors
/// As [`Chart::load`], but only `Chart.yaml` is read.
pub fn files(path: impl AsRef<Path>) -> Result<Vec<File>, Error> {
    let path = path.as_ref();
    let mut warnings = Vec::new();
    let mut loader = Loader::new(Bounds::default(), &mut warnings);
    if !path.is_dir() {
        return archive::read_file(path, &mut loader.budget);
    }
    loader.check_version(&directory::chart_file(path, &loader.budget)?)?;
    directory::read(path, &mut loader.budget)
}

/// The values of a text with documents of YAML, of which later ones win.
///
/// # Errors
/// A document is no YAML, or no table.
pub fn values(text: &str) -> Result<Table, Error> {
    merged(text).map_err(Error::new)
}

fn merged(text: &str) -> Result<Table, String> {
    let mut values = Table::new();
    for document in documents(text)? {
        let mut table = DocumentTable::default();
        decode::read(&document, &mut table)
            .map_err(|error| format!("cannot unmarshal yaml document: {error}"))?;
        overwrite(&mut values, table.0);
    }
    Ok(values)
}

/// `map[string]interface {}`.
#[derive(Default)]
struct DocumentTable(Table);

impl decode::Decode for DocumentTable {
    const GO: &'static str = "map[string]interface {}";

    fn decode(&mut self, value: &serde_json::Value, at: decode::At<'_>) -> Result<(), String> {
        match value {
            serde_json::Value::Null => Ok(()),
            serde_json::Value::Object(table) => {
                self.0 = table.clone();
                Ok(())
            }
            other => decode::mismatch(other, Self::GO, at),
        }
    }
}

/// The documents of a text. A line that begins with `---` parts two of them; one without anything before it stays.
fn documents(text: &str) -> Result<Vec<String>, String> {
    let mut documents = Vec::new();
    let mut document = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(format!(
                    "error reading yaml document: invalid Yaml document separator: {rest}"
                ));
            }
            if !document.is_empty() {
                documents.push(std::mem::take(&mut document));
                continue;
            }
        }
        document.push_str(line);
        document.push('\n');
    }
    if !document.is_empty() {
        documents.push(document);
    }
    Ok(documents)
}
