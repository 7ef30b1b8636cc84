//! `create api --helm-chart`: a kind whose objects are releases of a Helm chart.

pub mod source;
mod storage;

use chart_api::{kinds, schema};
use heck::ToUpperCamelCase as _;
use helm_render::{Options, chart::Chart, render, values::Table};

use self::source::Source;
use super::{copy, import_api};
use crate::{
    advice::{Advice, NextStep, Script},
    arguments::kind,
    cli::Api,
    engine::{Request, Workspace, next},
    error::{Failure, Result},
    name::{ChartPath, Invalid, Kind},
    plan::NamedFiles,
    project::{CreateApi, Gvk},
    template,
    tree::RelPath,
};

/// How many fields, and how many rules, the report names.
const NAMED: usize = 5;

/// The longest default that the report shows.
const LONGEST: usize = 24;

pub fn run(
    workspace: &Workspace,
    api: &Api,
    source: &str,
    mut remarks: Vec<String>,
) -> Result<Request> {
    refuse_flags(api)?;
    let source = Source::of(&workspace.root, source, &api.chart)?;
    let path = directory(&source)?;
    let create = create(api, &source.chart, &path)?;
    let before = &workspace.project;
    let key = before.own_key(&create.gvk);
    let there = before.resource(&key);
    let is_update = there.is_some_and(|it| it.chart.as_ref() == Some(&path));
    if create.helm_storage && is_update && !create.force {
        return Err(storage::set_storage(&key));
    }
    let original = source.original(&path);
    let copied = copy::of(&workspace.root, &original)?;
    // A chart with this name may be another kind's, too.
    let mut resources = before.resources();
    let holder = match is_update {
        true => Some(&key),
        false => resources
            .find(|(_, it)| it.chart.as_ref() == Some(&path) && copied.changes())
            .map(|(holder, _)| holder),
    };
    if let Some(holder) = holder.filter(|_| !create.force) {
        return Err(copied.refusal(&original, holder));
    }
    let project = before.create_api(&create)?;
    let files = template::files_of(&project, &key, &create)?;
    remarks.extend(derived(&path, &source.chart));
    let fault = fault(&source.chart);
    let kept = copied.left(&original);
    let left: Vec<String> = fault.into_iter().chain(kept).collect();
    remarks.extend(left.clone());
    // A newer chart leaves the controller and its test as they are.
    let forced = match create.force && !is_update {
        true => files.clone(),
        false => [].into(),
    };
    Ok(Request {
        named: NamedFiles {
            copied: copied.files(),
            ..NamedFiles::default()
        },
        forced,
        remarks,
        left,
        next: steps(&files, is_update),
        explain: Some(copy::explain),
        ..Request::of("create api", project)
    })
}

/// A remark about a chart that does not render with its own values.
pub fn fault(chart: &Chart) -> Option<String> {
    let fault = render(chart, &Table::new(), &Options::default()).err()?;
    Some(format!(
        "the chart does not render with its own values: {}; what it needs goes into `spec` of the sample",
        one_line(&fault.to_string())
    ))
}

/// Refuses the options of `--helm-chart` without a chart.
pub fn refuse_options(workspace: &Workspace, api: &Api) -> Result<()> {
    let flags = &api.chart;
    if let Some(key) = storage::there(&workspace.project, &api.of).filter(|_| flags.helm_storage) {
        return Err(storage::set_storage(&key));
    }
    const FETCHED: &str = "it says which chart `helm pull` fetches, and from where";
    const STORED: &str = "it says how the releases of a chart are kept";
    let given = [
        (
            "--helm-chart-repo",
            flags.helm_chart_repo.is_some(),
            FETCHED,
        ),
        (
            "--helm-chart-version",
            flags.helm_chart_version.is_some(),
            FETCHED,
        ),
        ("--helm-storage", flags.helm_storage, STORED),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        None => Ok(()),
        Some((flag, _, why)) => Err(Failure::usage(format!(
            "`{flag}` is given without `--helm-chart`"
        ))
        .note(why)
        .advise(Advice::drop(flag))),
    }
}

