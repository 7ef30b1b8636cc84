use super::*;

/// What `helm install real chart --set size=2` of Helm 4.3.1 wrote.
const OF_HELM: &str = include_str!("helm.json");

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no map"),
    }
}

fn release() -> HelmRelease {
    HelmRelease {
        name: "blog".to_owned(),
        namespace: "web".to_owned(),
        version: 3,
        status: "deployed".to_owned(),
        description: "Upgrade complete".to_owned(),
        first_deployed: "2026-01-01T00:00:00Z".to_owned(),
        last_deployed: "2026-01-02T03:04:05.678Z".to_owned(),
        notes: "Open it.\n".to_owned(),
        manifest: "---\n# Source: tiny/templates/map.yaml\nkind: ConfigMap\n".to_owned(),
        hooks: vec![Hook {
            name: "migrate".to_owned(),
            kind: "Job".to_owned(),
            path: "tiny/templates/job.yaml".to_owned(),
            manifest: "kind: Job\n".to_owned(),
            events: vec!["pre-install".to_owned(), "pre-upgrade".to_owned()],
            weight: -5,
            delete_policies: vec!["hook-succeeded".to_owned()],
        }],
        chart_name: "tiny".to_owned(),
        chart_version: "1.2.3".to_owned(),
        chart: map(
            json!({ "metadata": { "name": "tiny", "version": "1.2.3", "appVersion": "4.5" } }),
        ),
        config: map(json!({ "size": 2, "password": "ä\u{0}" })),
    }
}

/// A Secret with this text in place of a compressed release.
fn holding(text: &[u8]) -> Value {
    let text = BASE64.encode(BASE64.encode(text).as_bytes());
    json!({ "data": { "release": text } })
}

fn refusal(secret: &Value) -> String {
    read(secret).unwrap_err().to_string()
}

#[test]
fn a_round_trip() {
    let release = release();
    let written = secret(&release).unwrap();
    assert_eq!(read(&written).unwrap(), release);
    assert_eq!(secret(&release).unwrap(), written);

    let mut rest = written;
    rest["data"].take();
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "sh.helm.release.v1.blog.v3",
            "namespace": "web",
            "labels": {
                "owner": "helm", "name": "blog", "status": "deployed", "version": "3", "modifiedAt": "1767323045",
            },
        },
        "type": "helm.sh/release.v1",
        "data": null,
    });
    assert_eq!(rest, expected);
}

#[test]
fn a_chart_of_a_name_only() {
    let release = HelmRelease {
        chart: map(json!({ "metadata": 1, "values": { "size": 1 } })),
        ..release()
    };
    let read = read(&secret(&release).unwrap()).unwrap();
    let chart =
        json!({ "metadata": { "name": "tiny", "version": "1.2.3" }, "values": { "size": 1 } });
    assert_eq!(read.chart, map(chart));
    assert_eq!(
        (read.chart_name, read.chart_version),
        (release.chart_name, release.chart_version)
    );
}

#[test]
fn a_release_of_helm() {
    let of_helm: Value = serde_json::from_str(OF_HELM).unwrap();
    let mut release = read(&of_helm).unwrap();
    let chart = std::mem::take(&mut release.chart);
    let expected = HelmRelease {
        name: "real".to_owned(),
        namespace: "default".to_owned(),
        version: 1,
        status: "deployed".to_owned(),
        description: "Install complete".to_owned(),
        first_deployed: "2026-11-29T14:37:17.173415882Z".to_owned(),
        last_deployed: "2026-11-29T14:37:17.173415882Z".to_owned(),
        notes: "It has size 2.\n".to_owned(),
        manifest: "---\n# Source: tiny/templates/map.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: real\ndata:\n  size: \"2\"\n\n"
            .to_owned(),
        hooks: vec![Hook {
            name: "real-hook".to_owned(),
            kind: "ConfigMap".to_owned(),
            path: "tiny/templates/hook.yaml".to_owned(),
            manifest: release.hooks[0].manifest.clone(),
            events: vec!["pre-install".to_owned(), "post-upgrade".to_owned()],
            weight: -5,
            delete_policies: vec!["before-hook-creation".to_owned()],
        }],
        chart_name: "tiny".to_owned(),
        chart_version: "1.2.3".to_owned(),
        chart: Map::new(),
        config: map(json!({ "size": 2 })),
    };
    assert_eq!(release, expected);
    assert!(release.hooks[0].manifest.contains("name: real-hook\n"));
    assert_eq!(chart["metadata"]["appVersion"], "4.5");
    assert_eq!(chart["values"], json!({ "size": 1 }));

    // All but the data is as Helm writes it.
    release.chart = chart;
    let mut written = secret(&release).unwrap();
    for path in ["/apiVersion", "/kind", "/type", "/metadata"] {
        let there = written.pointer_mut(path).map(Value::take);
        assert_eq!(there.as_ref(), of_helm.pointer(path), "{path}");
    }
}

