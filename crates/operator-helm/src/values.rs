//! The spec of a release.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The values of a release, over those of the chart's `values.yaml`. A null deletes a default of the chart.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Values(pub Map<String, Value>);
