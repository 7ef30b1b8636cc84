//! `edit api --add-field`: new fields in the user's own types.

use std::collections::BTreeMap;

use crd_types::Structure;

use crate::{
    advice::Script,
    engine::next,
    error::{Failure, Result},
    field::{self, Field},
    name::rust,
    project::{FILE, Fields, Key, Project},
    syntax::{self, NewFields},
    template,
    tree::{Content, RelPath, unix_line_ends},
};

/// Fields that a version gets.
pub struct AddedFields {
    /// The type of the kind.
    type_name: String,
    before: Fields,
    after: Fields,
    /// The files that follow from the fields, as they were generated before, and as they are now.
    files: BTreeMap<RelPath, (Content, Content)>,
}

impl AddedFields {
    /// The fields that a version has after a command.
    pub fn of(before: &Project, after: &Project, key: &Key) -> Result<Self> {
        let fields = |project: &Project| {
            let api = project.resource(key).and_then(|entry| entry.api.as_ref());
            api.map_or_else(Fields::default, |api| api.fields.clone())
        };
        let (was, is) = (fields(before), fields(after));
        Ok(Self {
            type_name: rust::type_name(&key.kind),
            files: match was == is {
                true => BTreeMap::new(),
                false => template::changed(before, after, key)?,
            },
            before: was,
            after: is,
        })
    }

    /// The files that follow from the fields.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.files.keys()
    }

    /// The new text of a file that nobody edited.
    pub fn generated(&self, path: &RelPath, bytes: &[u8]) -> Option<Content> {
        let (before, after) = self.files.get(path)?;
        (*unix_line_ends(bytes) == **before).then(|| after.clone())
    }

    /// The text of types that somebody edited, with the new fields.
    ///
    /// Errors: the text has no struct for a field, or the struct has the field.
    pub fn to(&self, path: &RelPath, mut text: String) -> Result<String> {
        for (name, fields, of_status) in self.structs() {
            let new = self.source(name, &fields, of_status, &text);
            let added = new.and_then(|new| syntax::add_fields(&text, &new));
            text = added.map_err(|error| by_hand(path, &fields, error))?;
        }
        Ok(text)
    }

    /// The structs that get fields, with these, and whether it is the status.
    fn structs(&self) -> Vec<(String, Vec<&Field>, bool)> {
        let mut structs: Vec<(String, Vec<&Field>, bool)> = Vec::new();
        let lists = [
            (&self.before.spec, &self.after.spec, "Spec"),
            (&self.before.status, &self.after.status, "Status"),
        ];
        for (before, after, suffix) in lists {
            for field in &after[before.len()..] {
                let name = match &field.owner {
                    Some(owner) if !self.is_new(owner) => owner.clone(),
                    Some(_) => continue,
                    None => format!("{}{suffix}", self.type_name),
                };
                let of_status = field.owner.is_none() && suffix == "Status";
                match structs.iter_mut().find(|(other, ..)| *other == name) {
                    Some((_, fields, _)) => fields.push(field),
                    None => structs.push((name, vec![field], of_status)),
                }
            }
        }
        structs
    }

    /// Whether a type had no fields before, so that it is written with the field that has it.
    fn is_new(&self, owner: &str) -> bool {
        let mut before = self.before.spec.iter().chain(&self.before.status);
        !before.any(|field| field.owner.as_deref() == Some(owner))
    }

    /// The source of new fields of a struct in `text`.
    fn source(
        &self,
        name: String,
        fields: &[&Field],
        of_status: bool,
        text: &str,
    ) -> Result<NewFields, syntax::Error> {
        let names = syntax::names_in(text)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let all: Vec<&Field> = self.after.spec.iter().chain(&self.after.status).collect();
        let fields = field::structure(fields, &all, of_status);
        let made = crd_types::structs(&self.type_name, &names, &fields, &Structure::default());
        let imports = made.imports.iter();
        let imports = imports.flat_map(|(module, names)| {
            names
                .iter()
                .map(move |name| (module.to_owned(), (*name).to_owned()))
        });
        Ok(NewFields {
            name,
            fields: made.spec.fields,
            values: made.spec.values,
            derives_default: made.spec.derives_default,
            attributes: made.spec.attributes,
            imports: imports.collect(),
            others: made.others,
        })
    }
}

/// The refusal where the types could not be edited.
fn by_hand(path: &RelPath, fields: &[&Field], error: syntax::Error) -> Failure {
    let names: Vec<_> = fields
        .iter()
        .map(|field| format!("`{}`", field.name))
        .collect();
    let names = names.join(", ");
    Failure::refused(format!("cannot add {names} in `{path}`"))
        .note(next::why_not_edited(error))
        .note(format!(
            "a field that you write by hand needs no entry in `{FILE}`"
        ))
        .advise(Script::edit([path.as_str()]))
}