/// Refuses flags for what the chart decides.
fn refuse_flags(api: &Api) -> Result<()> {
    let why = "the fields of `spec` are the values of the chart, and the default controller of the kind installs it";
    let ansible = api.ansible.first().map(|flag| (flag, true));
    let given: Vec<_> = import_api::decided_by_recipe(api)
        .into_iter()
        .chain(import_api::of_others(api))
        .chain(ansible)
        .collect();
    import_api::refuse_beside("--helm-chart", &given, why)
}

/// The directory of a chart in the project.
pub fn directory(source: &Source) -> Result<ChartPath> {
    let name = source.chart.name();
    ChartPath::of(name).map_err(|Invalid { fault, rule, .. }| {
        Failure::refused(format!(
            "the chart in `{}` has the name `{name}`: {fault}",
            source.shown
        ))
        .note(rule)
        .note("`name` in its `Chart.yaml` is another name, in a copy of the chart")
        .advise(Advice::Help)
    })
}

fn create(api: &Api, chart: &Chart, path: &ChartPath) -> Result<CreateApi> {
    let of = &api.of;
    let gvk = Gvk {
        group: of.group.as_deref().unwrap_or("charts").parse()?,
        version: of.version.as_deref().unwrap_or("v1alpha1").parse()?,
        kind: match &of.kind {
            Some(kind) => kind.parse()?,
            None => kind_of(chart)?,
        },
    };
    Ok(CreateApi {
        chart: Some(path.clone()),
        helm_storage: api.chart.helm_storage,
        ..kind::of_flags(api, gvk)?
    })
}

/// The kind that a chart is called after.
fn kind_of(chart: &Chart) -> Result<Kind> {
    let name = chart.name();
    let camel = name.to_upper_camel_case();
    camel.parse().map_err(|invalid: Invalid| {
        let failure = Failure::usage(format!(
            "the chart `{name}` gives no kind: `{camel}`: {}",
            invalid.fault
        ));
        let failure = failure.note(invalid.rule);
        match invalid.suggestion {
            Some(kind) => failure.advise(Advice::set("--kind", kind)),
            None => failure.advise(Advice::Help),
        }
    })
}

/// Remarks about what `make manifests` derives from a chart: the schema, and the permissions.
pub fn derived(path: &ChartPath, chart: &Chart) -> Vec<String> {
    let mut remarks = fields(path, chart);
    remarks.extend(permissions(chart));
    remarks
}

/// Remarks about the schema that `make manifests` derives from a chart: its first fields, and what it leaves to Helm.
fn fields(path: &ChartPath, chart: &Chart) -> Vec<String> {
    let shown = |field: schema::Field| {
        let default = field.default.to_string();
        match field.default.is_null() || default.len() > LONGEST {
            _ if field.required => format!("`{}` ({}, required)", field.path, field.kind),
            true => format!("`{}` ({})", field.path, field.kind),
            false => format!("`{}` ({}, {default})", field.path, field.kind),
        }
    };
    let first = schema::first_fields(chart, NAMED).into_iter().map(shown);
    let first = first.collect::<Vec<_>>().join(", ");
    let mut remarks = vec![match first.as_str() {
        "" => format!("`spec` has the values of `{path}/values.yaml`"),
        _ => format!("`spec` has the values of `{path}/values.yaml`, such as {first}"),
    }];
    let notes = schema::of(chart).notes;
    let more = notes.len().saturating_sub(NAMED);
    remarks.extend(notes.into_iter().take(NAMED));
    if more > 0 {
        remarks.push(format!("the schema leaves {more} more rules to Helm"));
    }
    remarks
}

/// Remarks about permissions that do not follow from a chart.
fn permissions(chart: &Chart) -> Vec<String> {
    let notes = kinds::of(chart, &[]).notes;
    let mut remarks = import_api::permissions(&notes);
    if !remarks.is_empty() {
        remarks
            .push("permissions: `.needs::<…>(&[Verb::…])` at the controller adds one".to_owned());
    }
    remarks
}

/// The lines of a text as one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn steps<'a>(files: impl IntoIterator<Item = &'a RelPath>, is_update: bool) -> Vec<NextStep> {
    let mut samples = files.into_iter().map(RelPath::as_str);
    let sample = samples.find(|path| path.starts_with("config/samples/"));
    let sample = sample.filter(|_| !is_update);
    let mut steps: Vec<NextStep> = sample
        .map(|path| NextStep::new("set values in the sample:", Script::edit([path])))
        .into_iter()
        .collect();
    steps.push(next::manifests());
    steps
}
