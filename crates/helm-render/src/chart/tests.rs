use std::{fs, io::Write};

use flate2::{Compression, write::GzEncoder};
use serde_json::json;
use tar::{Builder, EntryType, Header};

use super::*;

const TOP: &str = "apiVersion: v2\nname: top\nversion: 1.0.0\n";

fn child(name: &str) -> String {
    format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n")
}

fn load(files: &[(&str, &str)]) -> Result<Chart, Error> {
    let files = files.iter();
    Chart::from_files(
        files
            .map(|(name, text)| File::new(*name, text.as_bytes()))
            .collect(),
    )
}

fn error<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    }
}

/// The values and the paths of templates, in Helm's order.
fn rendered(chart: &mut Chart, given: serde_json::Value) -> (Table, Vec<String>) {
    let given = given.as_object().unwrap();
    let mut warnings = Vec::new();
    chart.process_dependencies(given, &mut warnings).unwrap();
    let values = chart.render_values(given, &mut warnings).unwrap();
    let release = Release::default();
    let templates = scope::templates(chart, &values, &release, &Capabilities::default());
    let paths = templates.into_iter().map(|it| it.name).collect();
    (values, paths)
}

#[test]
fn files_have_their_places() {
    let chart = load(&[
        ("Chart.yaml", TOP),
        (
            "values.yaml",
            "---\na: {b: 1, c: 2}\n--- # more\na: {b: 5}\nd: [1]\n",
        ),
        ("templates/a.yaml", ""),
        ("crds/a.yaml", ""),
        ("crds/a.txt", ""),
        ("README.md", ""),
        ("charts/_no/Chart.yaml", "- wrong"),
        ("charts/.no/Chart.yaml", "- wrong"),
        ("charts/x.prov", ""),
        ("charts/s/Chart.yaml", &child("sub")),
        ("charts/s/README.md", ""),
        ("charts/s/crds/B.JSON", ""),
    ])
    .unwrap();
    assert_eq!(
        json!(chart.values),
        json!({"a": {"b": 5, "c": 2}, "d": [1]})
    );
    let names: Vec<&str> = chart.files.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["crds/a.yaml", "crds/a.txt", "README.md", "charts/x.prov"]
    );
    assert_eq!(chart.dependencies.len(), 1);
    let crds: Vec<String> = chart.crds().into_iter().map(|it| it.path).collect();
    assert_eq!(crds, ["top/crds/a.yaml", "top/charts/sub/crds/B.JSON"]);
}

#[test]
fn what_is_no_chart() {
    for (files, wrong) in [
        (
            vec![("a", "")],
            "unable to detect chart version, no Chart.yaml found",
        ),
        (
            vec![("Chart.yaml", "apiVersion: v9")],
            "unsupported chart version",
        ),
        (
            vec![("Chart.yaml", "apiVersion: v3")],
            "invalid chart apiVersion",
        ),
        (
            vec![("Chart.yaml", TOP), ("values.yaml", "a: 1\n--- b\n")],
            "cannot load values.yaml: error reading yaml document: invalid Yaml document separator: b",
        ),
        (
            vec![("Chart.yaml", TOP), ("charts/README.md", "")],
            "error unpacking subchart README.md in top: Chart.yaml file is missing",
        ),
        (
            vec![("Chart.yaml", TOP), ("charts/x.tgz/a", "")],
            "error unpacking subchart tar in top: expected x.tgz, got x.tgz/a",
        ),
        (
            vec![("Chart.yaml", TOP), ("Chart.lock", "generated: x")],
            "cannot load Chart.lock: error unmarshaling JSON: while decoding JSON: parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
        ),
    ] {
        assert_eq!(error(load(&files)), wrong);
    }
}

