//! The client with a faulty server.

use std::time::{Duration, Instant};

use tile_remote::{Address, CallError, LARGEST, Server};
use tile_remote_tests::{Fake, Fault};

const TIMEOUT: Duration = Duration::from_secs(20);
const KEY: [u8; 32] = [7; 32];

fn client(fake: &Fake) -> Server {
    Server::new(fake.address().parse().expect("an address"))
}

/// Bytes that cannot be compressed.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let step = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..length).map(step).collect()
}

/// Stored blobs are found: in messages, in streams, and inlined in results, also by another client.
#[test]
fn what_is_kept_is_found() {
    for (length, batches, inline) in [
        (0, 4 << 20, false),
        (1, 4 << 20, false),
        (100_000, 4 << 20, true),
        (1 << 20, 0, false),
        ((1 << 20) + 1, 4 << 20, false),
        (5_000_000, 4 << 20, false),
        (100_000, 4096, false),
    ] {
        let fake = Fake::start();
        fake.limit_batches(batches);
        if inline {
            fake.inline();
        }
        let blob = noise(length);
        let first = client(&fake);
        assert_eq!(first.find(&KEY, TIMEOUT), Ok(None));
        assert_eq!(first.keep(&KEY, blob.clone(), TIMEOUT), Ok(()), "{length}");
        assert_eq!((first.find(&KEY, TIMEOUT), fake.results()), (Ok(Some(blob.clone())), 1), "{length}");
        assert_eq!(client(&fake).find(&KEY, TIMEOUT), Ok(Some(blob.clone())), "{length}");
        assert_eq!(first.find(&[8; 32], TIMEOUT), Ok(None));
        // The second time, only the result is sent.
        let sent = fake.calls("BatchUpdateBlobs") + fake.calls("Write");
        assert_eq!(first.keep(&KEY, blob, TIMEOUT), Ok(()));
        assert_eq!(fake.calls("BatchUpdateBlobs") + fake.calls("Write"), sent);
        assert_eq!(fake.calls("Read") > 0, length > 2 << 20 || batches == 4096, "{length}");
        // Each client requests the server's capabilities once.
        assert_eq!(fake.calls("GetCapabilities"), 2);
    }
}

#[test]
fn instances_are_named_in_every_call() {
    let fake = Fake::start();
    fake.limit_batches(1000);
    let server = Server::new(format!("{}/team/kernels", fake.address()).parse().unwrap());
    assert_eq!(server.keep(&KEY, noise(10_000), TIMEOUT), Ok(()));
    assert_eq!(server.find(&KEY, TIMEOUT), Ok(Some(noise(10_000))));
    assert_eq!(fake.instances(), ["team/kernels"]);
    assert!(fake.calls("Write") == 1 && fake.calls("Read") == 1);
}

