//! What a webhook answers, by the type of its objects.

use std::marker::PhantomData;

use futures::{FutureExt, future::BoxFuture};
use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{Change, Defaulting, Denied, Operation, Request, Validating};

/// What a webhook is asked.
pub(crate) struct Question<'a> {
    pub(crate) request: Request,
    pub(crate) object: Option<&'a RawValue>,
    pub(crate) old: Option<&'a RawValue>,
}

/// A JSON patch; none if nothing changes.
pub(crate) type Patch = Option<Vec<u8>>;

/// A function with the type of its objects.
pub(crate) trait Answer<C>: Send + Sync {
    fn answer<'a>(
        &'a self,
        question: &'a Question<'a>,
        context: &'a C,
    ) -> BoxFuture<'a, Result<Patch, Denied>>;
}

/// A function that changes objects.
pub(super) struct Defaults<K, F> {
    function: F,
    objects: PhantomData<fn() -> K>,
}

impl<K, F> Defaults<K, F> {
    pub(super) fn new(function: F) -> Self {
        Self {
            function,
            objects: PhantomData,
        }
    }
}

impl<K, C, F> Answer<C> for Defaults<K, F>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Send + Sync + 'static,
    C: Send + Sync + 'static,
    F: for<'a> Defaulting<'a, K, C>,
{
    fn answer<'a>(
        &'a self,
        question: &'a Question<'a>,
        context: &'a C,
    ) -> BoxFuture<'a, Result<Patch, Denied>> {
        async move {
            let mut object: K = decode(question.object)?;
            self.function
                .call(&mut object, &question.request, context)
                .await?;
            Ok(None)
        }
        .boxed()
    }
}

/// A function that denies changes.
pub(super) struct Validates<K, F> {
    function: F,
    objects: PhantomData<fn() -> K>,
}

impl<K, F> Validates<K, F> {
    pub(super) fn new(function: F) -> Self {
        Self {
            function,
            objects: PhantomData,
        }
    }
}

impl<K, C, F> Answer<C> for Validates<K, F>
where
    K: DeserializeOwned + Send + Sync + 'static,
    C: Send + Sync + 'static,
    F: for<'a> Validating<'a, K, C>,
{
    fn answer<'a>(
        &'a self,
        question: &'a Question<'a>,
        context: &'a C,
    ) -> BoxFuture<'a, Result<Patch, Denied>> {
        async move {
            let change = match question.request.operation {
                Operation::Delete => Change::Delete(decode(question.old)?),
                Operation::Create | Operation::Connect => Change::Create(decode(question.object)?),
                Operation::Update => Change::Update {
                    old: decode(question.old)?,
                    new: decode(question.object)?,
                },
            };
            self.function
                .call(&change, &question.request, context)
                .await?;
            Ok(None)
        }
        .boxed()
    }
}

fn decode<K: DeserializeOwned>(raw: Option<&RawValue>) -> Result<K, Denied> {
    let raw = raw.map_or("null", RawValue::get);
    serde_json::from_str(raw).map_err(|error| Denied::because(422, "Invalid", error.to_string()))
}
