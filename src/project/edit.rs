//! Commands as pure functions of a project.

mod create_api;
mod create_webhook;
mod delete;
mod entry;
mod import;
mod kind;
mod settings;

pub use self::create_api::{CreateApi, NewVersion};
pub use self::create_webhook::{CreateWebhook, Target};
pub use self::delete::{DeleteApi, DeleteWebhook};
pub use self::entry::{External, Gvk};
pub use self::import::{Import, Imported};
pub use self::kind::{EditApi, Rename};
pub use self::settings::{EditSettings, InitOptions, fixed};
