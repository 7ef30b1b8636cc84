//! All webhooks of an operator.

use super::{Conversion, Webhook, admit::Definition, declaration::Declaration};
use crate::Rules;

/// The webhooks of an operator, which share a context of type `C`.
pub struct Webhooks<C> {
    definitions: Vec<Definition<C>>,
    conversions: Vec<Conversion>,
}

impl<C> Default for Webhooks<C> {
    fn default() -> Self {
        Self {
            definitions: Vec::new(),
            conversions: Vec::new(),
        }
    }
}

impl<C> Webhooks<C> {
    /// Adds a webhook.
    pub fn add<K>(&mut self, webhook: Webhook<K, C>) {
        self.definitions.push(webhook.definition);
    }

    /// Adds the conversion between the versions of a type.
    pub fn convert(&mut self, conversion: impl Into<Conversion>) {
        self.conversions.push(conversion.into());
    }

    /// What all of them together are allowed.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for definition in &self.definitions {
            rules.extend(&definition.rules);
        }
        rules
    }

    /// Each webhook, without its function.
    pub(crate) fn declarations(&self) -> Vec<&Declaration> {
        let definitions = self.definitions.iter();
        definitions
            .map(|definition| &definition.declaration)
            .collect()
    }

    pub(crate) fn conversions(&self) -> &[Conversion] {
        &self.conversions
    }

    pub(crate) fn into_parts(self) -> (Vec<Definition<C>>, Vec<Conversion>) {
        (self.definitions, self.conversions)
    }
}
