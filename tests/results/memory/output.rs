//! Printing, assertions, globals, scratch memory and constants.

use ptx_sim::{Module, SimErrorKind};
use tile_test_support::device::*;

fn each(text: &str, mut check: impl FnMut(&Module, Option<u64>) -> Result<(), String>) -> Result<(), String> {
    let mut problems = vec![];
    for (target, level) in configurations() {
        let module = Module::parse(&compile(text, target, level)?).map_err(|e| e.to_string())?;
        for schedule in schedules() {
            if let Err(e) = check(&module, *schedule) {
                problems.push(format!("{target} -O{level} {schedule:?}: {e}"));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    assemble_everywhere(text, 3)
}

fn same(what: &str, got: &str, want: &str) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}:\n{got}\nexpected:\n{want}")) }
}

/// The output of prints. The kernel has one block, so that the order of the lines is fixed.
pub fn prints() -> Result<(), String> {
    let text = r#"cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    %i8 = constant <i8: -3> : tile<i8>
    %i16 = constant <i16: 300> : tile<i16>
    %i64 = constant <i64: -5000000000> : tile<i64>
    %yes = constant <i1: 1> : tile<i1>
    %a0 = print_tko "%d %u %x %5d|%-5d|%05d\n", %i8, %i8, %i16, %n, %n, %n : tile<i8>, tile<i8>, tile<i16>, tile<i32>, tile<i32>, tile<i32> -> token
    %a1 = print_tko "%lld %d %u %d %c%%\n", %i64, %i64, %yes, %yes, %n token=%a0 : tile<i64>, tile<i64>, tile<i1>, tile<i1>, tile<i32> -> token
    %f16 = constant <f16: 1.5> : tile<f16>
    %bf16 = constant <bf16: -2.25> : tile<bf16>
    %f32 = constant <f32: 3.1415927> : tile<f32>
    %f64 = constant <f64: 1.0e100> : tile<f64>
    %f8 = constant <f8E4M3FN: 448.0> : tile<f8E4M3FN>
    %f4 = constant <f8E5M2: 0x7D> : tile<f8E5M2>
    %tf = constant <tf32: 0.5> : tile<tf32>
    %a2 = print_tko "%f %.3f %e %g %g\n", %f16, %bf16, %f32, %f64, %f8 token=%a1 : tile<f16>, tile<bf16>, tile<f32>, tile<f64>, tile<f8E4M3FN> -> token
    %a3 = print_tko "%f %f %d %f %F\n", %f4, %tf, %bf16, %n, %f32 token=%a2 : tile<f8E5M2>, tile<tf32>, tile<bf16>, tile<i32>, tile<f32> -> token
    %r4 = iota : tile<4xi32>
    %m = reshape %r4 : tile<4xi32> -> tile<2x2xi32>
    %half = itof %m signed : tile<2x2xi32> -> tile<2x2xf16>
    %one = constant <i32: 7> : tile<1x1xi32>
    %a4 = print_tko "%d, %.1f and %d\n", %m, %half, %one token=%a3 : tile<2x2xi32>, tile<2x2xf16>, tile<1x1xi32> -> token
    %big = iota : tile<64xi16>
    %cube = reshape %big : tile<64xi16> -> tile<2x8x4xi16>
    %turned = permute %cube [2, 0, 1] : tile<2x8x4xi16> -> tile<4x2x8xi16>
    %a5 = print_tko "%d: %d\n", %n, %turned token=%a4 : tile<i32>, tile<4x2x8xi16> -> token
    %a6 = print_tko "no arguments\n" token=%a5 -> token
    %huge = iota : tile<2048xi32>
    %a7 = print_tko "%d\n", %huge token=%a6 : tile<2048xi32> -> token
    return
  }
}
"#;
    let cube = |k: usize| {
        let row = |i: usize| {
            let line: Vec<String> = (0..8).map(|j| (i * 32 + j * 4 + k).to_string()).collect();
            format!("[{}]", line.join(", "))
        };
        format!("[{}, {}]", row(0), row(1))
    };
    let huge: Vec<String> = (0..2048).map(|i| i.to_string()).collect();
    let want = format!(
        "-3 253 12c    65|65   |00065\n\
         -5000000000 -5000000000 1 1 A%\n\
         1.500000 -2.250 3.141593e+00 1e+100 448\n\
         nan 0.500000 -2 65.000000 3.141593\n\
         [[0, 1], [2, 3]], [[0.0, 1.0], [2.0, 3.0]] and [[7]]\n\
         65: [{}, {}, {}, {}]\n\
         no arguments\n\
         [{}]\n",
        cube(0),
        cube(1),
        cube(2),
        cube(3),
        huge.join(", ")
    );
    each(text, |module, schedule| {
        let mut run = Run::default();
        run.scalar(65);
        let report = run.launch(module, "k", 1, schedule).map_err(|e| e.to_string())?;
        same("output", &report.output, &want)
    })
}

