//! The report of `check --crds`.

use crd_compat::{Finding, Severity};
use serde_json::{Value, json};

use super::{
    caller::Caller,
    json,
    text::{GREEN, Page, RED, YELLOW, counted},
};
use crate::error::Failure;

/// The findings of a comparison.
pub struct Comparison<'a> {
    /// The released version, as the user named it.
    pub released: &'a str,
    /// How many definitions it has.
    pub definitions: usize,
    /// Each finding, and whether the command line allows it.
    pub findings: &'a [(Finding, bool)],
    /// Remarks that leave nothing to do.
    pub remarks: &'a [String],
}

impl Comparison<'_> {
    /// Adds a line for each finding, and the failure or a summary.
    pub(super) fn text(&self, page: &mut Page<'_>, failed: Option<&Failure>, quiet: bool) {
        for (finding, allowed) in self.findings {
            let (verb, style) = match finding.rule.severity {
                _ if *allowed => ("Allowed", GREEN),
                Severity::Breaking => ("Breaking", RED),
                Severity::Warning => ("Warning", YELLOW),
                Severity::Info => ("Info", GREEN),
            };
            if !quiet || style != GREEN {
                let rest = format!("{}: {} ({})", finding.place, finding.what, finding.rule.id);
                page.line(verb, style, &rest);
            }
        }
        if !quiet {
            page.remarks(self.remarks);
        }
        match failed {
            Some(failure) => page.failure(failure),
            None if quiet => {}
            None => page.line("Done", GREEN, &self.summary()),
        }
    }

    fn summary(&self) -> String {
        let is_warning = |(finding, allowed): &&(Finding, bool)| {
            !allowed && finding.rule.severity == Severity::Warning
        };
        let warnings = match self.findings.iter().filter(is_warning).count() {
            0 => String::new(),
            n => format!(", {}", counted(n, "warning")),
        };
        let definitions = counted(self.definitions, "definition");
        let released = self.released;
        format!("{definitions} of `{released}` compared, nothing breaks{warnings}")
    }

    /// One object: every finding with its rule, and `error` where the check fails.
    pub(super) fn json(&self, failed: Option<&Failure>, caller: &Caller) -> Value {
        let finding = |(finding, allowed): &(Finding, bool)| {
            json!({
                "rule": finding.rule.id,
                "severity": finding.rule.severity.word(),
                "allowed": allowed,
                "definition": finding.place.definition,
                "version": finding.place.version,
                "path": finding.place.path,
                "text": finding.what,
                "why": finding.rule.why,
                "source": finding.rule.source,
            })
        };
        let mut object = json!({
            "command": "check --crds",
            "released": self.released,
            "definitions": self.definitions,
            "findings": self.findings.iter().map(finding).collect::<Value>(),
            "remarks": self.remarks,
        });
        if let Some(failure) = failed {
            object["error"] = json::error(failure, caller);
        }
        object
    }
}
