//! Builds an operator's context in tests, as in `main`.

use std::fmt::Display;

use clap::{Args, Command};

use crate::manager::Manager;

/// A function that builds a context of type `C`: an `async fn(&Manager, F) -> Result<C, E>`, where `F` are
/// the operator's own flags, or an `fn(&Manager) -> C`. `M` distinguishes the two, and is inferred.
///
/// ```
/// use kube::Client;
/// use operator_runtime::{Manager, fake::Fake};
///
/// /// Flags beside those of every operator: `main` flattens both into its arguments.
/// #[derive(clap::Args)]
/// struct OperatorFlags {
///     #[arg(long, default_value = "cluster.local")]
///     cluster_domain: String,
/// }
///
/// struct Context {
///     client: Client,
///     domain: String,
/// }
///
/// impl Context {
///     async fn new(manager: &Manager, flags: OperatorFlags) -> kube::Result<Self> {
///         let (client, domain) = (manager.client(), flags.cluster_domain);
///         Ok(Self { client, domain })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let context = Fake::default().context(Context::new).await;
/// assert_eq!(context.domain, "cluster.local");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "this function does not build a context",
    label = "expected `async fn(&Manager, F) -> Result<C, E>` or `fn(&Manager) -> C`"
)]
pub trait MakeContext<C, M> {
    /// Builds the context, with the defaults of the flags.
    ///
    /// # Errors
    /// If the function fails, or a flag has no default; as text.
    fn make(self, manager: &Manager) -> impl Future<Output = Result<C, String>>;
}

impl<C, F> MakeContext<C, ()> for F
where
    F: FnOnce(&Manager) -> C,
{
    async fn make(self, manager: &Manager) -> Result<C, String> {
        Ok(self(manager))
    }
}

impl<C, F, A, E> MakeContext<C, (A, E)> for F
where
    F: AsyncFnOnce(&Manager, A) -> Result<C, E>,
    A: Args,
    E: Display,
{
    async fn make(self, manager: &Manager) -> Result<C, String> {
        let flags = defaults().map_err(|error| error.to_string())?;
        let made = self(manager, flags).await;
        made.map_err(|error| format!("{error:#}"))
    }
}

/// The flags of an empty command line.
fn defaults<A: Args>() -> clap::error::Result<A> {
    let command = A::augment_args(Command::new("test").no_binary_name(true));
    A::from_arg_matches(&command.try_get_matches_from([""; 0])?)
}

#[cfg(test)]
mod tests {
    use kube::Client;

    use super::*;
    use crate::fake::Fake;

    #[derive(Args)]
    struct Flags {
        #[arg(long, default_value = "3")]
        replicas: u8,
    }

    #[derive(Args)]
    struct Required {
        #[arg(long)]
        _replicas: u8,
    }

    async fn with_flags(_: &Manager, flags: Flags) -> kube::Result<u8> {
        Ok(flags.replicas)
    }

    async fn with_required_flags(_: &Manager, _: Required) -> kube::Result<()> {
        Ok(())
    }

    async fn that_fails(_: &Manager, _: Flags) -> Result<(), &'static str> {
        Err("no database")
    }

    #[tokio::test]
    async fn a_context_is_made_with_the_defaults_of_its_flags() {
        let fake = Fake::default();
        let _: Client = fake.context(Manager::client).await;
        assert_eq!(fake.context(with_flags).await, 3);
        let manager = fake.manager();
        assert_eq!(that_fails.make(&manager).await, Err("no database".into()));
        let missing = with_required_flags.make(&manager).await.unwrap_err();
        assert!(missing.contains("--replicas"), "{missing}");
    }
}
