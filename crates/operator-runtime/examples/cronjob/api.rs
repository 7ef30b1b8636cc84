//! The two versions of a CronJob.

pub mod v1;
pub mod v2;