/// Helm 3 writes empty times, and its first versions did not compress.
#[test]
fn a_release_of_helm_3() {
    let text = r#"{"name":"old","info":{"first_deployed":"2020-01-01T00:00:00+01:00","last_deployed":"","deleted":"",
        "status":"superseded"},"chart":{"metadata":{"name":"tiny","version":"0.1.0"},"lock":null},
        "hooks":[{"name":"x","last_run":{"started_at":"","completed_at":"","phase":""}}],"version":7}"#;
    let release = read(&holding(text.as_bytes())).unwrap();
    assert_eq!(
        (release.version, release.status.as_str()),
        (7, "superseded")
    );
    assert_eq!(release.hooks[0].name, "x");

    let again = read(&secret(&release).unwrap()).unwrap();
    assert_eq!(again.first_deployed, "2019-12-31T23:00:00Z");
    assert_eq!(again.last_deployed, "");
}

#[test]
fn what_cannot_be_read() {
    let rows = [
        (json!(null), "the Secret has no `data.release`"),
        (json!({ "data": { "release": 1 } }), "no `data.release`"),
        (
            json!({ "data": { "release": "?" } }),
            "`data.release` is not base64: ",
        ),
        (
            json!({ "data": { "release": BASE64.encode(b"?") } }),
            "`data.release` is not base64: ",
        ),
        (
            holding(&[0x1f, 0x8b, 8, 0, 1]),
            "`data.release` is not gzip: ",
        ),
        (holding(b""), "`data.release` is not a release in JSON: "),
        (holding(b"{"), "`data.release` is not a release in JSON: "),
        (
            holding(br#"{"version":-1}"#),
            "`data.release` is not a release in JSON: invalid value",
        ),
        (
            holding("[".repeat(100_000).as_bytes()),
            "`data.release` is not a release in JSON: ",
        ),
        (
            holding(format!(r#"{{"config":{}"#, r#"{"a":"#.repeat(100_000)).as_bytes()),
            "`data.release` is not a release in JSON: recursion limit exceeded",
        ),
    ];
    for (secret, expected) in rows {
        let refusal = refusal(&secret);
        assert!(refusal.contains(expected), "{refusal}");
    }
}

#[test]
fn a_release_that_grows_when_decompressed() {
    let of_length = |length: usize| {
        let (start, end) = (r#"{"name":""#, r#""}"#);
        let filling = " ".repeat(length - start.len() - end.len());
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder
            .write_all(format!("{start}{filling}{end}").as_bytes())
            .unwrap();
        holding(&encoder.finish().unwrap())
    };
    assert!(read(&of_length(LONGEST)).is_ok());
    assert_eq!(
        refusal(&of_length(LONGEST + 1)),
        "`data.release` has more than 16777216 bytes when decompressed"
    );
}

#[test]
fn what_cannot_be_written() {
    // Hashes do not compress well.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        format!("{state:016x}")
    });
    let large = HelmRelease {
        manifest: noise.take(100_000).collect(),
        ..release()
    };
    let Err(Error::Large(size)) = secret(&large) else {
        panic!("it is not too large");
    };
    assert!(size > LARGEST);
    assert_eq!(
        Error::Large(size).to_string(),
        format!(
            "the release takes {size} bytes, and the API server refuses a Secret above 1048576"
        )
    );

    let timeless = HelmRelease {
        last_deployed: "yesterday".to_owned(),
        ..release()
    };
    assert_eq!(
        secret(&timeless).unwrap_err().to_string(),
        "`last_deployed` of the release is `yesterday`, which is no time of RFC 3339"
    );
}
