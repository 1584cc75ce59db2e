//! Every kind of op on tiles that do not fit into registers: compares the compiler with the reference interpreter,
//! and checks the code size for the largest tiles of the language.

use std::time::{Duration, Instant};
use tile_fuzz::case::{Case, Parameter};
use tile_fuzz::file;
use tile_interface::{Emit, InputKind};
use tile_interp::format::{Real, Round, encode};
use tile_interp::machine::Limits;
use tile_interp::scalar::Scalar;
use tile_interp::types::Number;
use tile_targets::Target;
use tile_test_support::{Trial, functions, kernels};
use tileiras::compile;
use tileiras::fuzz::differential::{Configuration, compare};

/// A parameter: its name, whether a view reads or writes it, and its type.
struct Buffer {
    name: &'static str,
    shape: Vec<usize>,
    element: &'static str,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Loaded into a tile of this name.
    In,
    /// A tile of this name is stored to it.
    Out,
    /// The body has a pointer of this name.
    Pointer,
}
use Role::{In, Out, Pointer};

fn buffer(role: Role, name: &'static str, shape: &[usize], element: &'static str) -> Buffer {
    Buffer { name, shape: shape.to_vec(), element, role }
}

fn extents(shape: &[usize]) -> String {
    shape.iter().map(|n| format!("{n}x")).collect()
}

