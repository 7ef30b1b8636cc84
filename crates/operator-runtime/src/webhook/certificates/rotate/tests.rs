use k8s_openapi::{ByteString, api::core::v1::Secret};

use super::{super::issue::issue, *};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Certificates for 30 days, renewed when 10 are left.
const PERIODS: Periods = Periods {
    lifetime: Duration::from_secs(30 * 24 * 60 * 60),
    renew: Duration::from_secs(10 * 24 * 60 * 60),
    settle: Duration::from_secs(10 * 60),
};

fn hosts() -> Vec<String> {
    vec!["a.b.svc".to_owned(), "a.b.svc.cluster.local".to_owned()]
}

fn begun(at: SystemTime) -> Contents {
    Contents::begin(issue(&hosts(), at, PERIODS.lifetime).unwrap())
}

fn prepared(contents: &Contents, at: SystemTime) -> Contents {
    let issued = issue(&hosts(), at, PERIODS.lifetime).unwrap();
    contents.prepare(issued, &hosts(), at)
}

/// `contents` with another value of one key.
fn with(contents: &Contents, key: &str, value: &str) -> Contents {
    let mut secret = contents.put(Secret::default());
    let data = secret.data.get_or_insert_default();
    data.insert(key.to_owned(), ByteString(value.as_bytes().to_vec()));
    Contents::of(&secret)
}

fn text(contents: &Contents, key: &str) -> String {
    let secret = contents.put(Secret::default());
    String::from_utf8(secret.data.unwrap()[key].0.clone()).unwrap()
}

fn name(step: &Step) -> String {
    match step {
        Step::Begin(reason) => format!("begin: {reason}"),
        Step::Prepare(reason) => format!("prepare: {reason}"),
        Step::Switch => "switch".to_owned(),
        Step::Finish => "finish".to_owned(),
        Step::Wait(time) => format!("wait {}", time.as_secs()),
    }
}

#[test]
fn what_comes_next() {
    let begin = SystemTime::now();
    let minute = |minutes: u64| Some(Duration::from_secs(minutes * 60));
    let (first, other) = (begun(begin), begun(begin));
    let both = prepared(&first, begin + 21 * DAY);
    let switched = both.switch();
    let foreign = Contents::begin(issue(&["c.d.svc".to_owned()], begin, 30 * DAY).unwrap());
    let other_ca = with(&first, "ca.crt", &other.bundle());
    let other_key = with(&first, "tls.key", &text(&other, "tls.key"));
    let noise = with(
        &first,
        "ca.crt",
        &format!(
            "x{}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            first.bundle()
        ),
    );
    let cut = text(&both, "next.crt").split_off(100);
    let (half, keyless) = (with(&both, "next.crt", &cut), with(&both, "next.key", ""));

    let steady = "wait 3600";
    let cases = [
        // The life of a certificate.
        (&first, Duration::ZERO, None, steady),
        (&first, 20 * DAY - HOUR, minute(0), steady),
        (&first, 20 * DAY + HOUR, minute(0), "prepare: it ends soon"),
        (&first, 20 * DAY + HOUR, None, "prepare: it ends soon"),
        (&both, 21 * DAY, None, steady),
        (&both, 21 * DAY, minute(0), "wait 600"),
        (&both, 21 * DAY, minute(9), "wait 60"),
        (&both, 21 * DAY, minute(10), "switch"),
        (&switched, 21 * DAY, None, steady),
        (&switched, 21 * DAY, minute(9), "wait 60"),
        (&switched, 21 * DAY, minute(10), "finish"),
        (&switched, 20 * DAY + 21 * DAY - HOUR, minute(10), "finish"),
        (
            &switched,
            20 * DAY + 21 * DAY + HOUR,
            minute(10),
            "prepare: it ends soon",
        ),
        // Too late: as soon as the API server can know.
        (
            &first,
            31 * DAY,
            minute(10),
            "prepare: invalid peer certificate: certificate expired",
        ),
        (&both, 31 * DAY, None, steady),
        (&both, 31 * DAY, minute(0), "switch"),
        // No operator ran for so long that the next certificate expires soon, too, or has expired.
        (
            &both,
            42 * DAY,
            minute(10),
            "prepare: invalid peer certificate: certificate expired",
        ),
        (
            &both,
            99 * DAY,
            minute(10),
            "prepare: invalid peer certificate: certificate expired",
        ),
        // Not ours, or damaged.
        (
            &Contents::default(),
            Duration::ZERO,
            minute(10),
            "begin: holds no PEM certificate",
        ),
        (
            &other_key,
            Duration::ZERO,
            minute(10),
            "begin: keys may not be consistent",
        ),
        (
            &foreign,
            Duration::ZERO,
            minute(10),
            "prepare: invalid peer certificate: certificate not valid for name \"a.b.svc\"",
        ),
        (
            &other_ca,
            Duration::ZERO,
            minute(10),
            "prepare: invalid peer certificate: BadSignature",
        ),
        (
            &with(&first, "ca.crt", "x"),
            Duration::ZERO,
            minute(10),
            "prepare: `ca.crt` holds no CA",
        ),
        (&noise, Duration::ZERO, minute(9), "wait 60"),
        (&noise, Duration::ZERO, minute(10), "finish"),
        (
            &half,
            21 * DAY,
            minute(10),
            "prepare: holds no PEM certificate",
        ),
        (
            &keyless,
            21 * DAY,
            minute(10),
            "prepare: its key is not a PEM key",
        ),
    ];
    for (number, (contents, after, settled, expected)) in cases.into_iter().enumerate() {
        let step = name(&decide(
            contents,
            &hosts(),
            begin + after,
            &PERIODS,
            settled,
        ));
        assert!(step.contains(expected), "{number}: {step}, not {expected}");
    }
}

