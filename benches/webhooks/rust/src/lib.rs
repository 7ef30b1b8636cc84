//! What the webhooks of this benchmark work on, and what they do.
