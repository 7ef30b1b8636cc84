//! Admission and conversion webhooks.
//!
//! Functions receive objects without `metadata.managedFields`, which are half of many objects.
//!
//! A [`Webhook`] is data. The same value serves a path and generates its webhook configuration, so path,
//! operations and rules cannot disagree.
//!
//! ```
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! use operator_runtime::webhook::{Change, Denied, FieldErrors, Request, Webhook};
//!
//! # struct Context;
//! pub fn webhook() -> Webhook<ConfigMap, Context> {
//!     Webhook::validating(validate)
//! }
//!
//! async fn validate(change: &Change<ConfigMap>, request: &Request, _: &Context) -> Result<(), Denied> {
//!     let mut errors = FieldErrors::default();
//!     if let Change::Create(new) | Change::Update { new, .. } = change {
//!         if new.data.is_none() {
//!             errors.required("data", "it would hold nothing");
//!         }
//!     }
//!     errors.into_result()
//! }
//! ```

mod admit;
mod answer;
#[cfg(feature = "envtest")]
pub(crate) mod asked;
#[cfg_attr(not(feature = "self-signed"), path = "webhook/certificates/off.rs")]
pub(crate) mod certificates;
mod change;
pub(crate) mod configuration;
#[cfg_attr(not(feature = "conversion"), path = "webhook/conversion/off.rs")]
pub(crate) mod conversion;
pub(crate) mod crds;
pub(crate) mod declaration;
mod decode;
mod denied;
mod field_errors;
mod flags;
mod function;
mod memory;
mod overlay;
mod patch;
mod policy;
mod repeated;
mod request;
mod review;
pub(crate) mod server;
mod stored;
mod undeclared;
mod webhooks;

use std::{marker::PhantomData, time::Duration};

use axum::http::StatusCode;
use k8s_openapi::{
    api::admissionregistration::v1::MatchCondition,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};
use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};

#[cfg(feature = "self-signed")]
pub use certificates::CertificateFlags;
pub use change::Change;
#[cfg(not(feature = "conversion"))]
pub(crate) use conversion::Conversion;
#[cfg(feature = "conversion")]
pub use conversion::{Conversion, Hub, Spoke};
pub use denied::Denied;
pub use field_errors::FieldErrors;
pub use flags::WebhookFlags;
pub use function::{Defaulting, Validating};
pub use policy::{FailurePolicy, MatchPolicy, ReinvocationPolicy, SideEffects};
pub use request::{Operation, Request};
pub use webhooks::Webhooks;

use crate::{
    metrics::Counter,
    object::{Rules, Verb},
};
use admit::Definition;
use answer::{Answer, Defaults, Validates};
use declaration::{Declaration, Purpose};
use undeclared::Undeclared;

/// The path of the conversion webhook.
pub(crate) const CONVERT: &str = "/convert";

/// The operator's own namespace in manifests. kustomize replaces it in `config/default` by the namespace of the
/// installation, also in the namespace selectors of webhooks, and the chart by that of the release.
pub const OWN_NAMESPACE: &str = "system";

/// The label of every namespace that is its name.
pub(crate) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A webhook for objects of type `K`. Its function shares a context `C` with the others.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_runtime::webhook::{Denied, Operation, Request, Webhook, Webhooks};
///
/// async fn default(config: &mut ConfigMap, _: &Request, _: &()) -> Result<(), Denied> {
///     config.immutable.get_or_insert(false);
///     Ok(())
/// }
///
/// let mut webhooks = Webhooks::<()>::default();
/// webhooks.add(
///     Webhook::defaulting(default)
///         .operations(&[Operation::Create])
///         .exclude_namespaces(&["kube-system"]),
/// );
/// ```
pub struct Webhook<K, C> {
    definition: Definition<C>,
    objects: PhantomData<fn() -> K>,
}

