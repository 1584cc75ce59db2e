//! The API functions, with the signatures of the driver API's header.
//!
//! Safety of all of them: pointers must be valid as the API's documentation requires. Output pointers are writable,
//! strings are zero-terminated, and arrays have the length that the call states. Handles are numbers, which are looked
//! up.

use crate::state::{MEMORY, MapRequest, Object, Prepared, State, Work, code, encode, with};
use ptx_sim::Arg;
use std::ffi::{CStr, c_char, c_int, c_void};

type Status = c_int;

fn status<T>(result: Result<T, i32>) -> Status {
    result.map_or_else(|code| code, |_| code::SUCCESS)
}

/// Stores a result through an output pointer.
///
/// # Safety
/// `out` must be null or writable.
unsafe fn give<T>(out: *mut T, result: Result<T, i32>) -> Status {
    match result {
        Ok(_) if out.is_null() => code::INVALID_VALUE,
        Ok(value) => {
            // SAFETY: not null, and the caller of the API passed it for output.
            unsafe { out.write(value) };
            code::SUCCESS
        }
        Err(code) => code,
    }
}

/// # Safety
/// `text` must be null or zero-terminated.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, i32> {
    if text.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, and zero-terminated.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| code::INVALID_IMAGE)
}

/// # Safety
/// `data` must have `count` elements, or `count` must be zero.
unsafe fn slice<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: not null, with `count` elements.
    unsafe { std::slice::from_raw_parts(data, count) }
}

extern "C" fn init(_flags: u32) -> Status {
    code::SUCCESS
}

extern "C" fn driver_version(out: *mut c_int) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, Ok(13000)) }
}

extern "C" fn device_get(out: *mut c_int, ordinal: c_int) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, if ordinal == 0 { Ok(0) } else { Err(code::INVALID_DEVICE) }) }
}

extern "C" fn device_name(out: *mut c_char, room: c_int, _device: c_int) -> Status {
    const NAME: &[u8] = b"ptx-sim (simulated, no measurements)\0";
    if out.is_null() || (room as usize) < NAME.len() {
        return code::INVALID_VALUE;
    }
    // SAFETY: the caller has room for this many bytes.
    unsafe { out.cast::<u8>().copy_from_nonoverlapping(NAME.as_ptr(), NAME.len()) };
    code::SUCCESS
}

/// Attributes by their API numbers; unsupported ones are zero.
extern "C" fn device_attribute(out: *mut c_int, attribute: c_int, _device: c_int) -> Status {
    let value = match attribute {
        16 => 4,
        38 => 50 << 20,
        75 => 9,
        97 => 227 * 1024,
        81 => 228 * 1024,
        _ => 0,
    };
    // SAFETY: an output pointer.
    unsafe { give(out, Ok(value)) }
}

extern "C" fn device_memory(out: *mut usize, _device: c_int) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, Ok(MEMORY as usize)) }
}

extern "C" fn context_retain(out: *mut usize, _device: c_int) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(|s| Ok(s.add(Object::Context)))) }
}

extern "C" fn device_only(_device: c_int) -> Status {
    code::SUCCESS
}

extern "C" fn set_current(_context: usize) -> Status {
    code::SUCCESS
}

extern "C" fn synchronize() -> Status {
    status(with(|_| Ok(())))
}

extern "C" fn stream_create(out: *mut usize, _flags: u32) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(|s| Ok(s.add(Object::Stream)))) }
}

extern "C" fn load(out: *mut usize, image: *const c_char) -> Status {
    // SAFETY: an image is PTX text here, which is zero-terminated; an ELF image ends at its first zero byte, and is
    // rejected.
    let text = unsafe { text(image) };
    let result = text
        .and_then(|text| if text.starts_with("\u{7f}ELF") { Err(code::INVALID_IMAGE) } else { with(|s| s.load(text)) });
    // SAFETY: an output pointer.
    unsafe { give(out, result) }
}