/// Every false element is reported, then the kernel stops.
pub fn assertions() -> Result<(), String> {
    let text = r#"cuda_tile.module @m {
  entry @tile(%n: tile<i32>) {
    %i = iota : tile<512xi32>
    %r = reshape %n : tile<i32> -> tile<1xi32>
    %b = broadcast %r : tile<1xi32> -> tile<512xi32>
    %ok = cmpi not_equal %i, %b, signed : tile<512xi32> -> tile<512xi1>
    %m = constant <i32: 63> : tile<512xi32>
    %low = andi %i, %m : tile<512xi32>
    %ok2 = cmpi not_equal %low, %b, signed : tile<512xi32> -> tile<512xi1>
    %grid = reshape %ok2 : tile<512xi1> -> tile<8x64xi1>
    assert %ok, "not 100%" : tile<512xi1>
    assert %grid, "column" : tile<8x64xi1>
    return
  }
  entry @scalar(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %ok = cmpi equal %n, %zero, signed : tile<i32> -> tile<i1>
    assert %ok, "zero" : tile<i1>
    return
  }
}
"#;
    each(text, |module, schedule| {
        let fails = |entry: &str, n: i32, message: &str, lines: &[String]| {
            let mut run = Run::default();
            run.scalar(n);
            let Err(error) = run.launch(module, entry, 1, schedule) else {
                return Err(format!("{entry}({n}) did not fail"));
            };
            match &error.kind {
                SimErrorKind::Assert { message: m, function, .. } if m == message && function == entry => {}
                _ => return Err(format!("{entry}({n}): {error}")),
            }
            let mut got: Vec<String> = run.device.printed_before_failure().lines().map(String::from).collect();
            got.sort();
            let mut want = lines.to_vec();
            want.sort();
            same("lines", &got.join("\n"), &want.join("\n"))
        };
        let line = |number: u32, rest: &str| format!("kernel.tileirbc:{number}: assertion failed{rest}");
        fails("tile", 300, "not 100%", &[line(11, " at [300]: not 100%")])?;
        // The first assertion fails in row 0 and stops the kernel.
        fails("tile", 5, "not 100%", &[line(11, " at [5]: not 100%")])?;
        fails("scalar", 3, "zero", &[line(18, ": zero")])?;
        let mut run = Run::default();
        run.scalar(1000);
        run.launch(module, "tile", 1, schedule).map_err(|e| e.to_string())?;
        let mut run = Run::default();
        run.scalar(0);
        run.launch(module, "scalar", 1, schedule).map_err(|e| e.to_string())?;
        Ok(())
    })
}

