//! What `make manifests` says of a chart: what is doubtful about it, and what cannot be read.

use chart_api::schema;
use helm_render::{chart::Chart, faults};
use operator_runtime::Rules;

/// Adds the faults of a chart, the doubts about its permissions, and what the schema of its values could not say.
pub(crate) fn add(chart: &Chart, permissions: &[String], rules: &mut Rules) {
    let of = format!("the chart `{}`", chart.name());
    for fault in faults(chart) {
        rules.fault(format!("{of}: {fault}"));
    }
    for note in permissions {
        rules.note(format!("{of}: permissions: {}", note.trim_end_matches('.')));
    }
    for note in schema::of(chart).notes {
        rules.note(format!("{of}: {note}"));
    }
}

#[cfg(test)]
mod tests {
    use helm_render::chart::File;

    use super::*;

    fn rules(template: &str) -> Rules {
        let files = [
            ("Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}"),
            ("values.yaml", "{objects: []}"),
            ("templates/objects.yaml", template),
        ];
        let files = files.map(|(name, text)| File::new(name, text.as_bytes()));
        crate::Chart::of(files.to_vec()).unwrap().rules()
    }

    #[test]
    fn doubts_name_the_chart() {
        let rules = rules("{{ range .Values.objects }}\n---\n{{ toYaml . }}{{ end }}");
        let begins = [
            "the chart `web`: permissions: Values give whole objects to templates/objects.yaml",
            "the chart `web`: `spec`: the chart has no values.schema.json",
        ];
        for (note, begin) in rules.notes().iter().zip(begins) {
            assert!(note.starts_with(begin), "{note}");
        }
        assert_eq!(rules.notes().len(), begins.len());
        assert!(rules.faults().is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_fault() {
        let rules = rules("kind: A\n{{ if }}\n");
        let begin = "the chart `web`: templates/objects.yaml:2: ";
        assert!(rules.faults()[0].starts_with(begin), "{:?}", rules.faults());
    }
}
