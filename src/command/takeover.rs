//! `init --from-operator-sdk`: the kinds of a Helm operator or an Ansible operator, each with its chart, role or playbook and its
//! controller, and a list of what a person does to put the new operator in the place of the former one.

mod ansible;
mod body;
mod duration;
mod list;
mod manager;
mod overrides;
mod samples;
mod sdk;
mod selector;
mod steps;
mod watches;

use std::{collections::BTreeMap, path::Path};

use helm_render::{chart::File, values::Table};

pub use self::sdk::Sdk;
use self::{
    list::{Kinds, OfKind},
    samples::SAMPLES,
    sdk::Names,
    watches::{CORE, Watch},
};
use super::{
    checklist::{Checklist, FILE, Item, Title},
    copy,
    create_chart::{self, source::Source},
};
use crate::{
    advice::{Advice, NextStep, Script},
    engine::{Request, next},
    error::{Failure, Result},
    name::{AnsiblePath, ChartPath, Domain, Group, Plural, ShortName},
    plan::NamedFiles,
    project::{CreateApi, Gvk, Project},
    template::{self, Former},
    tree::{RelPath, Tree},
};

/// The request for the project in `root`: it adds the kinds of the operator to `empty`.
pub fn take_over(sdk: &Sdk, root: &Path, empty: Project) -> Result<Request> {
    let names = sdk.names()?;
    let mut takeover = Takeover {
        sdk,
        root,
        project: empty,
        charts: BTreeMap::new(),
        named: NamedFiles::default(),
        checklist: Checklist::default(),
        remarks: Vec::new(),
    };
    let mut kinds = Kinds::new();
    for watch in &sdk.watches {
        let names = names.get(&(watch.group.clone(), watch.kind.clone()));
        kinds.push(takeover.kind(watch, names)?);
    }
    if sdk.is_ansible() {
        takeover.ansible()?;
    }
    let desired = template::tree(&takeover.project)?;
    for kind in &kinds {
        let files = template::taken_over(&takeover.project, &kind.key, &kind.former)?;
        takeover.named.created.extend(files);
    }
    takeover.samples(&kinds, &desired)?;
    takeover.list(&kinds, &desired)?;
    takeover.finish()
}

/// A takeover in progress.
struct Takeover<'a> {
    sdk: &'a Sdk,
    root: &'a Path,
    project: Project,
    /// The charts, with where each comes from and its files.
    charts: BTreeMap<ChartPath, (String, Vec<File>)>,
    named: NamedFiles,
    checklist: Checklist,
    remarks: Vec<String>,
}

