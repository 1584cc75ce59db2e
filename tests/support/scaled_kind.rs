//! Programs with block-scaled dots of tiles of views, in all variants that differ in how operands and scale factors are
//! stored.

use crate::exact::{self, scalar};
use tile_fuzz::{case::Parameter, file::memory};
use tile_interface::Emit;
use tile_interp::{
    format::{Real, Round, encode},
    scalar::Scalar,
    types::Number,
};

/// The properties of a program's dots.
#[derive(Clone, Copy)]
pub struct ScaledKind {
    pub element: Number,
    pub scale: Number,
    /// The elements along K that share a scale factor.
    pub block: usize,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Number of tiles along the depth, which programs receive in `%n`.
    pub trips: usize,
    /// Whether each operand is contiguous along its rows or columns rather than along the depth.
    pub across: [bool; 2],
    /// The same for the scale factors.
    pub scales_across: [bool; 2],
    /// Whether scale factors are stored in blocks of 128 rows or columns and four factors, which are 32 x 4 x 4 bytes.
    pub blocked: bool,
    /// Number of elements of the last tile that are outside the tensors: rows, columns, depth.
    pub outside: [usize; 3],
    pub flag: u64,
}

pub const MXF8: ScaledKind = ScaledKind {
    element: Number::E4m3,
    scale: Number::E8m0,
    block: 32,
    m: 128,
    n: 64,
    k: 128,
    trips: 3,
    across: [false, false],
    scales_across: [false, false],
    blocked: false,
    outside: [0, 0, 0],
    flag: 1,
};

/// A matrix of a program: its name, extents, elements, and whether its columns are contiguous in memory.
struct Matrix {
    name: &'static str,
    extents: [usize; 2],
    tile: [usize; 2],
    number: Number,
    by_columns: bool,
    padding: &'static str,
    /// The dimension of the lines of scale factors that are stored in blocks.
    blocks_of: Option<usize>,
}

impl Matrix {
    fn stride(&self) -> usize {
        self.extents[usize::from(!self.by_columns)].next_multiple_of(32)
    }

    fn tensor_type(&self) -> String {
        let ([rows, columns], stride, e) = (self.extents, self.stride(), self.number.keyword());
        let strides = if self.by_columns { format!("1,{stride}") } else { format!("{stride},1") };
        format!("tensor_view<{rows}x{columns}x{e}, strides=[{strides}]>")
    }

    /// The blocks along the lines, and along the factors of a line: of the tensor, and of a tile.
    fn blocks(&self, lines: usize) -> [[usize; 2]; 2] {
        [self.extents, self.tile].map(|of| [of[lines].div_ceil(128), of[1 - lines] / 4])
    }

    fn load_blocks(&self, as_: &str, lines: usize, [i, j]: [&str; 2]) -> String {
        let ([[rows, words], [r, w]], name, e) = (self.blocks(lines), self.name, self.number.keyword());
        let tensor = format!("tensor_view<{rows}x{words}x32x4x4x{e}, strides=[{},512,16,4,1]>", words * 512);
        let view = format!("partition_view<tile=({r}x{w}x32x4x4), {tensor}>");
        let first = if lines == 0 { format!("{i}, {j}") } else { format!("{j}, {i}") };
        let (order, moved) = match lines {
            0 => ("[0, 3, 2, 1, 4]", format!("{r}x4x32x{w}x4")),
            _ => ("[1, 4, 0, 3, 2]", format!("{w}x4x{r}x4x32")),
        };
        format!(
            "%{as_}_t = make_tensor_view %p{name}, shape = [{rows}, {words}, 32, 4, 4], strides = [{}, 512, 16, 4, 1] : \
             {tensor}\n\
             %{as_}_v = make_partition_view %{as_}_t : {view}\n\
             %{as_}_b, %{as_}_k = load_view_tko weak %{as_}_v[{first}, %zero, %zero, %zero] : {view}, tile<i32> -> \
             tile<{r}x{w}x32x4x4x{e}>, token\n\
             %{as_}_m = permute %{as_}_b {order} : tile<{r}x{w}x32x4x4x{e}> -> tile<{moved}x{e}>\n\
             %{as_} = reshape %{as_}_m : tile<{moved}x{e}> -> {}\n",
            words * 512,
            self.tile_type()
        )
    }

