//! The two versions of CronJob.

pub mod v1;
pub mod v2;
