//! Commands as pure functions of a project.

mod create_api;
mod create_webhook;
mod delete_api;
mod delete_webhook;
mod edit_api;
mod entry;
mod rename;
mod settings;

pub use self::create_api::{CreateApi, NewVersion};
pub use self::create_webhook::{CreateWebhook, Target};
pub use self::delete_api::DeleteApi;
pub use self::delete_webhook::DeleteWebhook;
pub use self::edit_api::EditApi;
pub use self::entry::External;
pub use self::settings::{EditSettings, InitOptions, domain_stays, name_stays};
