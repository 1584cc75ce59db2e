//! Prints the plans and predictions for common tiles: `cargo run -p tile-plan --example predictions`.

use tile_mma::Element;
use tile_plan::{DotLoop, Hints, Machine, plan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = Machine::named("sm_90")?;
    let tiles = [
        ((128, 256, 64), Element::Bf16),
        ((128, 128, 64), Element::Bf16),
        ((64, 256, 64), Element::Bf16),
        ((256, 256, 64), Element::Bf16),
        ((128, 256, 128), Element::E4m3),
        ((128, 256, 128), Element::S8),
        ((128, 256, 32), Element::Tf32),
    ];
    for (tile, operand) in tiles {
        for over_tiles in [false, true] {
            let product = DotLoop { over_tiles, ..DotLoop::new(tile, operand) };
            println!("{operand:?} {tile:?}{}", if over_tiles { ", a loop over tiles" } else { "" });
            match plan(&product, &Hints::default(), &machine) {
                Ok(plan) => plan.reasons.iter().for_each(|reason| println!("  {reason}")),
                Err(reason) => println!("  {reason}"),
            }
        }
    }
    Ok(())
}
