//! The webhooks of an operator.

#[cfg(feature = "envtest")]
use super::asked::{Asked, recorded};
use super::{Conversion, MatchPolicy, Webhook, admit::Definition, declaration::Declaration};
use crate::{controller::Hubs, object::Rules};

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

    /// Adds the conversion between the versions of a kind.
    ///
    /// # Panics
    /// If the kind already has a conversion.
    #[cfg(feature = "conversion")]
    pub fn convert(&mut self, conversion: impl Into<Conversion>) {
        let conversion = conversion.into();
        let (group, kind) = conversion.group_kind();
        let mut others = self.conversions.iter();
        let new = others.all(|other| other.group_kind() != (group, kind));
        assert!(new, "{kind} in {group} has two conversions");
        self.conversions.push(conversion);
    }

    /// The permissions of all webhooks.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for definition in &self.definitions {
            rules.extend(&definition.rules);
        }
        rules
    }

    /// The declaration of each webhook.
    ///
    /// If every version of a kind has the same webhook, each receives only objects in its own version.
    /// Otherwise, a webhook would receive converted objects of the other versions, and deny them with
    /// errors about fields that the user never wrote.
    pub(crate) fn declarations(&self) -> Vec<Declaration> {
        let definitions = self.definitions.iter();
        let all: Vec<_> = definitions
            .map(|definition| &definition.declaration)
            .collect();
        let in_each_version = |declaration: &Declaration| {
            let mut conversions = self.conversions.iter();
            let conversion =
                conversions.find(|found| found.group_kind() == declaration.group_kind());
            let versions = conversion.map(Conversion::versions).unwrap_or_default();
            let is_asked = |version: &String| {
                all.iter()
                    .any(|other| other.is_same_in(declaration, version))
            };
            !versions.is_empty() && versions.iter().all(is_asked)
        };
        let resolved = all.iter().map(|declaration| {
            let mut resolved = (*declaration).clone();
            if resolved.match_policy.is_none() && in_each_version(declaration) {
                resolved.match_policy = Some(MatchPolicy::Exact);
            }
            resolved
        });
        resolved.collect()
    }

    /// The same webhooks, with a record of their calls.
    #[cfg(feature = "envtest")]
    pub(crate) fn recorded(self) -> (Self, Asked)
    where
        C: 'static,
    {
        let asked = Asked::default();
        let definitions = self.definitions.into_iter();
        let conversions = self.conversions.into_iter();
        let webhooks = Self {
            definitions: definitions
                .map(|webhook| recorded(webhook, &asked))
                .collect(),
            conversions: conversions
                .map(|conversion| conversion.recorded(&asked))
                .collect(),
        };
        (webhooks, asked)
    }

    /// The hubs of the conversions.
    pub(crate) fn hubs(&self) -> Hubs {
        hubs(&self.conversions)
    }

    pub(crate) fn conversions(&self) -> &[Conversion] {
        &self.conversions
    }

    pub(crate) fn into_parts(self) -> (Vec<Definition<C>>, Vec<Conversion>) {
        (self.definitions, self.conversions)
    }
}

/// The hubs of conversions.
pub(crate) fn hubs(conversions: &[Conversion]) -> Hubs {
    let mut hubs = Hubs::default();
    for conversion in conversions {
        hubs.set(conversion.group_kind(), conversion.hub());
    }
    hubs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::{
        Change, Denied, Operation, Request,
        conversion::tests::types::{all, v1, v1alpha1, v2},
    };

    #[test]
    #[should_panic(expected = "Widget in test.example.com has two conversions")]
    fn a_type_is_converted_once() {
        let mut webhooks = Webhooks::<()>::default();
        webhooks.convert(all());
        webhooks.convert(all());
    }

    async fn validate<K: Sync>(_: &Change<K>, _: &Request, _: &()) -> Result<(), Denied> {
        Ok(())
    }

    #[test]
    fn webhooks_in_each_version_receive_their_own_version() {
        let policies = |webhooks: &Webhooks<()>| -> Vec<_> {
            let declarations = webhooks.declarations().into_iter();
            declarations.map(|found| found.match_policy).collect()
        };
        let mut webhooks = Webhooks::default();
        webhooks.convert(all());
        webhooks.add(Webhook::<v1::Widget, _>::validating(validate));
        webhooks.add(Webhook::<v1alpha1::Widget, _>::validating(validate));
        // No other webhook covers objects in v2.
        assert_eq!(policies(&webhooks), [None, None]);
        let third = || Webhook::<v2::Widget, _>::validating(validate);
        webhooks.add(third().operations(&[Operation::Delete]).name("deletion"));
        assert_eq!(policies(&webhooks), [None; 3]);
        webhooks.add(third());
        let exact = Some(MatchPolicy::Exact);
        assert_eq!(policies(&webhooks), [exact, exact, None, exact]);
        let explicit = third().name("all").match_policy(MatchPolicy::Equivalent);
        webhooks.add(explicit);
        assert_eq!(policies(&webhooks)[4], Some(MatchPolicy::Equivalent));
    }
}
