//! Admission webhooks: what the API server asks before it stores an object.
//!
//! Objects come as they are, but without `metadata.managedFields`, which are half of many.
//!
//! A [`Webhook`] is data first. The value that answers at a path also writes the configuration that
//! tells the API server of it, so that path, operations and rules cannot disagree.
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
mod place;
mod policy;
mod request;
mod review;
pub(crate) mod server;
mod trim;
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

/// Where the API server asks for other versions of objects.
pub(crate) const CONVERT: &str = "/convert";

/// A webhook for objects of type `K`, whose function shares a context `C` with the others.
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
///         .outside_of(&["kube-system"]),
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
    /// Changes objects before they are stored: `function` gets the object and changes it, and what
    /// it changed, nothing else, goes to the API server. It has to be idempotent, because the API
    /// server may ask twice. Asked when an object is created or updated.
    pub fn defaulting<F>(function: F) -> Self
    where
        F: for<'a> Defaulting<'a, K, C>,
    {
        let answer = Defaults::<K, F>::new(function);
        Self::new(Purpose::Defaulting, Box::new(answer))
    }

    /// Lets changes pass or denies them. Asked when an object is created or updated;
    /// [`operations`](Self::operations) adds deletion.
    pub fn validating<F>(function: F) -> Self
    where
        F: for<'a> Validating<'a, K, C>,
    {
        let answer = Validates::<K, F>::new(function);
        Self::new(Purpose::Validating, Box::new(answer))
    }

    /// Lets an object pass that does not decode, with a warning, instead of denying it: for a type whose
    /// CRD this operator installs. Then the API server compares the object with the schema and answers
    /// with all that is wrong, not only with the first error of decoding. A validating webhook needs no
    /// such call, because it is asked after the schema.
    ///
    /// Default: it is denied. An object of a type that somebody else defines may fit their schema and
    /// not the Rust type, and would be stored without its defaults.
    #[must_use]
    pub fn schema_first(mut self) -> Self {
        self.definition.answer.schema_first();
        self
    }

    /// Answers an AdmissionReview as the server does, for tests and benchmarks.
    ///
    /// # Errors
    /// The HTTP status of what is no AdmissionReview, and 500 if the function fails and failures are to
    /// be [ignored](FailurePolicy::Ignore); with a text that the API server logs.
    pub async fn admit(&self, body: &[u8], context: &C) -> Result<Vec<u8>, (StatusCode, String)> {
        let panics = Counter::default();
        self.definition.admit(body, context, &panics).await
    }

    fn new(purpose: Purpose, answer: Box<dyn Answer<C>>) -> Self {
        let definition = Definition {
            declaration: Declaration::of::<K>(purpose),
            rules: Rules::default(),
            answer,
        };
        Self {
            definition,
            objects: PhantomData,
        }
    }

    /// When the API server asks. Default: when an object is created or updated.
    #[must_use]
    pub fn operations(mut self, operations: &[Operation]) -> Self {
        self.definition.declaration.operations = operations.to_vec();
        self
    }

    /// Asks for changes through these sub-resources, such as `status`, and not for others.
    #[must_use]
    pub fn subresources(mut self, names: &[&str]) -> Self {
        self.definition.declaration.subresources = names.iter().map(ToString::to_string).collect();
        self
    }

    /// The type that has the [`subresources`](Self::subresources), if they are not of type `K`
    /// themselves: `Webhook::<Scale, _>::validating(validate).parent::<Widget>().subresources(&["scale"])`.
    #[must_use]
    pub fn parent<P: Resource<DynamicType = ()>>(mut self) -> Self {
        self.definition.declaration.parent::<P>();
        self
    }

    /// Where it is served, such as `/validate-widgets`. Default: what kubebuilder uses,
    /// `/mutate-GROUP-VERSION-KIND` or `/validate-GROUP-VERSION-KIND`, with dashes for the group's dots.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.definition.declaration.path);
        self
    }

    /// What the webhook is called in messages of the API server, instead of `default` or `validate`,
    /// before the kind, the version and the group. Webhooks that share those need one each.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.definition.declaration.label);
        self
    }

    /// What the API server does when the webhook gives no answer, panics, or takes too long.
    /// Default: it fails the request.
    #[must_use]
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.definition.declaration.failure_policy = policy;
        self
    }

    /// How long the API server waits, in whole seconds from 1 to 30. The function is stopped half a
    /// second before. Default: 10 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.declaration.timeout = timeout;
        self
    }

    /// Whether requests through other versions of the type are converted and asked for, too.
    /// Default: they are, unless every version that the operator converts has a webhook like this one,
    /// and each is asked about its own version.
    #[must_use]
    pub fn match_policy(mut self, policy: MatchPolicy) -> Self {
        self.definition.declaration.match_policy = Some(policy);
        self
    }

    /// Asks only if this CEL expression is true, such as `request.userInfo.username != 'admin'`.
    /// Of several, all must be true.
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

    /// Asks only for objects in namespaces with these labels.
    #[must_use]
    pub fn namespace_selector(mut self, selector: LabelSelector) -> Self {
        self.definition.declaration.namespace_selector = Some(selector);
        self
    }

    /// Leaves out these namespaces, by the label that every namespace has: whoever cannot be reached
    /// must not hold up the namespaces that a cluster needs to recover, and its own.
    #[must_use]
    pub fn outside_of(self, namespaces: &[&str]) -> Self {
        let requirement = LabelSelectorRequirement {
            key: "kubernetes.io/metadata.name".to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(namespaces.iter().map(ToString::to_string).collect()),
        };
        self.namespace_selector(LabelSelector {
            match_expressions: Some(vec![requirement]),
            match_labels: None,
        })
    }

    /// Asks only for objects with these labels, before or after the change. Whoever makes objects
    /// can leave the labels out.
    #[must_use]
    pub fn object_selector(mut self, selector: LabelSelector) -> Self {
        self.definition.declaration.object_selector = Some(selector);
        self
    }

    /// Whether the function changes anything else. Default: it does not.
    #[must_use]
    pub fn side_effects(mut self, effects: SideEffects) -> Self {
        self.definition.declaration.side_effects = effects;
        self
    }

    /// Whether a defaulting webhook is asked again when another one changed the object after it.
    /// Default: it is not.
    #[must_use]
    pub fn reinvocation(mut self, policy: ReinvocationPolicy) -> Self {
        self.definition.declaration.reinvocation = Some(policy);
        self
    }

    /// Allows `verbs` on objects of type `T`, which the function reads or writes.
    #[must_use]
    pub fn needs<T: Resource<DynamicType = ()> + 'static>(mut self, verbs: &[Verb]) -> Self {
        self.definition.rules.allow::<T>(verbs);
        self
    }
}
