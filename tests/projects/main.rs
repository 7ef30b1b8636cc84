//! What compiles generated projects and runs them against a real API server, and the updates of older projects.

#![cfg(unix)]

mod deployed;
mod external;
#[path = "../shared/fixture.rs"]
mod fixture;
mod generated;
mod imported;
mod kubernetes;
mod operator;
#[path = "../shared/page.rs"]
mod page;
mod pages;
mod project;
mod registry;
#[path = "../shared/session.rs"]
mod session;
mod shared;
mod takeover;
mod upgrades;
mod webhooks;
