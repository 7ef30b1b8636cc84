//! The machine that the node runs on.

use std::path::PathBuf;

use kube::Client;

use crate::image::Images;

/// What all Pods of the node share.
pub(crate) struct Host {
    pub(crate) client: Client,
    /// The directory of the machine.
    pub(crate) directory: PathBuf,
    pub(crate) images: Images,
}
