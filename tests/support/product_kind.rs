//! Programs with dots of tiles of views, in all variants that differ in how the operands are brought in.

use crate::exact::{self, Numbers, scalar};
use tile_fuzz::case::Parameter;
use tile_interp::types::Number;

/// Columns of an accumulator tile, and depth of an operand tile.
pub const N: usize = 32;

/// The properties of a program's dots.
#[derive(Clone, Copy)]
pub struct Kind {
    pub element: Number,
    pub sum: Number,
    /// Rows of a tile.
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Number of tiles along the depth, which programs receive in `%n`.
    pub trips: usize,
    /// Whether each operand is stored transposed.
    pub turned: [bool; 2],
    /// Number of elements of the last tile that are outside the tensor: rows, columns, depth.
    pub outside: [usize; 3],
    /// Elements between rows, in addition to the extent rounded up to 16.
    pub skew: usize,
    /// The modifiers of `mmaf` or `mmai`.
    pub mode: &'static str,
    pub padding: &'static str,
    pub flag: u64,
    /// Operands are f32 and are rounded to tf32 before the dot.
    pub rounded: bool,
    /// The left operand is negated before the dot.
    pub computed: bool,
    /// Tiles have a batch dimension of one, and the operands are the second matrices of batches of two.
    pub batched: bool,
}

pub const HALVES: Kind = Kind {
    element: Number::F16,
    sum: Number::F32,
    m: 64,
    n: N,
    k: 64,
    trips: 3,
    turned: [false, false],
    outside: [0, 0, 0],
    skew: 0,
    mode: "",
    padding: "zero",
    flag: 1,
    rounded: false,
    computed: false,
    batched: false,
};

pub const RAGGED: Kind = Kind { outside: [5, 3, 9], ..HALVES };

impl Kind {
    /// Extents of an operand in memory, and the distance of its rows in elements.
    pub fn tensor(&self, side: usize) -> [usize; 3] {
        let depth = self.trips.max(1) * self.k - self.outside[2];
        let other = [2 * self.m - self.outside[0], self.n - self.outside[1]][side];
        // Rows of the left operand run along the depth, rows of the right one across.
        let (rows, columns) = if (side == 0) == self.turned[side] { (depth, other) } else { (other, depth) };
        [rows, columns, columns.next_multiple_of(16) + self.skew]
    }

    pub fn tensor_type(&self, side: usize) -> String {
        self.view_type(self.batches(), self.tensor(side), self.element)
    }

    /// Number of matrices of an operand in memory.
    pub fn batches(&self) -> usize {
        if self.batched { 2 } else { 1 }
    }

    /// The type of a tensor with this many contiguous matrices. Without batches it has rank two.
    pub fn view_type(&self, batches: usize, [rows, columns, stride]: [usize; 3], number: Number) -> String {
        let e = number.keyword();
        if self.batched {
            format!("tensor_view<{batches}x{rows}x{columns}x{e}, strides=[{},{stride},1]>", rows * stride)
        } else {
            format!("tensor_view<{rows}x{columns}x{e}, strides=[{stride},1]>")
        }
    }

    /// Makes `%name`, a tensor view of that type.
    pub fn make_view(&self, name: &str, of: &str, batches: usize, tensor: [usize; 3], number: Number) -> String {
        let ([rows, columns, stride], t) = (tensor, self.view_type(batches, tensor, number));
        let (shape, strides) = if self.batched {
            (format!("{batches}, {rows}, {columns}"), format!("{}, {stride}, 1", rows * stride))
        } else {
            (format!("{rows}, {columns}"), format!("{stride}, 1"))
        };
        format!("%{name} = make_tensor_view %{of}, shape = [{shape}], strides = [{strides}] : {t}\n")
    }

