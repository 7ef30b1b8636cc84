//! The admission webhooks of a Go project: those of its markers, which controller-gen turns into configurations, beside those of
//! its `PROJECT`.

use kubebuilder_port::{Admission, Entry};

use super::{
    Port,
    admission::{self, Purpose},
    crds::name_of,
};
use crate::{
    advice::{Flag, NextStep, Script},
    command::checklist::Title,
    error::{Failure, Result},
    name::kubernetes,
    project::{Certificates, CreateWebhook, Key},
    template,
};

/// A webhook in the Go code, or in a manifest that nobody generates.
struct Marked<'a> {
    file: &'a str,
    admission: &'a Admission,
    purpose: Purpose,
}

/// The webhooks of a type.
struct OfType<'a> {
    key: Key,
    /// Whether Kubernetes defines it.
    core: bool,
    entry: Option<Entry>,
    marked: Vec<Marked<'a>>,
}

impl<'a> Port<'a> {
    /// Adds the webhooks for defaulting and validation.
    pub fn webhooks(&mut self) -> Result<()> {
        let mut types = self.types_with_entries();
        for (file, admission) in self.files.admissions() {
            let purpose = match admission.is_mutating() {
                true => Purpose::Defaulting,
                false => Purpose::Validating,
            };
            let marked = Marked {
                file,
                admission,
                purpose,
            };
            match self.type_of(admission) {
                Some((key, core)) => match types.iter_mut().find(|it| it.key == key) {
                    Some(of_type) => of_type.marked.push(marked),
                    None => types.push(OfType {
                        key,
                        core,
                        entry: None,
                        marked: vec![marked],
                    }),
                },
                None => self.foreign(&marked),
            }
        }
        for mut of_type in types {
            let url = |purpose| {
                let of_project = custom(of_type.entry.as_ref(), purpose).map(str::to_owned);
                of_project.unwrap_or_else(|| admission::path(&of_type.key, of_type.core, purpose))
            };
            let urls = [Purpose::Defaulting, Purpose::Validating].map(url);
            // That with the path of `PROJECT`, or else of kubebuilder, counts.
            let is_other = |it: &Marked<'_>| !urls.contains(&it.admission.values("path").concat());
            of_type.marked.sort_by_key(is_other);
            self.of_type(&of_type)?;
        }
        Ok(())
    }

