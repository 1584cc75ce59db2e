//! Nests: programs of nested loops and branches with dots at every level.
//!
//! A program carries a few tiles, its *state*: accumulators, sometimes an operand, and the token that orders the
//! accesses to a buffer. A body is a sequence of steps, each of which replaces some of the tiles: by a dot that adds
//! to an accumulator, by a dot on another dot's result, by the results of a loop or branch around another body, or by
//! a tile from memory. Every value in scope may become an operand ([`operands`]), so results of inner loops, tiles of
//! outer loops and carried tiles become operands of dots at any level.
//!
//! Elements are small integers, mostly zeros, so sums remain exact over several dots. The number of multiplications
//! is bounded, counting the iterations of all loops around a dot.

mod control;
mod memory;
mod operands;
mod steps;
#[cfg(test)]
mod tests;

use super::{Generator, Traits};
use memory::Area;
use operands::InputTensor;
use tile_interp::program::{OpKind, Value};
use tile_interp::types::{Element, Number, TileType};

/// Maximum number of loops and branches around a step.
const DEEPEST: usize = 4;

/// Properties that all steps of a program share.
struct Nest {
    /// The batch dimension of all tiles, if the dots are batched.
    batch: Option<usize>,
    /// Rows of the accumulators.
    rows: usize,
    /// Column counts of the accumulators, which are also the depths of the dots.
    widths: Vec<usize>,
    /// Element types of the operands.
    numbers: Vec<Number>,
    sum: Number,
    fast: bool,
    /// Whether nearly all operands are tiles of views, as in kernels that use wgmma. A single dot that cannot use it
    /// keeps the others from using it.
    regular: bool,
    sources: Vec<InputTensor>,
    area: Option<Area>,
    /// Counters of the enclosing loops, and the maximum value of each.
    counters: Vec<(Value, u64)>,
    /// Number of enclosing loops and branches.
    depth: usize,
    /// Maximum number of times that the current point is reached.
    weight: usize,
    /// Number of multiplications that may still be added.
    work: usize,
    /// Number of steps that may still be added.
    steps: usize,
}

/// The values that a step replaces.
struct Carried {
    tiles: Vec<Value>,
    /// A token that is ordered after all accesses to the area.
    token: Option<Value>,
}

impl Nest {
    fn tile(&self, [rows, columns]: [usize; 2], n: Number) -> TileType {
        let shape: Vec<usize> = self.batch.into_iter().chain([rows, columns]).collect();
        TileType::of(&shape, n)
    }

    fn traits_of_sums(&self) -> Traits {
        Traits { approximate: self.sum == Number::F16 || self.fast, small: false }
    }

    /// The last two extents.
    fn extents(&self, t: &TileType) -> [usize; 2] {
        let [.., rows, columns] = t.shape[..] else { return [1, 1] };
        [rows, columns]
    }
}

impl Generator {
    /// Generates the whole program.
    pub(super) fn nest(&mut self) {
        self.grid = [self.rng.pick(&[1, 1, 2]), 1, 1];
        self.budget = self.rng.pick(&[0, 0, 2, 4]);
        self.block_number();
        let mut nest = self.what_is_common();
        let n = &mut nest;
        let mut state = self.first_state(n);
        if self.rng.one_in(6) {
            self.leave();
        }
        // At least one loop.
        let count = 1 + self.rng.below(3);
        let one = self.rng.below(count);
        for i in 0..count {
            if i == one {
                self.any_loop(n, &mut state);
            } else {
                self.step(n, &mut state);
            }
        }
        for v in state.tiles {
            self.store_state(n, v);
        }
        while self.budget > 0 {
            self.statement();
        }
        self.end(OpKind::Return, &[]);
    }