impl<K, C> Webhook<K, C>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Send + Sync + 'static,
    C: Send + Sync + 'static,
{
    /// A defaulting webhook: `function` changes the object before it is stored. Only its changes go to the
    /// API server, as a JSON patch. `function` must be idempotent, because the API server may call twice.
    /// Default operations: create and update.
    pub fn defaulting<F>(function: F) -> Self
    where
        F: for<'a> Defaulting<'a, K, C>,
    {
        let answer = Defaults::<K, F>::new(function);
        Self::new(Purpose::Defaulting, Box::new(answer))
    }

    /// A validating webhook: `function` allows or denies a change. Default operations: create and update;
    /// [`operations`](Self::operations) can add delete.
    pub fn validating<F>(function: F) -> Self
    where
        F: for<'a> Validating<'a, K, C>,
    {
        let answer = Validates::<K, F>::new(function);
        Self::new(Purpose::Validating, Box::new(answer))
    }

    /// Allows an undecodable object with a warning instead of denying it: for a type whose CRD this
    /// operator installs. The API server then validates the object against the schema and returns all
    /// errors, not only the first decoding error. A validating webhook does not need this setting, because
    /// it runs after schema validation.
    ///
    /// Default: the object is denied. An object of another project's type may fit that project's schema and
    /// not the Rust type, and would be stored without defaults.
    #[must_use]
    pub fn schema_first(mut self) -> Self {
        self.definition.answer.schema_first();
        self
    }

    /// Answers an AdmissionReview as the server does, for tests and benchmarks.
    ///
    /// # Errors
    /// An HTTP status with a text that the API server logs: for a body that is not an AdmissionReview, and
    /// 500 if the function fails and the failure policy is [`Ignore`](FailurePolicy::Ignore).
    pub async fn admit(&self, body: &[u8], context: &C) -> Result<Vec<u8>, (StatusCode, String)> {
        let panics = Counter::default();
        self.definition.admit(body, context, &panics).await
    }

    fn new(purpose: Purpose, answer: Box<dyn Answer<C>>) -> Self {
        let definition = Definition {
            declaration: Declaration::of::<K>(purpose),
            rules: Rules::default(),
            answer,
            undeclared: Undeclared::default(),
        };
        Self {
            definition,
            objects: PhantomData,
        }
    }

    /// The operations of the webhook, instead of the default, create and update. With [`Operation::Delete`], a validating webhook
    /// can deny deletions. An eviction deletes its Pod, so a denied deletion of a Pod also stops a drain of its node.
    #[must_use]
    pub fn operations(mut self, operations: &[Operation]) -> Self {
        self.definition.declaration.operations = operations.to_vec();
        self
    }

    /// Covers only requests for these subresources, such as `status`. Default: requests for the resource
    /// itself.
    #[must_use]
    pub fn subresources(mut self, names: &[&str]) -> Self {
        self.definition.declaration.subresources = names.iter().map(ToString::to_string).collect();
        self
    }

    /// The type with the [`subresources`](Self::subresources), if their objects are of another type `K`:
    /// `Webhook::<Scale, _>::validating(validate).parent::<Widget>().subresources(&["scale"])`.
    #[must_use]
    pub fn parent<P: Resource<DynamicType = ()>>(mut self) -> Self {
        self.definition.declaration.parent::<P>();
        self
    }

    /// The URL path, such as `/validate-widgets`. Default: kubebuilder's, `/mutate-GROUP-VERSION-KIND` or
    /// `/validate-GROUP-VERSION-KIND`, with dashes for the dots in the group.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.definition.declaration.path);
        self
    }

    /// The first part of the webhook's name, which appears in messages of the API server. Kind, version and
    /// group follow. Default: `default` or `validate`. Webhooks with the same kind, version and group need
    /// different names.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.definition.declaration.label);
        self
    }

    /// The failure policy: the API server's reaction when the webhook does not answer, panics, or exceeds
    /// its timeout. Default: [`FailurePolicy::Fail`].
    #[must_use]
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.definition.declaration.failure_policy = policy;
        self
    }

    /// The timeout, in whole seconds from 1 to 30. The function is cancelled half a second earlier.
    /// Default: 10 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.declaration.timeout = timeout;
        self
    }

    /// The match policy: whether requests for other versions of the type are converted and sent to this
    /// webhook, too. Default: [`Equivalent`](MatchPolicy::Equivalent), unless every version that the
    /// operator converts has a webhook like this one; then each webhook receives its own version only.
    #[must_use]
    pub fn match_policy(mut self, policy: MatchPolicy) -> Self {
        self.definition.declaration.match_policy = Some(policy);
        self
    }

    /// Adds a match condition: a CEL expression that must be true, such as `request.userInfo.username !=
    /// 'admin'`. All conditions must be true.
    #[must_use]
    pub fn match_condition(mut self, name: &str, cel: &str) -> Self {
        self.definition
            .declaration
            .match_conditions
            .push(MatchCondition {
                name: name.to_owned(),
                expression: cel.to_owned(),
            });
        self
    }

    /// Selects objects in namespaces with these labels. Replaces the conditions that
    /// [`exclude_namespaces`](Self::exclude_namespaces) and
    /// [`require_namespace_label`](Self::require_namespace_label) added before.
    #[must_use]
    pub fn namespace_selector(mut self, selector: LabelSelector) -> Self {
        self.definition.declaration.namespace_selector = Some(selector);
        self
    }

    /// Excludes these namespaces, by the name label of every namespace. Exclude the operator's own
    /// namespace, [`OWN_NAMESPACE`], and those that a cluster needs to recover: an unreachable webhook must not
    /// block them.
    #[must_use]
    pub fn exclude_namespaces(mut self, namespaces: &[&str]) -> Self {
        let requirement = LabelSelectorRequirement {
            key: NAMESPACE_NAME.to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(namespaces.iter().map(ToString::to_string).collect()),
        };
        let selector = self.definition.declaration.namespace_selector();
        let expressions = selector.match_expressions.get_or_insert_default();
        expressions.push(requirement);
        self
    }

    /// Selects objects in namespaces with this label, among those that the selector selects so far. So a
    /// webhook reaches the namespaces that opt in, and while it is unreachable, no other namespace is blocked.
    ///
    /// Whoever may change the labels of a namespace decides, so a rule for such people needs another webhook.
    #[must_use]
    pub fn require_namespace_label(mut self, label: &str, value: &str) -> Self {
        let selector = self.definition.declaration.namespace_selector();
        let labels = selector.match_labels.get_or_insert_default();
        labels.insert(label.to_owned(), value.to_owned());
        self
    }

    /// Selects objects with these labels, before or after the change. Users can evade the webhook by
    /// omitting the labels.
    #[must_use]
    pub fn object_selector(mut self, selector: LabelSelector) -> Self {
        self.definition.declaration.object_selector = Some(selector);
        self
    }

    /// The side effects of the function. Default: [`SideEffects::None`].
    #[must_use]
    pub fn side_effects(mut self, effects: SideEffects) -> Self {
        self.definition.declaration.side_effects = effects;
        self
    }

    /// The reinvocation policy: whether a defaulting webhook runs again after another webhook changed the
    /// object. Default: [`ReinvocationPolicy::Never`].
    #[must_use]
    pub fn reinvocation(mut self, policy: ReinvocationPolicy) -> Self {
        self.definition.declaration.reinvocation = Some(policy);
        self
    }

    /// Grants `verbs` on the type `T`, whose objects the function reads or writes.
    #[must_use]
    pub fn needs<T: Resource<DynamicType = ()> + 'static>(mut self, verbs: &[Verb]) -> Self {
        self.definition.rules.allow::<T>(verbs);
        self
    }
}