    /// The types whose entries have webhooks.
    fn types_with_entries(&self) -> Vec<OfType<'a>> {
        let entries = self.entries.iter().filter(|it| !it.external);
        let keys = entries.filter_map(|it| Some((self.key_of(it)?, it)));
        let types = keys.map(|(key, entry)| OfType {
            core: entry.is_core(),
            key,
            entry: Some(entry.clone()),
            marked: Vec::new(),
        });
        types.collect()
    }

    /// The type in the project that a marker is about, or a type of Kubernetes; and whether it is one.
    fn type_of(&self, admission: &Admission) -> Option<(Key, bool)> {
        let has = |name: &str, value: &str| admission.values(name).iter().any(|it| it == value);
        let has_group =
            |group: &str| has("groups", group) || group.is_empty() && has("groups", "core");
        let has_plural = |plural: &str| {
            let mut resources = admission.values("resources").iter();
            resources.any(|it| it.split('/').next() == Some(plural))
        };
        let mut resources = self.project.resources();
        let found = resources.find(|(key, resource)| {
            (resource.api.is_some() || resource.core)
                && has_group(&key.api_group(resource.core))
                && has("versions", &key.version.to_string())
                && has_plural(resource.plural.as_str())
        });
        if let Some((key, resource)) = found {
            return Some((key.clone(), resource.core));
        }
        let mut core = kubernetes::all();
        let core = core.find(|it| {
            has_group(it.api_group) && has("versions", it.version) && has_plural(it.plural)
        })?;
        let entry = Entry {
            group: core.group.to_owned(),
            version: core.version.to_owned(),
            kind: core.kind.to_owned(),
            core: true,
            ..Entry::default()
        };
        Some((self.key_of(&entry)?, true))
    }

    /// Reports a marker for a type that the project does not have, or for many.
    fn foreign(&mut self, marked: &Marked<'a>) {
        let marker = &marked.admission.marker;
        let values = |name: &str| marked.admission.values(name);
        let entries = self.entries.iter();
        let is_asked = |it: &Entry| {
            values("versions").contains(&it.version)
                && values("groups").contains(&it.api_group())
                && values("resources")
                    .iter()
                    .any(|plural| name_of(it).starts_with(&format!("{plural}.")))
        };
        // The step that adds an external type has its webhooks.
        let external = entries.filter(|it| it.external).any(is_asked);
        let (one, all) = (
            |name| values(name).len() == 1,
            ["groups", "versions", "resources"],
        );
        let is_one = all
            .into_iter()
            .all(|it| one(it) && !values(it).contains(&"*".to_owned()));
        self.tally.webhooks.add(false);
        let why = match is_one {
            true => "it is for a type of another project",
            false => "it is for several types at once, and a webhook here is for one",
        };
        let url = values("path").first().map_or("", String::as_str);
        let (purpose, file) = (marked.purpose.text(), marked.file);
        self.leave_out(
            &format!("the {purpose} webhook `{url}` of `{file}`"),
            why,
            &[file],
        );
        self.checklist
            .note(Title::NotAdded, format!("its marker is `{marker}`"));
        if is_one && !external {
            let crd = format!("{}.{}", values("resources")[0], values("groups")[0]);
            let script = Script::of("kubectl get crd").arg(crd.clone());
            let script = script.code("-o yaml | operator-forge create api --from-crd - --external");
            self.commands.push(NextStep::new(
                format!(
                    "add the type of the CRD `{crd}`, and then its webhook with `create webhook`:"
                ),
                script,
            ));
        }
    }

    /// Adds the webhooks of a type.
    fn of_type(&mut self, of_type: &OfType<'a>) -> Result<()> {
        let asked = of_type
            .entry
            .as_ref()
            .map(|it| it.webhooks.clone())
            .unwrap_or_default();
        let mut wanted = Vec::new();
        for (purpose, in_project) in [
            (Purpose::Defaulting, asked.defaulting),
            (Purpose::Validating, asked.validation),
        ] {
            let marked = of_type.marked.iter().filter(|it| it.purpose == purpose);
            let marked: Vec<_> = marked.collect();
            // One webhook has the work of all of them.
            for _ in marked.iter().skip(1) {
                self.tally.webhooks.add(false);
            }
            match (marked.first(), in_project) {
                (None, false) => {}
                (None, true) => self.unmarked(of_type, purpose),
                (Some(first), true) => wanted.push((purpose, first.file)),
                (Some(first), false) => {
                    self.unlisted(of_type, first);
                    wanted.push((purpose, first.file));
                }
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let path = |purpose| {
            let url = self.url(of_type, purpose);
            let url = url.map(|url| url.parse());
            url.transpose().map_err(Failure::from)
        };
        let has = |purpose| wanted.iter().any(|(it, _)| *it == purpose);
        let certificates = self.files.uses_cert_manager();
        let create = path(Purpose::Defaulting).and_then(|defaulting_path| {
            Ok(CreateWebhook {
                defaulting: has(Purpose::Defaulting),
                defaulting_path,
                validation: has(Purpose::Validating),
                validation_path: path(Purpose::Validating)?,
                conversion: false,
                certificates: certificates.then_some(Certificates::CertManager),
                ..CreateWebhook::conversion(&of_type.key, Vec::new())
            })
        });
        let created = create.and_then(|create| {
            let target = create.target(&self.project)?;
            let project = self.project.create_webhook(&create)?;
            let paths = template::files_of_webhook(&project, &target)?;
            Ok((project, target.key, paths))
        });
        let what = format!("the webhooks of `{}`", of_type.key);
        for _ in &wanted {
            self.tally.webhooks.add(created.is_ok());
        }
        let (project, key, paths) = match created {
            Ok(created) => created,
            Err(failure) => {
                let code: Vec<_> = wanted.iter().map(|(_, file)| *file).collect();
                self.leave_out(&what, &failure.what, &code);
                return Ok(());
            }
        };
        self.project = project;
        for path in paths.iter().filter(|it| it.as_str().starts_with("src/")) {
            let Some(purpose) = Purpose::of(path) else {
                continue;
            };
            let file = wanted.iter().find(|(it, _)| *it == purpose);
            let url = self.url(of_type, purpose);
            let markers = of_type.marked.iter().filter(|it| it.purpose == purpose);
            let markers: Vec<_> = markers.map(|it| it.admission).collect();
            let item =
                admission::of_webhook(&self.project, &key, purpose, url.as_deref(), &markers);
            self.file(
                Title::Webhooks,
                file.map(|(_, file)| *file),
                &what,
                path.as_str(),
                item,
            );
        }
        Ok(())
    }

    /// The URL path of a webhook, unless it is kubebuilder's: that of `PROJECT`, or else of the marker.
    fn url(&self, of_type: &OfType<'_>, purpose: Purpose) -> Option<String> {
        let usual = admission::path(&of_type.key, of_type.core, purpose);
        let mut marked = of_type.marked.iter().filter(|it| it.purpose == purpose);
        let marked = marked
            .next()
            .and_then(|it| it.admission.values("path").first());
        let of_project = custom(of_type.entry.as_ref(), purpose).map(str::to_owned);
        of_project.or_else(|| marked.filter(|url| **url != usual).cloned())
    }

    /// Reports a webhook that only `PROJECT` has.
    fn unmarked(&mut self, of_type: &OfType<'a>, purpose: Purpose) {
        self.tally.webhooks.add(false);
        let code = of_type.entry.as_ref().and_then(|it| self.files.webhook(it));
        let code: Vec<_> = code.into_iter().collect();
        let key = &of_type.key;
        self.not_added(
            format!(
                "the {} webhook of `{key}` is left out: it is in `PROJECT`, but no marker in the Go code configures it",
                purpose.text()
            ),
            &code,
        );
        self.commands.push(NextStep::new(
            format!(
                "add the {} webhook of `{key}`, if the cluster has it:",
                purpose.text()
            ),
            Script::forge("create webhook").flags(&flags(key, purpose)),
        ));
    }

    /// Reports a webhook that only the code has, which is added.
    fn unlisted(&mut self, of_type: &OfType<'a>, marked: &Marked<'a>) {
        if self.go.project.is_version_2 {
            return;
        }
        let Marked { file, purpose, .. } = marked;
        let remark = format!(
            "`PROJECT` has no {} webhook for `{}`, which is added: `{file}` has its marker",
            purpose.text(),
            of_type.key,
        );
        self.remarks.push(remark);
    }
}

/// The URL path that `PROJECT` gives a webhook.
fn custom(entry: Option<&Entry>, purpose: Purpose) -> Option<&str> {
    let webhooks = &entry?.webhooks;
    match purpose {
        Purpose::Defaulting => webhooks.defaulting_path.as_deref(),
        Purpose::Validating => webhooks.validation_path.as_deref(),
    }
}

/// The flags of a webhook.
fn flags(key: &Key, purpose: Purpose) -> [Flag; 4] {
    let flag = |name: &str, value: String| Flag::new(name, Some(value));
    let purpose = match purpose {
        Purpose::Defaulting => "--defaulting",
        Purpose::Validating => "--validation",
    };
    [
        flag("--group", key.group.to_string()),
        flag("--version", key.version.to_string()),
        flag("--kind", key.kind.to_string()),
        Flag::new(purpose, None),
    ]
}
