use super::*;
use crate::leader::decide::{claim, release};

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    renew: Duration::from_secs(10),
    retry: Duration::from_secs(2),
    poll: Duration::from_secs(3),
};

fn second(second: u64) -> Duration {
    Duration::from_secs(second)
}

fn lease(holder: &str) -> Answer {
    let spec = claim(None, holder, TIMING.lease, Timestamp::UNIX_EPOCH);
    Answer::Lease(Box::new(Lease {
        spec: Some(spec),
        ..Lease::default()
    }))
}

fn released(holder: &str) -> Answer {
    let Answer::Lease(mut lease) = lease(holder) else {
        unreachable!()
    };
    let spec = lease.spec.take().unwrap();
    lease.spec = Some(release(&spec, Timestamp::UNIX_EPOCH));
    Answer::Lease(lease)
}

/// The steps of a candidate `a` at the given seconds, each followed by the response to a call.
fn steps(elector: &mut Elector, script: &[(u64, Answer)]) -> String {
    let mut steps = Vec::new();
    for (now, answer) in script {
        steps.push(step(elector, *now));
        elector.answer(answer.clone(), second(*now));
    }
    let (last, _) = script.last().unwrap();
    steps.push(step(elector, *last));
    steps.join(" ")
}

fn step(elector: &mut Elector, now: u64) -> String {
    match elector.step(second(now), Timestamp::UNIX_EPOCH) {
        Step::Call(Call::Get) => "get".to_owned(),
        Step::Call(Call::Create(_)) => "create".to_owned(),
        Step::Call(Call::Replace(lease)) => {
            let holder = lease.spec.unwrap().holder_identity.unwrap();
            format!("replace:{holder}")
        }
        Step::Wait(until) => format!("wait:{}", until.as_secs()),
        Step::Lost => "lost".to_owned(),
        Step::Left => "left".to_owned(),
    }
}

fn candidate() -> Elector {
    Elector::new("a".to_owned(), TIMING)
}

fn leader() -> Elector {
    let mut leader = candidate();
    let script = [(100, Answer::Missing), (100, lease("a"))];
    assert_eq!(steps(&mut leader, &script), "get create wait:102");
    assert_eq!(leader.leads_until(), Some(second(110)));
    leader
}

#[test]
fn a_follower() {
    use Answer::*;
    let cases: [(&[(u64, Answer)], &str); 8] = [
        // The Lease of another holder is read each period, and taken when it expires.
        (&[(100, lease("b")), (103, lease("b"))], "get get wait:106"),
        (
            &[
                (100, lease("b")),
                (103, Failed),
                (106, lease("b")),
                (115, lease("a")),
            ],
            "get get get replace:a wait:117",
        ),
        // A released Lease, or this process' own, is taken at once.
        (
            &[(100, released("b")), (100, lease("a"))],
            "get replace:a wait:102",
        ),
        (
            &[(100, lease("a")), (100, lease("a"))],
            "get replace:a wait:102",
        ),
        // Another candidate was faster.
        (
            &[(100, released("b")), (100, Conflict), (100, lease("c"))],
            "get replace:a get wait:103",
        ),
        // A deleted Lease may still count for its holder.
        (
            &[(100, lease("b")), (103, Missing), (106, Missing)],
            "get get get wait:109",
        ),
        // Without an API server, or without the namespace, the candidate retries once a period.
        (&[(100, Failed), (103, Failed)], "get get wait:106"),
        (
            &[(100, Missing), (100, Missing), (103, Missing)],
            "get create get create",
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(steps(&mut candidate(), script), expected);
    }
}

#[test]
fn a_leader() {
    use Answer::*;
    let cases: [(&[(u64, Answer)], &str); 7] = [
        (
            &[(102, lease("a")), (104, lease("a"))],
            "replace:a replace:a wait:106",
        ),
        // The response was lost, and the Lease is newer than known.
        (
            &[
                (102, Failed),
                (104, lease("a")),
                (104, Conflict),
                (104, lease("a")),
            ],
            "replace:a get replace:a get replace:a",
        ),
        // After the deadline, whatever comes then.
        (&[(102, Failed), (110, Failed)], "replace:a lost lost"),
        (
            &[(102, Failed), (109, lease("a")), (109, Failed)],
            "replace:a get replace:a wait:110",
        ),
        // Any other holder of the Lease may lead.
        (&[(102, Conflict), (102, lease("b"))], "replace:a get lost"),
        (
            &[(102, Conflict), (102, released("b"))],
            "replace:a get lost",
        ),
        (&[(102, Missing)], "replace:a lost"),
    ];
    for (script, expected) in cases {
        assert_eq!(steps(&mut leader(), script), expected);
    }
}

#[test]
fn a_leader_that_has_something_to_say() {
    let mut leader = leader();
    leader.hurry(second(101));
    let script = [(101, lease("a"))];
    assert_eq!(steps(&mut leader, &script), "replace:a wait:103");
    let mut follower = candidate();
    follower.hurry(second(100));
    let script = [(100, lease("b")), (103, lease("b"))];
    assert_eq!(steps(&mut follower, &script), "get get wait:106");
}

#[test]
fn leaving() {
    use Answer::*;
    let cases: [(&[(u64, Answer)], &str); 5] = [
        (&[(101, released("a"))], "replace: left"),
        // The release is retried while no other candidate can lead.
        (
            &[(101, Conflict), (101, lease("a")), (101, released("a"))],
            "replace: get replace: left",
        ),
        (&[(101, Conflict), (101, lease("b"))], "replace: get left"),
        (&[(101, Failed)], "replace: left"),
        (&[(110, Failed)], "left left"),
    ];
    for (script, expected) in cases {
        let mut leader = leader();
        leader.leave(second(101));
        assert_eq!(leader.leads_until(), None);
        assert_eq!(steps(&mut leader, script), expected);
    }
    let mut follower = candidate();
    follower.leave(second(100));
    assert_eq!(step(&mut follower, 100), "left");
}
