//! What serde writes is what the API server stores, for every shape of a Rust type that a CRD can hold.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    env,
    net::IpAddr,
    num::NonZeroU16,
    process::{self, Command},
};

use anyhow::{Result, ensure};
use k8s_openapi::{
    api::core::v1::{
        ConfigMapKeySelector, EnvVar, LocalObjectReference, PodTemplateSpec, ResourceRequirements,
        Toleration,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceDefinition, JSONSchemaProps,
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{Condition, LabelSelector, MicroTime, Time},
        util::intstr::IntOrString,
    },
    jiff::Timestamp,
};
use kube::{
    Api, CustomResource, CustomResourceExt, KubeSchema,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    CrdError, Crds,
    envtest::{Cluster, NAMESPACE},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// A type with every shape of a value: those before `;` in each of the places of a [`Shape`], the others once.
///
/// The schema of a list of `Option<Quantity>` is that of a list of `Quantity`, so it is not among them. `unions.rs` has those that
/// need an attribute.
macro_rules! zoo {
    ($($field:ident: $type:ty = $value:expr,)* ; $($one:ident: $single:ty = $only:expr,)*) => {
        #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
        #[kube(group = "test.example.com", version = "v1", kind = "Zoo", namespaced)]
        struct ZooSpec {
            $($field: Shape<$type>,)*
            $($one: $single,)*
        }

        /// All shapes with their values.
        fn full() -> ZooSpec {
            ZooSpec { $($field: Shape::of($value),)* $($one: $only,)* }
        }

        /// The shapes that always have a value with it, and the others without.
        fn empty() -> ZooSpec {
            ZooSpec { $($field: Shape::without($value),)* $($one: $only,)* }
        }

        const SHAPES: usize = [$(stringify!($field),)* $(stringify!($one)),*].len();
    };
}

/// One shape where it is needed, where it is optional and omitted, and where it is optional and written as null.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Shape<T> {
    plain: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<T>,
    written: Option<T>,
    list: Vec<Option<T>>,
    map: BTreeMap<String, Option<T>>,
}

impl<T: Clone> Shape<T> {
    fn of(value: T) -> Self {
        Self {
            plain: value.clone(),
            omitted: Some(value.clone()),
            written: Some(value.clone()),
            list: vec![Some(value.clone())],
            map: [("one".to_owned(), Some(value))].into(),
        }
    }