impl Takeover<'_> {
    /// Adds the kind of an entry, with its chart and its controller.
    fn kind<'a>(&mut self, watch: &'a Watch, names: Option<&Names>) -> Result<OfKind<'a>> {
        let (chart, defaults) = match watch.is_ansible() {
            true => (None, Table::new()),
            false => {
                let (chart, defaults) = self.chart(watch)?;
                (Some(chart), defaults)
            }
        };
        let ansible = watch.is_ansible().then(|| self.runs(watch)).transpose()?;
        let refused = |failure: Failure| {
            let what = format!("`{}` cannot be taken over: {}", watch.title(), failure.what);
            let notes = failure.notes.into_iter();
            let failure = notes.fold(Failure::refused(what), Failure::note);
            failure.advise(self.sdk.edit())
        };
        let create = self.create(watch, names).map_err(refused)?;
        let create = CreateApi {
            chart,
            ansible,
            ..create
        };
        self.project = self.project.create_api(&create).map_err(refused)?;
        Ok(OfKind {
            key: create.key_in(&self.project)?,
            former: self.former(watch, create.ansible.as_ref()),
            watch,
            names: names.cloned(),
            defaults,
        })
    }

    /// The chart of an entry, which is copied, and its values.
    fn chart(&mut self, watch: &Watch) -> Result<(ChartPath, Table)> {
        let source = self.sdk.chart(watch)?;
        let chart = create_chart::directory(&source)?;
        let defaults = source.chart.values.clone();
        self.copy(source, &chart)?;
        Ok((chart, defaults))
    }

    /// Copies a chart. Several kinds may have it.
    ///
    /// Errors: another chart has its name; something is in its place.
    fn copy(&mut self, source: Source, path: &ChartPath) -> Result<()> {
        let is_same = |files: &[File]| {
            let pairs = files.iter().zip(&source.files);
            files.len() == source.files.len()
                && pairs
                    .into_iter()
                    .all(|(a, b)| (&a.name, &a.data) == (&b.name, &b.data))
        };
        match self.charts.get(path) {
            Some((_, files)) if is_same(files) => return Ok(()),
            Some((other, _)) => {
                return Err(Failure::refused(format!(
                    "the charts `{other}` and `{}` have one name",
                    source.shown
                ))
                .note(format!("both would be `{path}`, and their files differ"))
                .note("`name` in its `Chart.yaml` is another name, in a copy of the operator")
                .advise(Advice::Help));
            }
            None => {}
        }
        let copied = copy::of(self.root, &source.original(path))?;
        if let Some(file) = copied.in_the_way() {
            return Err(Failure::refused(format!("`{file}` is in the way"))
                .note(format!(
                    "`{path}` is the place of the chart `{}`",
                    source.shown
                ))
                .advise(Script::put_aside(path.as_str())));
        }
        self.named.copied.extend(copied.files());
        self.remarks
            .extend(create_chart::derived(path, &source.chart));
        self.remarks.extend(create_chart::fault(&source.chart));
        let files = (source.shown, source.files);
        self.charts.insert(path.clone(), files);
        Ok(())
    }

    /// The `create api` of an entry. A CRD in the cluster has objects, so its names and its scope stay.
    fn create(&self, watch: &Watch, names: Option<&Names>) -> Result<CreateApi> {
        let (group, domain) = split(&watch.group, &self.project.domain)?;
        let short = names.iter().flat_map(|names| &names.short);
        let short: Vec<ShortName> = short.map(|it| it.parse()).collect::<Result<_, _>>()?;
        let plural = names.and_then(|names| names.plural.as_deref());
        let plural: Option<Plural> = plural.map(str::parse).transpose()?;
        let gvk = Gvk {
            group,
            version: watch.version.parse()?,
            kind: watch.kind.parse()?,
        };
        Ok(CreateApi {
            plural,
            namespaced: names.map(|names| names.namespaced),
            short_names: short,
            domain: Some(domain),
            resource: !watch.is_foreign(),
            ..CreateApi::of(gvk)
        })
    }

    /// What the operator did with the objects of an entry. What its controller cannot say is listed.
    fn former(&mut self, watch: &Watch, ansible: Option<&AnsiblePath>) -> Former {
        let mut former = Former::default();
        let title = watch.title();
        if let Some(selector) = &watch.selector {
            match selector.text() {
                Ok((text, _)) if text.is_empty() => {}
                Ok((text, labels)) => {
                    (former.selector, former.labels) = (Some(text), labels);
                }
                Err(why) => {
                    self.left_out(format!("the `selector` of `{title}` is left out: {why}"))
                }
            }
        }
        if let Some(path) = ansible {
            former.automation = Some(self.automation(watch, path));
        }
        for (path, text) in watch.override_values.iter().flatten() {
            let text = text.as_deref().unwrap_or_default();
            match overrides::parts(path, text) {
                Ok(parts) => former.values.push((path.clone(), parts)),
                Err(why) => self.left_out(format!(
                    "the override of `{path}` of `{title}` is left out: {why}: `{text}`"
                )),
            }
        }
        former
    }

    /// Takes the samples over: the first one of each kind.
    fn samples(&mut self, kinds: &Kinds<'_>, desired: &Tree) -> Result<()> {
        let mut samples = self.sdk.samples();
        for kind in kinds {
            let Some(at) = samples.iter().position(|it| it.is_of(kind.watch)) else {
                continue;
            };
            let values = samples.remove(at).values(&kind.defaults);
            let files = template::files_of_api(&self.project, &kind.key)?;
            let mut files = files.into_iter();
            let Some(path) = files.find(|path| path.as_str().starts_with(SAMPLES)) else {
                continue;
            };
            let created = &mut self.named.created;
            let at = created.iter().position(|(of, _)| *of == path);
            let content = match at {
                Some(at) => created.remove(at).1,
                None => desired[&path].content.clone(),
            };
            let text = samples::with_values(&String::from_utf8_lossy(&content), &values);
            created.push((path, text.into_bytes().into()));
        }
        for sample in samples {
            self.left_out(format!("the sample {} is left out", sample.title()));
        }
        Ok(())
    }

    /// Reports something that the project does not have.
    fn left_out(&mut self, sentence: String) {
        self.remarks.push(sentence.clone());
        self.checklist.add(Title::NotAdded, Item::of(sentence));
    }

    fn finish(mut self) -> Result<Request> {
        let path = RelPath::constant(FILE);
        let intro = format!(
            "# Taking {} over from operator-sdk\n\n\
             This project was made by `operator-forge init --from-operator-sdk`, which leaves the following to you. The file is yours: edit\n\
             it, and delete it when nothing is left.\n",
            self.project.name
        );
        let list = self.checklist.file(self.root, &path, &intro)?;
        self.named.rewritten.insert(path, list);
        let see = format!("see {FILE} for how it takes the place of the other operator");
        Ok(Request {
            named: self.named,
            remarks: self.remarks,
            next: vec![next::manifests(), NextStep::by_hand(see.clone())],
            left: vec![see],
            ..Request::of("init", self.project)
        })
    }
}

/// The group and the domain of a kind: a group outside of the project's domain stays whole.
fn split(api_group: &str, domain: &Domain) -> Result<(Group, Domain)> {
    let own = api_group.strip_suffix(domain.as_str());
    let own = own.filter(|_| !domain.as_str().is_empty());
    let own = own.and_then(|group| match group {
        "" => Some(""),
        group => group.strip_suffix('.'),
    });
    Ok(match own {
        Some(group) => (group.parse()?, domain.clone()),
        None if api_group.is_empty() => (CORE.parse()?, "".parse()?),
        None => (api_group.parse()?, "".parse()?),
    })
}
