//! Executes templates as Go's `text/template` does. The syntax trees are those of the crate gotmpl; its own executor cannot be used,
//! because its maps never change, and templates of charts change them with `set`.

mod evaluate;
mod range;
mod state;
mod templates;
mod text;

use self::{
    state::{Found, State},
    templates::Template,
};
use crate::{
    Error,
    function::{Nested, Scope},
    go::number::quote,
    value::Value,
};

pub(crate) use self::templates::Parsed;
pub use self::templates::{Templates, Text};

impl Templates<'_> {
    /// Executes a template with `dot`.
    ///
    /// # Errors
    /// As Go's, with the place in the template.
    pub fn execute(&self, name: &str, dot: &Value, scope: &Scope) -> Result<String, Error> {
        let Some(template) = self.get(name) else {
            return Err(Error {
                is_execution: true,
                ..Error::new(format!(
                    "template: no template {} associated with template \"gotpl\"",
                    quote(name)
                ))
            });
        };
        self.run(name, template, dot, scope)
    }

    /// Executes the template of a text.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_text(&self, text: &Text, dot: &Value, scope: &Scope) -> Result<String, Error> {
        self.run(&text.0.source.name, &text.0, dot, scope)
    }

    fn run(
        &self,
        name: &str,
        template: &Template,
        dot: &Value,
        scope: &Scope,
    ) -> Result<String, Error> {
        let mut state = State {
            templates: self,
            scope,
            template: template.clone(),
            name: name.to_owned(),
            variables: vec![("$".to_owned(), Found::plain(dot.clone()))],
            is_dot_boxed: false,
            output: String::new(),
            depth: scope.depth,
            at: None,
        };
        state.list(dot, &template.body)?;
        Ok(state.output)
    }
}

impl Nested for Templates<'_> {
    fn execute(&self, name: &str, dot: &Value, scope: &Scope) -> Result<String, Error> {
        self.execute(name, dot, scope)
    }

    fn execute_text(
        &self,
        name: &str,
        text: &str,
        dot: &Value,
        scope: &Scope,
    ) -> Result<Result<String, Error>, Error> {
        let mut layer = self.layer();
        let text = layer.parse_text(name, text)?;
        Ok(layer.execute_text(&text, dot, scope))
    }
}

#[cfg(test)]
mod tests;
