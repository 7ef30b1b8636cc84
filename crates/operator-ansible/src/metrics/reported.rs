//! The metrics that roles report with `osdk_metric`. They have the names that the roles give them, without the endings that OpenMetrics asks
//! for, so that dashboards of operator-sdk's operators find them.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use operator_runtime::prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet},
    metrics::MetricType,
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use super::BUCKETS;

/// How many there may be: a role could make a name from what an object says.
const MOST: usize = 1000;

/// The longest name, and the longest description.
const LONGEST: usize = 256;

/// Names that begin with these belong to the operator.
const RESERVED: [&str; 10] = [
    "ansible_operator_",
    "certwatcher_",
    "controller_runtime_",
    "go_",
    "leader_election_",
    "process_",
    "rest_client_",
    "tls_certificate_",
    "undecodable_objects",
    "workqueue_",
];

/// The endings of the names of samples, beside that of the metric.
const ENDINGS: [&str; 5] = ["_bucket", "_count", "_created", "_sum", "_total"];

/// What a task of `osdk_metric` asks for.
#[derive(Deserialize)]
struct Asked {
    name: String,
    description: String,
    counter: Option<Counter>,
    gauge: Option<Gauge>,
    histogram: Option<Observed>,
    summary: Option<Observed>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Counter {
    increment: bool,
    add: Option<f64>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Gauge {
    increment: bool,
    decrement: bool,
    add: Option<f64>,
    subtract: Option<f64>,
    set: Option<f64>,
    set_to_current_time: bool,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Observed {
    observe: f64,
}

/// A metric.
#[derive(Clone, Debug)]
struct Metric {
    help: String,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Counter(f64),
    Gauge(f64),
    Histogram(Distribution),
    Summary(Distribution),
}

/// What was observed. The last bucket has all that is above the others.
#[derive(Clone, Debug, Default)]
struct Distribution {
    sum: f64,
    count: u64,
    buckets: [u64; BUCKETS.len() + 1],
}

impl Distribution {
    fn observe(&mut self, value: f64) {
        self.sum = sum(self.sum, value);
        self.count += 1;
        let bucket = BUCKETS.iter().position(|bound| value <= *bound);
        self.buckets[bucket.unwrap_or(BUCKETS.len())] += 1;
    }
}

/// A sum that stays finite.
fn sum(a: f64, b: f64) -> f64 {
    (a + b).clamp(f64::MIN, f64::MAX)
}

impl State {
    fn name(&self) -> &'static str {
        match self {
            Self::Counter(_) => "counter",
            Self::Gauge(_) => "gauge",
            Self::Histogram(_) | Self::Summary(_) => "histogram or summary",
        }
    }

    /// Whether this is a new one for what is asked.
    fn new(asked: &Asked) -> Result<Self, String> {
        let all = [
            asked.counter.as_ref().map(|_| Self::Counter(0.0)),
            asked.gauge.as_ref().map(|_| Self::Gauge(0.0)),
            asked
                .histogram
                .as_ref()
                .map(|_| Self::Histogram(Distribution::default())),
            asked
                .summary
                .as_ref()
                .map(|_| Self::Summary(Distribution::default())),
        ];
        let mut all = all.into_iter().flatten();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            (Some(_), Some(_)) => Err("only one metric can be processed at a time".to_owned()),
            (None, _) => Err("a request should contain at least one metric".to_owned()),
        }
    }

    /// Changes it as operator-sdk does: the first option counts.
    fn change(&mut self, asked: &Asked) -> Result<(), String> {
        let name = self.name();
        let observed = asked.histogram.as_ref().or(asked.summary.as_ref());
        match (self, &asked.counter, &asked.gauge, observed) {
            (Self::Counter(value), Some(counter), ..) => {
                let by = match counter.increment {
                    true => 1.0,
                    false => counter.add.unwrap_or_default(),
                };
                if by < 0.0 {
                    return Err("counter metrics cannot decrease in value".to_owned());
                }
                *value = sum(*value, by);
            }
            (Self::Gauge(value), _, Some(gauge), _) => {
                let or_nothing = |number: Option<f64>| number.filter(|it| *it != 0.0);
                let by = match gauge {
                    Gauge {
                        increment: true, ..
                    } => Some(1.0),
                    Gauge {
                        decrement: true, ..
                    } => Some(-1.0),
                    other => or_nothing(other.add).or(or_nothing(other.subtract).map(|it| -it)),
                };
                match (by, gauge.set, gauge.set_to_current_time) {
                    (Some(by), ..) => *value = sum(*value, by),
                    (None, Some(set), _) => *value = set,
                    (None, None, true) => {
                        let now = SystemTime::now().duration_since(UNIX_EPOCH);
                        *value = now.map_or(0.0, |now| now.as_secs_f64());
                    }
                    (None, None, false) => {}
                }
            }
            (Self::Histogram(distribution) | Self::Summary(distribution), _, _, Some(observed)) => {
                distribution.observe(observed.observe)
            }
            _ => {
                return Err(format!(
                    "cannot change the type of the metric, which is a {name}"
                ));
            }
        }
        Ok(())
    }

    /// The names of the samples of a metric.
    fn samples(&self, name: &str) -> Vec<String> {
        let endings: &[&str] = match self {
            Self::Counter(_) | Self::Gauge(_) => &[""],
            Self::Histogram(_) => &["", "_bucket", "_count", "_sum"],
            Self::Summary(_) => &["", "_count", "_sum"],
        };
        endings
            .iter()
            .map(|ending| format!("{name}{ending}"))
            .collect()
    }
}

/// What roles have reported.
#[derive(Default)]
pub(super) struct Reported {
    metrics: Mutex<BTreeMap<String, Metric>>,
    /// The names that are the operator's.
    taken: BTreeSet<String>,
}

impl fmt::Debug for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} reported metrics", self.metrics.lock().len())
    }
}

