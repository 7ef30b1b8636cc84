//! Certificates that operators make by themselves, against a real API server and with real processes,
//! which have the rights that projects ship and no more.
#![cfg(feature = "envtest")]

mod operator;
mod site;
#[path = "../widget/mod.rs"]
mod widget;

use std::sync::LazyLock;

use anyhow::{Result, bail, ensure};
use manager::envtest::Cluster;

use site::Site;

/// The cluster of all tests.
fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(Cluster::start);
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

/// Not a test: the test binary runs itself as the operator.
#[test]
fn operator() {
    operator::main();
}

#[tokio::test]
async fn from_an_empty_secret_to_the_first_object() -> Result<()> {
    let site = Site::new(cluster()?, "first")?.with_conversion()?;
    let error = site
        .create("good")
        .await
        .err()
        .map(|error| error.to_string());
    ensure!(error.is_some(), "admitted without an operator");
    let mut operator = site.operator("a", site.port, None).await?;
    operator.ready().await?;
    site.admitted().await?;
    site.published().await?;
    // Its own rights are enough, and all configurations are its own.
    ensure!(!operator.log().contains("WARN"), "{}", operator.log());
    Ok(())
}
