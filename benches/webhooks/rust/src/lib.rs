//! What the webhooks of this benchmark work on, and what they do.

pub mod api;
pub mod webhooks;