/// Variables have their initial values in the memory format, and stored values persist across launches.
pub fn globals() -> Result<(), String> {
    let text = r#"cuda_tile.module @m {
  global @counter <i32: 5> : tile<1xi32>
  global constant @bits <i1: [1, 0, 0, 1, 1, 0, 1, 0]> : tile<8xi1>
  global private @longs <i64: [-1, 9223372036854775807, 2, 3, 4, 5, 6, 7]> : tile<8xi64>
  global @f8 <f8E5M2: [1.0, -2.0, 0.5, 4.0, 0x7D, 1.5, 0.0, -0.0]> : tile<8xf8E5M2>
  global @tf alignment = 256 <tf32: [1.0, -2.0, 0.5, 4.0, 8.0, 1.5, 0.0, -0.0]> : tile<8xtf32>
  global @same <f16: 0.25> : tile<8xf16>
  global @f4 <f4E2M1FN: [1.0, -6.0, 0.5, 0.0, -0.0, 4.0, 2.0, -1.5]> : tile<8xf4E2M1FN>
  entry @count(%counts: tile<ptr<i32>>) {
    %c = get_global @counter : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %old, %t = atomic_rmw_tko acq_rel device %c, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %x, %y, %z = get_tile_block_id : tile<i32>
    %cp = offset %counts, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t0 = store_ptr_tko weak %cp, %old : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @copy(%o1: tile<ptr<i1>>, %o2: tile<ptr<i64>>, %o3: tile<ptr<f8E5M2>>, %o4: tile<ptr<tf32>>, %o5: tile<ptr<f16>>, %o6: tile<ptr<f4E2M1FN>>) {
    %i = iota : tile<8xi32>
COPIES
    return
  }
}
"#;
    let copies: String = [("bits", "i1"), ("longs", "i64"), ("f8", "f8E5M2"), ("tf", "tf32"), ("same", "f16")]
        .iter()
        .enumerate()
        .map(|(n, (name, t))| {
            let o = n + 1;
            format!(
                "    %g{o} = get_global @{name} : tile<ptr<{t}>>
    %g{o}r = reshape %g{o} : tile<ptr<{t}>> -> tile<1xptr<{t}>>
    %g{o}b = broadcast %g{o}r : tile<1xptr<{t}>> -> tile<8xptr<{t}>>
    %g{o}p = offset %g{o}b, %i : tile<8xptr<{t}>>, tile<8xi32> -> tile<8xptr<{t}>>
    %v{o}, %tv{o} = load_ptr_tko weak %g{o}p : tile<8xptr<{t}>> -> tile<8x{t}>, token
    %o{o}r = reshape %o{o} : tile<ptr<{t}>> -> tile<1xptr<{t}>>
    %o{o}b = broadcast %o{o}r : tile<1xptr<{t}>> -> tile<8xptr<{t}>>
    %o{o}p = offset %o{o}b, %i : tile<8xptr<{t}>>, tile<8xi32> -> tile<8xptr<{t}>>
    %ts{o} = store_ptr_tko weak %o{o}p, %v{o} : tile<8xptr<{t}>>, tile<8x{t}> -> token
"
            )
        })
        .collect();
    let packed = "    %g6 = get_global @f4 : tile<ptr<f4E2M1FN>>
    %m = make_tensor_view %g6, shape = [8], strides = [1] : tensor_view<8xf4E2M1FN, strides=[1]>
    %v = make_partition_view %m : partition_view<tile=(8), tensor_view<8xf4E2M1FN, strides=[1]>>
    %zero = constant <i32: 0> : tile<i32>
    %v6, %tv6 = load_view_tko weak %v[%zero] : partition_view<tile=(8), tensor_view<8xf4E2M1FN, strides=[1]>>, tile<i32> -> tile<8xf4E2M1FN>, token
    %om = make_tensor_view %o6, shape = [8], strides = [1] : tensor_view<8xf4E2M1FN, strides=[1]>
    %ov = make_partition_view %om : partition_view<tile=(8), tensor_view<8xf4E2M1FN, strides=[1]>>
    %ts6 = store_view_tko weak %v6, %ov[%zero] : tile<8xf4E2M1FN>, partition_view<tile=(8), tensor_view<8xf4E2M1FN, strides=[1]>>, tile<i32> -> token
    %two = iota : tile<2xi32>
    %even = addi %two, %two : tile<2xi32>
    %four = constant <i32: 4> : tile<2xi32>
    %from = addi %even, %four : tile<2xi32>
    %g6r = reshape %g6 : tile<ptr<f4E2M1FN>> -> tile<1xptr<f4E2M1FN>>
    %g6b = broadcast %g6r : tile<1xptr<f4E2M1FN>> -> tile<2xptr<f4E2M1FN>>
    %g6p = offset %g6b, %from : tile<2xptr<f4E2M1FN>>, tile<2xi32> -> tile<2xptr<f4E2M1FN>>
    %low, %tl = load_ptr_tko weak %g6p : tile<2xptr<f4E2M1FN>> -> tile<2xf4E2M1FN>, token
    %o6r = reshape %o6 : tile<ptr<f4E2M1FN>> -> tile<1xptr<f4E2M1FN>>
    %o6b = broadcast %o6r : tile<1xptr<f4E2M1FN>> -> tile<2xptr<f4E2M1FN>>
    %o6p = offset %o6b, %even : tile<2xptr<f4E2M1FN>>, tile<2xi32> -> tile<2xptr<f4E2M1FN>>
    %tp6 = store_ptr_tko weak %o6p, %low token = %ts6 : tile<2xptr<f4E2M1FN>>, tile<2xf4E2M1FN> -> token
";
    let text = text.replace("COPIES\n", &(copies + packed));
    each(&text, |module, schedule| {
        let mut run = Run::default();
        let counts = run.memory(&[0; 16]);
        let mut counted = vec![];
        for _ in 0..2 {
            run.launch(module, "count", 4, schedule).map_err(|e| e.to_string())?;
            counted.extend(unpack(&run.read(counts, 16), 32));
        }
        counted.sort_unstable();
        if counted != (5..13).collect::<Vec<u64>>() {
            return Err(format!("counted {counted:?}"));
        }
        run.arguments.clear();
        let outs = [8, 64, 8, 32, 16, 4].map(|bytes| run.memory(&vec![0; bytes]));
        run.launch(module, "copy", 1, schedule).map_err(|e| e.to_string())?;
        let top = i64::MAX as u64;
        let wants: [(u32, [u64; 8]); 6] = [
            (8, [1, 0, 0, 1, 1, 0, 1, 0]),
            (64, [u64::MAX, top, 2, 3, 4, 5, 6, 7]),
            (8, [0x3c, 0xc0, 0x38, 0x44, 0x7d, 0x3e, 0, 0x80]),
            (32, [1.0f32, -2.0, 0.5, 4.0, 8.0, 1.5, 0.0, -0.0].map(|f| f.to_bits().into())),
            (16, [0x3400; 8]),
            // Pointers select the fifth and the seventh element, which replace the first and the third.
            (4, [8, 15, 4, 0, 8, 6, 4, 11]),
        ];
        for (p, (bits, want)) in outs.iter().zip(wants) {
            let got = unpack(&run.read(*p, 8 * bits as usize / 8), bits);
            if got != want {
                return Err(format!("{bits}-bit elements are {got:x?}, not {want:x?}"));
            }
        }
        Ok(())
    })
}