#[test]
fn charts_of_version_1_list_dependencies_elsewhere() {
    let list = "dependencies: [{name: sub, version: '*', alias: other}]";
    let lock = "generated: 2024-01-31T12:00:00.5+02:00\ndigest: x";
    let chart = load(&[
        ("Chart.yaml", "name: top\nversion: 1"),
        ("requirements.yaml", list),
        ("requirements.lock", lock),
    ])
    .unwrap();
    assert_eq!(chart.metadata.api_version, "v1");
    assert_eq!(chart.missing_dependencies(), ["sub"]);
    assert_eq!(chart.files.len(), 2);
    assert_eq!(chart.lock.unwrap().digest, "x");
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, data) in entries {
        let mut header = Header::new_gnu();
        // The crate refuses some names that others write.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        let is_link = name.ends_with("link");
        header.set_entry_type(if is_link {
            EntryType::Symlink
        } else {
            EntryType::Regular
        });
        header.set_size(data.len() as u64);
        header.set_cksum();
        builder.append(&header, *data).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[test]
fn archives_are_read() {
    let sub = archive(&[("s/Chart.yaml", child("sub").as_bytes())]);
    let chart = Chart::read_archive(&*archive(&[
        ("x/Chart.yaml", &[b"\xEF\xBB\xBF", TOP.as_bytes()].concat()),
        ("/x/a.txt", b"1"),
        ("x\\templates\\b.yaml", b"2"),
        ("x/templates/link", b""),
        ("x/charts/sub-1.0.0.tgz", &sub),
    ]))
    .unwrap();
    assert_eq!(chart.dependencies[0].name(), "sub");
    assert_eq!(chart.files, [File::new("x/a.txt", *b"1")]);
    let templates = [
        File::new("templates/b.yaml", *b"2"),
        File::new("templates/link", *b""),
    ];
    assert_eq!(chart.templates, templates);
}

#[test]
fn archives_that_are_refused() {
    for (name, wrong) in [
        ("x/../../y", "chart illegally references parent directory"),
        ("x/..y", "chart illegally references parent directory"),
        ("x\\..\\y", "chart illegally references parent directory"),
        ("x//etc/y", "chart illegally contains absolute paths"),
        ("x/c:/y", "chart contains illegally named files"),
        (
            "y",
            "chart illegally contains content outside the base directory: \"y\"",
        ),
        ("Chart.yaml/x", "chart yaml not in base directory"),
    ] {
        let archive = archive(&[("x/Chart.yaml", TOP.as_bytes()), (name, b"")]);
        assert_eq!(error(Chart::read_archive(&*archive)), wrong);
    }
    let empty = error(Chart::read_archive(&*archive(&[])));
    assert_eq!(empty, "no files in chart archive");
}

#[test]
fn bounds_hold() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tgz");
    let within = |bounds: Bounds| error(Chart::load_within(&path, bounds, &mut Vec::new()));
    let default = Bounds::default();
    let zeros = vec![0; 5000];
    let sub = archive(&[("s/Chart.yaml", child("s").as_bytes()), ("s/a", &zeros)]);
    let entries: [(&str, &[u8]); 4] = [
        ("x/Chart.yaml", TOP.as_bytes()),
        ("x/a", &zeros),
        ("x/charts/a.tgz", &sub),
        ("x/charts/b.tgz", &sub),
    ];
    fs::write(&path, archive(&entries)).unwrap();
    assert!(Chart::load(&path).is_ok());
    let size = within(Bounds {
        size: 5000,
        ..default
    });
    assert!(
        size.ends_with("decompressed chart is larger than the maximum size 5000"),
        "{size}"
    );
    let all = within(Bounds {
        all: 15_000,
        ..default
    });
    assert!(all.ends_with("hold more than 15000 bytes"), "{all}");
    let files = within(Bounds {
        files: 5,
        ..default
    });
    assert!(files.ends_with("more than 5 files"), "{files}");
    let depth = within(Bounds {
        depth: 0,
        ..default
    });
    assert!(depth.ends_with("nested deeper than 0"), "{depth}");

    // The name of an entry may be in another entry before it, which is read at once.
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::GNULongName);
    header.set_size(3 << 20);
    header.set_cksum();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(header.as_bytes()).unwrap();
    bomb.write_all(&vec![b'a'; 3 << 20]).unwrap();
    fs::write(&path, bomb.finish().unwrap()).unwrap();
    let bomb = within(Bounds {
        size: 1 << 20,
        files: 5,
        ..default
    });
    assert!(bomb.ends_with("the archive is too large"), "{bomb}");
}