fn tile(shape: &[usize], element: &str) -> String {
    format!("tile<{}{element}>", extents(shape))
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Builds a kernel that loads its inputs, runs the body, and stores its outputs.
fn kernel(buffers: &[Buffer], body: &str) -> String {
    let parameters: Vec<String> = buffers.iter().map(|b| format!("%{}_p: tile<ptr<{}>>", b.name, b.element)).collect();
    let (mut before, mut after) = (String::from("    %zero = constant <i32: 0> : tile<i32>\n"), String::new());
    for b in buffers.iter().filter(|b| b.role != Pointer) {
        let (n, shape) = (b.name, &b.shape);
        let mut strides = vec![1; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = strides[i] * shape[i];
        }
        let tensor = format!("tensor_view<{}{}, strides=[{}]>", extents(shape), b.element, list(&strides));
        let tile_shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let view = format!("partition_view<tile=({tile_shape}), {tensor}>");
        let index = vec!["%zero"; shape.len()].join(", ");
        let t = tile(shape, b.element);
        let make = format!(
            "    %{n}_t = make_tensor_view %{n}_p, shape = [{}], strides = [{}] : {tensor}\n    \
             %{n}_v = make_partition_view %{n}_t : {view}\n",
            list(shape),
            list(&strides)
        );
        match b.role {
            In => {
                before += &format!(
                    "{make}    %{n}, %{n}_k = load_view_tko weak %{n}_v[{index}] : {view}, tile<i32> -> {t}, token\n"
                )
            }
            _ => {
                after += &format!(
                    "{make}    %{n}_k = store_view_tko weak %{n}, %{n}_v[{index}] : {t}, {view}, tile<i32> -> token\n"
                )
            }
        }
    }
    format!(
        "cuda_tile.module @m {{\n  entry @k({}) {{\n{before}{body}{after}    return\n  }}\n}}\n",
        parameters.join(", ")
    )
}

struct Test {
    name: String,
    buffers: Vec<Buffer>,
    body: String,
}

fn test(name: impl Into<String>, buffers: Vec<Buffer>, body: impl Into<String>) -> Test {
    Test { name: name.into(), buffers, body: body.into() }
}

/// Builds pointers `%q` to the elements of `%name_p`, one for each element of the tile of offsets `%index`.
fn pointers(name: &str, shape: &[usize], element: &str, q: &str) -> String {
    let (p, ones) = (format!("ptr<{element}>"), vec![1; shape.len()]);
    format!(
        "    %{q}_r = reshape %{name}_p : tile<{p}> -> {0}\n    %{q}_b = broadcast %{q}_r : {0} -> {1}\n    \
         %{q} = offset %{q}_b, %index : {1}, {2} -> {1}\n",
        tile(&ones, &p),
        tile(shape, &p),
        tile(shape, "i32")
    )
}

/// Returns tests of ops on tiles of `rows x columns`.
fn tests(rows: usize, columns: usize) -> Vec<Test> {
    let (s, n) = (vec![rows, columns], rows * columns);
    let of = |element: &str| tile(&s, element);
    let (f, i, b) = (of("f32"), of("i32"), of("i1"));
    let x_to_r = |e: &'static str| vec![buffer(In, "x", &s, e), buffer(Out, "r", &s, e)];
    let index = format!(
        "    %line = iota : {}\n    %index = reshape %line : {} -> {i}\n",
        tile(&[n], "i32"),
        tile(&[n], "i32")
    );
    let sum =
        "(%a: tile<f32>, %b: tile<f32>) {\n      %c = addf %a, %b : tile<f32>\n      yield %c : tile<f32>\n    }\n";
    let mut out = vec![
        test(
            "elementwise",
            x_to_r("f32"),
            format!("    %y = mulf %x, %x : {f}\n    %z = absf %y : {f}\n    %r = subf %z, %x : {f}\n"),
        ),
        test(
            "integers",
            x_to_r("i32"),
            format!(
                "    %y = muli %x, %x : {i}\n    %z = shri %y, %x unsigned : {i}\n    %r = maxi %z, %x signed : {i}\n"
            ),
        ),
        test(
            "casts",
            x_to_r("f32"),
            format!(
                "    %a = ftof %x : {f} -> {h}\n    %b = ftof %a : {h} -> {e}\n    %c = ftoi %b signed : {e} -> {i8}\n    \
                 %d = exti %c signed : {i8} -> {i}\n    %r = itof %d signed : {i} -> {f}\n",
                h = of("f16"),
                e = of("f8E4M3FN"),
                i8 = of("i8")
            ),
        ),
        test(
            "compare and select",
            x_to_r("f32"),
            format!(
                "    %y = negf %x : {f}\n    %c = cmpf less_than ordered %x, %y : {f} -> {b}\n    %r = select %c, %y, %x : {b}, {f}\n"
            ),
        ),
        test(
            "pointers",
            vec![buffer(Pointer, "x", &s, "f32"), buffer(Pointer, "r", &s, "f32")],
            format!(
                "{index}{}{}    %y, %k = load_ptr_tko weak %p : {t} -> {f}, token\n    %z = addf %y, %y : {f}\n    \
                 %l = store_ptr_tko weak %q, %z : {t}, {f} -> token\n",
                pointers("x", &s, "f32", "p"),
                pointers("r", &s, "f32", "q"),
                t = of("ptr<f32>")
            ),
        ),
        test(
            "masks and padding",
            vec![buffer(Pointer, "x", &s, "f32"), buffer(In, "m", &s, "i32"), buffer(Out, "r", &s, "f32")],
            format!(
                "{index}{}    %c = cmpi greater_than %m, %index, signed : {i} -> {b}\n    %one = constant <i32: 1> : {i}\n    \
                 %odd = andi %m, %one : {i}\n    %d = cmpi equal %odd, %one, signed : {i} -> {b}\n    %e = ori %c, %d : {b}\n    \
                 %pad = constant <f32: 7.0> : {f}\n    %r, %k = load_ptr_tko weak %p, %e, %pad : {}, {b}, {f} -> {f}, token\n",
                pointers("x", &s, "f32", "p"),
                of("ptr<f32>")
            ),
        ),
        test(
            "gather by index",
            vec![buffer(Pointer, "x", &s, "f32"), buffer(In, "index", &s, "i32"), buffer(Out, "r", &s, "f32")],
            format!(
                "{}    %r, %k = load_ptr_tko weak %p : {} -> {f}, token\n",
                pointers("x", &s, "f32", "p"),
                of("ptr<f32>")
            ),
        ),
        test("atomic reductions of a view", vec![buffer(Pointer, "x", &s, "f32"), buffer(In, "y", &s, "f32")], {
            let tensor = format!("tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>");
            let view = format!("partition_view<tile=({rows}x{columns}), {tensor}>");
            format!(
                "    %t = make_tensor_view %x_p, shape = [{rows}, {columns}], strides = [{columns}, 1] : {tensor}\n    \
                     %v = make_partition_view %t : {view}\n    \
                     %k = atomic_red_view_tko relaxed device %v[%zero, %zero], addf, %y : {f}, {view}, tile<i32> -> token\n"
            )
        }),
        test(
            "compare and swap",
            vec![buffer(Pointer, "x", &s, "i32"), buffer(In, "y", &s, "i32"), buffer(Out, "r", &s, "i32")],
            format!(
                "{index}{}    %r, %k = atomic_cas_tko relaxed device %p, %y, %index : {}, {i} -> {i}, token\n",
                pointers("x", &s, "i32", "p"),
                of("ptr<i32>")
            ),
        ),
        test("halves of rows", vec![buffer(In, "x", &[rows / 2, columns], "f32"), buffer(Out, "r", &s, "f32")], {
            let h = tile(&[rows / 2, columns], "f32");
            format!("    %y = negf %x : {h}\n    %r = cat %x, %y dim = 0 : {h}, {h} -> {f}\n")
        }),
        test("halves of columns", vec![buffer(In, "x", &[rows, columns / 2], "f32"), buffer(Out, "r", &s, "f32")], {
            let h = tile(&[rows, columns / 2], "f32");
            format!("    %y = negf %x : {h}\n    %r = cat %x, %y dim = 1 : {h}, {h} -> {f}\n")
        }),
        test(
            "a part",
            vec![buffer(In, "x", &s, "f32"), buffer(Out, "r", &[rows / 2, columns / 2], "f32")],
            format!(
                "    %one = constant <i32: 1> : tile<i32>\n    %y = negf %x : {f}\n    %r = extract %y[%one, %zero] : {f} -> {}\n",
                tile(&[rows / 2, columns / 2], "f32")
            ),
        ),
        test(
            "another shape",
            vec![buffer(In, "x", &s, "f32"), buffer(Out, "r", &[columns, rows], "f32")],
            format!("    %y = negf %x : {f}\n    %r = reshape %y : {f} -> {}\n", tile(&[columns, rows], "f32")),
        ),
        test(
            "transposed",
            vec![buffer(In, "x", &s, "f32"), buffer(Out, "r", &[columns, rows], "f32")],
            format!("    %y = negf %x : {f}\n    %r = permute %y [1, 0] : {f} -> {}\n", tile(&[columns, rows], "f32")),
        ),
        test(
            "ranges and broadcasts",
            x_to_r("i32"),
            format!(
                "    %j = iota : {0}\n    %k = reshape %j : {0} -> {1}\n    %l = broadcast %k : {1} -> {i}\n    %r = addi %l, %x : {i}\n",
                tile(&[rows], "i32"),
                tile(&[rows, 1], "i32")
            ),
        ),
        test(
            "bytes",
            vec![buffer(In, "x", &[n], "f32"), buffer(Out, "r", &[4 * n], "i8")],
            format!("    %r = pack %x : {} -> {}\n", tile(&[n], "f32"), tile(&[4 * n], "i8")),
        ),
        test("assertions", x_to_r("f32"), {
            format!(
                "    %y = absf %x : {f}\n    %c = cmpf less_than_or_equal ordered %x, %y : {f} -> {b}\n    \
                 assert %c, \"never\" : {b}\n    %r = addf %y, %x : {f}\n"
            )
        }),
        test(
            "carried by a loop",
            x_to_r("f32"),
            format!(
                "    %three = constant <i32: 3> : tile<i32>\n    %step = constant <i32: 1> : tile<i32>\n    \
                 %r, %s = for %i in (%zero to %three, step %step) : tile<i32> iter_values(%a = %x, %b = %x) -> ({f}, {f}) {{\n      \
                 %c = addf %a, %b : {f}\n      continue %b, %c : {f}, {f}\n    }}\n"
            ),
        ),
        test(
            "of two branches",
            vec![buffer(In, "x", &s, "f32"), buffer(In, "n", &[1], "i32"), buffer(Out, "r", &s, "f32")],
            format!(
                "    %m = reshape %n : tile<1xi32> -> tile<i32>\n    %c = cmpi less_than %zero, %m, signed : tile<i32> -> tile<i1>\n    \
                 %r = if %c -> ({f}) {{\n      %y = addf %x, %x : {f}\n      yield %y : {f}\n    }} else {{\n      \
                 %y = negf %x : {f}\n      yield %y : {f}\n    }}\n"
            ),
        ),
        test(
            "rows by number",
            vec![buffer(Pointer, "x", &s, "f32"), buffer(In, "rows", &[rows], "i32"), buffer(Out, "r", &s, "f32")],
            {
                let tensor = format!("tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>");
                let view = format!("gather_scatter_view<tile=({rows}x{columns}), {tensor}, sparse_dim=0>");
                let mask = rows - 1;
                format!(
                    "    %t = make_tensor_view %x_p, shape = [{rows}, {columns}], strides = [{columns}, 1] : {tensor}\n    \
                     %v = make_gather_scatter_view %t : {view}\n    %last = constant <i32: {mask}> : tile<{rows}xi32>\n    \
                     %which = andi %rows, %last : tile<{rows}xi32>\n    \
                     %r, %k = load_view_tko weak %v[%which, %zero] : {view}, tile<{rows}xi32>, tile<i32> -> {f}, token\n"
                )
            },
        ),
        test(
            "printed",
            vec![buffer(In, "x", &s, "i32")],
            format!("    %y = addi %x, %x : {i}\n    %k = print_tko \"all %d of it\\n\", %y : {i} -> token\n"),
        ),
        test("a range printed", vec![], {
            let line = tile(&[n], "i32");
            format!("    %y = iota : {line}\n    %k = print_tko \"%d\\n\", %y : {line} -> token\n")
        }),
    ];
    for (mode, element) in [("addf", "f32"), ("add", "i32"), ("xchg", "i32"), ("addf", "f16")] {
        let body = format!(
            "{index}{}    %r, %k = atomic_rmw_tko relaxed device %p, {mode}, %y : {}, {t} -> {t}, token\n",
            pointers("x", &s, element, "p"),
            of(&format!("ptr<{element}>")),
            t = of(element)
        );
        let buffers =
            vec![buffer(Pointer, "x", &s, element), buffer(In, "y", &s, element), buffer(Out, "r", &s, element)];
        out.push(test(format!("atomic {mode} of {element}"), buffers, body));
    }
    for dim in [0, 1] {
        let kept = [s[1 - dim]];
        out.push(test(
            format!("reduced along {dim}"),
            vec![buffer(In, "x", &s, "f32"), buffer(Out, "r", &kept, "f32")],
            format!("    %r = reduce %x dim={dim} identities=[0.0 : f32] : {f} -> {}\n    {sum}", tile(&kept, "f32")),
        ));
        for reverse in [false, true] {
            out.push(test(
                format!("scanned along {dim}{}", if reverse { " from the end" } else { "" }),
                x_to_r("f32"),
                format!("    %r = scan %x dim={dim} reverse={reverse} identities=[0.0 : f32] : {f} -> {f}\n    {sum}"),
            ));
        }
    }
    out
}

/// Returns a test of a dot of `m x n x k` with operands and accumulator in memory.
fn product(op: &str, [m, n, k]: [usize; 3], element: &'static str, result: &'static str) -> Test {
    let (mut op, mut signs) = (op.to_string(), "");
    let mut buffers = vec![
        buffer(In, "a", &[m, k], element),
        buffer(In, "b", &[k, n], element),
        buffer(In, "c", &[m, n], result),
        buffer(Out, "r", &[m, n], result),
    ];
    let (mut scales, mut types) = (String::new(), String::new());
    if op == "mmai" {
        signs = " signed unsigned";
    }
    if let Some(scale) = op.strip_prefix("mmaf_scaled ").map(String::from) {
        let (scale, per): (&'static str, usize) =
            if scale == "f8E4M3FN" { ("f8E4M3FN", 16) } else { ("f8E8M0FNU", 32) };
        buffers.insert(3, buffer(In, "sa", &[m, k / per], scale));
        buffers.insert(4, buffer(In, "sb", &[k / per, n], scale));
        scales = ", %sa, %sb".into();
        types = format!(", {}, {}", tile(&[m, k / per], scale), tile(&[k / per, n], scale));
        op = "mmaf_scaled".into();
    }
    let body = format!(
        "    %r = {op} %a, %b, %c{scales}{signs} : {}, {}, {}{types}\n",
        tile(&[m, k], element),
        tile(&[k, n], element),
        tile(&[m, n], result)
    );
    test(format!("{op} {m}x{n}x{k} of {element} to {result}"), buffers, body)
}

/// Ops on a big tile in a kernel with an unrelated small dot. Scalar dots, such as those in f32, hold many copies of
/// their operands in registers; the big tile is processed in passes nevertheless.
fn beside_product(element: &'static str) -> Test {
    let s = [64, 1024];
    let buffers = vec![
        buffer(In, "x", &s, "f32"),
        buffer(Out, "r", &s, "f32"),
        buffer(Out, "e", &s, "f32"),
        buffer(In, "a", &[64, 64], element),
        buffer(In, "c", &[64, 64], "f32"),
        buffer(Out, "d", &[64, 64], "f32"),
    ];
    let (big, small, sum) = (tile(&s, "f32"), tile(&[64, 64], element), tile(&[64, 64], "f32"));
    let body = format!(
        "    %r = scan %x dim=1 reverse=false identities=[0.0 : f32] : {big} -> {big}\n    \
         (%p: tile<f32>, %q: tile<f32>) {{\n      %t = addf %p, %q : tile<f32>\n      yield %t : tile<f32>\n    }}\n    \
         %e = mulf %x, %x : {big}\n    %d = mmaf %a, %a, %c : {small}, {small}, {sum}\n"
    );
    test(format!("beside a product of {element}"), buffers, body)
}

/// Small numbers that every format can represent, so that sums and products are exact in any order.
fn data(b: &Buffer, salt: usize) -> Parameter {
    let n = file::number(b.element).or_else(|| Number::ALL.into_iter().find(|n| n.keyword() == b.element));
    let number = n.expect("an element type");
    let count: usize = b.shape.iter().product();
    let element = |i: usize| {
        let v = ((i + 77 * salt).wrapping_mul(2_654_435_761) >> 9) % 4;
        match (b.role, number) {
            (Out, _) => 0,
            // Distinct indices.
            _ if b.name == "index" => ((i * 5 + 3) % count) as u64,
            (_, Number::E8m0) => 127 + v as u64 % 2,
            _ if number.is_integer() => v as u64,
            // Scales are not negative.
            _ if b.name.starts_with('s') => encode(Real::from_f64(v as f64), number, Round::NearestEven).bits,
            _ => encode(Real::from_f64(v as f64 - 1.0), number, Round::NearestEven).bits,
        }
    };
    let elements: Vec<Scalar> = (0..count).map(|i| Scalar::exact(element(i))).collect();
    Parameter::Buffer { number, bytes: file::memory(&elements, number) }
}

fn configuration(name: &str, level: u8) -> Configuration {
    Configuration { target: Target::by_name(name).expect("a target"), level, adversarial: false, options: &[] }
}

/// Compiled code computes the same results as the interpreter.
fn check(test: &Test, configurations: &[Configuration]) {
    let text = kernel(&test.buffers, &test.body);
    let program = compile::program(text.as_bytes(), InputKind::Text, &mut |d| eprintln!("{d:?}"));
    let program = program.unwrap_or_else(|e| panic!("{}: {e}\n{text}", test.name));
    let parameters = test.buffers.iter().enumerate().map(|(i, b)| data(b, i)).collect();
    let case = Case { program, grid: [1; 3], parameters };
    let meaning = case.meaning(Limits::default());
    let meaning = meaning.unwrap_or_else(|e| panic!("{}: {e}\n{text}", test.name));
    for c in configurations {
        compare(&case, &text, &meaning, c, 1).unwrap_or_else(|e| panic!("{}: {e}\n{text}", test.name));
    }
}

/// Rotates through the configurations, so that every op runs with two of them.
fn two_of(i: usize) -> [Configuration; 2] {
    let all = [("sm_80", 3), ("sm_90", 3), ("sm_100", 3), ("sm_120", 3), ("sm_90", 0), ("sm_120", 0)];
    [i, i + 3].map(|i| all[i % all.len()]).map(|(name, level)| configuration(name, level))
}

fn what_ops_on_big_tiles_compute() {
    for (i, t) in tests(64, 1024).iter().enumerate() {
        check(t, &two_of(i));
    }
}

fn what_ops_beside_products_compute() {
    for (i, element) in ["f16", "f32"].into_iter().enumerate() {
        check(&beside_product(element), &two_of(i));
    }
}

fn what_big_products_compute() {
    let all = [
        product("mmaf", [256, 256, 16], "f16", "f32"),
        product("mmaf", [256, 256, 16], "f16", "f16"),
        product("mmaf", [32, 32, 1024], "bf16", "f32"),
        product("mmaf", [512, 256, 8], "f32", "f32"),
        product("mmaf", [256, 256, 16], "tf32", "f32"),
        product("mmaf", [256, 256, 4], "f64", "f64"),
        product("mmaf", [256, 256, 32], "f8E4M3FN", "f32"),
        product("mmaf", [256, 256, 32], "f8E5M2", "f16"),
        product("mmaf", [512, 512, 1], "f32", "f32"),
        product("mmai", [256, 256, 32], "i8", "i32"),
        product("mmaf_scaled f8E8M0FNU", [256, 256, 32], "f8E4M3FN", "f32"),
        product("mmaf_scaled f8E4M3FN", [256, 256, 32], "f4E2M1FN", "f32"),
    ];
    for (i, t) in all.iter().enumerate() {
        check(t, &two_of(i));
    }
}

/// Returns the PTX of a kernel and the compile time.
fn compiled(name: &str, text: &str, target: &str) -> (String, Duration) {
    let started = Instant::now();
    let output = kernels::compile(text.as_bytes(), Target::by_name(target).expect("a target"), 3, Emit::Ptx);
    (output.unwrap_or_else(|e| panic!("{name} for {target}: {e}\n{text}")).text, started.elapsed())
}

/// The maximum PTX size in bytes, roughly the same for an op on any big tile.
const MOST_PTX: usize = 100_000;
/// For an unoptimized build on a busy machine.
const LONGEST: Duration = Duration::from_secs(10);

fn code_for_the_largest_tiles_is_small() {
    let squares = tests(4096, 4096).into_iter().filter(|t| t.name != "bytes");
    let products = [
        product("mmaf", [512, 512, 512], "f16", "f32"),
        product("mmaf", [1024, 1024, 64], "f32", "f32"),
        product("mmaf", [4096, 4096, 4], "f16", "f32"),
        product("mmaf", [64, 64, 4096], "f16", "f32"),
        product("mmaf", [256, 256, 256], "f64", "f64"),
        product("mmai", [512, 512, 512], "i8", "i32"),
        product("mmaf_scaled f8E8M0FNU", [512, 512, 512], "f8E4M3FN", "f32"),
        product("mmaf_scaled f8E4M3FN", [512, 512, 512], "f4E2M1FN", "f32"),
    ];
    let bytes = tests(2048, 2048).into_iter().filter(|t| t.name == "bytes");
    for (i, t) in squares.chain(bytes).chain(products).enumerate() {
        let target = ["sm_80", "sm_90", "sm_100", "sm_120"][i % 4];
        let (ptx, took) = compiled(&t.name, &kernel(&t.buffers, &t.body), target);
        assert!(ptx.len() < MOST_PTX, "{} for {target}: {} bytes of PTX", t.name, ptx.len());
        assert!(took < LONGEST, "{} for {target}: {took:?}", t.name);
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        what_ops_on_big_tiles_compute,
        what_ops_beside_products_compute,
        what_big_products_compute,
        code_for_the_largest_tiles_is_small
    ]
}
