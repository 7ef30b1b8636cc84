//! The rules between the fields of an API.

use std::collections::BTreeSet;

use super::{Field, ListType, Own, Type, type_};

/// The fields that every status has, because the generated controller writes them.
pub const STANDARD: [&str; 2] = [
    "observedGeneration:int64:optional:doc=The generation of the object that the operator last reconciled.",
    "conditions:[Condition]:listType=map:listMapKey=type:optional:doc=The latest observations, such as whether the object is ready.",
];

/// A field that contradicts the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The field.
    pub field: Field,
    /// Whether it is a field of the status.
    pub of_status: bool,
    /// The fault: a fragment.
    pub what: String,
    /// The rule.
    pub rule: &'static str,
    /// The correction.
    pub correction: Correction,
}

/// The correction of a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Correction {
    /// The fields without this one.
    Remove,
    /// Another field in its place.
    Replace(String),
    /// One more field.
    Add(String),
}

/// The first fault of the fields of `spec` and `status` of the type `root`.
pub fn check(root: &str, spec: &[Field], status: &[Field]) -> Option<Fault> {
    let all: Vec<&Field> = spec.iter().chain(status).collect();
    all.iter().enumerate().find_map(|(at, field)| {
        let of_status = at >= spec.len();
        let (what, rule, correction) = twice(&all, at, spec.len())
            .or_else(|| standard(field, of_status))
            .or_else(|| names(root, field))
            .or_else(|| known(&all, field))
            .or_else(|| circle(&all, field))
            .or_else(|| keys(&all, field))
            .or_else(|| immutable(&all, field))?;
        Some(Fault {
            field: (*field).clone(),
            of_status,
            what,
            rule,
            correction,
        })
    })
}

type Found = Option<(String, &'static str, Correction)>;

fn twice(all: &[&Field], at: usize, of_spec: usize) -> Found {
    let field = all[at];
    let is_same = |(other_at, other): (usize, &&Field)| {
        let is_same_list = (other_at < of_spec) == (at < of_spec);
        let is_same = (&other.owner, &other.name) == (&field.owner, &field.name);
        is_same && (is_same_list || field.owner.is_some())
    };
    let is_twice = all.iter().enumerate().take(at).any(is_same);
    let rule = "a name stands for one field";
    is_twice.then(|| {
        (
            format!("there is a field `{}` already", path(field)),
            rule,
            Correction::Remove,
        )
    })
}

fn path(field: &Field) -> String {
    match &field.owner {
        Some(owner) => format!("{owner}.{}", field.name),
        None => field.name.clone(),
    }
}

fn standard(field: &Field, of_status: bool) -> Found {
    let is = |text: &&str| text.split(':').next() == Some(&field.name);
    let is_standard = of_status && field.owner.is_none() && STANDARD.iter().any(is);
    let rule = "the status of every kind has `observedGeneration` and `conditions`, which the controller writes";
    let what = || format!("every status has `{}`", field.name);
    is_standard.then(|| (what(), rule, Correction::Remove))
}

/// A type cannot have the name of one that the template makes.
fn names(root: &str, field: &Field) -> Found {
    let names = [field.owner.as_deref(), field.own_type()];
    let is_taken = |name: &&str| {
        ["", "Spec", "Status"]
            .iter()
            .any(|it| **name == format!("{root}{it}"))
    };
    let name = names.into_iter().flatten().find(is_taken)?;
    let rule = "the types of a kind are its own name, and that with `Spec` and `Status`";
    let other = field.to_string().replace(name, &format!("{name}Item"));
    Some((
        format!("the kind has a type `{name}` already"),
        rule,
        Correction::Replace(other),
    ))
}

/// A type that the user names has fields, and is the type of a field.
fn known(all: &[&Field], field: &Field) -> Found {
    let is_owner = |name: &str| all.iter().any(|it| it.owner.as_deref() == Some(name));
    if let Some(name) = field.own_type().filter(|name| !is_owner(name)) {
        let what = format!("the type `{name}` has no fields");
        let rule = "it is not a type of Kubernetes that is known here, so it is one of your own, and its fields are given as `Port.name:string`";
        let correction = match type_::meant(name) {
            Some(word) => Correction::Replace(field.to_string().replace(name, word)),
            None => Correction::Add(format!("{name}.name:string")),
        };
        return Some((what, rule, correction));
    }
    let owner = field.owner.as_deref()?;
    let is_used = all.iter().any(|it| it.own_type() == Some(owner));
    let rule = "a type of your own belongs to a field, such as `ports:[Port]`";
    let what = || format!("no field has the type `{owner}`");
    (!is_used).then(|| (what(), rule, Correction::Remove))
}

/// The types that a type mentions, directly or through others.
fn below<'a>(all: &[&'a Field], name: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next = vec![name];
    while let Some(name) = next.pop() {
        let of_type = all.iter().filter(|it| it.owner.as_deref() == Some(name));
        next.extend(
            of_type
                .filter_map(|it| it.own_type())
                .filter(|name| found.insert(*name)),
        );
    }
    found
}

