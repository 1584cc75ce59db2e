//! Writes a launch as a description with its arrays: the inverse of [`Launch::read`].

use crate::launch::{Argument, ArrayArgument, Expect, Launch, MapParams, Match, Tolerance};
use crate::npy::Array;
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

impl Launch {
    /// Writes `launch.json`, `arg<n>.npy` for the arrays, and `want<n>.npy` for their expected contents
    /// (`arg<n>_<i>.npy` and `want<n>_<i>.npy` in lists and objects). Creates the folder if necessary. A kernel in
    /// the folder is named relative to it.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut root = Map::new();
        if let Some(kernel) = &self.kernel {
            let kernel = kernel.strip_prefix(folder).unwrap_or(kernel);
            let text = kernel.to_str().ok_or_else(|| io::Error::other("the kernel's path is not UTF-8"))?;
            root.insert("kernel".into(), text.into());
        }
        if let Some(entry) = &self.entry {
            root.insert("entry".into(), entry.as_str().into());
        }
        root.insert("grid".into(), json!(self.grid));
        for (key, extents) in [("block", self.block), ("cluster", self.cluster)] {
            if let Some(extents) = extents {
                root.insert(key.into(), json!(extents));
            }
        }
        if self.dynamic_shared > 0 {
            root.insert("dynamic_shared".into(), self.dynamic_shared.into());
        }
        if self.launches != 1 {
            root.insert("launches".into(), self.launches.into());
        }
        let mut args = vec![];
        for (n, argument) in self.args.iter().enumerate() {
            args.push(describe(folder, n, argument)?);
        }
        root.insert("args".into(), args.into());
        let mut expect = vec![];
        for e in &self.expect {
            let list = matches!(self.args.get(e.arg), Some(Argument::List(_) | Argument::Multicast(_)));
            expect.push(describe_expect(folder, e, list)?);
        }
        root.insert("expect".into(), expect.into());
        if let Some(lines) = &self.stdout {
            root.insert("stdout".into(), json!(lines));
        }
        if let Some(note) = &self.note {
            root.insert("note".into(), note.as_str().into());
        }
        let text = serde_json::to_string_pretty(&Value::Object(root)).map_err(io::Error::other)?;
        std::fs::write(folder.join("launch.json"), text + "\n")
    }
}

/// Writes an array and returns its file name.
fn file(folder: &Path, name: String, array: &Array) -> io::Result<Value> {
    array.write(&folder.join(&name))?;
    Ok(name.into())
}

fn describe(folder: &Path, n: usize, argument: &Argument) -> io::Result<Value> {
    let passed = |a: &ArrayArgument, name: String| -> io::Result<Value> {
        let index = if a.wide_index { "i64" } else { "i32" };
        let mut out = json!({ "array": file(folder, name, &a.array)?, "dtype": a.element.name(), "index": index });
        for (key, list) in [("strides", &a.strides), ("extents", &a.extents)] {
            if let (Some(list), Some(fields)) = (list, out.as_object_mut()) {
                fields.insert(key.into(), json!(list));
            }
        }
        Ok(out)
    };
    Ok(match argument {
        // The bits are exact, unlike a decimal number.
        Argument::Scalar { element, bytes } => {
            let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
            json!({ element.name(): format!("0x{digits}") })
        }
        Argument::Array(a) => passed(a, format!("arg{n}.npy"))?,
        Argument::List(list) => {
            let items = list.iter().enumerate().map(|(i, a)| passed(a, format!("arg{n}_{i}.npy")));
            json!({ "list": items.collect::<io::Result<Vec<_>>>()? })
        }
        Argument::Multicast(list) => {
            let items = list.iter().enumerate().map(|(i, a)| passed(a, format!("arg{n}_{i}.npy")));
            json!({ "multicast": items.collect::<io::Result<Vec<_>>>()? })
        }
        Argument::Buffer(a) if a.unwritten => json!({ "unwritten": a.array.shape, "dtype": a.element.name() }),
        Argument::Buffer(a) => {
            json!({ "buffer": file(folder, format!("arg{n}.npy"), &a.array)?, "dtype": a.element.name() })
        }
        Argument::Bytes(bytes) => json!({ "bytes": bytes.iter().map(|b| format!("{b:02x}")).collect::<String>() }),
        Argument::TensorMap { of, params } => {
            let MapParams { element, dims, strides, box_dims, steps, swizzle, fill_nan } = params;
            json!({
                "tensor_map": file(folder, format!("arg{n}.npy"), &of.array)?,
                "dtype": of.element.name(),
                "element": MapParams::ELEMENTS.get(*element as usize),
                "dims": dims,
                "strides": strides,
                "box": box_dims,
                "steps": steps,
                "swizzle": swizzle,
                "fill": if *fill_nan { "nan" } else { "zero" },
            })
        }
    })
}

fn describe_expect(folder: &Path, e: &Expect, list: bool) -> io::Result<Value> {
    let mut out = Map::new();
    out.insert("arg".into(), e.arg.into());
    let mut files = vec![];
    for (i, value) in e.values.iter().enumerate() {
        let name = if list { format!("want{}_{i}.npy", e.arg) } else { format!("want{}.npy", e.arg) };
        files.push(file(folder, name, value)?);
    }
    let value = if list { files.into() } else { files.pop().unwrap_or_default() };
    out.insert("value".into(), value);
    if let Some(loose) = &e.loose {
        out.insert("loose".into(), json!(loose));
    }
    let name = match e.how {
        Match::Value(Tolerance { rtol, atol, bad }) => {
            for (key, number) in [("rtol", rtol), ("atol", atol), ("bad", bad)] {
                out.insert(key.into(), json!(number));
            }
            "value"
        }
        Match::Bits => "bits",
        Match::BitsOrNan => "bits_or_nan",
        Match::Sorted => "sorted",
    };
    out.insert("match".into(), name.into());
    Ok(Value::Object(out))
}
