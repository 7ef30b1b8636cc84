//! What was asked of the API server, as it counts it.

use std::{collections::BTreeMap, fmt};

use anyhow::{Result, ensure};
use operator_runtime::envtest::Cluster;

/// Requests by resource, verb and status code. Only the operator asks for these resources, and watches are left out: the
/// API server counts them when they end.
#[derive(Clone, Debug, Default)]
pub struct Requests(BTreeMap<String, u64>);

impl Requests {
    /// All until now.
    pub fn of(cluster: &Cluster) -> Result<Self> {
        let mut kubectl = cluster.control_plane().kubectl();
        let output = kubectl.args(["get", "--raw", "/metrics"]).output()?;
        ensure!(output.status.success(), "the API server serves no metrics");
        Ok(Self::parse(&String::from_utf8(output.stdout)?))
    }

    fn parse(metrics: &str) -> Self {
        let mut requests = BTreeMap::new();
        for line in metrics.lines() {
            let Some((labels, count)) = line
                .strip_prefix("apiserver_request_total{")
                .and_then(|line| line.split_once("} "))
            else {
                continue;
            };
            let label = |name: &str| {
                let start = format!("{name}=\"");
                let mut labels = labels
                    .split(',')
                    .filter_map(|label| label.strip_prefix(&start));
                labels.next().unwrap_or_default().trim_end_matches('"')
            };
            let (resource, verb) = (label("resource"), label("verb"));
            if !["servers", "deployments"].contains(&resource) || verb == "WATCH" {
                continue;
            }
            let subresource = label("subresource");
            let slash = if subresource.is_empty() { "" } else { "/" };
            let key = format!("{verb} {resource}{slash}{subresource} {}", label("code"));
            *requests.entry(key).or_default() += count.parse::<f64>().unwrap_or_default() as u64;
        }
        Self(requests)
    }

    /// Those that are not in `before`.
    pub fn since(mut self, before: &Self) -> Self {
        for (key, count) in &mut self.0 {
            *count -= before.0.get(key).copied().unwrap_or_default();
        }
        self.0.retain(|_, count| *count > 0);
        self
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests: Vec<_> = self
            .0
            .iter()
            .map(|(key, count)| format!("{count} {key}"))
            .collect();
        f.write_str(&requests.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_resource_verb_and_code() {
        let before = "apiserver_request_total{code=\"200\",resource=\"servers\",subresource=\"\",verb=\"PATCH\"} 2";
        let after = "\
# TYPE apiserver_request_total counter
apiserver_request_total{code=\"200\",dry_run=\"\",resource=\"servers\",subresource=\"\",verb=\"PATCH\"} 5
apiserver_request_total{code=\"200\",resource=\"servers\",subresource=\"status\",verb=\"PATCH\"} 3
apiserver_request_total{code=\"201\",resource=\"deployments\",subresource=\"\",verb=\"PATCH\"} 1.5e+03
apiserver_request_total{code=\"200\",resource=\"servers\",subresource=\"\",verb=\"WATCH\"} 7
apiserver_request_total{code=\"200\",resource=\"leases\",subresource=\"\",verb=\"PUT\"} 7";
        let requests = Requests::parse(after).since(&Requests::parse(before));
        assert_eq!(requests.total(), 1506);
        let text = "1500 PATCH deployments 201, 3 PATCH servers 200, 3 PATCH servers/status 200";
        assert_eq!(requests.to_string(), text);
    }
}