#[test]
fn a_clock_that_was_set_back() {
    let begin = SystemTime::now();
    let first = begun(begin);
    let before = begin - 400 * DAY;
    let step = decide(&first, &hosts(), before, &PERIODS, None);
    assert!(name(&step).contains("not valid yet"), "{step:?}");
    // Both CAs are trusted until the other certificate is served, whichever clock is right.
    let both = prepared(&first, before);
    assert_eq!(
        decide(&both, &hosts(), before, &PERIODS, Some(Duration::ZERO)),
        Step::Switch
    );
    assert!(both.bundle().starts_with(&first.bundle()));
    let step = decide(&both, &hosts(), begin, &PERIODS, None);
    assert!(name(&step).contains("prepare"), "{step:?}");
}

/// Late API servers and replicas, each within the settling time, never see a certificate that they cannot
/// verify.
#[test]
fn late_api_servers_and_replicas_can_verify() {
    let mut now = SystemTime::now();
    let mut contents = begun(now);
    let mut history = vec![(now, contents.clone())];
    let (end, mut since, mut steps) = (now + 90 * DAY, now, Vec::new());
    while now < end {
        let settled = now.duration_since(since).ok();
        let step = decide(&contents, &hosts(), now, &PERIODS, settled);
        let next = match &step {
            Step::Wait(time) => {
                now += *time;
                continue;
            }
            Step::Begin(_) => begun(now),
            Step::Prepare(_) => prepared(&contents, now),
            Step::Switch => contents.switch(),
            Step::Finish => contents.finish(&hosts(), now),
        };
        steps.push(name(&step));
        (contents, since) = (next, now);
        history.push((now, contents.clone()));
    }
    let round = ["prepare: it ends soon", "switch", "finish"];
    assert_eq!(steps.len(), 4 * 3);
    assert!(steps.chunks(3).all(|steps| steps == round), "{steps:?}");
    for (index, (from, newer)) in history.iter().enumerate() {
        let late = history[..index].iter().rev();
        // The current contents, and those of one settling time before.
        for (_, older) in late.take(1) {
            for (serves, trusts) in [(newer, older), (older, newer), (newer, newer)] {
                let seen = with(serves, "ca.crt", &trusts.bundle());
                assert_eq!(
                    seen.verify(Slot::Serving, &hosts(), *from),
                    Ok(()),
                    "{index}"
                );
            }
        }
    }
    assert!(
        history
            .iter()
            .all(|(_, contents)| contents.bundle().matches("BEGIN").count() <= 2)
    );
}

#[test]
fn other_keys_of_the_secret_stay() {
    let mut secret = Secret::default();
    let mine = ("mine".to_owned(), ByteString(b"1".to_vec()));
    let stale = ("next.key".to_owned(), ByteString(b"2".to_vec()));
    secret.data = Some([mine.clone(), stale].into());
    assert!(!Contents::of(&secret).is_empty());
    let data = begun(SystemTime::now()).put(secret).data.unwrap();
    assert_eq!(
        data.keys().collect::<Vec<_>>(),
        ["ca.crt", "mine", "tls.crt", "tls.key"]
    );
    assert_eq!(data["mine"], mine.1);
    assert!(Contents::of(&Secret::default()).is_empty());
}
