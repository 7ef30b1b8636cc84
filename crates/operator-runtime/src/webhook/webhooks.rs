//! All webhooks of an operator.

use super::{Conversion, Webhook, admit::Definition, declaration::Declaration};
use crate::object::Rules;

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
    ///
    /// # Panics
    /// If the type has one already.
    #[cfg(feature = "conversion")]
    pub fn convert(&mut self, conversion: impl Into<Conversion>) {
        let conversion = conversion.into();
        let (group, kind) = conversion.group_kind();
        let mut others = self.conversions.iter();
        let new = others.all(|other| other.group_kind() != (group, kind));
        assert!(new, "{kind} in {group} has two conversions");
        self.conversions.push(conversion);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::conversion::tests::types::all;

    #[test]
    #[should_panic(expected = "Widget in test.example.com has two conversions")]
    fn a_type_is_converted_once() {
        let mut webhooks = Webhooks::<()>::default();
        webhooks.convert(all());
        webhooks.convert(all());
    }
}
