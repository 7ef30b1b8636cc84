//! Whether the API server serves a type.

use kube::Client;
use tokio::{
    sync::watch::{self, Receiver},
    time::sleep,
};

use crate::{client::discovery, object::ScopedResource};

/// Whether the API server serves a type, from [`Manager::serves`](crate::Manager::serves). Clones are cheap.
#[derive(Clone, Debug)]
pub struct Serves(Receiver<bool>);

impl Serves {
    /// The latest answer, which is at most about 10 s old.
    pub fn now(&self) -> bool {
        *self.0.borrow()
    }

    /// An answer that stays.
    #[cfg(feature = "testing")]
    pub(super) fn always(answer: bool) -> Self {
        Self(watch::channel(answer).1)
    }

    /// Asks until there is an answer, and from then on as long as somebody has the result.
    pub(super) async fn ask(client: Client, kind: ScopedResource) -> Self {
        let find = async move || {
            let found = discovery::serves(&client, &kind).await;
            found.inspect_err(|reason| tracing::warn!("asking whether {kind} is served: {reason}"))
        };
        let first = loop {
            match find().await {
                Ok(answer) => break answer,
                Err(_) => sleep(discovery::PERIOD).await,
            }
        };
        let (sender, receiver) = watch::channel(first);
        tokio::spawn(async move {
            while !sender.is_closed() {
                sleep(discovery::LONG_PERIOD).await;
                // Without an answer, the last one stays.
                if let Ok(answer) = find().await {
                    sender.send_replace(answer);
                }
            }
        });
        Self(receiver)
    }
}