/// Each tile block has its own scratch memory, and an allocation in a loop gets new memory in each iteration.
pub fn scratch() -> Result<(), String> {
    let text = r#"cuda_tile.module @m {
  entry @k(%out: tile<ptr<i32>>, %rounds: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %last = constant <i32: 127> : tile<128xi32>
    %i = iota : tile<128xi32>
    %back = subi %last, %i : tile<128xi32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %start = constant <i32: 0> : tile<128xi32>
    %sum = for %r in (%zero to %rounds, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<128xi32>) {
      %q = alloca num_elem = 128, alignment = 256 : tile<ptr<i32>>
      %a = ptr_to_int %q : tile<ptr<i32>> -> tile<i64>
      %c255 = constant <i64: 255> : tile<i64>
      %rest = andi %a, %c255 : tile<i64>
      %none = constant <i64: 0> : tile<i64>
      %aligned = cmpi equal %rest, %none, signed : tile<i64> -> tile<i1>
      assert %aligned, "alignment" : tile<i1>
      %qr = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
      %qb = broadcast %qr : tile<1xptr<i32>> -> tile<128xptr<i32>>
      %qp = offset %qb, %i : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
      %qs = offset %qb, %back : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
      %b = addi %r, %x : tile<i32>
      %br = reshape %b : tile<i32> -> tile<1xi32>
      %bb = broadcast %br : tile<1xi32> -> tile<128xi32>
      %v = muli %bb, %i : tile<128xi32>
      %t = store_ptr_tko weak %qp, %v : tile<128xptr<i32>>, tile<128xi32> -> token
      %w, %t1 = load_ptr_tko weak %qs token=%t : tile<128xptr<i32>> -> tile<128xi32>, token
      %next = addi %acc, %w : tile<128xi32>
      continue %next : tile<128xi32>
    }
    %n = constant <i32: 128> : tile<i32>
    %base = muli %x, %n : tile<i32>
    %o = offset %out, %base : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %or = reshape %o : tile<ptr<i32>> -> tile<1xptr<i32>>
    %ob = broadcast %or : tile<1xptr<i32>> -> tile<128xptr<i32>>
    %op = offset %ob, %i : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
    %t2 = store_ptr_tko weak %op, %sum : tile<128xptr<i32>>, tile<128xi32> -> token
    return
  }
  entry @too_much(%out: tile<ptr<i32>>) {
    %q = alloca num_elem = 1000000000, alignment = 4 : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %q, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"#;
    each(text, |module, schedule| {
        let mut run = Run::default();
        let p = run.memory(&[0; 3 * 128 * 4]);
        run.scalar(5);
        run.launch(module, "k", 3, schedule).map_err(|e| e.to_string())?;
        let got = unpack(&run.read(p, 3 * 128 * 4), 32);
        for (at, &v) in got.iter().enumerate() {
            let (x, i) = (at as u64 / 128, at as u64 % 128);
            let want: u64 = (0..5).map(|r| (r + x) * (127 - i)).sum();
            if v != want {
                return Err(format!("element {i} of block {x} is {v}, not {want}"));
            }
        }
        let mut run = Run::default();
        run.memory(&[0; 4]);
        match run.launch(module, "too_much", 1, schedule) {
            Err(e) if matches!(e.kind, SimErrorKind::Trap) => Ok(()),
            Err(e) => Err(format!("no trap: {e}")),
            Ok(_) => Err("a heap without end".into()),
        }
    })
}

/// Stores the tile `%f` to the memory at `%p` through pointers.
fn stored_by_pointers(t: &str, count: usize) -> String {
    format!(
        "    %i = iota : tile<{count}xi32>
    %r = reshape %p : tile<ptr<{t}>> -> tile<1xptr<{t}>>
    %b = broadcast %r : tile<1xptr<{t}>> -> tile<{count}xptr<{t}>>
    %q = offset %b, %i : tile<{count}xptr<{t}>>, tile<{count}xi32> -> tile<{count}xptr<{t}>>
    %t = store_ptr_tko weak %q, %f : tile<{count}xptr<{t}>>, tile<{count}x{t}> -> token"
    )
}
/// As [`stored_by_pointers`], for element types that pointers cannot access.
fn stored_by_view(t: &str, count: usize) -> String {
    let memory = format!("tensor_view<{count}x{t}, strides=[1]>");
    let view = format!("partition_view<tile=({count}), {memory}>");
    format!(
        "    %m = make_tensor_view %p, shape = [{count}], strides = [1] : {memory}
    %v = make_partition_view %m : {view}
    %zero = constant <i32: 0> : tile<i32>
    %t = store_view_tko weak %f, %v[%zero] : tile<{count}x{t}>, {view}, tile<i32> -> token"
    )
}

/// Constants of every type and of several shapes are stored unchanged.
pub fn constants() -> Result<(), String> {
    // Type, bits in memory, literals and their bits.
    type Row = (&'static str, u32, &'static [(&'static str, u64)]);
    let rows: &[Row] = &[
        ("i1", 8, &[("1", 1), ("0", 0), ("0", 0), ("1", 1)]),
        ("i8", 8, &[("-1", 0xff), ("127", 0x7f), ("-128", 0x80), ("3", 3)]),
        ("i16", 16, &[("-1", 0xffff), ("32767", 0x7fff), ("2", 2), ("-32768", 0x8000)]),
        ("i32", 32, &[("-1", 0xffff_ffff), ("2147483647", 0x7fff_ffff), ("2", 2), ("-2147483648", 0x8000_0000)]),
        ("i64", 64, &[("-1", u64::MAX), ("9223372036854775807", i64::MAX as u64), ("2", 2), ("-3", -3i64 as u64)]),
        ("f16", 16, &[("1.0", 0x3c00), ("-0.0", 0x8000), ("0x7E01", 0x7e01), ("65504.0", 0x7bff)]),
        ("bf16", 16, &[("1.0", 0x3f80), ("-0.0", 0x8000), ("0x7FC1", 0x7fc1), ("3.0", 0x4040)]),
        ("f32", 32, &[("1.0", 0x3f80_0000), ("-0.0", 0x8000_0000), ("0x7FC00123", 0x7fc0_0123), ("0.1", 0x3dcc_cccd)]),
        (
            "f64",
            64,
            &[
                ("1.0", 0x3ff0 << 48),
                ("-0.0", 1 << 63),
                ("0x7FF8000000000123", 0x7ff8_0000_0000_0123),
                ("2.0", 1 << 62),
            ],
        ),
        ("tf32", 32, &[("1.0", 0x3f80_0000), ("-0.0", 0x8000_0000), ("0.1", 0x3dcc_c000), ("-2.0", 0xc000_0000)]),
        ("f8E4M3FN", 8, &[("1.0", 0x38), ("-0.0", 0x80), ("0x7F", 0x7f), ("448.0", 0x7e)]),
        ("f8E5M2", 8, &[("1.0", 0x3c), ("-0.0", 0x80), ("0x7D", 0x7d), ("57344.0", 0x7b)]),
        ("f8E8M0FNU", 8, &[("1.0", 0x7f), ("2.0", 0x80), ("0xFF", 0xff), ("0.5", 0x7e)]),
        ("f4E2M1FN", 4, &[("1.0", 2), ("-0.0", 8), ("-6.0", 15), ("0.5", 1)]),
    ];
    let shapes: &[&[usize]] = &[&[4], &[2, 2], &[64], &[8, 16], &[1024]];
    let mut text = String::from("cuda_tile.module @m {\n");
    for (t, bits, literals) in rows {
        for (n, shape) in shapes.iter().enumerate() {
            let count: usize = shape.iter().product();
            // Patterns with different periods, so that no two registers are equal.
            let literal = |i: usize| literals[(i * 7 + i / 5 + i / 64) % 4].0;
            let list = |from: usize, len: usize| {
                let items: Vec<&str> = (from..from + len).map(literal).collect();
                format!("[{}]", items.join(", "))
            };
            let value = match shape {
                [n] => list(0, *n),
                [a, b] => format!("[{}]", (0..*a).map(|r| list(r * b, *b)).collect::<Vec<_>>().join(", ")),
                _ => unreachable!("one dimension or two"),
            };
            let dims: Vec<String> = shape.iter().map(|d| d.to_string()).collect();
            let dims = dims.join("x");
            text += &format!(
                "  entry @c{n}_{}(%p: tile<ptr<{t}>>) {{
    %c = constant <{t}: {value}> : tile<{dims}x{t}>
    %f = reshape %c : tile<{dims}x{t}> -> tile<{count}x{t}>
{}
    return
  }}
",
                t.to_lowercase(),
                if *bits < 8 { stored_by_view(t, count) } else { stored_by_pointers(t, count) }
            );
        }
        // A scalar, which is printed as one number. Types smaller than a byte are skipped.
        if *bits < 8 {
            continue;
        }
        text += &format!(
            "  entry @s_{}(%p: tile<ptr<{t}>>) {{
    %c = constant <{t}: {}> : tile<{t}>
    %t = store_ptr_tko weak %p, %c : tile<ptr<{t}>>, tile<{t}> -> token
    return
  }}
",
            t.to_lowercase(),
            literals[2].0
        );
    }
    text += "}\n";
    each(&text, |module, schedule| {
        for (t, bits, literals) in rows {
            let check = |entry: String, count: usize, want: &dyn Fn(usize) -> u64| {
                let mut run = Run::default();
                // Types smaller than a byte are stored as whole words.
                let bytes = (count * *bits as usize).div_ceil(32) * 4;
                let p = run.memory(&vec![0; bytes]);
                run.launch(module, &entry, 1, schedule).map_err(|e| format!("{entry}: {e}"))?;
                let got = unpack(&run.read(p, bytes), *bits);
                match (0..count).find(|&i| got[i] != want(i)) {
                    Some(i) => Err(format!("{entry}: element {i} is {:#x}, not {:#x}", got[i], want(i))),
                    None => Ok(()),
                }
            };
            for (n, shape) in shapes.iter().enumerate() {
                let want = |i: usize| literals[(i * 7 + i / 5 + i / 64) % 4].1;
                check(format!("c{n}_{}", t.to_lowercase()), shape.iter().product(), &want)?;
            }
            if *bits >= 8 {
                check(format!("s_{}", t.to_lowercase()), 1, &|_| literals[2].1)?;
            }
        }
        Ok(())
    })
}
