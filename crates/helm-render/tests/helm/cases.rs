//! The charts that are compared.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::oracle::{repository, run, script};

/// The directories and archives of charts below a directory, sorted.
pub fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                directories.push(path);
            } else if name == "Chart.yaml" {
                found.push(directory.clone());
            } else if name.ends_with(".tgz") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The charts of Helm's own tests. Some are broken, on purpose.
pub fn of_helm() -> Vec<PathBuf> {
    let module = script("charts.sh", &[]);
    below(Path::new(module.trim()))
}

/// The charts of the recorded projects.
pub fn of_projects() -> Vec<PathBuf> {
    below(&repository().join("snapshots"))
}

/// The charts that `tests/helm/charts.sh` downloads.
pub fn fetched() -> Vec<PathBuf> {
    let directories = script("charts.sh", &["fetched"]);
    directories.lines().map(PathBuf::from).collect()
}

/// What `helm create` makes.
pub fn created(directory: &Path) -> Vec<PathBuf> {
    let helm = script("build.sh", &[]);
    let mut create = std::process::Command::new(helm.trim());
    for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        create.env(variable, directory.join("helm"));
    }
    run(create.current_dir(directory).args(["create", "created"]));
    vec![directory.join("created")]
}