extern "C" fn library_load(
    out: *mut usize,
    image: *const c_char,
    _options: *const c_void,
    _values: *const c_void,
    _count: u32,
    _library_options: *const c_void,
    _library_values: *const c_void,
    _library_count: u32,
) -> Status {
    load(out, image)
}

extern "C" fn destroy(handle: usize) -> Status {
    status(with(|s| s.remove(handle)))
}

extern "C" fn get_function(out: *mut usize, module: usize, name: *const c_char) -> Status {
    // SAFETY: a string.
    let result = unsafe { text(name) }.and_then(|name| with(|s| s.function(module, name)));
    // SAFETY: an output pointer.
    unsafe { give(out, result) }
}

extern "C" fn kernel_function(out: *mut usize, kernel: usize) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(|s| s.object(kernel).map(|_| kernel))) }
}

extern "C" fn function_attribute(function: usize, _attribute: c_int, value: c_int) -> Status {
    status(with(|s| {
        s.object(function)?;
        if (0..=227 * 1024).contains(&value) { Ok(()) } else { Err(code::INVALID_VALUE) }
    }))
}

extern "C" fn allocate(out: *mut u64, bytes: usize) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(|s| s.allocate(bytes as u64))) }
}

extern "C" fn free(at: u64) -> Status {
    status(with(|s| s.free(at)))
}

extern "C" fn to_device(to: u64, from: *const u8, bytes: usize) -> Status {
    // SAFETY: the source has this many bytes.
    let data = unsafe { slice(from, bytes) };
    status(with(|s| s.write(to, data)))
}

extern "C" fn to_host(to: *mut u8, from: u64, bytes: usize) -> Status {
    let mut data = vec![0; bytes];
    let result = with(|s| s.read(from, &mut data));
    if result.is_ok() && !to.is_null() {
        // SAFETY: the destination has this many bytes.
        unsafe { to.copy_from_nonoverlapping(data.as_ptr(), bytes) };
    }
    status(result)
}

extern "C" fn set_bytes(to: u64, value: u8, bytes: usize) -> Status {
    status(with(|s| s.write(to, &vec![value; bytes])))
}

extern "C" fn set_bytes_async(to: u64, value: u8, bytes: usize, _stream: usize) -> Status {
    status(with(|s| s.submit(Work::Fill { to, value, bytes })))
}

/// Copies the values of the parameters, which the caller may change after the launch returns.
///
/// # Safety
///
/// `parameters` must have a pointer for each parameter of the function, to as many bytes as the parameter has.
unsafe fn prepare(
    state: &State,
    function: usize,
    extents: [u32; 6],
    cluster: Option<[u32; 3]>,
    dynamic_shared: u32,
    parameters: *const *const u8,
) -> Result<Prepared, i32> {
    let Object::Function(module, entry) = state.object(function)? else { return Err(code::INVALID_HANDLE) };
    let declared = module.functions.iter().find(|f| f.name == entry).ok_or(code::NOT_FOUND)?;
    // SAFETY: one pointer for each parameter.
    let pointers = unsafe { slice(parameters, declared.params.len()) };
    if pointers.len() != declared.params.len() || pointers.iter().any(|p| p.is_null()) {
        return Err(code::INVALID_VALUE);
    }
    let values = pointers.iter().zip(&declared.params).map(|(pointer, parameter)| {
        // SAFETY: each points to as many bytes as its parameter.
        Arg::Bytes(unsafe { slice(*pointer, parameter.size as usize) }.to_vec())
    });
    let parameters = values.collect();
    let [gx, gy, gz, bx, by, bz] = extents;
    Ok(Prepared {
        module: module.clone(),
        entry,
        grid: [gx, gy, gz],
        block: [bx, by, bz],
        cluster,
        dynamic_shared,
        parameters,
    })
}