    fn make_view(&self) -> String {
        let (Self { name, extents: [rows, columns], .. }, stride, t) = (self, self.stride(), self.tensor_type());
        let strides = if self.by_columns { format!("1, {stride}") } else { format!("{stride}, 1") };
        format!(
            "%p{name} = assume div_by<16>, %{name} : tile<ptr<{}>>\n\
             %t{name} = make_tensor_view %p{name}, shape = [{rows}, {columns}], strides = [{strides}] : {t}\n",
            self.number.keyword()
        )
    }

    fn view_type(&self) -> String {
        let [rows, columns] = self.tile;
        format!("partition_view<tile=({rows}x{columns}){}, {}>", self.padding, self.tensor_type())
    }

    fn tile_type(&self) -> String {
        format!("tile<{}x{}x{}>", self.tile[0], self.tile[1], self.number.keyword())
    }

    fn load(&self, as_: &str, [i, j]: [&str; 2]) -> String {
        if let Some(lines) = self.blocks_of {
            return self.load_blocks(as_, lines, [i, j]);
        }
        let (name, view, tile) = (self.name, self.view_type(), self.tile_type());
        format!(
            "%{as_}_v = make_partition_view %t{name} : {view}\n\
             %{as_}, %{as_}_k = load_view_tko weak %{as_}_v[{i}, {j}] : {view}, tile<i32> -> {tile}, token\n"
        )
    }

    fn elements(&self) -> usize {
        if let Some(lines) = self.blocks_of {
            return self.blocks(lines)[0].iter().product::<usize>() * 512;
        }
        self.extents[usize::from(self.by_columns)] * self.stride()
    }
}

impl ScaledKind {
    /// The operands, their scale factors, and the result.
    fn matrices(&self) -> [Matrix; 5] {
        let &Self { m, n, k, block, .. } = self;
        let depth = self.trips.max(1) * k;
        let (rows, columns) = (2 * m - self.outside[0], n - self.outside[1]);
        let operand = |name, extents, tile, by_columns| Matrix {
            name,
            extents,
            tile,
            number: self.element,
            by_columns,
            padding: ", padding_value = zero",
            blocks_of: None,
        };
        let scale = |name, extents, tile, by_columns| Matrix {
            number: self.scale,
            padding: "",
            blocks_of: self.blocked.then_some(usize::from(name == "sb")),
            ..operand(name, extents, tile, by_columns)
        };
        let inside = depth - self.outside[2];
        [
            operand("a", [rows, inside], [m, k], self.across[0]),
            operand("b", [inside, columns], [k, n], !self.across[1]),
            scale("sa", [rows, depth / block], [m, k / block], self.scales_across[0]),
            scale("sb", [depth / block, columns], [k / block, n], !self.scales_across[1]),
            Matrix {
                name: "c",
                extents: [rows, columns],
                tile: [m, n],
                number: Number::F32,
                by_columns: false,
                padding: "",
                blocks_of: None,
            },
        ]
    }

    pub fn sums(&self) -> String {
        format!("tile<{}x{}xf32>", self.m, self.n)
    }

    /// `%name = acc + (a[i, k] * sa[i, k]) * (b[k] * sb[k])`.
    pub fn product(&self, name: &str, i: &str, k: &str, acc: &str) -> String {
        let [a, b, sa, sb, _] = self.matrices();
        let of = |part: &str| format!("{name}_{part}");
        let types = [&a, &b].map(Matrix::tile_type).join(", ");
        let scales = [&sa, &sb].map(Matrix::tile_type).join(", ");
        a.load(&of("a"), [i, k])
            + &b.load(&of("b"), [k, "%zero"])
            + &sa.load(&of("sa"), [i, k])
            + &sb.load(&of("sb"), [k, "%zero"])
            + &format!(
                "%{name} = mmaf_scaled %{name}_a, %{name}_b, {acc}, %{name}_sa, %{name}_sb : {types}, {}, {scales}\n",
                self.sums()
            )
    }

    /// A loop that carries an accumulator through `body`, which computes `%next` from `%k` and `%acc`.
    pub fn looped(&self, name: &str, init: &str, body: &str) -> String {
        let sums = self.sums();
        format!(
            "%{name} = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = {init}) -> ({sums}) {{\n\
             {body}continue %next : {sums}\n}}\n"
        )
    }