    /// The prefix of a tile's extents.
    pub fn batch(&self) -> &'static str {
        if self.batched { "1x" } else { "" }
    }

    pub fn sums(&self) -> String {
        self.results(self.sum)
    }

    pub fn results(&self, number: Number) -> String {
        format!("tile<{}{}x{}x{}>", self.batch(), self.m, self.n, number.keyword())
    }

    /// Loads the operand's tile at row `i` and column `j` of the operand as `%name`.
    pub fn load(&self, side: usize, name: &str, i: &str, j: &str, token: &str) -> String {
        let (element, batch) = (self.element.keyword(), self.batch());
        let [rows, columns] = [[self.m, self.k], [self.k, self.n]][side];
        let turned = self.turned[side];
        let (r, c, i, j) = if turned { (columns, rows, j, i) } else { (rows, columns, i, j) };
        let tensor = self.tensor_type(side);
        let view = format!("partition_view<tile=({batch}{r}x{c}), padding_value = {}, {tensor}>", self.padding);
        let (matrix, order) = if self.batched { ("%one, ", "[0, 2, 1]") } else { ("", "[1, 0]") };
        let result = if self.rounded || self.computed && side == 0 { format!("{name}_raw") } else { name.to_string() };
        let loaded = if turned { format!("{name}_turned") } else { result.clone() };
        let mut text = format!(
            "%{name}_v = make_partition_view %t{side} : {view}\n\
             %{loaded}, %{name}_k = load_view_tko weak %{name}_v[{matrix}{i}, {j}]{token} : {view}, tile<i32> -> \
             tile<{batch}{r}x{c}x{element}>, token\n"
        );
        let tile = format!("tile<{batch}{rows}x{columns}x{element}>");
        if turned {
            text += &format!("%{result} = permute %{loaded} {order} : tile<{batch}{r}x{c}x{element}> -> {tile}\n");
        }
        if self.rounded {
            text += &format!("%{name} = ftof %{result} : {tile} -> tile<{batch}{rows}x{columns}xtf32>\n");
        } else if result != name {
            text += &format!("%{name} = negf %{result} : {tile}\n");
        }
        text
    }

    /// `%name = acc + a[i, k] * b[k]`.
    pub fn product(&self, name: &str, i: &str, k: &str, acc: &str) -> String {
        self.product_behind(name, i, k, acc, "")
    }

    pub fn product_behind(&self, name: &str, i: &str, k: &str, acc: &str, token: &str) -> String {
        self.load(0, &format!("{name}_a"), i, k, token)
            + &self.load(1, &format!("{name}_b"), k, "%zero", token)
            + &self.multiplied(name, acc)
    }

    pub fn multiplied(&self, name: &str, acc: &str) -> String {
        let (m, n, k, e) = (self.m, self.n, self.k, if self.rounded { "tf32" } else { self.element.keyword() });
        let op = if self.element == Number::I8 { "mmai" } else { "mmaf" };
        let (mode, sums, batch) = (self.mode, self.sums(), self.batch());
        let operands = format!("tile<{batch}{m}x{k}x{e}>, tile<{batch}{k}x{n}x{e}>");
        format!("%{name} = {op} %{name}_a, %{name}_b, {acc} {mode} : {operands}, {sums}\n")
    }

    /// A loop that carries an accumulator through `body`, which computes `%next` from `%k` and `%acc`.
    pub fn looped(&self, name: &str, init: &str, body: &str) -> String {
        let sums = self.sums();
        format!(
            "%{name} = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = {init}) -> ({sums}) {{\n\
             {body}continue %next : {sums}\n}}\n"
        )
    }

    /// A loop from zero to `end` that adds the same dot to an accumulator in each iteration.
    pub fn repeated(&self, name: &str, init: &str, end: &str, operands: [&str; 2]) -> String {
        let (sums, next) = (self.sums(), format!("{name}_next"));
        let dot = self.multiplied(&next, &format!("%{name}_acc"));
        let [a, b] = operands;
        let dot = dot.replace(&format!("%{next}_a, %{next}_b"), &format!("{a}, {b}"));
        format!(
            "%{name} = for %{name}_i in (%zero to {end}, step %one) : tile<i32> iter_values(%{name}_acc = {init}) -> \
             ({sums}) {{\n{dot}continue %{next} : {sums}\n}}\n"
        )
    }

    pub fn relu(&self, name: &str, of: &str) -> String {
        match self.sum {
            Number::I32 => format!("%{name} = maxi {of}, %init signed : {}\n", self.sums()),
            _ => format!("%{name} = maxf {of}, %init : {}\n", self.sums()),
        }
    }

    pub fn plus(&self, name: &str, a: &str, b: &str) -> String {
        let op = if self.sum == Number::I32 { "addi" } else { "addf" };
        format!("%{name} = {op} {a}, {b} : {}\n", self.sums())
    }

    /// Stores `%v` as the tile in row `i` of the result.
    pub fn store(&self, v: &str, i: &str) -> String {
        self.store_as(v, i, self.sum)
    }

    pub fn store_as(&self, v: &str, i: &str, number: Number) -> String {
        let tensor = [2 * self.m, self.n, self.n];
        let matrix = if self.batched { "%zero, " } else { "" };
        let t = self.view_type(1, tensor, number);
        let view = format!("partition_view<tile=({}{}x{}), {t}>", self.batch(), self.m, self.n);
        self.make_view("tc", "c", 1, tensor, number)
            + &format!(
                "%vc = make_partition_view %tc : {view}\n\
                 %kc = store_view_tko weak {v}, %vc[{matrix}{i}, %zero] : {}, {view}, tile<i32> -> token\n",
                self.results(number),
            )
    }

    /// A kernel around `body`, which stores numbers of type `out`. Each of two tile blocks has its own row of tiles.
    pub fn program(&self, body: &str, out: Number) -> String {
        let (e, sum) = (self.element.keyword(), self.sum.keyword());
        let views: String = (0..2)
            .map(|side| {
                let name = ["a", "b"][side];
                format!("%p{name} = assume div_by<16>, %{name} : tile<ptr<{e}>>\n")
                    + &self.make_view(
                        &format!("t{side}"),
                        &format!("p{name}"),
                        self.batches(),
                        self.tensor(side),
                        self.element,
                    )
            })
            .collect();
        let zero = if self.sum == Number::I32 { "0" } else { "0.0" };
        format!(
            "cuda_tile.module @m {{\nentry @k(%a: tile<ptr<{e}>>, %b: tile<ptr<{e}>>, %c: tile<ptr<{}>>, %n: tile<i32>, \
             %flag: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %two = constant <i32: 2> : tile<i32>\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             %init = constant <{sum}: {zero}> : {}\n{views}{body}return\n}}\n}}\n",
            out.keyword(),
            self.sums(),
        )
    }

    pub fn parameters(&self, out: Number) -> Vec<Parameter> {
        // Sums of f16 in f16 stay below 2048.
        let most = if self.sum == Number::F16 { 1 } else { 2 };
        let mut numbers = Numbers::default();
        let mut buffer = |count: usize, n: Number, beyond: f64| numbers.buffer(count, n, most, 1.0 + beyond);
        let size = |side| {
            let [rows, _, stride] = self.tensor(side);
            self.batches() * rows * stride
        };
        vec![
            buffer(size(0), self.element, if self.rounded { 3.0 / 4096.0 } else { 0.0 }),
            buffer(size(1), self.element, 0.0),
            buffer(2 * self.m * self.n, out, 0.0),
            scalar(self.trips as u64),
            scalar(self.flag),
        ]
    }

    /// Runs the kernel around `body`, and checks whether it uses wgmma.
    pub fn run(&self, body: &str, out: Number, warpgroups: bool) {
        exact::check(&self.program(body, out), [2, 1, 1], self.parameters(out), warpgroups);
    }

    pub fn multiplied_by_warpgroups(&self, body: &str) {
        self.run(body, self.sum, true);
    }

    /// Runs the kernel around `body` for sm_100, where its dots must accumulate in tensor memory.
    pub fn multiplied_in_tensor_memory(&self, body: &str) {
        exact::check_in_tensor_memory(&self.program(body, self.sum), [2, 1, 1], self.parameters(self.sum));
    }

    /// The same for two CTAs that run the dots together.
    pub fn multiplied_by_pairs(&self, body: &str) {
        exact::check_by_pairs(&self.program(body, self.sum), [2, 1, 1], self.parameters(self.sum));
    }

    /// Runs the kernel around `body` for sm_120, where warps must read operands from stages that a producer fills.
    pub fn multiplied_from_stages(&self, body: &str) {
        exact::check_from_stages(&self.program(body, self.sum), [2, 1, 1], self.parameters(self.sum));
    }

    pub fn rounded_in_stages(&self, target: &str, body: &str) {
        exact::check_rounded_in_stages(target, &self.program(body, self.sum), [2, 1, 1], self.parameters(self.sum));
    }

    pub fn multiplied_by_warps(&self, body: &str) {
        self.run(body, self.sum, false);
    }

    /// The usual matmul: one loop over the depth.
    pub fn usual(&self) -> String {
        self.looped("sum", "%init", &self.product("next", "%x", "%k", "%acc")) + &self.store("%sum", "%x")
    }
}
