//! `version`: what made this, and what it makes.

use serde_json::json;

use crate::{error::Result, report::Report, template};

pub fn run(report: &Report) -> Result<u8> {
    let (version, set, kube) = (env!("CARGO_PKG_VERSION"), template::SET, template::KUBE);
    if report.is_json() {
        report.json(json!({
            "command": "version",
            "version": version,
            "templateSet": set,
            "kube": kube,
        }));
    } else {
        report.text(&format!(
            "operator-forge {version}\ntemplate set {set}, kube {kube}\n"
        ));
    }
    Ok(0)
}
