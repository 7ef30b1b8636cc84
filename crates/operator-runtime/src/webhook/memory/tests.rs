use std::convert::Infallible;

use axum::body::Body;
use futures::{
    future::join_all,
    stream::{pending, repeat_with},
};

use super::*;

#[test]
fn sizes() {
    for (text, bytes) in [
        (DEFAULT_SIZE, Some(DEFAULT)),
        ("1048576", Some(1 << 20)),
        ("2048Ki", Some(2 << 20)),
        ("1Gi", Some(1 << 30)),
        ("1Ki", None),
        ("72M", None),
        ("Mi", None),
        ("-1Mi", None),
        ("1.5Gi", None),
        ("99999999999999999999Gi", None),
        ("99999999999Gi", None),
        ("", None),
    ] {
        assert_eq!(size(text).ok(), bytes, "{text}");
    }
}

const COST: Cost = Cost {
    most: usize::MAX,
    patience: Duration::from_secs(20),
};

const LARGE: usize = 3 << 20;

/// A body whose client sends this many bytes, and then no more.
fn stalled(bytes: usize) -> BodyDataStream {
    let sent = futures::stream::iter(parts(bytes).map(Ok::<_, Infallible>));
    Body::from_stream(sent.chain(pending())).into_data_stream()
}

/// A body that is already there.
fn whole(bytes: usize) -> BodyDataStream {
    let sent = futures::stream::iter(parts(bytes).map(Ok::<_, Infallible>));
    Body::from_stream(sent).into_data_stream()
}

fn parts(bytes: usize) -> impl Iterator<Item = Bytes> + Send {
    const PART: usize = 32 * 1024;
    (0..bytes)
        .step_by(PART)
        .map(move |begin| Bytes::from(vec![b'a'; PART.min(bytes - begin)]))
}

/// Reads a body to its end, computes for a while, and gives the memory back.
async fn read(memory: &Memory, announced: usize, mut parts: BodyDataStream) -> Result<usize, Stop> {
    let claim = memory.claim(COST, Some(announced));
    let mut length = 0;
    while let Some(part) = claim.read(&mut parts).await? {
        length += part.len();
    }
    tokio::time::sleep(Duration::from_millis(2)).await;
    Ok(length)
}

/// Whether it ends within two seconds, as no client waits longer.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    let end = timeout(Duration::from_secs(2), what).await;
    end.expect("it takes more than 2 s")
}

/// One client announced 3.7 MB and sent nothing: every other review waited 20 s.
#[tokio::test]
async fn an_announced_length_takes_no_memory() {
    let memory = Memory::default();
    let idle = (0..300).map(|_| read(&memory, LARGE, stalled(0)));
    let asked = soon(read(&memory, LARGE, whole(LARGE)));
    let both = futures::future::select(Box::pin(join_all(idle)), Box::pin(asked));
    let futures::future::Either::Right((asked, idle)) = both.await else {
        panic!("the idle ones ended first");
    };
    assert_eq!(asked.unwrap(), LARGE);
    // About a second after the headers, they are given up.
    for idle in soon(idle).await {
        assert!(matches!(idle, Err(Stop::Slow(0, _))), "{idle:?}");
    }
    assert_eq!(memory.free(), DEFAULT as usize);
}

/// Half-read bodies fill the memory, and their clients send no more.
#[tokio::test]
async fn the_slowest_client_is_dropped_where_memory_is_used_up() {
    let memory = Memory::default();
    let half = (0..20).map(|_| read(&memory, LARGE, stalled(LARGE / 2)));
    let mut half = Box::pin(join_all(half));
    let asked = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut lengths = Vec::new();
        for _ in 0..5 {
            lengths.push(soon(read(&memory, LARGE, whole(LARGE))).await.unwrap());
        }
        lengths
    };
    let (lengths, ended) = tokio::join!(asked, &mut half);
    assert_eq!(lengths, [LARGE; 5]);
    assert!(ended.iter().all(Result::is_err));
    assert!(ended.iter().any(|end| matches!(end, Err(Stop::Full))));
    assert_eq!(memory.free(), DEFAULT as usize);
}

/// None waits for another one that is half-read as well.
#[tokio::test]
async fn half_read_bodies_do_not_wait_for_each_other() {
    let memory = Memory::default();
    // Without a length, nothing lets them come one after the other.
    let all = (0..50).map(async |_| {
        let claim = memory.claim(COST, None);
        let mut parts = whole(LARGE);
        while let Some(_part) = claim.read(&mut parts).await? {
            tokio::task::yield_now().await;
        }
        Ok::<_, Stop>(())
    });
    let ended = soon(join_all(all)).await;
    assert!(ended.iter().any(Result::is_ok));
    assert_eq!(memory.free(), DEFAULT as usize);
}

/// As before an announced length took memory as soon as it was announced.
#[tokio::test]
async fn large_requests_of_fast_clients_come_one_after_the_other() {
    let memory = Memory::default();
    let all = (0..20).map(|_| read(&memory, LARGE, whole(LARGE)));
    for length in soon(join_all(all)).await {
        assert_eq!(length.unwrap(), LARGE);
    }
}

#[tokio::test]
async fn large_requests_never_take_the_reserve_of_small_ones() {
    let memory = Memory::default();
    let claim = memory.claim(COST, Some(LARGE));
    let mut parts = whole(2 * LARGE);
    // More than the large ones may have, all of it running: nothing is dropped.
    while memory.free() > DEFAULT as usize / RESERVE {
        claim.read(&mut parts).await.unwrap();
    }
    assert_eq!(memory.free(), DEFAULT as usize / RESERVE);
    for _ in 0..100 {
        let small = read(&memory, 30_000, whole(30_000));
        assert_eq!(soon(small).await.unwrap(), 30_000);
    }
    let all = (0..100).map(|_| read(&memory, 10_000, whole(10_000)));
    assert!(soon(join_all(all)).await.iter().all(Result::is_ok));
    // Small ones that stall are dropped for others, too.
    let stalled = (0..200).map(|_| read(&memory, 60_000, stalled(50_000)));
    let mut stalled = Box::pin(join_all(stalled));
    let asked = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        soon(read(&memory, 30_000, whole(30_000))).await
    };
    let (asked, _) = tokio::join!(asked, &mut stalled);
    assert_eq!(asked.unwrap(), 30_000);
    drop(claim);
    assert_eq!(memory.free(), DEFAULT as usize);
}

/// A byte now and then.
#[tokio::test]
async fn a_dripping_client_is_given_up() {
    let memory = Memory {
        first: Duration::from_millis(200),
        ..Memory::default()
    };
    let drip = repeat_with(|| ()).then(async |()| {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Ok::<_, Infallible>(Bytes::from_static(b"a"))
    });
    let drip = Body::from_stream(Box::pin(drip)).into_data_stream();
    let end = soon(read(&memory, LARGE, drip)).await;
    assert!(matches!(end, Err(Stop::Slow(1..10, _))), "{end:?}");
}

/// A client that does not read its response is slow, too.
#[tokio::test]
async fn a_response_that_is_not_read_is_dropped_where_memory_is_used_up() {
    let memory = Memory::default();
    let claim = memory.claim(COST, Some(LARGE));
    let mut parts = whole(LARGE);
    while claim.read(&mut parts).await.unwrap().is_some() {}
    let unread = async {
        let end = claim.write(std::future::pending::<()>(), 1).await;
        drop(claim);
        end
    };
    let (unread, asked) = tokio::join!(unread, soon(read(&memory, LARGE, whole(LARGE))));
    assert!(matches!(unread, Err(Stop::Full)));
    assert_eq!(asked.unwrap(), LARGE);
}
