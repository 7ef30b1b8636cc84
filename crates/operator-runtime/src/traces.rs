//! Traces: the spans of the operator, which an OpenTelemetry collector gets over OTLP (protobuf over HTTP).

mod sender;

use std::{env, time::Duration};

use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    resource::{EnvResourceDetector, TelemetryResourceDetector},
    trace::SdkTracerProvider,
};
use sender::Sender;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

/// The spans and events of a trace. The client of kube has spans of its own for the same calls.
const TARGETS: &str = "info,kube_client=off,kube_runtime=off,operator_runtime::call=debug";

/// The time for the last spans at the end of the process.
const END: Duration = Duration::from_secs(2);

/// Exports the spans of the process.
#[derive(Clone)]
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// The exporter that OpenTelemetry's variables describe; `None` if they name no endpoint.
    ///
    /// # Errors
    /// The variable with an unusable value, and the reason.
    pub(crate) fn from_env(service: &'static str) -> Result<Option<Self>, String> {
        if !is_wanted(variable) {
            return Ok(None);
        }
        let exporter = SpanExporter::builder().with_http();
        let exporter = exporter.with_http_client(Sender::from_env()?).build();
        let exporter = exporter.map_err(|error| format!("OTEL_EXPORTER_OTLP_*: {error}"))?;
        let resource = Resource::builder_empty()
            .with_service_name(service)
            .with_detector(Box::new(TelemetryResourceDetector))
            .with_detector(Box::new(EnvResourceDetector::new()));
        // The specification lets this variable win over the attributes.
        let resource = match variable("OTEL_SERVICE_NAME") {
            Some(name) => resource.with_service_name(name),
            None => resource,
        };
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter);
        Ok(Some(Self(provider.with_resource(resource.build()).build())))
    }

    /// The layer of the subscriber that makes spans of `tracing` spans of traces.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("operator-runtime"));
        let targets: Targets = TARGETS.parse().unwrap_or_default();
        layer
            .with_location(false)
            .with_threads(false)
            .with_filter(targets)
    }

    /// Exports what is left.
    pub(crate) async fn end(self) {
        let end = move || self.0.shutdown_with_timeout(END);
        let ended = tokio::task::spawn_blocking(end).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// Writes the id of the trace into the field `trace_id` of its first span, for the log lines, if the trace is exported.
pub(crate) fn record_id(span: &Span) {
    let context = span.context();
    let of_span = context.span().span_context().clone();
    if of_span.is_sampled() {
        span.record("trace_id", tracing::field::display(of_span.trace_id()));
    }
}

/// The value of a variable of OpenTelemetry; an empty one counts as unset, as it specifies.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The value of a variable of the exporter, for traces or for all signals.
fn of_exporter(variable: impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let of_traces = variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
    of_traces.or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// Whether the variables name a collector. OpenTelemetry's default, `localhost`, is no collector in a Pod.
fn is_wanted(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_disabled =
        variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let exporter = variable("OTEL_TRACES_EXPORTER").unwrap_or_else(|| "otlp".to_owned());
    let is_otlp = exporter.split(',').any(|name| name.trim() == "otlp");
    !is_disabled && is_otlp && of_exporter(variable, "ENDPOINT").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_endpoint_turns_traces_on() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        let cases: [(&[(&str, &str)], bool); 7] = [
            (&[], false),
            (&[endpoint], true),
            (
                &[(
                    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                    "http://collector/v1/traces",
                )],
                true,
            ),
            (&[endpoint, ("OTEL_SDK_DISABLED", "True")], false),
            (&[endpoint, ("OTEL_TRACES_EXPORTER", "none")], false),
            (&[endpoint, ("OTEL_TRACES_EXPORTER", "console, otlp")], true),
            (&[("OTEL_TRACES_EXPORTER", "otlp")], false),
        ];
        for (variables, expected) in cases {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(is_wanted(variable), expected, "{variables:?}");
        }
    }
}
