//! One replica of the operator.

use std::{path::PathBuf, process::ExitStatus, time::Duration};

use anyhow::Result;

use super::{
    process::Process,
    proxy::Proxy,
    reviews::{Asker, Phase},
};

#[derive(Debug)]
pub struct Replica {
    /// The user that the API server sees, and the prefix of its identity in the Lease.
    pub name: String,
    pub proxy: Proxy,
    pub asker: Asker,
    process: Process,
    pub exits: Vec<ExitStatus>,
}

impl Replica {
    pub fn new(
        name: String,
        proxy: Proxy,
        asker: Asker,
        flags: &str,
        kube: bool,
        log: PathBuf,
    ) -> Result<Self> {
        let operator = match kube {
            true => "leadership::operator_of_kube",
            false => "leadership::operator",
        };
        Ok(Self {
            process: Process::start(operator, flags, &name, &[], log)?,
            name,
            proxy,
            asker,
            exits: Vec::new(),
        })
    }

    /// Restarts the process if it has ended.
    pub fn supervise(&mut self) -> Result<()> {
        if let Some(status) = self.process.supervise()? {
            self.exits.push(status);
            if self.asker.phase() != Phase::CutOff {
                self.asker.enter(Phase::Starts);
            }
        }
        Ok(())
    }

    /// The age of its process.
    pub fn age(&self) -> Duration {
        self.process.age()
    }

    pub fn signal(&self, name: &str) -> Result<()> {
        self.process.signal(name)
    }

    /// Ends the process as a rollout does.
    pub async fn stop(&mut self) -> Result<()> {
        self.exits.push(self.process.stop().await?);
        Ok(())
    }

    pub fn log(&self) -> String {
        self.process.log()
    }
}
