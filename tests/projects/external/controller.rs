
/// An object of another project's type is reconciled, with the permissions that are declared.
#[tokio::test]
async fn is_marked() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Certificate>()?;
    let object = cluster.minimal_object("marked").await?;
    api.create(&PostParams::default(), &object).await?;
    let is_marked = |found: Option<&Certificate>| {
        found.is_some_and(|found| found.annotations().contains_key("example.com/seen"))
    };
    let marked = await_condition(api, "marked", is_marked);
    tokio::time::timeout(std::time::Duration::from_secs(20), marked).await??;
    anyhow::ensure!(cluster.operator()?.refused().is_empty());
    Ok(())
}
