//! The three-way merge of `PROJECT`, by key.

use guarded_yaml as yaml;
use serde_yaml::{Mapping, Value};

use crate::{
    advice::Script,
    change::Policy,
    error::{Failure, Result},
    merge::markers::Split,
    project::{FILE, LAYOUT},
};

/// A key that both branches changed to different values.
struct Clash {
    /// The path of the key, outermost first; an entry of a list is given by its name.
    at: Vec<String>,
    ours: Option<Value>,
    theirs: Option<Value>,
}

impl Clash {
    fn below(mut self, key: String) -> Self {
        self.at.insert(0, key);
        self
    }
}

/// Merges both sides of `PROJECT`. Without a `base`, an entry that only one side has counts as added there.
///
/// Errors: a side is not YAML; both changed a key to different values, and the policy does not choose one.
pub fn merge(base: Option<&str>, split: &Split, policy: Policy) -> Result<String> {
    let read = |text: &str| {
        yaml::read::<Value>(text).map_err(|error| {
            Failure::refused(format!(
                "`{FILE}`: one side of the merge conflict (line {}) is not YAML",
                split.line
            ))
            .note(error.to_string())
            .advise(edit())
        })
    };
    let (ours, theirs) = (
        with_options(read(&split.ours)?),
        with_options(read(&split.theirs)?),
    );
    let base = base.and_then(|text| yaml::read::<Value>(text).ok());
    let base = base.map(with_options);
    let merged = Merge(policy)
        .value(base.as_ref(), Some(&ours), Some(&theirs), false)
        .map_err(|clash| refuse(&clash, split))?;
    let value = merged.unwrap_or(Value::Mapping(Mapping::new()));
    let value = without_options(without_empty(value));
    let text = match yaml::keys_are_words(&value) {
        true => serde_yaml::to_string(&value).map_err(|error| error.to_string()),
        false => Err("a list, a mapping or `<<` stands where a key belongs".to_owned()),
    };
    text.map_err(|why| {
        Failure::refused(format!(
            "`{FILE}`: the two branches make no `{FILE}` together"
        ))
        .note(why)
        .advise(edit())
    })
}

/// Moves the options of each entry into the entry, so that changing the options on one branch conflicts with removing the entry on
/// the other.
fn with_options(mut project: Value) -> Value {
    let Some(all) = options(&mut project).map(std::mem::take) else {
        return project;
    };
    let mut of_none = Vec::new();
    for options in all {
        let name = name_of(&options);
        match resources(&mut project).find(|it| name_of(it) == name) {
            Some(Value::Mapping(entry)) => _ = entry.insert(LAYOUT.into(), options),
            _ => of_none.push(options),
        }
    }
    if let Some(all) = options(&mut project) {
        *all = of_none;
    }
    project
}

/// Moves the options out of the entries again.
fn without_options(mut project: Value) -> Value {
    let entries = resources(&mut project).filter_map(Value::as_mapping_mut);
    let mut taken: Vec<Value> = entries.filter_map(|entry| entry.remove(LAYOUT)).collect();
    if let Some(of_none) = options(&mut project) {
        of_none.append(&mut taken);
    }
    let plugins = project.get_mut("plugins");
    let ours = plugins.and_then(|plugins| plugins.get_mut(LAYOUT));
    if let Some(Value::Mapping(ours)) = ours.filter(|_| !taken.is_empty()) {
        ours.insert("resources".into(), Value::Sequence(taken));
    }
    project
}

/// Removes entries that became empty because each branch removed a part: a hub goes with its last spoke, and an entry with its last
/// API, controller or webhook.
fn without_empty(mut project: Value) -> Value {
    for entry in resources(&mut project).filter_map(Value::as_mapping_mut) {
        let Some(Value::Mapping(webhooks)) = entry.get_mut("webhooks") else {
            continue;
        };
        if entries(webhooks.get("spoke")).is_empty() {
            webhooks.remove("spoke");
            webhooks.remove("conversion");
        }
        let kinds = ["defaulting", "validation", "conversion"];
        if !kinds.iter().any(|kind| is_set(webhooks.get(kind))) {
            entry.remove("webhooks");
        }
    }
    let asks = ["api", "controller", "controllers", "webhooks"];
    if let Some(Value::Sequence(list)) = project.get_mut("resources") {
        // The types of another project's CRD are asked for by their options.
        let is_imported = |entry: &Value| {
            let options = entry.get(LAYOUT).and_then(|it| it.get("options"));
            is_set(options.and_then(|it| it.get("crd")))
        };
        list.retain(|entry| is_imported(entry) || asks.iter().any(|key| is_set(entry.get(key))));
    }
    project
}

/// Whether a field has a value other than `false` and the empty list.
fn is_set(field: Option<&Value>) -> bool {
    match field {
        Some(Value::Bool(set)) => *set,
        Some(Value::Sequence(list)) => !list.is_empty(),
        other => other.is_some(),
    }
}

/// The entries of a project.
fn resources(project: &mut Value) -> impl Iterator<Item = &mut Value> {
    let list = project
        .get_mut("resources")
        .and_then(Value::as_sequence_mut);
    list.into_iter().flatten()
}

/// The list of options under `plugins`.
fn options(project: &mut Value) -> Option<&mut Vec<Value>> {
    let plugins = project.get_mut("plugins")?;
    let list = plugins.get_mut(LAYOUT)?.get_mut("resources")?;
    list.as_sequence_mut()
}

