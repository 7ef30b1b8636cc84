//! What `make manifests` writes, as the API server takes it.
