//! One certificate in a Secret, for any number of replicas.

use std::{
    collections::BTreeSet,
    future::pending,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use operator_runtime::envtest::free_port;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::{
    audit, cluster, load,
    site::Site,
    tls::{der, handshake},
};

/// Two rotations in half a minute. Each step waits a second longer than the delay of the simulated API
/// server.
const FAST: [u64; 3] = [25_000, 15_000, 2_000];

#[tokio::test]
async fn from_an_empty_secret_to_the_first_object() -> Result<()> {
    let site = Site::new(cluster()?, "first")?.with_conversion().await?;
    ensure!(
        site.create("good").await.is_err(),
        "admitted without an operator"
    );
    let mut operator = site.operator("a", site.port, None).await?;
    operator.ready().await?;
    site.admitted().await?;
    site.published().await?;
    ensure!(!operator.log().contains("WARN"), "{}", operator.log());

    // Exactly the granted permissions were used.
    let used: BTreeSet<String> = audit::allowed(&site)?
        .into_iter()
        .filter(|used| !used.ends_with("leases"))
        .collect();
    let mut rights = vec![
        "update secrets".to_owned(),
        "list secrets".to_owned(),
        "watch secrets".to_owned(),
    ];
    for resource in [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "customresourcedefinitions",
    ] {
        rights.extend(["list", "patch", "watch"].map(|verb| format!("{verb} {resource}")));
    }
    ensure!(used == rights.into_iter().collect(), "{used:?}");
    let requests = audit::requests(&site)?;
    ensure!(
        !requests.iter().any(|request| request.ends_with("403")),
        "{requests:?}"
    );
    Ok(())
}

#[tokio::test]
async fn each_permission_is_necessary() -> Result<()> {
    let site = Site::new(cluster()?, "rights")?;
    let role = site.name("webhook-certificate-role");
    let narrow = |kind: &str, index: usize, verbs: &str| {
        let patch =
            format!(r#"[{{"op": "replace", "path": "/rules/{index}/verbs", "value": {verbs}}}]"#);
        let namespace = site.namespace;
        site.kubectl(
            &[
                "patch",
                kind,
                &role,
                "-n",
                namespace,
                "--type=json",
                "-p",
                &patch,
            ],
            "",
        )
    };
    let (mutating, validating) = (
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
    );
    for (kind, index, verbs, verb, resource) in [
        ("role", 0, r#"["watch", "update"]"#, "list", "secrets"),
        ("role", 0, r#"["list", "update"]"#, "watch", "secrets"),
        ("role", 0, r#"["list", "watch"]"#, "update", "secrets"),
        ("clusterrole", 0, r#"["watch", "patch"]"#, "list", mutating),
        (
            "clusterrole",
            1,
            r#"["list", "patch"]"#,
            "watch",
            validating,
        ),
        (
            "clusterrole",
            1,
            r#"["list", "watch"]"#,
            "patch",
            validating,
        ),
    ] {
        site.apply(&site.manifests)?;
        site.merge_into_secret(r#"{"data": null}"#)?;
        narrow(kind, index, verbs)?;
        let name = format!("{verb}-{resource}");
        let operator = site.operator(&name, free_port()?, None).await?;
        let message = format!("cannot {verb} resource");
        let refused = |line: &str| line.contains(&message) && line.contains(resource);
        let logged = || Ok(operator.log().lines().any(refused));
        until(logged, || {
            format!("{message} {resource}:\n{}", operator.log())
        })
        .await?;
        // The other tests wait for this one before they lead.
        operator.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn replicas_that_race_serve_the_same_certificate() -> Result<()> {
    let site = Site::new(cluster()?, "race")?;
    let ports = [free_port()?, free_port()?];
    let mut a = site.operator("a", ports[0], None).await?;
    let mut b = site.operator("b", ports[1], None).await?;
    a.ready().await?;
    b.ready().await?;
    let host = format!("{}.race.svc", site.name("webhook-service"));
    let mut seen = BTreeSet::new();
    for round in 0..10 {
        let begin = Instant::now();
        let certificate = loop {
            let (ca, certificate) = (site.secret("ca.crt").await?, site.secret("tls.crt").await?);
            let served = ports.map(|port| handshake(port, &host, &ca).ok());
            let expected = der(&certificate).ok();
            if expected.is_some() && served.iter().all(|served| *served == expected) {
                break certificate;
            }
            ensure!(
                begin.elapsed() < Duration::from_secs(20),
                "{round}: {served:?}"
            );
            sleep(Duration::from_millis(20)).await;
        };
        site.published().await?;
        ensure!(seen.insert(certificate), "the same certificate again");
        // Both see it empty at once.
        site.merge_into_secret(r#"{"data": null}"#)?;
    }
    let requests = audit::requests(&site)?;
    let lost = requests
        .iter()
        .filter(|request| *request == "update secrets 409")
        .count();
    ensure!(lost > 0, "no write was lost: {requests:?}");
    println!("{} certificates, {lost} lost races", seen.len());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotation_fails_no_request() -> Result<()> {
    let site = Site::new(cluster()?, "rotation")?;
    let ports = [free_port()?, free_port()?];
    let balance = tokio::spawn(balance(
        TcpListener::bind(("127.0.0.1", site.port)).await?,
        ports,
    ));
    let mut a = site.operator("a", ports[0], Some(FAST)).await?;
    let mut b = site.operator("b", ports[1], Some(FAST)).await?;
    a.ready().await?;
    b.ready().await?;
    site.admitted().await?;
    site.published().await?;
    let dropped = || {
        let logs = [a.log(), b.log()].concat();
        logs.matches("dropping the CA of the previous").count()
    };
    let report = load::during(&site, &ports, async {
        until(|| Ok(dropped() >= 2), || [a.log(), b.log()].concat()).await?;
        sleep(Duration::from_secs(2)).await;
        Ok(())
    })
    .await?;
    balance.abort();
    let failures = report.failures.lock().unwrap().clone();
    let served = report.served.lock().unwrap().len();
    println!(
        "{} rotations: {} objects admitted, {} handshakes, {} failures",
        dropped(),
        report.admitted.load(Ordering::Relaxed),
        report.handshakes.load(Ordering::Relaxed),
        failures.len()
    );
    ensure!(
        failures.is_empty(),
        "{failures:#?}\n{}\n{}",
        a.log(),
        b.log()
    );
    ensure!(served >= 3, "{served} certificates");
    ensure!(report.admitted.load(Ordering::Relaxed) > 500, "{report:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotation_continues_after_its_leader_is_killed() -> Result<()> {
    let site = Site::new(cluster()?, "takeover")?;
    let mut leader = site.operator("a", free_port()?, Some(FAST)).await?;
    leader.ready().await?;
    let mut other = site.operator("b", site.port, Some(FAST)).await?;
    other.ready().await?;
    site.admitted().await?;
    site.published().await?;
    let steps = [
        "issuing the next",
        "switching to the next",
        "dropping the CA",
    ];
    let report = load::during(&site, &[site.port], async {
        let begin = Instant::now();
        while site.secret("next.crt").await?.is_empty() {
            ensure!(
                begin.elapsed() < Duration::from_secs(60),
                "{}",
                leader.log()
            );
            sleep(Duration::from_millis(20)).await;
        }
        drop(leader);
        until(|| Ok(other.log().contains(steps[2])), || other.log()).await
    })
    .await?;
    let log = other.log();
    ensure!(log.contains(steps[1]) && !log.contains(steps[0]), "{log}");
    let failures = report.failures.lock().unwrap().clone();
    ensure!(failures.is_empty(), "{failures:#?}\n{log}");
    Ok(())
}

/// Forwards each connection to another replica, as a Service does.
async fn balance(listener: TcpListener, ports: [u16; 2]) -> Result<()> {
    for port in ports.into_iter().cycle() {
        let (mut client, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut replica = TcpStream::connect(("127.0.0.1", port)).await?;
            copy_bidirectional(&mut client, &mut replica).await
        });
    }
    pending().await
}

/// Waits until a condition holds.
pub async fn until(
    mut is: impl FnMut() -> Result<bool>,
    otherwise: impl Fn() -> String,
) -> Result<()> {
    let begin = Instant::now();
    while !is()? {
        if begin.elapsed() > Duration::from_secs(60) {
            bail!("not after 60 s: {}", otherwise());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
