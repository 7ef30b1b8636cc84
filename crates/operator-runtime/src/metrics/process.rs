//! Process metrics, under the names of the Prometheus client libraries. Linux only: other systems have no
//! `/proc`, and these metrics are absent there.

use std::{fmt, fs};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};

/// Ticks per second in `/proc`: USER_HZ, which is 100 on all current architectures.
const TICKS: f64 = 100.0;

pub(super) fn register(registry: &mut Registry) {
    registry.register_collector(Box::new(Process));
}

#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let mut write = |name: &str, help, metric: &dyn EncodeMetric| {
            let name = format!("process_{name}");
            metric.encode(encoder.encode_descriptor(&name, help, None, metric.metric_type())?)
        };
        if let Some(stat) = read("/proc/self/stat").as_deref().and_then(Stat::parse) {
            let help = "User and system CPU time spent, in seconds.";
            write("cpu_seconds", help, &ConstCounter::new(stat.cpu))?;
            if let Some(boot) = read("/proc/stat").and_then(|text| field(&text, "btime")) {
                let start = boot as f64 + stat.start;
                let help = "Start time of the process, in seconds since the Unix epoch.";
                write("start_time_seconds", help, &ConstGauge::new(start))?;
            }
        }
        if let Some(status) = read("/proc/self/status") {
            if let Some(kib) = field(&status, "VmRSS:") {
                let help = "Resident memory, in bytes.";
                write("resident_memory_bytes", help, &ConstGauge::new(kib * 1024))?;
            }
            if let Some(kib) = field(&status, "VmSize:") {
                let help = "Virtual memory, in bytes.";
                write("virtual_memory_bytes", help, &ConstGauge::new(kib * 1024))?;
            }
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            // One file descriptor is the directory itself.
            let open = files.count().saturating_sub(1);
            write(
                "open_fds",
                "Open file descriptors.",
                &ConstGauge::new(open as u64),
            )?;
        }
        if let Some(limit) =
            read("/proc/self/limits").and_then(|text| field(&text, "Max open files"))
        {
            let help = "Maximum number of open file descriptors.";
            write("max_fds", help, &ConstGauge::new(limit))?;
        }
        Ok(())
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The number after `name` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
    values.next()?.split_whitespace().next()?.parse().ok()
}

/// Times from `/proc/self/stat`, in seconds.
#[derive(Debug, PartialEq)]
struct Stat {
    /// CPU time, user and system.
    cpu: f64,
    /// The time from boot to the start of the process.
    start: f64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The second field is the name of the program, in parentheses, and may contain any character.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        Some(Self {
            cpu: (ticks(14)? + ticks(15)?) / TICKS,
            start: ticks(22)? / TICKS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_of_a_program_with_an_odd_name() {
        let text =
            "7 (a) b (c) R 1 7 7 0 -1 4194304 99 0 0 0 250 50 0 0 20 0 1 0 12345 1000 200 1\n";
        let stat = Stat {
            cpu: 3.0,
            start: 123.45,
        };
        assert_eq!(Stat::parse(text), Some(stat));
        assert_eq!(Stat::parse("7 (a) R 1"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn fields() {
        let text = "VmPeak:\t  9 kB\nVmRSS:\t  1234 kB\nMax open files            1024   524288  files\nbtime 17\n";
        let cases = [
            ("VmRSS:", Some(1234)),
            ("Max open files", Some(1024)),
            ("btime", Some(17)),
            ("none", None),
        ];
        for (name, value) in cases {
            assert_eq!(field(text, name), value, "{name}");
        }
        assert_eq!(field("Max open files unlimited", "Max open files"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process() {
        let text = crate::metrics::Metrics::default().text();
        let value = |name: &str| -> f64 {
            let mut values = text
                .lines()
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            values
                .next()
                .unwrap_or_else(|| panic!("{name}\n{text}"))
                .parse()
                .unwrap()
        };
        assert!(value("process_cpu_seconds_total") < 1e6);
        assert!(value("process_resident_memory_bytes") > 1e6);
        assert!(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
        assert!((3.0..value("process_max_fds")).contains(&value("process_open_fds")));
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        let age = now.as_secs_f64() - value("process_start_time_seconds");
        assert!((-2.0..600.0).contains(&age), "{age}");
    }
}