    /// Stores `%v` as the tile in row `i` of the result.
    pub fn store(&self, v: &str, i: &str) -> String {
        let [.., c] = self.matrices();
        let view = c.view_type();
        format!(
            "%vc = make_partition_view %tc : {view}\n\
             %kc = store_view_tko weak {v}, %vc[{i}, %zero] : {}, {view}, tile<i32> -> token\n",
            self.sums()
        )
    }

    /// The usual matmul: one loop over the depth.
    pub fn usual(&self) -> String {
        self.looped("sum", "%init", &self.product("next", "%x", "%k", "%acc")) + &self.store("%sum", "%x")
    }

    /// A kernel around `body`. Each of two tile blocks has its own row of tiles.
    pub fn program(&self, body: &str) -> String {
        let matrices = self.matrices();
        let arguments: Vec<String> =
            matrices.iter().map(|m| format!("%{}: tile<ptr<{}>>", m.name, m.number.keyword())).collect();
        let views: String = matrices.iter().map(Matrix::make_view).collect();
        format!(
            "cuda_tile.module @m {{\nentry @k({}, %n: tile<i32>, %flag: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %two = constant <i32: 2> : tile<i32>\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             %init = constant <f32: 0.0> : {}\n{views}{body}return\n}}\n}}\n",
            arguments.join(", "),
            self.sums(),
        )
    }

    pub fn parameters(&self) -> Vec<Parameter> {
        let mut state = 1u32;
        let mut next = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % most
        };
        let [a, b, sa, sb, c] = self.matrices();
        let mut buffer = |matrix: &Matrix, number: &dyn Fn(u32) -> f64, kinds: u32| {
            let of = |x: f64| Scalar::exact(encode(Real::from_f64(x), matrix.number, Round::NearestEven).bits);
            let numbers: Vec<Scalar> = (0..matrix.elements()).map(|_| of(number(next(kinds)))).collect();
            Parameter::Buffer { number: matrix.number, bytes: memory(&numbers, matrix.number) }
        };
        let whole = |i: u32| f64::from(i) - 2.0;
        let power = |i: u32| [0.5, 1.0, 2.0, 4.0][i as usize];
        vec![
            buffer(&a, &whole, 5),
            buffer(&b, &whole, 5),
            buffer(&sa, &power, 4),
            buffer(&sb, &power, 4),
            buffer(&c, &whole, 1),
            scalar(self.trips as u64),
            scalar(self.flag),
        ]
    }

    /// Runs the usual kernel for sm_100, where its dots must not accumulate in tensor memory.
    pub fn multiplied_otherwise(&self) {
        exact::check_without_tensor_memory(&self.program(&self.usual()), [2, 1, 1], self.parameters());
    }

    /// Runs the kernel around `body` for sm_120, where a producer loads its operands and warps multiply by `mma.sync`.
    pub fn multiplied_from_stages(&self, body: &str) {
        let text = self.program(body);
        exact::check_from_stages(&text, [2, 1, 1], self.parameters());
        let ptx = exact::compiled_for("sm_120", &text, 3, Emit::Ptx, &[]);
        assert!(ptx.contains(".block_scale"), "no instruction with block scales\n{text}");
        // Packed elements are multiplied as they are in memory.
        if self.element == Number::E2m1 {
            assert!(!ptx.contains("252645135"), "nibbles are unpacked\n{ptx}");
        }
    }

    /// Runs the kernel around `body` for sm_100, where two CTAs must run its dots together.
    pub fn multiplied_by_pairs(&self, body: &str) {
        exact::check_by_pairs(&self.program(body), [2, 1, 1], self.parameters());
    }

    /// The same for CTAs that run neighbouring tile blocks together.
    pub fn multiplied_by_neighbours(&self, body: &str) {
        exact::check_by_neighbours(&self.program(body), [2, 1, 1], self.parameters());
    }

    /// Runs the kernel around `body` for sm_100, where its dots must accumulate in tensor memory.
    pub fn multiplied_in_tensor_memory(&self, body: &str) {
        exact::check_in_tensor_memory(&self.program(body), [2, 1, 1], self.parameters());
    }
}
