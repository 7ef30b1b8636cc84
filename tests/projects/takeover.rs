//! A Go operator in kubebuilder's layout, `tests/takeover/go`, whose place its port takes in a cluster with objects, and which comes
//! back: what is in `PORTING.md` is done as it says, no object changes but by a reconcile, and the audit log shows that never two
//! lead.

mod audit;
mod cluster;
mod objects;
mod operators;
mod releases;

use std::{thread::sleep, time::Duration};

use crate::project::place_of_projects;
use audit::Who::{self, Go, Port};
use cluster::Cluster;
use objects::{Rota, Snapshot};
use operators::{Operator, Running, Switch};

/// Longer than a Lease of controller-runtime or operator-runtime lasts: who does not wait for the leader leads by then.
const LONGER_THAN_A_LEASE: Duration = Duration::from_secs(20);

#[test]
#[ignore = "builds a Go operator and its port: run `make takeover`"]
fn a_port_takes_the_place_of_a_go_operator_and_gives_it_back() {
    let (directory, _lock) = place_of_projects();
    let go = Operator::in_go();
    let port = Operator::ported(&go, &directory);
    let switch = Switch::read(&directory);
    let mut story = Story {
        cluster: Cluster::start(),
        rotas: Vec::new(),
        go,
        port,
    };

    // The Go operator, and the objects of its users.
    story.go.deploy(&story.cluster, &switch.start);
    story.cluster.kubectl("create namespace night");
    story.create("default/sre", &["ada", "grace", "mary"], "Week", 1);
    story.create("default/web", &["alan"], "Day", 2);
    story.create("default/empty", &[], "Week", 0);
    story.create("night/sre", &["edsger", "barbara"], "Day", 1);
    story.create("night/old", &["donald", "tony"], "Week", 1);
    let leader = story.start(Go);
    story.settle(&leader);

    // The switch, as the list says.
    let before = story.snapshot();
    story.cluster.run(&switch.stop);
    leader.stop();
    story.port.deploy(&story.cluster, &switch.start);
    let leader = story.start(Port);
    story.settle(&leader);
    story.assert_kept(&before, &leader);
    // What only Go has is deleted, and the port starts again, which changes nothing.
    let before = story.snapshot();
    leader.stop();
    story.delete_what_only_go_has();
    let leader = story.start(Port);
    story.settle(&leader);
    story.snapshot().assert_same(&before);
    // Fields that Go has written go with the members.
    story.edit("default/sre", &["grace", "mary"], "Day", 3);
    story.edit("default/web", &[], "Day", 2);
    story.edit("default/empty", &["margaret"], "Week", 1);
    story.create("night/new", &["katherine", "dorothy"], "Day", 1);
    story.delete("night/old");
    story.settle(&leader);

    // And back: Go finds everything as it would have written it.
    let before = story.snapshot();
    story.cluster.run(&switch.stop_again);
    leader.stop();
    story.go.deploy(&story.cluster, &switch.start_again);
    let leader = story.start(Go);
    story.settle(&leader);
    story.snapshot().assert_same(&before);
    story.edit("default/sre", &["mary"], "Week", 1);
    story.edit("default/web", &["alan", "ada"], "Week", 2);
    story.edit("default/empty", &[], "Week", 0);
    story.delete("night/new");
    story.settle(&leader);

    // Without the steps: the one that starts waits for the other one.
    let (leader, before) = story.relieve(leader, Port);
    story.assert_kept(&before, &leader);
    story.edit("night/sre", &["barbara"], "Day", 1);
    story.edit("default/web", &[], "Day", 2);
    story.settle(&leader);
    let (leader, before) = story.relieve(leader, Go);
    story.snapshot().assert_same(&before);
    story.delete("default/sre");
    story.settle(&leader);
    leader.stop();

    let log = story.cluster.log();
    println!("{log}");
    log.assert_one_leader_at_a_time(&[Go, Port, Port, Go, Port, Go]);
}

/// A cluster, what its users want of it, and the two operators.
struct Story {
    cluster: Cluster,
    rotas: Vec<Rota>,
    go: Operator,
    port: Operator,
}

impl Story {
    fn create(&mut self, name: &str, members: &[&str], shift: &str, replicas: u8) {
        let rota = Rota::new(name, members, shift, replicas);
        self.cluster.apply(&rota.manifest());
        self.rotas.push(rota);
    }

    fn edit(&mut self, name: &str, members: &[&str], shift: &str, replicas: u8) {
        self.rotas.retain(|rota| rota.name != name);
        self.create(name, members, shift, replicas);
    }

    /// Deletes a Rota, which the leader has to let go: it has a finalizer, perhaps of the other operator.
    fn delete(&mut self, name: &str) {
        self.rotas.retain(|rota| rota.name != name);
        let (namespace, name) = name.split_once('/').unwrap();
        self.cluster.kubectl(&format!(
            "delete rota {name} -n {namespace} --wait=true --timeout=60s"
        ));
    }

    fn delete_what_only_go_has(&self) {
        let [go, port] = [&self.go, &self.port].map(|it| it.objects(&self.cluster));
        for object in go.difference(&port) {
            println!("only the Go operator has {object}");
            let delete = format!("delete {object} -n {}", cluster::NAMESPACE);
            self.cluster.kubectl(&delete);
        }
    }

    fn start(&self, who: Who) -> Running {
        let operator = match who {
            Go => &self.go,
            Port => &self.port,
            Who::Other => unreachable!("it is no operator"),
        };
        Running::start(operator, &self.cluster)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.cluster)
    }

    /// Waits until `leader` leads, every object is what the Rotas say, and nobody writes any more.
    #[track_caller]
    fn settle(&self, leader: &Running) {
        leader.eventually("it leads", || {
            self.cluster.log().leader() == Some(leader.who)
        });
        let what = || self.snapshot().difference(&self.rotas);
        leader.eventually_none(what);
        let mut written = self.cluster.log().written();
        leader.eventually("it has nothing more to write", || {
            sleep(Duration::from_secs(3));
            let before = std::mem::replace(&mut written, self.cluster.log().written());
            before == written
        });
        leader.eventually_none(what);
    }

    /// Asserts that the objects are those of `before`, that none has changed but by a write of `leader`, and that `leader` had
    /// nothing to say about what they contain.
    #[track_caller]
    fn assert_kept(&self, before: &Snapshot, leader: &Running) {
        assert_eq!(self.cluster.log().leader(), Some(leader.who));
        self.snapshot()
            .assert_kept(before, &self.cluster.log().changed_in_term());
    }

    /// Starts the other operator beside `leader`, which goes on to lead, then stops `leader`. Returns the other one, which leads,
    /// and the objects from before.
    fn relieve(&mut self, leader: Running, next: Who) -> (Running, Snapshot) {
        let written = self.cluster.log().written_by(next);
        let waiting = self.start(next);
        sleep(LONGER_THAN_A_LEASE);
        self.create(&format!("night/before-{next}"), &["tony"], "Day", 1);
        self.settle(&leader);
        let written_since = self.cluster.log().written_by(next);
        assert_eq!(
            written_since, written,
            "{next} writes while the other one leads"
        );
        let before = self.snapshot();
        leader.stop();
        self.settle(&waiting);
        (waiting, before)
    }
}
