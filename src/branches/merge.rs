//! The three-way merge of `PROJECT`, by key.

use serde_yaml::{Mapping, Value};

use crate::{
    advice::Script,
    change::Policy,
    error::{Failure, Result},
    merge::markers::Sides,
    project::{FILE, LAYOUT},
    yaml,
};

/// A key that both branches changed to different values.
struct Clash {
    /// The keys that lead to it, outermost first; an entry of a list goes by its name.
    at: Vec<String>,
    ours: Option<Value>,
    theirs: Option<Value>,
}

/// Merges both sides of `PROJECT`. Without a `base`, an entry that only one side has counts as added there.
///
/// Errors: a side is no YAML; both changed one key to different values, and the policy does not choose one.
pub fn merge(base: Option<&str>, sides: &Sides, policy: Policy) -> Result<String> {
    let read = |text: &str| {
        yaml::read::<Value>(text).map_err(|error| {
            Failure::refused(format!(
                "`{FILE}`: one side of the merge conflict (line {}) is not YAML",
                sides.line
            ))
            .note(error.to_string())
            .advise(edit())
        })
    };
    let (ours, theirs) = (
        with_options(read(&sides.ours)?),
        with_options(read(&sides.theirs)?),
    );
    let base = base.and_then(|text| yaml::read::<Value>(text).ok());
    let base = base.map(with_options);
    let merged = Merge(policy)
        .value(base.as_ref(), Some(&ours), Some(&theirs))
        .map_err(|clash| refuse(clash, sides))?;
    let value = merged.unwrap_or(Value::Mapping(Mapping::new()));
    let value = without_options(without_empty(value));
    let refuse = |why: String| {
        Failure::refused(format!(
            "`{FILE}`: the two branches make no `{FILE}` together"
        ))
        .note(why)
        .advise(edit())
    };
    if !yaml::keys_are_words(&value) {
        return Err(refuse(
            "a list, a mapping or `<<` stands where a key belongs".to_owned(),
        ));
    }
    serde_yaml::to_string(&value).map_err(|error| refuse(error.to_string()))
}

/// Moves the options of each entry into the entry, so that a branch that changes the options conflicts with one that removes
/// the entry.
fn with_options(mut project: Value) -> Value {
    let Some(all) = options(&mut project).map(std::mem::take) else {
        return project;
    };
    let mut resources = project
        .get_mut("resources")
        .and_then(Value::as_sequence_mut);
    let mut of_none = Vec::new();
    for options in all {
        let name = name_of(&options);
        let entry = resources
            .iter_mut()
            .flat_map(|list| list.iter_mut())
            .find(|it| name_of(it) == name);
        match entry.and_then(Value::as_mapping_mut) {
            Some(entry) => _ = entry.insert(LAYOUT.into(), options),
            None => of_none.push(options),
        }
    }
    if let Some(all) = options(&mut project) {
        *all = of_none;
    }
    project
}

/// Moves the options out of the entries again.
fn without_options(mut project: Value) -> Value {
    let resources = project.get_mut("resources");
    let resources = resources.and_then(Value::as_sequence_mut).into_iter();
    let entries = resources.flatten().filter_map(Value::as_mapping_mut);
    let mut taken: Vec<Value> = entries.filter_map(|entry| entry.remove(LAYOUT)).collect();
    if let Some(of_none) = options(&mut project) {
        of_none.append(&mut taken);
    }
    let plugins = project.get_mut("plugins");
    let ours = plugins.and_then(|plugins| plugins.get_mut(LAYOUT));
    if let Some(ours) = ours
        .and_then(Value::as_mapping_mut)
        .filter(|_| !taken.is_empty())
    {
        ours.insert("resources".into(), Value::Sequence(taken));
    }
    project
}

