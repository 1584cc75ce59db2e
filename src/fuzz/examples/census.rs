use std::time::Duration;
use tile_fuzz::{case::census, generate::generate};
use tile_interp::machine::Limits;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut none = 0;
    let mut guess = 0;
    let mut tot = [0usize; 3];
    let t = std::time::Instant::now();
    let mut hist = std::collections::BTreeMap::new();
    for s in 0..n {
        match generate(s) {
            None => none += 1,
            Some(mut c) => {
                let m = c.meaning(Limits { ops: None, time: Some(Duration::from_secs(10)) }).unwrap();
                if m.guess.is_some() {
                    guess += 1;
                }
                let x = census(&m);
                for i in 0..3 {
                    tot[i] += x[i];
                }
                tile_fuzz::generate::visit(&mut c.program.entries[0].body, &mut |o| {
                    *hist.entry(o.kind.mnemonic()).or_insert(0usize) += 1
                });
            }
        }
    }
    println!("none {none} guess {guess} census {tot:?} {:?}", t.elapsed());
    println!("{hist:?}");
}
