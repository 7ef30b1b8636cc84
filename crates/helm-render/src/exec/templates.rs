//! Named templates, and the texts that they were parsed from.

use std::{collections::HashMap, rc::Rc};

use gotmpl::parse::{DefineNode, ListNode, Parser, Pos};

use super::text;
use crate::{Error, function::Functions, go::number::quote};

/// A named template.
#[derive(Clone)]
pub struct Template {
    /// The text that it was parsed from, for errors.
    pub source: Rc<Source>,
    /// What it executes.
    pub body: Rc<ListNode>,
}

/// The template of a text that has been parsed.
pub struct Text(pub(super) Template);

/// What a text was parsed to.
pub(crate) struct Parsed {
    own: Template,
    /// The templates that it defines, by their names.
    defined: Vec<(String, Template)>,
}

/// A text with templates.
pub struct Source {
    pub name: String,
    pub text: String,
}

/// A set of templates that know each other, and the functions that they call.
pub struct Templates<'a> {
    /// Those that were there before. They are found where this set has none of the name.
    below: Option<&'a Templates<'a>>,
    templates: HashMap<String, Template>,
    pub(super) functions: Rc<Functions>,
    /// Whether a key that a map lacks is an error.
    pub strict: bool,
}

impl<'a> Templates<'a> {
    /// No templates, with these functions and no others.
    pub fn new(functions: Functions) -> Self {
        Self {
            below: None,
            templates: HashMap::new(),
            functions: Rc::new(functions),
            strict: false,
        }
    }

    /// A set that has all of this one, and leaves it as it is when more are added.
    pub fn layer(&'a self) -> Self {
        Self {
            below: Some(self),
            templates: HashMap::new(),
            functions: self.functions.clone(),
            strict: self.strict,
        }
    }

    /// The template of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Template> {
        let own = self.templates.get(name);
        own.or_else(|| self.below?.get(name))
    }

    /// Adds the template `name` of a text, and those that it defines. One that is there is replaced, unless the new one is empty.
    ///
    /// # Errors
    /// The text is no template, or calls a function that does not exist.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), Error> {
        self.parse_text(name, text).map(|_| ())
    }

    /// As [`parse`](Self::parse), and gives the text's own template, also an empty one that replaces nothing.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_text(&mut self, name: &str, text: &str) -> Result<Text, Error> {
        let parsed = self.parsed(name, text)?;
        self.add_parsed(name, &parsed);
        Ok(Text(parsed.own))
    }

    /// Parses a text, and adds nothing.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn parsed(&self, name: &str, text: &str) -> Result<Parsed, Error> {
        let plain = text::with_plain_comments(text);
        let wrong = |(line, what)| Error::new(format!("template: {name}:{line}: {what}"));
        if let Err((line, text::TOO_MANY)) = plain {
            return Err(wrong((line, text::TOO_MANY)));
        }
        let whole = plain.as_deref().unwrap_or(text);
        let parsed = Parser::with_name(Some(name), whole, "{{", "}}").and_then(Parser::parse);
        let (body, defines) = parsed.map_err(|error| Error::new(error.to_string()))?;
        plain.map_err(wrong)?;
        let source = Rc::new(Source {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        self.check(&source, &body)?;
        for DefineNode { body, .. } in &defines {
            self.check(&source, body)?;
        }
        let template = |body: ListNode| Template {
            source: source.clone(),
            body: Rc::new(body),
        };
        let defines = defines.into_iter();
        let defined = defines.map(|it| (it.name.to_string(), template(it.body)));
        Ok(Parsed {
            defined: defined.collect(),
            own: template(body),
        })
    }

    /// Adds what a text with this name was parsed to, also by another set that has the same functions.
    pub(crate) fn add_parsed(&mut self, name: &str, parsed: &Parsed) {
        for (name, template) in &parsed.defined {
            self.add(name, template.clone());
        }
        self.add(name, parsed.own.clone());
    }

    fn add(&mut self, name: &str, template: Template) {
        if !(template.body.is_empty_tree() && self.get(name).is_some()) {
            self.templates.insert(name.to_owned(), template);
        }
    }

    /// The error of a call of a function that does not exist, which Go finds when it parses.
    fn check(&self, source: &Source, body: &ListNode) -> Result<(), Error> {
        let mut unknown = None;
        text::functions(body, &mut |pos, name| {
            if unknown.is_none() && self.functions.get(name).is_none() {
                unknown = Some((pos, name.to_owned()));
            }
        });
        match unknown {
            None => Ok(()),
            Some((Pos { line, .. }, name)) => Err(Error::new(format!(
                "template: {}:{line}: function {} not defined",
                source.name,
                quote(&name)
            ))),
        }
    }
}