/// Removes the remains of entries that each branch took one half away from: a hub goes with its last spoke, and an entry with
/// the last thing that it asked for.
fn without_empty(mut project: Value) -> Value {
    let is_set = |entry: &Value, key: &str| match entry.get(key) {
        Some(Value::Bool(set)) => *set,
        Some(Value::Sequence(list)) => !list.is_empty(),
        other => other.is_some(),
    };
    let resources = project
        .get_mut("resources")
        .and_then(Value::as_sequence_mut);
    if let Some(resources) = resources {
        for entry in resources.iter_mut() {
            if let Some(Value::Mapping(webhooks)) = entry.get_mut("webhooks")
                && entries(webhooks.get("spoke")).is_empty()
            {
                webhooks.remove("spoke");
                webhooks.remove("conversion");
            }
            let kinds = ["defaulting", "validation", "conversion"];
            let asks = |webhooks: &Value| kinds.iter().any(|kind| is_set(webhooks, kind));
            if entry
                .get("webhooks")
                .is_some_and(|webhooks| !asks(webhooks))
                && let Some(entry) = entry.as_mapping_mut()
            {
                entry.remove("webhooks");
            }
        }
        let holds = ["api", "controller", "controllers", "webhooks"];
        resources.retain(|entry| holds.iter().any(|key| is_set(entry, key)));
    }
    project
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
    fn value(
        &self,
        base: Option<&Value>,
        ours: Option<&Value>,
        theirs: Option<&Value>,
    ) -> Result<Option<Value>, Clash> {
        if ours == theirs || base == theirs {
            return Ok(ours.cloned());
        }
        if base == ours {
            return Ok(theirs.cloned());
        }
        match (ours, theirs) {
            (Some(Value::Mapping(ours)), Some(Value::Mapping(theirs))) => {
                let empty = Mapping::new();
                let base = base.and_then(Value::as_mapping).unwrap_or(&empty);
                let mut merged = Mapping::new();
                for key in union(ours.keys(), theirs.keys()) {
                    let value = self.value(base.get(key), ours.get(key), theirs.get(key));
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

    /// Compares two entries that both branches added. A field that one entry lacks has its default there (without `namespaced` the
    /// scope is `Cluster`), so the fields conflict, and the policy decides. Webhooks and lists are joined.
    fn align(&self, ours: &mut Value, theirs: &mut Value) -> Result<(), Clash> {
        let (Some(ours), Some(theirs)) = (ours.as_mapping_mut(), theirs.as_mapping_mut()) else {
            return Ok(());
        };
        let keys: Vec<Value> = union(ours.keys(), theirs.keys())
            .into_iter()
            .cloned()
            .collect();
        for key in keys {
            let (a, b) = (ours.get(&key), theirs.get(&key));
            let adds_up = [Some("webhooks"), Some(LAYOUT)].contains(&key.as_str());
            if a == b || adds_up || is_list(a) || is_list(b) {
                continue;
            }
            let (from, to) = match self.0 {
                Policy::Keep => (&mut *ours, &mut *theirs),
                Policy::Take => (&mut *theirs, &mut *ours),
                Policy::Abort | Policy::Markers => return Err(Clash::between(key, a, b)),
            };
            match from.get(&key) {
                Some(value) => _ = to.insert(key, value.clone()),
                None => _ = to.remove(&key),
            }
        }
        Ok(())
    }

    /// Merges lists, whose order means nothing in `PROJECT`: entries with a name are merged, others are added and removed.
    fn list(&self, base: &[Value], ours: &[Value], theirs: &[Value]) -> Result<Vec<Value>, Clash> {
        let find = |list: &[Value], name: &String| -> Option<Value> {
            list.iter().find(|entry| name_of(entry) == *name).cloned()
        };
        let names = |list: &[Value]| list.iter().map(name_of).collect::<Vec<_>>();
        let (ours_names, theirs_names) = (names(ours), names(theirs));
        let mut merged = Vec::new();
        for name in union(ours_names.iter(), theirs_names.iter()) {
            let (base, mut ours, mut theirs) =
                (find(base, name), find(ours, name), find(theirs, name));
            if let (None, Some(ours), Some(theirs)) = (&base, &mut ours, &mut theirs) {
                let alike = self.align(ours, theirs);
                alike.map_err(|clash| clash.below(name.clone()))?;
            }
            let value = self.value(base.as_ref(), ours.as_ref(), theirs.as_ref());
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

/// The name of an entry of a list: a resource's group, version and kind, a controller's name, or else its whole text.
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

impl Clash {
    /// The first field of two values at `key` that differs.
    fn between(key: Value, ours: Option<&Value>, theirs: Option<&Value>) -> Self {
        if let (Some(Value::Mapping(a)), Some(Value::Mapping(b))) = (ours, theirs)
            && let Some(inner) = union(a.keys(), b.keys())
                .into_iter()
                .find(|key| a.get(*key) != b.get(*key))
        {
            let clash = Self::between(inner.clone(), a.get(inner), b.get(inner));
            return clash.below(scalar(&key));
        }
        Self {
            at: vec![scalar(&key)],
            ours: ours.cloned(),
            theirs: theirs.cloned(),
        }
    }

    fn below(mut self, key: String) -> Self {
        self.at.insert(0, key);
        self
    }
}

/// Opens `PROJECT` in an editor.
fn edit() -> Script {
    Script::edit([FILE]).then(Script::forge("sync"))
}

fn refuse(clash: Clash, sides: &Sides) -> Failure {
    let leaf = clash.at.last().cloned().unwrap_or_default();
    let said = |value: &Option<Value>, text: &str, lines: &[usize]| {
        let Some(value) = value else {
            return "one branch does not have it".to_owned();
        };
        if value.is_mapping() || value.is_sequence() {
            return "one branch changed it".to_owned();
        }
        let value = scalar(value);
        let here = |line: &str| line.trim_start_matches(['-', ' ']) == format!("{leaf}: {value}");
        let inside = |at: &usize| !sides.lines.iter().all(|lines| lines.contains(at));
        let mut lines = text.lines().zip(lines);
        match lines.find(|(line, at)| here(line) && inside(at)) {
            Some((_, at)) => format!("line {at} says `{value}`"),
            None => format!("one branch says `{value}`"),
        }
    };
    let [ours, theirs] = &sides.lines;
    let place = match sides.line {
        0 => FILE.to_owned(),
        line => format!("{FILE}:{line}"),
    };
    Failure::refused(format!(
        "`{place}`: both branches changed `{}`",
        clash.at.join(", ")
    ))
    .note(format!(
        "{}, {}",
        said(&clash.ours, &sides.ours, ours),
        said(&clash.theirs, &sides.theirs, theirs)
    ))
    .note("everything else of the two goes together")
    .note("`--on-conflict keep` takes the first, `--on-conflict take` the second")
    .advise(Script::forge("sync --on-conflict keep"))
}

#[cfg(test)]
mod tests;