#[allow(clippy::too_many_arguments, reason = "the signature is the API's")]
extern "C" fn launch(
    function: usize,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    dynamic_shared: u32,
    _stream: usize,
    parameters: *const *const u8,
    _extra: *const c_void,
) -> Status {
    let extents = [grid_x, grid_y, grid_z, block_x, block_y, block_z];
    status(with(|s| {
        // SAFETY: the parameters are the caller's.
        let prepared = unsafe { prepare(s, function, extents, None, dynamic_shared, parameters) }?;
        s.submit(Work::Launch(prepared))
    }))
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    extents: [u32; 6],
    dynamic_shared: u32,
    stream: usize,
    attributes: *const Attribute,
    count: u32,
}

/// `CUlaunchAttribute`, whose value is a union of 64 bytes.
#[repr(C)]
struct Attribute {
    id: u32,
    pad: u32,
    value: [u32; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER: u32 = 4;

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`, which permits the sequential launches done here.
const PROGRAMMATIC_SERIALIZATION: u32 = 6;

extern "C" fn launch_extended(
    config: *const Config,
    function: usize,
    parameters: *const *const u8,
    _extra: *const c_void,
) -> Status {
    // SAFETY: null or a configuration.
    let Some(config) = (unsafe { config.as_ref() }) else { return code::INVALID_VALUE };
    // SAFETY: the configuration has this many attributes.
    let attributes = unsafe { slice(config.attributes, config.count as usize) };
    if attributes.iter().any(|a| ![CLUSTER, PROGRAMMATIC_SERIALIZATION].contains(&a.id)) {
        return code::INVALID_VALUE;
    }
    let cluster = attributes.iter().find(|a| a.id == CLUSTER).map(|a| [a.value[0], a.value[1], a.value[2]]);
    status(with(|s| {
        // SAFETY: the parameters are the caller's.
        let prepared = unsafe { prepare(s, function, config.extents, cluster, config.dynamic_shared, parameters) }?;
        s.submit(Work::Launch(prepared))
    }))
}

#[allow(clippy::too_many_arguments, reason = "the signature is the API's")]
extern "C" fn tensor_map(
    out: *mut [u8; 128],
    element: u32,
    rank: u32,
    address: u64,
    dims: *const u64,
    strides: *const u64,
    box_dims: *const u32,
    element_strides: *const u32,
    interleave: u32,
    swizzle: u32,
    _promotion: u32,
    fill: u32,
) -> Status {
    let rank = rank as usize;
    // The driver requires an array of strides even for rank 1.
    if rank == 0 || strides.is_null() {
        return code::INVALID_VALUE;
    }
    // SAFETY: arrays with one element per dimension; the array of strides has one less.
    let request = unsafe {
        MapRequest {
            element,
            address,
            dims: slice(dims, rank),
            strides: slice(strides, rank - 1),
            box_dims: slice(box_dims, rank),
            element_strides: slice(element_strides, rank),
            interleave,
            swizzle,
            fill,
        }
    };
    // SAFETY: an output pointer.
    unsafe { give(out, encode(&request)) }
}

extern "C" fn begin_capture(_stream: usize, _mode: c_int) -> Status {
    status(with(State::begin_capture))
}

extern "C" fn end_capture(_stream: usize, out: *mut usize) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(State::end_capture)) }
}

extern "C" fn instantiate(out: *mut usize, graph: usize, _flags: u64) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(|s| s.object(graph).map(|g| s.add(g)))) }
}

extern "C" fn graph_launch(graph: usize, _stream: usize) -> Status {
    status(with(|s| {
        let Object::Graph(work) = s.object(graph)? else { return Err(code::INVALID_HANDLE) };
        work.iter().try_for_each(|w| s.perform(w))
    }))
}

extern "C" fn event_create(out: *mut usize, _flags: u32) -> Status {
    // SAFETY: an output pointer.
    unsafe { give(out, with(|s| Ok(s.add(Object::Event(0))))) }
}

extern "C" fn event_record(event: usize, _stream: usize) -> Status {
    status(with(|s| s.set_event(event)))
}

extern "C" fn event_wait(event: usize) -> Status {
    status(with(|s| s.object(event)))
}

/// Submitted work completes immediately, so there is nothing to wait for.
extern "C" fn stream_wait(stream: usize, event: usize, _flags: u32) -> Status {
    status(with(|s| {
        s.object(stream)?;
        s.object(event)
    }))
}

/// One millisecond for each launch between two events.
extern "C" fn event_elapsed(out: *mut f32, first: usize, last: usize) -> Status {
    let result = with(|s| match (s.object(first)?, s.object(last)?) {
        (Object::Event(a), Object::Event(b)) => Ok(b.saturating_sub(a) as f32),
        _ => Err(code::INVALID_HANDLE),
    });
    // SAFETY: an output pointer.
    unsafe { give(out, result) }
}

extern "C" fn error_string(_code: c_int, out: *mut *const c_char) -> Status {
    // SAFETY: an output pointer; the text is static.
    unsafe { give(out, Ok(c"an error of the simulated driver".as_ptr())) }
}

/// Looks up a function by its unversioned name. Returns "not found" for unknown names.
///
/// # Safety
///
/// As for all functions of this module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    out: *mut *const c_void,
    _version: c_int,
    _flags: u64,
    _found: *mut c_int,
) -> Status {
    // SAFETY: a string.
    let Ok(name) = (unsafe { text(name) }) else { return code::INVALID_VALUE };
    let address = TABLE.iter().find(|(n, _)| *n == name).map(|(_, f)| f.0).ok_or(code::NOT_FOUND);
    // SAFETY: an output pointer.
    unsafe { give(out, address) }
}

/// A function's address, for the table.
struct Function(*const c_void);

// SAFETY: the address of a function is valid in every thread.
unsafe impl Sync for Function {}

macro_rules! table {
    ($($name:literal: $f:ident),* $(,)?) => {
        &[$(($name, Function($f as *const c_void))),*]
    };
}

static TABLE: &[(&str, Function)] = table! {
    "cuInit": init,
    "cuDriverGetVersion": driver_version,
    "cuDeviceGet": device_get,
    "cuDeviceGetName": device_name,
    "cuDeviceGetAttribute": device_attribute,
    "cuDeviceTotalMem": device_memory,
    "cuDevicePrimaryCtxRetain": context_retain,
    "cuDevicePrimaryCtxRelease": device_only,
    "cuCtxSetCurrent": set_current,
    "cuCtxSynchronize": synchronize,
    "cuStreamCreate": stream_create,
    "cuStreamDestroy": destroy,
    "cuStreamWaitEvent": stream_wait,
    "cuModuleLoadData": load,
    "cuModuleUnload": destroy,
    "cuModuleGetFunction": get_function,
    "cuLibraryLoadData": library_load,
    "cuLibraryUnload": destroy,
    "cuLibraryGetKernel": get_function,
    "cuKernelGetFunction": kernel_function,
    "cuFuncSetAttribute": function_attribute,
    "cuMemAlloc": allocate,
    "cuMemFree": free,
    "cuMemcpyHtoD": to_device,
    "cuMemcpyDtoH": to_host,
    "cuMemsetD8": set_bytes,
    "cuMemsetD8Async": set_bytes_async,
    "cuLaunchKernel": launch,
    "cuLaunchKernelEx": launch_extended,
    "cuTensorMapEncodeTiled": tensor_map,
    "cuStreamBeginCapture": begin_capture,
    "cuStreamEndCapture": end_capture,
    "cuGraphInstantiateWithFlags": instantiate,
    "cuGraphLaunch": graph_launch,
    "cuGraphExecDestroy": destroy,
    "cuGraphDestroy": destroy,
    "cuEventCreate": event_create,
    "cuEventRecord": event_record,
    "cuEventSynchronize": event_wait,
    "cuEventElapsedTime": event_elapsed,
    "cuEventDestroy": destroy,
    "cuGetErrorString": error_string,
};
