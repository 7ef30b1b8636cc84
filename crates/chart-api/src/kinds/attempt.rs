//! One rendering after the other, each with other values.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use helm_render::{
    Limits, Options, Trials,
    chart::{Capabilities, Chart, File, Release},
    manifest,
    values::Table,
};
use serde_json::json;

/// The name of the release: a name with it belongs to the release.
pub const RELEASE: &str = "release-name";

/// How many renderings one chart gets.
const RENDERINGS: usize = 600;

/// How many attempts are looked at, also those that were made before.
const ATTEMPTS: usize = 20_000;

/// How many bytes all renderings may give.
const BYTES: usize = 1 << 30;

/// How many templates may fail in one attempt before it is given up.
const FAILURES: usize = 8;

/// What one rendering may use.
const LIMITS: Limits = Limits {
    output: 8 << 20,
    texts: 64 << 20,
    entries: 1_000_000,
    steps: 2_000_000,
    time: None,
};

/// The versions of Kubernetes that are tried, beside the default.
pub const VERSIONS: [&str; 4] = ["1.19.0", "1.22.0", "1.25.0", "1.31.0"];

/// What a rendering is tried with.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// The values.
    pub values: Table,
    /// APIs that the cluster has or lacks, beside the usual ones.
    pub apis: BTreeMap<String, bool>,
    /// The version of Kubernetes, if not the default.
    pub version: Option<&'static str>,
    /// Whether it is an upgrade.
    pub is_upgrade: bool,
    /// The namespace of the release, if not the default.
    pub namespace: Option<String>,
    /// Whether `lookup` finds something.
    pub finds: bool,
}

/// An object that was rendered.
pub struct Rendered {
    /// The path of the template in the chart.
    pub template: String,
    /// The text.
    pub text: String,
}

/// What came of an attempt.
#[derive(Default)]
pub struct Outcome {
    /// The objects.
    pub objects: Vec<Rendered>,
    /// The templates that failed, and were left out.
    failed: BTreeSet<String>,
    /// Whether nothing was rendered at all.
    is_nothing: bool,
}

impl Outcome {
    /// Whether a template failed.
    pub fn fails(&self, template: &str) -> bool {
        self.is_nothing || self.failed.contains(template)
    }
}

/// Renders a chart again and again.
pub struct Renderer {
    chart: Chart,
    trials: Trials,
    tried: BTreeSet<u64>,
    left: usize,
    attempts: usize,
    bytes: usize,
    looked_up: Arc<Mutex<BTreeSet<(String, String)>>>,
    /// The templates that were rendered.
    rendered: BTreeSet<String>,
    /// The templates that failed, with their first errors.
    failed: BTreeMap<String, String>,
    /// The first error that names no template.
    error: Option<String>,
}

/// The templates of a chart without any action, as objects. They are taken out of the chart.
fn take_plain(chart: &mut Chart, path: &str, plain: &mut Vec<Rendered>) {
    for file in &mut chart.templates {
        let is_plain = !file.text().contains("{{");
        if is_plain && !file.name.ends_with("NOTES.txt") {
            let template = format!("{path}{}", file.name);
            let objects = documents(&template, &file.text());
            plain.extend(objects);
        }
        if is_plain || file.name.ends_with("NOTES.txt") {
            *file = File::new(file.name.clone(), *b"");
        }
    }
    for dependency in &mut chart.dependencies {
        let path = format!("{path}charts/{}/", dependency.name());
        take_plain(dependency, &path, plain);
    }
}

fn is_partial(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|it| it.starts_with('_'))
}

fn documents(template: &str, text: &str) -> Vec<Rendered> {
    if is_partial(template) {
        return Vec::new();
    }
    let documents = manifest::split(text).into_iter();
    let objects = documents.map(|text| Rendered {
        template: template.to_owned(),
        text: text.to_owned(),
    });
    objects.collect()
}

/// Makes a template of a chart or of one that it depends on empty. Whether there is one.
fn clear(chart: &mut Chart, path: &str) -> bool {
    if let Some((name, rest)) = path
        .strip_prefix("charts/")
        .and_then(|it| it.split_once('/'))
    {
        let listed = chart.metadata.depends_on();
        let aliased = listed
            .filter(|it| it.alias == name)
            .map(|it| it.name.clone());
        let names: Vec<String> = aliased.chain([name.to_owned()]).collect();
        let mut is_there = false;
        for dependency in &mut chart.dependencies {
            if names.iter().any(|it| it == dependency.name()) {
                is_there |= clear(dependency, rest);
            }
        }
        return is_there;
    }
    match chart.templates.iter_mut().find(|it| it.name == path) {
        Some(file) => {
            *file = File::new(path, *b"");
            true
        }
        None => false,
    }
}

impl Renderer {
    /// A renderer of a chart, and the objects in templates without actions.
    pub fn new(chart: &Chart) -> (Self, Vec<Rendered>) {
        let mut chart = chart.clone();
        let mut plain = Vec::new();
        take_plain(&mut chart, "", &mut plain);
        let renderer = Self {
            chart,
            trials: Trials::default(),
            tried: BTreeSet::new(),
            left: RENDERINGS,
            attempts: ATTEMPTS,
            bytes: BYTES,
            looked_up: Arc::default(),
            rendered: BTreeSet::new(),
            failed: BTreeMap::new(),
            error: None,
        };
        (renderer, plain)
    }