/// Whether a type is `owner`, or mentions it.
fn holds(all: &[&Field], type_: &str, owner: &str) -> bool {
    type_ == owner || below(all, type_).contains(owner)
}

fn circle(all: &[&Field], field: &Field) -> Found {
    let (owner, type_) = (field.owner.as_deref()?, field.own_type()?);
    let rule = "the schema of a CRD has no references, so a type cannot contain itself; `any` takes any value";
    let other = Field {
        type_: Type::Any,
        ..field.clone()
    };
    let what = || format!("`{owner}` would contain itself");
    holds(all, type_, owner).then(|| (what(), rule, Correction::Replace(other.to_string())))
}

/// The keys of a list are fields of its items that are always there.
fn keys(all: &[&Field], field: &Field) -> Found {
    let Type::List(items) = &field.type_ else {
        return None;
    };
    let rule = "the keys of a list are fields of its items that are required or have a default, with simple values";
    for key in &field.markers.list_map_keys {
        let correction = match &**items {
            Type::Own(Own::Named(name)) => {
                let mut of_type = all.iter().filter(|it| it.owner.as_ref() == Some(name));
                match of_type.find(|it| it.name == *key) {
                    None => Correction::Add(format!("{name}.{key}:string")),
                    Some(found) if can_be_key(found) => continue,
                    Some(_) => Correction::Replace(as_atomic(field)),
                }
            }
            Type::Known(path) if !crd_types::is_required(path, key) => {
                Correction::Replace(as_atomic(field))
            }
            _ => continue,
        };
        let list = &field.name;
        let what = format!("the items of `{list}` have no `{key}` that is always there");
        return Some((what, rule, correction));
    }
    None
}

/// Whether a field is always there, with a simple value.
fn can_be_key(field: &Field) -> bool {
    let is_there = !field.markers.optional || field.markers.default.is_some();
    let is_simple = matches!(
        field.type_,
        Type::Bool | Type::Int32 | Type::Int64 | Type::String | Type::Own(Own::Enum(_))
    );
    is_there && is_simple
}

/// The field with a list that is replaced as a whole.
fn as_atomic(field: &Field) -> String {
    let mut field = field.clone();
    field.markers.list_type = Some(ListType::Atomic);
    field.markers.list_map_keys = Vec::new();
    field.to_string()
}

/// The API server compares an old item with a new one only where keys identify it.
fn immutable(all: &[&Field], field: &Field) -> Found {
    let owner = field.owner.as_deref().filter(|_| field.markers.immutable)?;
    let mut lists = all
        .iter()
        .filter(|it| is_unidentified(&it.type_, it.markers.list_type));
    let has = |it: &&&Field| it.own_type().is_some_and(|name| holds(all, name, owner));
    let list = lists.find(has)?;
    let rule = "the API server compares the items of a list only if keys identify them: `listType=map:listMapKey=name`";
    let mut other = field.clone();
    other.markers.immutable = false;
    let what = format!(
        "`{}` is in the list `{}`, whose items have no keys",
        path(field),
        path(list)
    );
    Some((what, rule, Correction::Replace(other.to_string())))
}

/// Whether a type has a list whose items are not identified by keys.
fn is_unidentified(type_: &Type, merged: Option<ListType>) -> bool {
    match type_ {
        Type::List(items) => merged != Some(ListType::Map) || is_unidentified(items, None),
        Type::Map(values) => is_unidentified(values, None),
        _ => false,
    }
}