#[cfg(unix)]
#[test]
fn links_stay_in_the_chart() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let chart = directory.path().join("chart");
    fs::create_dir_all(chart.join("templates")).unwrap();
    fs::write(chart.join("Chart.yaml"), TOP).unwrap();
    fs::write(chart.join("templates/a.yaml"), "a: 1").unwrap();
    fs::write(directory.path().join("secret"), "1").unwrap();
    symlink("templates", chart.join("more")).unwrap();
    let loaded = Chart::load(&chart).unwrap();
    assert_eq!(loaded.files, [File::new("more/a.yaml", *b"a: 1")]);
    fs::remove_file(chart.join("more")).unwrap();
    for (target, wrong) in [
        (
            "../../secret",
            "the link templates/l leads out of the chart, to ",
        ),
        ("..", "the link templates/l leads to a directory around it"),
        ("nothing", "error evaluating symlink "),
    ] {
        let link = chart.join("templates/l");
        symlink(target, &link).unwrap();
        let error = error(Chart::load(&chart));
        assert!(error.starts_with(wrong), "{error}");
        fs::remove_file(link).unwrap();
    }
    fs::rename(
        chart.join("Chart.yaml"),
        directory.path().join("Chart.yaml"),
    )
    .unwrap();
    symlink("../Chart.yaml", chart.join("Chart.yaml")).unwrap();
    let wrong = error(Chart::load(&chart));
    assert!(
        wrong.starts_with("the link Chart.yaml leads out of the chart"),
        "{wrong}"
    );
    fs::remove_file(chart.join("Chart.yaml")).unwrap();
    fs::rename(
        directory.path().join("Chart.yaml"),
        chart.join("Chart.yaml"),
    )
    .unwrap();
    symlink("../secret", chart.join("l")).unwrap();
    fs::write(chart.join(".helmignore"), "/l\n").unwrap();
    let loaded = Chart::load(&chart).unwrap();
    assert_eq!(loaded.files, [File::new(".helmignore", *b"/l\n")]);
}

const LIST: &str = "dependencies:
- {name: child, version: '1.x', alias: a, condition: 'a.no,a.enabled', import-values: [d, {child: x, parent: z}]}
- {name: child, version: ^1.0.0, alias: b, tags: [t]}
- {name: child, version: 2.x}
";

/// A chart with a child under two names, whose grandchild has a child.
fn aliased() -> Chart {
    load(&[
        ("Chart.yaml", &format!("{TOP}{LIST}")),
        ("charts/child/Chart.yaml", &child("child")),
        (
            "charts/child/values.yaml",
            "x: {k: 1}\nexports: {d: {v: 2, n: null}}\n",
        ),
        ("charts/child/templates/a.yaml", ""),
        ("charts/child/charts/grand/Chart.yaml", &child("grand")),
        ("charts/child/charts/grand/templates/a.yaml", ""),
        (
            "charts/child/charts/grand/charts/great/Chart.yaml",
            &child("great"),
        ),
        (
            "charts/child/charts/grand/charts/great/templates/a.yaml",
            "",
        ),
    ])
    .unwrap()
}

#[test]
fn one_chart_under_two_aliases() {
    let mut chart = aliased();
    let (values, paths) = rendered(&mut chart, json!({}));
    assert_eq!(values["v"], json!(2));
    assert_eq!(values["z"], json!({"k": 1}));
    // What is two levels below keeps the name that the chart had, and so there is one of it only.
    assert_eq!(
        paths,
        [
            "top/charts/child/charts/grand/charts/great/templates/a.yaml",
            "top/charts/b/charts/grand/templates/a.yaml",
            "top/charts/a/charts/grand/templates/a.yaml",
            "top/charts/b/templates/a.yaml",
            "top/charts/a/templates/a.yaml",
        ]
    );
    let names: Vec<&str> = chart
        .metadata
        .depends_on()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "child"]);
}

#[test]
fn conditions_and_tags_switch_charts_off() {
    for (given, names) in [
        (json!({}), vec!["a", "b"]),
        (json!({"a": {"enabled": false}}), vec!["b"]),
        (
            json!({"a": {"enabled": "nonsense"}, "tags": {"t": false}}),
            vec!["a"],
        ),
        (json!({"a": {"no": false, "enabled": true}}), vec!["b"]),
        (json!({"tags": {"t": "nonsense"}}), vec!["a", "b"]),
    ] {
        let mut chart = aliased();
        rendered(&mut chart, given.clone());
        let there: Vec<&str> = chart.dependencies.iter().map(Chart::name).collect();
        assert_eq!(there, names, "{given}");
    }
}