    /// Whether all renderings are used up.
    pub fn is_spent(&self) -> bool {
        self.left == 0 || self.attempts == 0 || self.bytes == 0
    }

    /// How many renderings it took.
    pub fn renderings(&self) -> usize {
        RENDERINGS - self.left
    }

    /// What templates looked up: API versions and kinds.
    pub fn looked_up(&self) -> BTreeSet<(String, String)> {
        let looked_up = self.looked_up.lock();
        looked_up.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The templates that failed with everything that was tried, each with an error.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        let failed = self.failed.iter();
        let failed = failed.filter(|(path, _)| !self.rendered.contains(*path));
        failed.map(|(path, error)| (path.as_str(), error.as_str()))
    }

    /// Leaves a template out from now on.
    pub fn leave_out(&mut self, template: &str) {
        clear(&mut self.chart, template);
    }

    /// The error that kept everything from being rendered, each time.
    pub fn error(&self) -> Option<&str> {
        let error = self.error.as_deref();
        error.filter(|_| self.rendered.is_empty())
    }

    /// Renders the chart. `None` if the same was tried before, or there was enough.
    pub fn run(&mut self, attempt: &Attempt) -> Option<Outcome> {
        if self.is_spent() {
            return None;
        }
        self.attempts -= 1;
        let mut hasher = DefaultHasher::new();
        format!("{attempt:?}").hash(&mut hasher);
        if !self.tried.insert(hasher.finish()) {
            return None;
        }
        let options = self.options(attempt);
        let mut chart = self.chart.clone();
        let mut outcome = Outcome::default();
        while self.left > 0 && outcome.failed.len() <= FAILURES {
            self.left -= 1;
            let error = match self.trials.render(&chart, &attempt.values, &options) {
                Ok(rendered) => {
                    outcome.objects = self.objects(&rendered, &outcome.failed);
                    return Some(outcome);
                }
                Err(error) => error.to_string(),
            };
            let path = failing(&error, &chart).filter(|it| clear(&mut chart, it));
            let Some(path) = path.filter(|it| outcome.failed.insert(it.clone())) else {
                self.error.get_or_insert(error);
                break;
            };
            if is_too_much(&error) {
                clear(&mut self.chart, &path);
            }
            self.failed.entry(path).or_insert(error);
        }
        outcome.is_nothing = true;
        Some(outcome)
    }

    fn objects(
        &mut self,
        templates: &BTreeMap<String, String>,
        failed: &BTreeSet<String>,
    ) -> Vec<Rendered> {
        let mut objects = Vec::new();
        for (path, text) in templates {
            self.bytes = self.bytes.saturating_sub(text.len());
            let (_, path) = path.split_once('/').unwrap_or_default();
            if !failed.contains(path) {
                objects.append(&mut documents(path, text));
                self.rendered.insert(path.to_owned());
            }
        }
        objects
    }

    fn options(&self, attempt: &Attempt) -> Options {
        let mut capabilities = Capabilities::default();
        if let Some(version) = attempt.version.and_then(|it| it.parse().ok()) {
            capabilities.kube_version = version;
        }
        let lacks = |api: &String| attempt.apis.get(api) == Some(&false);
        capabilities.api_versions.retain(|it| !lacks(it));
        let added = attempt.apis.iter().filter(|(_, is_there)| **is_there);
        let added = added.map(|(api, _)| api.clone());
        capabilities.api_versions.extend(added);
        let (looked_up, finds) = (self.looked_up.clone(), attempt.finds);
        Options {
            release: Release {
                name: RELEASE.to_owned(),
                namespace: attempt
                    .namespace
                    .clone()
                    .unwrap_or_else(|| "default".to_owned()),
                revision: if attempt.is_upgrade { 2 } else { 1 },
                is_upgrade: attempt.is_upgrade,
            },
            capabilities,
            skips_schemas: true,
            limits: LIMITS,
            lookup: Some(Arc::new(move |api_version, kind, namespace, name| {
                let asked = (api_version.to_owned(), kind.to_owned());
                let mut all = looked_up.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(asked);
                Ok(match (finds, name) {
                    (false, _) => json!({}),
                    (true, "") => json!({"items": []}),
                    (true, name) => json!({
                        "apiVersion": api_version,
                        "kind": kind,
                        "metadata": {"name": name, "namespace": namespace, "labels": {}, "annotations": {}},
                        "data": {},
                        "spec": {},
                        "status": {},
                    }),
                })
            })),
            ..Options::default()
        }
    }
}

/// The template that an error names first.
fn failing(error: &str, chart: &Chart) -> Option<String> {
    let before = format!("{}/", chart.name());
    error.match_indices(&before).find_map(|(at, _)| {
        let path = &error[at + before.len()..];
        let end = path.find([':', ')', ' ', '"', '\n']).unwrap_or(path.len());
        let path = &path[..end];
        // One that others call is needed by all of them.
        let is_file = path.contains("templates/") && !is_partial(path);
        is_file.then(|| path.to_owned())
    })
}

/// Whether a limit was reached: the template gets no other try.
fn is_too_much(error: &str) -> bool {
    [
        "more than ",
        "larger than ",
        "nested reference name",
        "maximum template depth",
    ]
    .iter()
    .any(|it| error.contains(it))
}
