//! The response of a webhook, by the type of its objects.

use std::marker::PhantomData;

use futures::{FutureExt, future::BoxFuture};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    Change, Defaulting, Denied, Operation, Validating,
    decode::{Undecodable, decode},
    patch::patch,
    review::Question,
    stored::readable,
};

/// The JSON patch, if there are changes; or the denial.
pub(crate) type Decision = Result<Option<Vec<u8>>, Denied>;

/// A webhook function with the type of its objects.
pub(crate) trait Answer<C>: Send + Sync {
    /// Decodes the objects and calls the function.
    fn answer<'a>(&'a self, question: &'a Question<'a>, context: &'a C) -> BoxFuture<'a, Decision>;

    /// Leaves a new undecodable object to the schema, if the webhook runs before schema validation.
    fn schema_first(&mut self) {}
}

/// A defaulting function for objects of type `K`.
pub(super) struct Defaults<K, F> {
    function: F,
    schema_first: bool,
    objects: PhantomData<fn() -> K>,
}

impl<K, F> Defaults<K, F> {
    pub(super) fn new(function: F) -> Self {
        Self {
            function,
            schema_first: false,
            objects: PhantomData,
        }
    }
}

impl<K, C, F> Answer<C> for Defaults<K, F>
where
    K: DeserializeOwned + Serialize + Send + Sync + 'static,
    C: Send + Sync + 'static,
    F: for<'a> Defaulting<'a, K, C>,
{
    fn answer<'a>(&'a self, question: &'a Question<'a>, context: &'a C) -> BoxFuture<'a, Decision> {
        let answer = async move {
            let held = present(question.object)?;
            let mut object: K = match decode(held) {
                Ok(object) => object,
                Err(error) if self.schema_first => {
                    let request = &question.request;
                    request.warn(format!(
                        "defaulting skipped, because the object does not decode: {error}"
                    ));
                    return Ok(None);
                }
                Err(error) => return Err(error.deny()),
            };
            let before = text(&object)?;
            let called = self.function.call(&mut object, &question.request, context);
            called.await?;
            let after = text(&object)?;
            patch(held.get(), &before, &after).map_err(|error| unchangeable(&error))
        };
        answer.boxed()
    }

    fn schema_first(&mut self) {
        self.schema_first = true;
    }
}

/// A validating function for objects of type `K`.
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
    fn answer<'a>(&'a self, question: &'a Question<'a>, context: &'a C) -> BoxFuture<'a, Decision> {
        let answer = async move {
            let change = change(question)?;
            let called = self.function.call(&change, &question.request, context);
            called.await.map(|()| None)
        };
        answer.boxed()
    }
}

/// The decoded change of a request.
fn change<K: DeserializeOwned>(question: &Question<'_>) -> Result<Change<K>, Denied> {
    let request = &question.request;
    let new = || decode(present(question.object)?).map_err(|error| error.deny());
    let old = || present(question.old).map(decode);
    match request.operation {
        Operation::Create | Operation::Connect => new().map(Change::Create),
        Operation::Delete => {
            let old = old()?.map_err(|error| error.deny_stored(&request.kind))?;
            Ok(Change::Delete(old))
        }
        Operation::Update => {
            let new = new()?;
            let old = match old()? {
                Ok(old) => old,
                Err(error) => readable_part(question, &error)?,
            };
            Ok(Change::Update { old, new })
        }
    }
}

/// The stored object of an update, whose fields that do not decode count as unchanged: otherwise users could
/// not repair them.
fn readable_part<K: DeserializeOwned>(
    question: &Question<'_>,
    error: &Undecodable,
) -> Result<K, Denied> {
    let request = &question.request;
    let (old, new) = (present(question.old)?, present(question.object)?);
    let Some((old, fields)) = readable(old, new) else {
        let message = format!(
            "the stored object does not decode: {error}; change only this field first, because an update of \
             many fields cannot be compared with such an object"
        );
        return Err(Denied::because(422, "Invalid", message));
    };
    for field in fields {
        request.warn(format!(
            "{field}: the stored value does not decode, and counts as unchanged"
        ));
    }
    Ok(old)
}

fn present(object: Option<&RawValue>) -> Result<&RawValue, Denied> {
    let missing = || Denied::because(400, "BadRequest", "the review contains no object");
    object.ok_or_else(missing)
}

fn text(object: &impl Serialize) -> Result<String, Denied> {
    serde_json::to_string(object).map_err(|error| unchangeable(&error))
}

fn unchangeable(error: &serde_json::Error) -> Denied {
    Denied::internal(format!("cannot change the object: {error}"))
}