    fn what_is_common(&mut self) -> Nest {
        use Number::{Bf16, E4m3, E5m2, F16, F32, I8, I32, Tf32};
        let regular = self.rng.coin();
        let batch = if !regular && self.rng.one_in(4) { Some(self.rng.pick(&[1, 2, 2])) } else { None };
        let rows: usize = if regular { self.rng.pick(&[64, 64, 128]) } else { self.rng.pick(&[16, 32, 64, 64, 128]) };
        let mut widths = vec![];
        for _ in 0..2 {
            let others = [16, 32, 64, 64, 128, rows];
            let most = (1 << 18) / rows / widths.first().copied().unwrap_or(64) / batch.unwrap_or(1);
            widths.push(self.rng.pick(&others).min(most).max(16));
        }
        let numbers = match self.rng.below(16) {
            0..5 => vec![F16],
            5..7 => vec![Bf16],
            7 => vec![F16, Bf16],
            8..10 => vec![Tf32],
            10 => vec![F16, Tf32],
            11..13 => vec![I8],
            13 => vec![E4m3],
            14 => vec![E5m2],
            _ => vec![E4m3, F16],
        };
        let sum = match numbers[..] {
            [I8] => I32,
            [F16] if self.rng.one_in(6) => F16,
            _ => F32,
        };
        let fast = matches!(numbers[..], [E4m3 | E5m2]) && self.rng.one_in(4);
        Nest {
            batch,
            rows,
            widths,
            numbers,
            sum,
            fast,
            regular,
            sources: vec![],
            area: None,
            counters: vec![],
            depth: 0,
            weight: 1,
            work: 1 << 21,
            steps: self.rng.pick(&[4, 8, 12, 16]),
        }
    }

    /// The initial state: accumulators that start at zero or with a tile from memory, perhaps an operand, and perhaps
    /// memory that is written and read in order.
    fn first_state(&mut self, n: &mut Nest) -> Carried {
        let mut tiles = vec![];
        for _ in 0..self.rng.pick(&[1, 1, 2, 3]) {
            let width = self.rng.pick(&n.widths);
            let t = n.tile([n.rows, width], n.sum);
            tiles.push(if self.rng.one_in(4) {
                self.loaded_accumulator(n, width)
            } else {
                self.zero_accumulator(n, &t)
            });
        }
        if self.rng.one_in(if n.regular { 12 } else { 2 }) {
            let shape = [n.rows, self.rng.pick(&n.widths)];
            let number = self.rng.pick(&n.numbers);
            tiles.push(self.nest_operand(n, shape, number));
        }
        let token = self.rng.one_in(if n.regular { 8 } else { 2 }).then(|| self.area_of_nest(n));
        Carried { tiles, token }
    }

    fn zero_accumulator(&mut self, n: &Nest, t: &TileType) -> Value {
        let v = self.constant_of(t, 0);
        self.traits[v.index()] = n.traits_of_sums();
        v
    }

    /// A tile from memory as an accumulator.
    fn loaded_accumulator(&mut self, n: &mut Nest, width: usize) -> Value {
        let shape = [n.rows, width];
        let memory = if n.sum == Number::I32 { Number::I8 } else { self.rng.pick(&[Number::F16, Number::F32]) };
        let v = self.nest_load(n, shape, memory);
        self.converted(v, n.sum)
    }

    /// Stores a tile of the state as a result of the program.
    fn store_state(&mut self, n: &mut Nest, v: Value) {
        let t = self.ty(v);
        match t.element {
            Element::Number(Number::F32) if self.rng.coin() => {
                let to = self.rng.pick(&[Number::F16, Number::Bf16]);
                let narrow = self.converted(v, to);
                if n.batch.is_none() && self.rng.coin() {
                    self.store_aligned(narrow);
                } else {
                    self.store_output(narrow);
                }
            }
            // Tf32 elements cannot be stored.
            Element::Number(Number::Tf32) => {
                let wide = self.converted(v, Number::F32);
                self.store_output(wide);
            }
            _ => self.store_output(v),
        }
    }
}
