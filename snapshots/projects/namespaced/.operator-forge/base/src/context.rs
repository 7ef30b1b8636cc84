use kube::Client;

/// What every reconcile can use: clients, settings, caches of your own.
pub struct Context {
    /// Talks to the API server; clones are cheap and share its connections.
    pub client: Client,
}

impl Context {
    /// Called once, when the operator starts.
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}
