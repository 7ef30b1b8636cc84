//! The two text formats of Prometheus: OpenMetrics for clients that accept it, and the older format for
//! others, as in Go's client.

const OPENMETRICS: &str = "application/openmetrics-text";

/// A text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Text,
}

impl Format {
    /// The format for a client with this `Accept` header.
    pub(super) fn for_accept(accept: &str) -> Self {
        let asks = accept.split(',').any(|range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(OPENMETRICS));
            // `q=0` means not acceptable.
            let weight = parts.find_map(|part| part.strip_prefix("q="));
            named
                && weight.is_none_or(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0))
        });
        if asks { Self::OpenMetrics } else { Self::Text }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts metrics from OpenMetrics to this format.
    pub(super) fn write(self, openmetrics: String) -> String {
        match self {
            Self::OpenMetrics => openmetrics,
            Self::Text => to_text(&openmetrics),
        }
    }
}

/// Converts to the older format: it declares sample names instead of family names, has fewer types, and has
/// no units, exemplars or end marker.
fn to_text(openmetrics: &str) -> String {
    let mut text = String::with_capacity(openmetrics.len());
    let mut help = None;
    for line in openmetrics.lines() {
        if let Some(line) = line.strip_prefix("# HELP ") {
            // Kept until the type is known, because the name depends on it.
            help = line.split_once(' ').map(|(_, help)| help);
        } else if let Some((name, kind)) = line
            .strip_prefix("# TYPE ")
            .and_then(|line| line.split_once(' '))
        {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                kind => ("", kind),
            };
            if let Some(help) = help.take() {
                text += &format!("# HELP {name}{suffix} {help}\n");
            }
            text += &format!("# TYPE {name}{suffix} {kind}\n");
        } else if !line.starts_with('#') {
            text += without_exemplar(line);
            text.push('\n');
        }
    }
    text
}

/// A sample without its exemplar ` # {…} …`. A label may contain the same characters.
fn without_exemplar(sample: &str) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    let hash = sample.char_indices().find(|(_, character)| {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        *character == '#' && !quoted
    });
    hash.map_or(sample, |(index, _)| sample[..index].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_the_accept_header() {
        let prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
                          application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        let cases = [
            ("", Format::Text),
            ("*/*", Format::Text),
            ("application/json, */*", Format::Text),
            ("text/plain; version=0.0.4", Format::Text),
            ("application/openmetrics-text", Format::OpenMetrics),
            (
                "text/plain, Application/OpenMetrics-Text; q=1",
                Format::OpenMetrics,
            ),
            (
                "text/plain, application/openmetrics-text; q=0",
                Format::Text,
            ),
            (prometheus, Format::OpenMetrics),
        ];
        for (accept, format) in cases {
            assert_eq!(Format::for_accept(accept), format, "{accept}");
        }
    }

    #[test]
    fn the_older_text() {
        let cases = [
            (
                "# HELP a Adds.\n# TYPE a counter\n# UNIT a seconds\na_total{x=\"1\"} 2 # {id=\"3\"} 1.0\n# EOF\n",
                "# HELP a_total Adds.\n# TYPE a_total counter\na_total{x=\"1\"} 2\n",
            ),
            (
                "# HELP b Build.\n# TYPE b info\nb_info{v=\" # {\\\"\"} 1\n",
                "# HELP b_info Build.\n# TYPE b_info gauge\nb_info{v=\" # {\\\"\"} 1\n",
            ),
            (
                "# HELP c C.\n# TYPE c histogram\nc_bucket{le=\"+Inf\"} 1 # {} 4\nc_sum 4.0\nc_count 1\n",
                "# HELP c C.\n# TYPE c histogram\nc_bucket{le=\"+Inf\"} 1\nc_sum 4.0\nc_count 1\n",
            ),
            ("# TYPE d unknown\nd 1\n", "# TYPE d untyped\nd 1\n"),
            ("# EOF\n", ""),
        ];
        for (openmetrics, text) in cases {
            assert_eq!(to_text(openmetrics), text);
        }
    }
}