/// Merges values; the policy chooses where both sides changed one.
struct Merge(Policy);

impl Merge {
    /// Merges three values. In an entry that `both_added`, a field that one side lacks has its default there (without `namespaced`
    /// the scope is `Cluster`), so it conflicts with the other side's.
    fn value(
        &self,
        base: Option<&Value>,
        ours: Option<&Value>,
        theirs: Option<&Value>,
        both_added: bool,
    ) -> Result<Option<Value>, Clash> {
        let is_default = both_added
            && (ours.is_none() || theirs.is_none())
            && !(is_list(ours) || is_list(theirs));
        if ours == theirs || (base == theirs && !is_default) {
            return Ok(ours.cloned());
        }
        if base == ours && !is_default {
            return Ok(theirs.cloned());
        }
        match (ours, theirs) {
            (Some(Value::Mapping(ours)), Some(Value::Mapping(theirs))) => {
                let empty = Mapping::new();
                let base = base.and_then(Value::as_mapping).unwrap_or(&empty);
                let mut merged = Mapping::new();
                for key in union(ours.keys(), theirs.keys()) {
                    // Webhooks and options of both sides add up.
                    let adds_up = [Some("webhooks"), Some(LAYOUT)].contains(&key.as_str());
                    let value = self.value(
                        base.get(key),
                        ours.get(key),
                        theirs.get(key),
                        both_added && !adds_up,
                    );
                    if let Some(value) = value.map_err(|clash| clash.below(scalar(key)))? {
                        merged.insert(key.clone(), value);
                    }
                }
                Ok(Some(Value::Mapping(merged)))
            }
            // An empty list is not written.
            (ours, theirs) if is_list(base) || (is_list(ours) && is_list(theirs)) => {
                let list = self.list(entries(base), entries(ours), entries(theirs))?;
                Ok(Some(Value::Sequence(list)))
            }
            (ours, theirs) => match self.0 {
                Policy::Keep => Ok(ours.cloned()),
                Policy::Take => Ok(theirs.cloned()),
                Policy::Abort | Policy::Markers => Err(Clash {
                    at: Vec::new(),
                    ours: ours.cloned(),
                    theirs: theirs.cloned(),
                }),
            },
        }
    }

    /// Merges lists, whose order means nothing in `PROJECT`: entries with a name are merged, others are added and removed.
    fn list(&self, base: &[Value], ours: &[Value], theirs: &[Value]) -> Result<Vec<Value>, Clash> {
        let names = |list: &[Value]| list.iter().map(name_of).collect::<Vec<_>>();
        let mut merged = Vec::new();
        for name in union(names(ours).iter(), names(theirs).iter()) {
            let find =
                |list: &'_ [Value]| list.iter().find(|entry| name_of(entry) == *name).cloned();
            let (base, ours, theirs) = (find(base), find(ours), find(theirs));
            let both_added = base.is_none() && ours.is_some() && theirs.is_some();
            let value = self.value(base.as_ref(), ours.as_ref(), theirs.as_ref(), both_added);
            merged.extend(value.map_err(|clash| clash.below(name.clone()))?);
        }
        Ok(merged)
    }
}

fn is_list(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_sequence)
}

fn entries(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_sequence)
        .map_or(&[], Vec::as_slice)
}

/// The name of an entry of a list: a resource's group, version and kind, or a controller's name; otherwise its whole text.
fn name_of(entry: &Value) -> String {
    let field = |name: &str| entry.get(name).map(scalar);
    match (field("kind"), field("name")) {
        (Some(kind), _) => {
            let group = [field("group"), field("domain")].into_iter().flatten();
            let group: Vec<String> = group.collect();
            let version = field("version").unwrap_or_default();
            format!("{}/{version} {kind}", group.join("."))
        }
        (None, Some(name)) => name,
        (None, None) => scalar(entry),
    }
}

fn union<'a, T: PartialEq>(
    first: impl Iterator<Item = &'a T>,
    second: impl Iterator<Item = &'a T>,
) -> Vec<&'a T> {
    let mut all = Vec::new();
    for item in first.chain(second) {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

fn scalar(value: &Value) -> String {
    let text = serde_yaml::to_string(value).unwrap_or_default();
    text.trim().to_owned()
}

/// Opens `PROJECT` in an editor.
fn edit() -> Script {
    Script::edit([FILE]).then(Script::forge("sync"))
}

fn refuse(clash: &Clash, split: &Split) -> Failure {
    let value = |side: &str, value: &Option<Value>| match value {
        None => format!("{side} does not have it"),
        Some(Value::Mapping(_) | Value::Sequence(_)) => format!("{side} changed it"),
        Some(value) => format!("{side} has `{}`", scalar(value)),
    };
    let place = match split.line {
        0 => FILE.to_owned(),
        line => format!("{FILE}:{line}"),
    };
    Failure::refused(format!(
        "`{place}`: both branches changed `{}`",
        clash.at.join(", ")
    ))
    .note(format!(
        "{}, {}",
        value("ours", &clash.ours),
        value("theirs", &clash.theirs)
    ))
    .note("all other changes of the two branches can be merged")
    .note("`--on-conflict keep` takes ours, `--on-conflict take` takes theirs")
    .advise(Script::forge("sync --on-conflict keep"))
}

#[cfg(test)]
mod tests;