#[test]
fn imported_tables_are_shared() {
    let list = "dependencies: [{name: a, version: '*', import-values: [{child: t, parent: p}]}, {name: b, version: '*', import-values: [{child: t, parent: p}]}]";
    let mut chart = load(&[
        ("Chart.yaml", &format!("{TOP}{list}")),
        ("charts/a/Chart.yaml", &child("a")),
        ("charts/a/values.yaml", "t: {k: 1}"),
        ("charts/b/Chart.yaml", &child("b")),
        ("charts/b/values.yaml", "t: {k: 2, l: 3}"),
    ])
    .unwrap();
    let (values, _) = rendered(&mut chart, json!({}));
    assert_eq!(values["p"], json!({"k": 1, "l": 3}));
    assert_eq!(values["a"]["t"], json!({"k": 1, "l": 3}));
    assert_eq!(values["b"]["t"], json!({"k": 2, "l": 3}));
}

#[test]
fn aliases_make_no_more_charts_than_bearable() {
    let aliases = |name: &str| {
        let one = |at: usize| format!("- {{name: {name}, version: '*', alias: x{at}}}\n");
        let all: String = (0..30).map(one).collect();
        format!("dependencies:\n{all}")
    };
    let mut chart = load(&[
        ("Chart.yaml", &format!("{TOP}{}", aliases("a"))),
        (
            "charts/a/Chart.yaml",
            &format!("{}{}", child("a"), aliases("b")),
        ),
        (
            "charts/a/charts/b/Chart.yaml",
            &format!("{}{}", child("b"), aliases("c")),
        ),
        ("charts/a/charts/b/charts/c/Chart.yaml", &child("c")),
    ])
    .unwrap();
    assert_eq!(
        error(chart.process_dependencies(&Table::new(), &mut Vec::new())),
        "chart dependencies processing failed: aliases make more than 10000 charts"
    );
}

#[test]
fn each_template_sees_its_chart() {
    let mut chart = load(&[
        ("Chart.yaml", TOP),
        ("templates/a.yaml", ""),
        ("templates/_p.tpl", ""),
        ("values.yaml", "lib: {k: 1}\nglobal: {g: 2}"),
        (
            "charts/lib/Chart.yaml",
            &format!("{}type: library\n", child("lib")),
        ),
        ("charts/lib/f.txt", "l1\nl2\n"),
        ("charts/lib/templates/no.yaml", ""),
        ("charts/lib/templates/_yes.tpl", "text"),
    ])
    .unwrap();
    let (values, paths) = rendered(&mut chart, json!({}));
    assert_eq!(
        paths,
        [
            "top/charts/lib/templates/_yes.tpl",
            "top/templates/a.yaml",
            "top/templates/_p.tpl"
        ]
    );
    let release = Release::default();
    let templates = scope::templates(&chart, &values, &release, &Capabilities::default());
    let text =
        |template: &Template, field: &str| crate::go::print::any(&template.dot.get(field).unwrap());
    let [partial, own, _] = &templates[..] else {
        panic!("{} templates", templates.len());
    };
    assert!(partial.is_partial() && !own.is_partial());
    assert_eq!(text(partial, "Values"), "map[global:map[g:2] k:1]");
    assert_eq!(text(partial, "Files"), "map[f.txt:[108 49 10 108 50 10]]");
    assert_eq!(text(own, "Files"), "map[]");
    own.begin();
    assert_eq!(
        text(own, "Template"),
        "map[BasePath:top/templates Name:top/templates/a.yaml]"
    );
    assert_eq!(
        text(own, "Release"),
        "map[IsInstall:true IsUpgrade:false Name:release-name Namespace:default Revision:1 Service:Helm]"
    );
}

#[test]
fn ranges_of_kubernetes() {
    for (range, is_in) in [("", true), (">= 1.20.0", true), (">= 1.40.0", false)] {
        let chart = load(&[("Chart.yaml", &format!("{TOP}kubeVersion: '{range}'"))]).unwrap();
        let checked = chart.check_kube_version(&Capabilities::default().kube_version);
        assert_eq!(checked.is_ok(), is_in, "{range}");
    }
}
