//! A strict parser of Prometheus' formats: OpenMetrics and the older text.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

/// The labels of a sample.
pub type Labels = BTreeMap<String, String>;

/// The samples of a scrape by name.
#[derive(Debug, Default)]
pub struct Exposition(BTreeMap<String, BTreeMap<Labels, f64>>);

impl Exposition {
    /// Parses all metrics; fails on input that a scraper could refuse.
    pub fn parse(text: &str, openmetrics: bool) -> Result<Self> {
        ensure!(text.ends_with('\n'), "the last line has no end");
        let body = match openmetrics {
            true => text.strip_suffix("# EOF\n").context("no end of file")?,
            false => text,
        };
        let mut exposition = Self::default();
        let (mut families, mut helped) = (BTreeSet::new(), BTreeSet::new());
        let mut current: Option<(&str, &str)> = None;
        for line in body.lines() {
            let mut read = || -> Result<()> {
                if let Some(rest) = line.strip_prefix("# HELP ") {
                    let (family, _) = rest.split_once(' ').context("no text")?;
                    ensure!(helped.insert(family), "described twice");
                    current = None;
                } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                    let (family, kind) = rest.split_once(' ').context("no type")?;
                    name(family)?;
                    ensure!(families.insert(family), "declared twice");
                    current = Some((family, kind));
                } else {
                    ensure!(!line.starts_with('#'), "an unknown comment");
                    let family = current.context("a sample outside of a family")?;
                    exposition.sample(line, family, openmetrics)?;
                }
                Ok(())
            };
            read().with_context(|| line.to_owned())?;
        }
        let histograms = exposition
            .0
            .keys()
            .filter_map(|name| name.strip_suffix("_bucket"));
        for name in histograms {
            exposition
                .histogram(name)
                .with_context(|| name.to_owned())?;
        }
        Ok(exposition)
    }

    /// The value of the sample with exactly these labels.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels: Labels = labels
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect();
        self.0.get(name)?.get(&labels).copied()
    }

    /// The metrics, a histogram as one.
    pub fn metrics(&self) -> BTreeSet<&str> {
        let whole = |name: &&str| ["_sum", "_count"].iter().all(|end| !name.ends_with(end));
        let names = self.0.keys().map(String::as_str).filter(whole);
        names.map(|name| name.trim_end_matches("_bucket")).collect()
    }

    /// The samples with this name.
    pub fn series(&self, name: &str) -> impl Iterator<Item = (&Labels, f64)> {
        let series = self.0.get(name).into_iter().flatten();
        series.map(|(labels, value)| (labels, *value))
    }

    fn sample(
        &mut self,
        line: &str,
        (family, kind): (&str, &str),
        openmetrics: bool,
    ) -> Result<()> {
        let end = line.find(['{', ' ']).context("no value")?;
        let (sample, rest) = line.split_at(end);
        name(sample)?;
        let suffix = sample.strip_prefix(family).context("of another family")?;
        let suffixes: &[&str] = match (kind, openmetrics) {
            ("counter", true) => &["_total"],
            ("counter", false) if family.ends_with("_total") => &[""],
            ("gauge", _) => &[""],
            ("histogram", _) => &["_bucket", "_sum", "_count"],
            _ => bail!("a type that is not served"),
        };
        ensure!(
            suffixes.contains(&suffix),
            "a name that does not fit the type"
        );
        let (labels, value) = match rest.strip_prefix('{') {
            Some(rest) => labels(rest)?,
            None => (Labels::new(), rest),
        };
        let value = value
            .strip_prefix(' ')
            .context("no space before the value")?;
        let value: f64 = value.parse().with_context(|| format!("`{value}`"))?;
        ensure!(value.is_finite(), "not a number");
        ensure!(kind == "gauge" || value >= 0.0, "negative");
        let known = self
            .0
            .entry(sample.to_owned())
            .or_default()
            .insert(labels, value);
        ensure!(known.is_none(), "sampled twice");
        Ok(())
    }

    /// Checks that buckets are cumulative, and that the last contains everything.
    fn histogram(&self, name: &str) -> Result<()> {
        let mut histograms: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for (labels, value) in self.series(&format!("{name}_bucket")) {
            let mut labels = labels.clone();
            let bound = labels.remove("le").context("a bucket without bound")?;
            histograms
                .entry(labels)
                .or_default()
                .push((bound.parse()?, value));
        }
        for (labels, mut buckets) in histograms {
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            ensure!(
                buckets.is_sorted_by(|a, b| a.1 <= b.1),
                "not cumulative: {buckets:?}"
            );
            let (bound, all) = buckets.last().context("no bucket")?;
            let count = |suffix| self.0.get(&format!("{name}{suffix}"))?.get(&labels);
            ensure!(
                *bound == f64::INFINITY && count("_count") == Some(all),
                "no last bucket"
            );
            ensure!(count("_sum").is_some(), "no sum");
        }
        Ok(())
    }
}

/// The labels up to `}`, and the rest.
fn labels(mut rest: &str) -> Result<(Labels, &str)> {
    let mut labels = Labels::new();
    loop {
        let (label, value) = rest.split_once("=\"").context("no label")?;
        name(label)?;
        let (mut text, mut characters) = (String::new(), value.char_indices());
        let end = loop {
            match characters.next().context("a value without end")? {
                (end, '"') => break end,
                (_, '\\') => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, character @ ('\\' | '"'))) => text.push(character),
                    _ => bail!("an unknown escape"),
                },
                (_, character) => text.push(character),
            }
        };
        ensure!(
            labels.insert(label.to_owned(), text).is_none(),
            "a label twice"
        );
        rest = &value[end + 1..];
        if let Some(rest) = rest.strip_prefix('}') {
            return Ok((labels, rest));
        }
        rest = rest.strip_prefix(',').context("no comma")?;
    }
}

fn name(name: &str) -> Result<()> {
    let valid = |character: char| character.is_ascii_alphanumeric() || "_:".contains(character);
    let digit = name.starts_with(|first: char| first.is_ascii_digit());
    ensure!(
        !name.is_empty() && !digit && name.chars().all(valid),
        "`{name}` is no name"
    );
    Ok(())
}

#[test]
fn invalid_metrics_are_refused() {
    let good = "# HELP a A.\n# TYPE a counter\na_total{x=\"\\\"\\\\\"} 1\n# TYPE h histogram\n\
                h_sum 1\nh_count 2\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"+Inf\"} 2\n# EOF\n";
    assert!(Exposition::parse(good, true).is_ok());
    let changes = [
        ("# EOF\n", ""),
        ("# EOF\n", "# EOF"),
        ("# TYPE a counter\n", ""),
        ("counter", "gauge"),
        ("# TYPE h", "# TYPE a"),
        ("a_total", "a"),
        ("a_total{x", "a_total{0x"),
        ("} 1\n# TYPE", "} -1\n# TYPE"),
        ("} 1\n# TYPE", "} one\n# TYPE"),
        ("x=\"", "x=\"1\",x=\""),
        ("x=\"", "x=\"\\t"),
        ("h_sum 1", "h_sum 1\nh_sum 1"),
        ("h_sum 1\n", ""),
        ("h_count 2", "h_count 3"),
        ("0.5\"} 1", "0.5\"} 3"),
        ("h_bucket{le=\"+Inf\"} 2\n", ""),
    ];
    for (from, to) in changes {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(Exposition::parse(&bad, true).is_err(), "{bad}");
    }
}