/// A wrong blob is never returned, and the fault is reported.
#[test]
fn wrong_answers_are_detected() {
    for length in [1000, 3_000_000] {
        for inline in [false, true] {
            let fake = Fake::start();
            if inline && length == 1000 {
                fake.inline();
            }
            let server = client(&fake);
            server.keep(&KEY, noise(length), TIMEOUT).unwrap();
            let cases = [
                (Fault::WrongBytes, "cannot be trusted: its entry does not match the digest".to_owned()),
                (Fault::Truncated, format!("cannot be trusted: it sent {} bytes instead of {length}", length - 1)),
                (
                    Fault::TooLong,
                    match length {
                        1000 => "cannot be trusted: it sent 1001 bytes instead of 1000".to_owned(),
                        _ => format!("cannot be trusted: it sent more than the announced {length} bytes"),
                    },
                ),
                (Fault::WrongDigest, "cannot be trusted: the digest of its entry is malformed".to_owned()),
                (Fault::Size(-1), "cannot be trusted: its entry has a size of -1 bytes".to_owned()),
                (Fault::Size(i64::MAX), format!("cannot be trusted: its entry has a size of {} bytes", i64::MAX)),
                (
                    Fault::Size(LARGEST as i64 + 1),
                    format!("cannot be trusted: its entry has a size of {} bytes", LARGEST + 1),
                ),
                (Fault::NoEntry, "cannot be trusted: its result does not contain the entry".to_owned()),
            ];
            for (fault, text) in cases {
                fake.fail(fault);
                let found = server.find(&KEY, TIMEOUT).map_err(|error| error.to_string());
                assert_eq!(found, Err(text), "{fault:?} {length} {inline}");
            }
            // No further call is made if the result contains the blob.
            assert_eq!(fake.calls("BatchReadBlobs") == 0, inline || length > 1000);
            fake.fail(Fault::None);
            assert_eq!(server.find(&KEY, TIMEOUT), Ok(Some(noise(length))));
        }
    }
    let fake = Fake::start();
    let server = client(&fake);
    server.keep(&KEY, noise(1000), TIMEOUT).unwrap();
    fake.fail(Fault::OtherBlobs);
    assert!(matches!(server.find(&KEY, TIMEOUT), Err(CallError::Untrusted(_))));
    // Bytes that match the given digest are returned: the caller checks the contents.
    fake.fail(Fault::OtherEntry);
    assert_eq!(server.find(&KEY, TIMEOUT), Ok(Some(b"something else".to_vec())));
}

/// A result without its blobs is a miss, and the next client uploads them again.
#[test]
fn lost_blobs_are_a_miss() {
    for length in [1000, 3_000_000] {
        let fake = Fake::start();
        let server = client(&fake);
        server.keep(&KEY, noise(length), TIMEOUT).unwrap();
        fake.fail(Fault::LostBlobs);
        assert_eq!(server.find(&KEY, TIMEOUT), Ok(None));
    }
}

/// However slow the server is, and wherever it stops, the caller gets an answer in time.
#[test]
fn calls_time_out() {
    let fake = Fake::start();
    let server = client(&fake);
    server.keep(&KEY, noise(3_000_000), TIMEOUT).unwrap();
    let timeout = Duration::from_millis(300);
    for fault in [Fault::Slow(Duration::from_secs(30)), Fault::Endless] {
        fake.fail(fault);
        let started = Instant::now();
        assert_eq!(server.find(&KEY, timeout), Err(CallError::TimedOut(timeout)), "{fault:?}");
        let spent = started.elapsed();
        assert!(spent >= timeout && spent < timeout + Duration::from_secs(2), "{fault:?}: {spent:?}");
    }
    fake.fail(Fault::Slow(Duration::from_secs(30)));
    let started = Instant::now();
    assert_eq!(server.keep(&[1; 32], noise(10), timeout), Err(CallError::TimedOut(timeout)));
    assert!(started.elapsed() < timeout + Duration::from_secs(2));
    // Without any time, nothing can be done.
    assert_eq!(server.find(&KEY, Duration::ZERO), Err(CallError::TimedOut(Duration::ZERO)));
}

/// A listener that never answers, and one that is a different server.
#[test]
fn strangers_are_no_servers() {
    use std::io::Write;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::new(format!("grpc://{}", silent.local_addr().unwrap()).parse().unwrap());
    let timeout = Duration::from_millis(200);
    assert_eq!(server.find(&KEY, timeout), Err(CallError::TimedOut(timeout)));

    let web = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = web.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in web.incoming() {
            let _ = stream.unwrap().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        }
    });
    let server = Server::new(format!("grpc://{address}").parse().unwrap());
    let found = server.find(&KEY, TIMEOUT);
    assert!(matches!(found, Err(CallError::Unreachable(_))), "{found:?}");
}