impl Reported {
    /// None yet, beside those of this text.
    pub(super) fn beside(text: &str) -> Self {
        let names = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("# TYPE ").unwrap_or(line);
            let name = rest.split([' ', '{']).next()?;
            Some(name.to_owned()).filter(|name| is_name(name))
        });
        Self {
            metrics: Mutex::default(),
            taken: names.collect(),
        }
    }

    /// Changes a metric; creates it at its first use.
    pub(super) fn change(&self, metric: &Value) -> Result<(), String> {
        let asked = Asked::deserialize(metric).map_err(|error| error.to_string())?;
        let new = State::new(&asked)?;
        let mut metrics = self.metrics.lock();
        if let Some(found) = metrics.get_mut(&asked.name) {
            return found.state.change(&asked);
        }
        self.may_be(&metrics, &asked.name, &new)?;
        let mut metric = Metric {
            help: help(&asked.description),
            state: new,
        };
        metric.state.change(&asked)?;
        tracing::info!(metric = asked.name, "roles report a metric");
        metrics.insert(asked.name, metric);
        Ok(())
    }

    /// Whether there may be a metric of this name.
    fn may_be(
        &self,
        metrics: &BTreeMap<String, Metric>,
        name: &str,
        new: &State,
    ) -> Result<(), String> {
        if !is_name(name) {
            return Err("this is no name of a metric".to_owned());
        }
        if RESERVED.iter().any(|it| name.starts_with(it)) {
            return Err("a metric of the operator has this name".to_owned());
        }
        if metrics.len() >= MOST {
            return Err(format!(
                "there are {MOST} metrics of roles, which is the most"
            ));
        }
        let samples = new.samples(name);
        let is_taken = |sample: &String| {
            let begin = ENDINGS
                .iter()
                .find_map(|ending| sample.strip_suffix(ending));
            let names = [Some(sample.as_str()), begin];
            let mut names = names.into_iter().flatten();
            names.any(|name| {
                let others = metrics.get(name).map(|it| it.state.samples(name));
                self.taken.contains(name) || others.is_some_and(|all| all.contains(sample))
            })
        };
        match samples.iter().find(|sample| {
            is_taken(sample) || (*sample != name && metrics.contains_key(sample.as_str()))
        }) {
            Some(sample) => Err(format!("another metric has the name {sample}")),
            None => Ok(()),
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_first = |it: char| it.is_ascii_alphabetic() || it == '_' || it == ':';
    name.len() <= LONGEST
        && name.starts_with(is_first)
        && name.chars().all(|it| is_first(it) || it.is_ascii_digit())
}

/// A description that is one line, and needs no escapes.
fn help(description: &str) -> String {
    let plain = description.chars().map(|it| match it {
        '\\' => '/',
        '"' => '\'',
        it if it.is_control() => ' ',
        it => it,
    });
    plain.take(LONGEST).collect()
}

impl Collector for Reported {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        for (name, metric) in &*self.metrics.lock() {
            let help = &metric.help;
            let mut number = |name: &str, type_, value: &f64| {
                let mut encoder = encoder.encode_descriptor(name, help, None, type_)?;
                encoder.encode_gauge(value)
            };
            match &metric.state {
                // A counter of OpenMetrics has an ending that its name does not have.
                State::Counter(value) => number(name, MetricType::Unknown, value)?,
                State::Gauge(value) => number(name, MetricType::Gauge, value)?,
                // A summary without quantiles is two numbers.
                State::Summary(of) => {
                    number(&format!("{name}_sum"), MetricType::Unknown, &of.sum)?;
                    let count = of.count as f64;
                    number(&format!("{name}_count"), MetricType::Unknown, &count)?;
                }
                State::Histogram(of) => {
                    let bounds = BUCKETS.into_iter().chain([f64::INFINITY]);
                    let buckets: Vec<_> = bounds.zip(of.buckets).collect();
                    let type_ = MetricType::Histogram;
                    let mut encoder = encoder.encode_descriptor(name, help, None, type_)?;
                    encoder.encode_histogram::<NoLabelSet>(of.sum, of.count, &buckets, None)?;
                }
            }
        }
        Ok(())
    }
}
