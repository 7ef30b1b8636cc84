//! Conversion through a real API server, and storage version migration.

mod etcd;
mod failing;
mod fuzz;
mod keeping;
mod kubectl;
mod memory;
mod migration;
mod migrator;
mod older;
mod reading;
mod setup;
mod spoke;
mod types;
mod upgrade;
mod versions;
