//! What `check --crds` shows.

use crd_compat::{Finding, Severity};
use serde_json::{Value, json};

use super::{caller::Explained, json, text};

/// All that was found.
pub struct Comparison<'a> {
    /// What the project was compared with, as the user named it.
    pub released: &'a str,
    /// How many definitions that has.
    pub definitions: usize,
    /// Each with whether it was allowed on the command line.
    pub findings: &'a [(Finding, bool)],
    /// Remarks that leave nothing to do.
    pub remarks: &'a [String],
}

impl Comparison<'_> {
    fn count(&self, severity: Severity) -> usize {
        let counts =
            |(finding, allowed): &&(Finding, bool)| !allowed && finding.rule.severity == severity;
        self.findings.iter().filter(counts).count()
    }

    /// One line a finding, then why it fails, if it does.
    pub(super) fn text(&self, failed: Option<&Explained<'_>>, quiet: bool, color: bool) -> String {
        let mut out = String::new();
        for (finding, allowed) in self.findings {
            let (verb, style) = match finding.rule.severity {
                _ if *allowed => ("Allowed", text::GREEN),
                Severity::Breaking => ("Breaking", text::RED),
                Severity::Warning => ("Warning", text::YELLOW),
                Severity::Info => ("Info", text::GREEN),
            };
            if !quiet || (!allowed && finding.rule.severity != Severity::Info) {
                let rest = format!("{}: {} ({})", finding.place, finding.what, finding.rule.id);
                out += &text::line(verb, style, &rest, color);
            }
        }
        if !quiet {
            out += &text::remarks(self.remarks, color);
        }
        match failed {
            Some(failed) => out += &text::failure(failed, color),
            None if quiet => {}
            None => {
                let definitions = match self.definitions {
                    1 => "1 definition".to_owned(),
                    n => format!("{n} definitions"),
                };
                let warnings = match self.count(Severity::Warning) {
                    0 => String::new(),
                    1 => ", 1 warning".to_owned(),
                    n => format!(", {n} warnings"),
                };
                let rest = format!(
                    "{definitions} of `{}` compared, nothing breaks{warnings}",
                    self.released
                );
                out += &text::line("Done", text::GREEN, &rest, color);
            }
        }
        out
    }

    /// One object: every finding with its rule, and `error` where the check fails.
    pub(super) fn json(&self, failed: Option<&Explained<'_>>) -> Value {
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
        let findings: Vec<Value> = self.findings.iter().map(finding).collect();
        let mut object = json!({
            "command": "check --crds",
            "released": self.released,
            "definitions": self.definitions,
            "findings": findings,
            "remarks": self.remarks,
        });
        if let Some(failed) = failed {
            object["error"] = json::error(failed);
        }
        object
    }
}