    fn without(value: T) -> Self {
        Self {
            plain: value,
            omitted: None,
            written: None,
            list: vec![None],
            map: [("none".to_owned(), None)].into(),
        }
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
enum Level {
    High,
    #[serde(rename = "low (+)")]
    Low,
}

/// The documentation of variants makes a `oneOf` of constants.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
enum Documented {
    /// On.
    On,
    /// Off.
    Off,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
enum Source {
    Git { branch: Option<String> },
    Http(String),
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Port(u16);

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
struct Name {
    inner: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Open {
    known: String,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct OpenTyped {
    known: String,
    #[serde(flatten)]
    others: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Flat {
    #[serde(flatten)]
    size: Size,
    #[serde(flatten)]
    other: Option<Other>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Size {
    width: u32,
    height: Option<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Other {
    depth: u32,
}

#[derive(Clone, Debug, Deserialize, KubeSchema, Serialize)]
struct Ruled {
    #[x_kube(validation = "self > 0")]
    size: i32,
}

/// A type inside itself.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Node {
    name: String,
    children: Vec<Node>,
    next: Option<Box<Node>>,
}

fn strings<C: FromIterator<String>>() -> C {
    ["a", "b"].into_iter().map(str::to_owned).collect()
}

fn any() -> Value {
    json!({ "b": { "c": [1, "two", null, { "d": true }] } })
}

fn map<K: Ord, V>(entry: (K, V)) -> BTreeMap<K, V> {
    BTreeMap::from([entry])
}

zoo! {
    boolean: bool = true,
    i8_: i8 = -8,
    i16_: i16 = -16,
    i32_: i32 = -32,
    i64_: i64 = -64,
    u8_: u8 = 8,
    u16_: u16 = 16,
    u32_: u32 = 32,
    u64_: u64 = 64,
    isize_: isize = -1,
    usize_: usize = 1,
    f32_: f32 = 0.5,
    f64_: f64 = 0.25,
    non_zero: NonZeroU16 = NonZeroU16::MIN,
    char_: char = 'c',
    string: String = "text".to_owned(),
    boxed: Box<String> = Box::new("text".to_owned()),
    address: IpAddr = IpAddr::from([127, 0, 0, 1]),
    vec: Vec<String> = strings(),
    deque: VecDeque<String> = strings(),
    set: BTreeSet<String> = strings(),
    hash_set: HashSet<String> = ["a".to_owned()].into(),
    matrix: Vec<Vec<i32>> = vec![vec![1], vec![]],
    array: [i32; 3] = [1, 2, 3],
    pair: (i32, String) = (1, "one".to_owned()),
    pairs: Vec<(String, bool)> = vec![("a".to_owned(), true)],
    strings_by_name: BTreeMap<String, String> = map(("a".to_owned(), "b".to_owned())),
    hash_map: HashMap<String, i32> = [("a".to_owned(), 1)].into(),
    lists_by_name: BTreeMap<String, Vec<String>> = map(("a".to_owned(), strings())),
    maps_by_name: BTreeMap<String, BTreeMap<String, i32>> = map(("a".to_owned(), map(("b".to_owned(), 1)))),
    by_u16: BTreeMap<u16, String> = map((1, "one".to_owned())),
    by_i32: BTreeMap<i32, Size> = map((-1, Size { width: 1, height: None })),
    level: Level = Level::Low,
    documented: Documented = Documented::Off,
    levels: Vec<Level> = vec![Level::High],
    levels_by_name: BTreeMap<String, Level> = map(("a".to_owned(), Level::High)),
    source: Source = Source::Git { branch: None },
    source_of_one: Source = Source::Http("a".to_owned()),
    port: Port = Port(80),
    name: Name = Name { inner: "a".to_owned() },
    size: Size = Size { width: 1, height: Some(2) },
    sizes: Vec<Size> = vec![Size { width: 1, height: None }],
    flat: Flat = Flat { size: Size { width: 1, height: None }, other: Some(Other { depth: 3 }) },
    flat_without: Flat = Flat { size: Size { width: 1, height: Some(2) }, other: None },
    ruled: Ruled = Ruled { size: 1 },
    open: Open = Open { known: "a".to_owned(), others: map(("b".to_owned(), any())) },
    open_typed: OpenTyped = OpenTyped { known: "a".to_owned(), others: map(("b".to_owned(), "c".to_owned())) },
    node: Node = Node {
        name: "a".to_owned(),
        children: vec![Node { name: "b".to_owned(), children: Vec::new(), next: None }],
        next: Some(Box::new(Node { name: "c".to_owned(), children: Vec::new(), next: None })),
    },
    shared: Box<Size> = Box::new(Size { width: 1, height: None }),
    quantities: BTreeMap<String, Quantity> = map(("cpu".to_owned(), Quantity("1".to_owned()))),
    time: Time = Time(Timestamp::UNIX_EPOCH),
    micro_time: MicroTime = MicroTime(Timestamp::UNIX_EPOCH),
    duration: kube::core::Duration = std::time::Duration::from_secs(90).into(),
    selector: LabelSelector = LabelSelector {
        match_labels: Some(map(("a".to_owned(), "b".to_owned()))),
        ..LabelSelector::default()
    },
    environment: EnvVar = EnvVar { name: "A".to_owned(), ..EnvVar::default() },
    reference: LocalObjectReference = LocalObjectReference { name: "a".to_owned() },
    key: ConfigMapKeySelector = ConfigMapKeySelector {
        key: "a".to_owned(),
        name: "b".to_owned(),
        ..ConfigMapKeySelector::default()
    },
    toleration: Toleration = Toleration { key: Some("a".to_owned()), ..Toleration::default() },
    resources: ResourceRequirements = ResourceRequirements::default(),
    schema: JSONSchemaProps = JSONSchemaProps { type_: Some("string".to_owned()), ..JSONSchemaProps::default() },
    condition: Condition = Condition {
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
        message: String::new(),
        observed_generation: None,
        reason: "Tested".to_owned(),
        status: "True".to_owned(),
        type_: "Ready".to_owned(),
    },
    ;
    quantity: Quantity = Quantity("1Gi".to_owned()),
    some_quantity: Option<Quantity> = Some(Quantity("1.5".to_owned())),
    no_quantity: Option<Quantity> = None,
    int: IntOrString = IntOrString::Int(1),
    int_or_string: IntOrString = IntOrString::String("25%".to_owned()),
    some_int: Option<IntOrString> = Some(IntOrString::Int(1)),
    no_int: Option<IntOrString> = None,
    list_of_ints: Vec<IntOrString> = vec![IntOrString::Int(1)],
    value: Value = any(),
    some_value: Option<Value> = Some(any()),
    no_value: Option<Value> = None,
    text_value: Value = json!("text"),
    values: BTreeMap<String, Value> = map(("a".to_owned(), any())),
    hash_values: HashMap<String, Value> = [("a".to_owned(), any())].into(),
    object: Map<String, Value> = Map::from_iter([("a".to_owned(), any())]),
    values_by_name: BTreeMap<String, BTreeMap<String, Value>> = map(("a".to_owned(), map(("b".to_owned(), any())))),
}

fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<Zoo>();
    crds.merge()
}

#[tokio::test]
async fn what_serde_writes_comes_back_whole() -> Result<()> {
    const { assert!(SHAPES >= 60) };
    let cluster = Cluster::start()?;
    cluster.install(crds()).await?;
    let resource = ApiResource::erase::<Zoo>(&());
    let client = cluster.client()?;
    let raw: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &resource);
    let typed: Api<Zoo> = Api::namespaced(client, NAMESPACE);
    for (name, spec) in [("full", full()), ("empty", empty())] {
        let written = serde_json::to_value(&spec)?;
        let zoo = Zoo::new(name, spec.clone());
        typed.create(&PostParams::default(), &zoo).await?;
        let applied = Zoo::new(&format!("{name}-applied"), spec);
        let manager = PatchParams::apply("test");
        let patch = Patch::Apply(&applied);
        let applied = format!("{name}-applied");
        typed.patch(&applied, &manager, &patch).await?;
        for name in [name, &applied] {
            let stored = raw.get(name).await?;
            let stored = stored.data["spec"].as_object().cloned().unwrap_or_default();
            for (shape, value) in written.as_object().into_iter().flatten() {
                let stored = &stored[shape];
                ensure!(
                    stored == value,
                    "{name} {shape}: {value} is stored as {stored}"
                );
            }
            let read = serde_json::to_value(typed.get(name).await?.spec)?;
            ensure!(read == written, "{name}: {read}");
        }
    }
    Ok(())
}

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Retry",
    plural = "retries",
    namespaced
)]
struct RetrySpec {
    #[serde(default)]
    retries: Retries,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct Retries {
    /// The derived `Default` is 0, which the schema refuses.
    #[serde(default = "seconds")]
    #[schemars(range(min = 1))]
    seconds: u32,
}

fn seconds() -> u32 {
    90
}

#[tokio::test]
async fn the_defaults_of_fields_are_those_of_their_struct() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<Retry>();
    cluster.install(crds.merge()).await?;
    let resource = ApiResource::erase::<Retry>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client()?, NAMESPACE, &resource);
    for (name, spec) in [("empty", json!({})), ("given", json!({ "retries": {} }))] {
        let object = DynamicObject::new(name, &resource).data(json!({ "spec": spec }));
        let stored = api.create(&PostParams::default(), &object).await?;
        ensure!(
            stored.data["spec"] == json!({ "retries": { "seconds": 90 } }),
            "{stored:?}"
        );
    }
    Ok(())
}

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Endless",
    namespaced
)]
struct EndlessSpec {
    tree: Tree,
}

/// kube's derive describes what is inside again and again.
#[derive(Clone, Debug, Deserialize, KubeSchema, Serialize)]
struct Tree {
    branches: Vec<Tree>,
}

/// What a process that runs `test` again says when it makes the CRD of `K`.
fn said<K: CustomResourceExt + JsonSchema + DeserializeOwned>(test: &str) -> Result<String> {
    const VARIABLE: &str = "SAYS";
    if env::var_os(VARIABLE).is_some() {
        let mut crds = Crds::default();
        crds.add_storage::<K>();
        crds.merge()?;
        process::exit(0);
    }
    let mut child = Command::new(env::current_exe()?);
    let child = child.args(["--exact", "--nocapture", test]);
    let ended = child.env(VARIABLE, "1").output()?;
    Ok(String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn a_stack_overflow_names_the_kind() -> Result<()> {
    let text = said::<Endless>("zoo::a_stack_overflow_names_the_kind")?;
    let expected =
        "Endless v1 has a type inside itself, which needs JsonSchema instead of KubeSchema";
    ensure!(text.contains(expected), "{text}");
    Ok(())
}

#[test]
fn a_default_that_is_another_one_in_rust_is_told() -> Result<()> {
    let text = said::<Retry>("zoo::a_default_that_is_another_one_in_rust_is_told")?;
    let expected = "warning: the default of `spec.retries.seconds` of Retry v1 is 90 in the CRD, and 0 in Rust";
    ensure!(text.contains(expected), "{text}");
    Ok(())
}

// `PodTemplateSpec` is as large as the rest together, and embedded once.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Big", namespaced)]
struct BigSpec {
    template: Option<PodTemplateSpec>,
}

#[tokio::test]
async fn a_large_type_may_be_absent() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<Big>();
    cluster.install(crds.merge()).await?;
    let api: Api<Big> = Api::namespaced(cluster.client()?, NAMESPACE);
    let big = Big::new("none", BigSpec { template: None });
    let stored = api.create(&PostParams::default(), &big).await?;
    ensure!(stored.spec.template.is_none());
    Ok(())
}
