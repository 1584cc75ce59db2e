//! The command built without the feature `remote-cache`.

use libtest_mimic::{Failed, Trial};

use crate::fixture::Bench;

pub fn trials() -> Vec<Trial> {
    let test = || {
        a_clear_error();
        Ok::<(), Failed>(())
    };
    vec![Trial::test("a remote cache that was not built in", test)]
}

fn a_clear_error() {
    let bench = Bench::new();
    let outcome = bench.run(&["ok", "-o", "a", "--remote-cache=grpc://localhost:1"]);
    let text = "error: the remote cache 'grpc://localhost:1' cannot be used: this program was built without the \
                'remote-cache' feature\n";
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(2), text));
    // An empty address disables the cache, which is not an error.
    assert_eq!(bench.run(&["ok", "-o", "a", "--remote-cache="]).status, Some(0));
}
