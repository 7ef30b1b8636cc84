//! The number of replicas that share the objects of an operator.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// From 2 to [`Replicas::MOST`]: one replica shares with nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Replicas(u8);

impl Replicas {
    /// The number of slots into which operator-runtime divides the objects: another replica would have none.
    pub const MOST: u8 = 64;
}

impl TryFrom<u8> for Replicas {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            2..=Self::MOST => Ok(Self(number)),
            _ => Err(format!(
                "{number} replicas cannot share the objects: expected 2 to {}",
                Self::MOST
            )),
        }
    }
}

impl From<Replicas> for u8 {
    fn from(replicas: Replicas) -> Self {
        replicas.0
    }
}

impl Display for Replicas {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