#[test]
fn the_absent_are_noticed_at_once() {
    let mut fake = Fake::start();
    let server = client(&fake);
    server.keep(&KEY, noise(10), TIMEOUT).unwrap();
    fake.kill();
    let started = Instant::now();
    assert_eq!(server.find(&KEY, TIMEOUT), Err(CallError::Unreachable("Connection refused".into())));
    assert_eq!(client(&fake).find(&KEY, TIMEOUT), Err(CallError::Unreachable("Connection refused".into())));
    assert!(started.elapsed() < TIMEOUT / 2);
    // A server that returns is used again, by the same client.
    fake.revive();
    assert_eq!(server.find(&KEY, TIMEOUT), Ok(Some(noise(10))));

    let nowhere = Server::new("grpc://no-such-host.invalid:1".parse::<Address>().unwrap());
    assert!(nowhere.find(&KEY, Duration::from_secs(2)).is_err());
}

#[test]
fn a_server_that_dies_within_a_blob() {
    let fake = Fake::start();
    let server = client(&fake);
    server.keep(&KEY, noise(3_000_000), TIMEOUT).unwrap();
    fake.fail(Fault::Dies);
    assert_eq!(server.find(&KEY, TIMEOUT), Err(CallError::Unreachable("the server goes down".into())));
}

#[test]
fn errors_of_the_server_are_shortened() {
    let fake = Fake::start();
    let server = client(&fake);
    fake.fail(Fault::Refuses);
    let text = "cannot be used: PermissionDenied: not you?[31m";
    assert_eq!(server.find(&KEY, TIMEOUT).unwrap_err().to_string(), text);
    assert_eq!(server.keep(&KEY, noise(1), TIMEOUT).unwrap_err().to_string(), text);
    fake.fail(Fault::OtherDigests);
    let other = client(&fake);
    assert_eq!(
        other.find(&KEY, TIMEOUT).unwrap_err().to_string(),
        "cannot be used: the server does not support SHA-256 digests"
    );
}

/// Nothing is sent to a read-only server. A server without capabilities is used like any other.
#[test]
fn what_servers_say_about_themselves() {
    let fake = Fake::start();
    fake.fail(Fault::ReadOnly);
    assert_eq!(client(&fake).keep(&KEY, noise(10), TIMEOUT), Ok(()));
    assert_eq!((fake.results(), fake.all_calls()), (0, 1));
    fake.fail(Fault::Old);
    let server = client(&fake);
    assert_eq!(server.keep(&KEY, noise(10), TIMEOUT), Ok(()));
    assert_eq!(server.find(&KEY, TIMEOUT), Ok(Some(noise(10))));
}

/// Sixteen clients, while the server is killed and restarted: a blob is correct or missing, and no call takes long.
#[test]
fn a_server_that_is_killed_again_and_again() {
    let mut fake = Fake::start();
    let timeout = Duration::from_secs(5);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let blob = |key: u8| noise(10 + usize::from(key) * 300_000);
    let work = |n: u8, server: Server| {
        for round in (0..=u8::MAX).cycle() {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                return;
            }
            let key = n.wrapping_add(round) % 12;
            let started = Instant::now();
            match server.find(&[key; 32], timeout) {
                Ok(Some(bytes)) => assert!(bytes == blob(key), "wrong bytes"),
                Ok(None) => drop(server.keep(&[key; 32], blob(key), timeout)),
                Err(CallError::Untrusted(text)) => panic!("{text}"),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
            assert!(started.elapsed() < 3 * timeout, "{:?}", started.elapsed());
        }
    };
    std::thread::scope(|threads| {
        let workers: Vec<_> = (0..16)
            .map(|n| {
                let (server, work) = (client(&fake), &work);
                threads.spawn(move || work(n, server))
            })
            .collect();
        for round in 0..25 {
            std::thread::sleep(Duration::from_millis(40 + round * 7 % 30));
            fake.kill();
            fake.revive();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        workers.into_iter().for_each(|w| w.join().expect("no client fails"));
    });
    // Whatever state the kills left, a server that stays up accepts and returns everything.
    let server = client(&fake);
    for key in 0..12 {
        assert_eq!(server.keep(&[key; 32], blob(key), TIMEOUT), Ok(()));
        assert!(server.find(&[key; 32], TIMEOUT) == Ok(Some(blob(key))), "{key}");
    }
}
