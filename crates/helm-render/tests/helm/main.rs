//! What this crate makes of templates and charts is what Helm's library makes of them. Helm is asked through `tests/helm/oracle`,
//! which needs Go the first time.

mod cases;
mod charts;
mod compare;
mod details;
mod expressions;
mod functions;
mod generate;
mod oracle;
mod ours;
mod random;
mod templates;
