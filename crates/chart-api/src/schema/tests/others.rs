//! Charts of others, which are not part of this repository.

use std::{env, fs, path::Path};

use super::*;

/// Checks all charts below the directories in `CHARTS`, which are separated by colons: the rules hold, and what Helm accepts fits.
#[test]
#[ignore = "needs charts, named by CHARTS"]
fn charts_of_others() {
    let roots = env::var("CHARTS").unwrap();
    let mut wrong = Vec::new();
    let mut lines = String::new();
    for root in roots.split(':') {
        each_chart(Path::new(root), &mut |path, chart| {
            let made = of(chart);
            wrong.extend(
                broken_rules(&made.schema)
                    .into_iter()
                    .map(|it| format!("{path}: {it}")),
            );
            let mut values = Vec::new();
            for given in [Table::new(), chart.values.clone()] {
                let mut used = chart.clone();
                let is_accepted = used.process_dependencies(&given, &mut Vec::new()).is_ok()
                    && used
                        .render_values(&given, &mut Vec::new())
                        .is_ok_and(|it| used.check_schemas(&it).is_ok());
                let misfits = misfits(&made.schema, &Json::Object(given.clone()));
                if is_accepted && !misfits.is_empty() {
                    wrong.push(format!("{path}: {misfits}"));
                }
                if is_accepted {
                    values.push(given);
                }
            }
            lines.push_str(&json!({"name": path, "schema": made.schema, "values": values, "notes": made.notes}).to_string());
            lines.push('\n');
        });
    }
    if let Ok(path) = env::var("SCHEMAS") {
        fs::write(path, lines).unwrap();
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn each_chart(path: &Path, work: &mut dyn FnMut(&str, &Chart)) {
    if path.join("Chart.yaml").exists()
        && let Ok(chart) = Chart::load(path)
    {
        work(&path.display().to_string(), &chart);
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            each_chart(&entry.path(), work);
        }
    }
}
