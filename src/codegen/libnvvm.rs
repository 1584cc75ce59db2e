//! PTX from NVIDIA's libNVVM, the code generator of nvcc.
//!
//! The library is loaded at run time; builds do not need it. Its input is this compiler's LLVM IR as bare bitcode,
//! before LLVM's optimizer, in the form that it requires:
//!
//! * the data layout of its manual, [`DATA_LAYOUT`], in which only shared memory has 32-bit addresses;
//! * `!nvvmir.version` with the version that the library reports;
//! * an identification block with the producer [`PRODUCER`] (see [`identify`]);
//! * the module name [`MODULE_NAME`].
//!
//! The library's own verifier runs after the compilation, as documented, but its result is ignored. It knows fewer
//! intrinsics than its compiler does, and LLVM's verifier has checked the module.
//!
//! For each architecture, a library reads the IR of one release of LLVM. The IR of LLVM 21 has opaque pointers and
//! needs a library that reads LLVM 21 or newer. Up to sm_90, current libraries still read the IR of LLVM 7, which
//! this module rejects with a message.

use super::{CodegenError, Options};
use inkwell::{
    memory_buffer::MemoryBuffer,
    module::{FlagBehavior, Module},
};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::{Path, PathBuf},
};
use tile_interface::DebugInfo;

/// The data layout of the module for libNVVM.
pub const DATA_LAYOUT: &str = "e-p:64:64:64-p3:32:32:32-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";
const MODULE_NAME: &CStr = c"mlir-input";
/// The producer of the bitcode, which the reader names in messages.
const PRODUCER: &str = "LLVM21.0.0git";
/// The LLVM release of this compiler's IR.
const OUR_LLVM: c_int = 21;

#[derive(Debug, thiserror::Error)]
pub enum NvvmError {
    #[error("libNVVM cannot be loaded: {0}")]
    Load(#[from] libloading::Error),
    #[error("'{}' reads the IR of LLVM {reads} for {arch}, but this compiler generates IR of LLVM 21; use --backend=llvm", .file.display())]
    Dialect { file: PathBuf, arch: String, reads: c_int },
    #[error("libNVVM failed ({text}){log}")]
    Call { text: String, log: String },
    #[error("the bitcode does not have the expected form")]
    Bitcode,
    #[error("libNVVM's PTX is not text")]
    Text,
}

/// A function of a program and command-line options.
type WithOptions = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;

/// The functions of the library, with the signatures of its manual. A program is an opaque pointer.
struct Library {
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    ir_version: unsafe extern "C" fn(*mut c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int,
    /// Missing from older libraries.
    llvm_version: Option<unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int>,
    create: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
    destroy: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
    add: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char) -> c_int,
    /// Missing from some libraries.
    verify: Option<WithOptions>,
    compile: WithOptions,
    result_size: unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int,
    result: unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int,
    log_size: unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int,
    log: unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int,
    /// Keeps the code in memory; dropped last.
    _file: libloading::Library,
}

impl Library {
    fn open(file: &Path) -> Result<Library, NvvmError> {
        // SAFETY: the user names the library, and its constructors are NVIDIA's affair; the signatures below are those
        // of its manual, stable since its first release.
        unsafe {
            let library = libloading::Library::new(file)?;
            Ok(Library {
                error_string: *library.get(b"nvvmGetErrorString\0")?,
                ir_version: *library.get(b"nvvmIRVersion\0")?,
                llvm_version: library.get(b"nvvmLLVMVersion\0").ok().map(|f| *f),
                create: *library.get(b"nvvmCreateProgram\0")?,
                destroy: *library.get(b"nvvmDestroyProgram\0")?,
                add: *library.get(b"nvvmAddModuleToProgram\0")?,
                verify: library.get(b"nvvmVerifyProgram\0").ok().map(|f| *f),
                compile: *library.get(b"nvvmCompileProgram\0")?,
                result_size: *library.get(b"nvvmGetCompiledResultSize\0")?,
                result: *library.get(b"nvvmGetCompiledResult\0")?,
                log_size: *library.get(b"nvvmGetProgramLogSize\0")?,
                log: *library.get(b"nvvmGetProgramLog\0")?,
                _file: library,
            })
        }
    }

    fn check(&self, status: c_int, log: String) -> Result<(), NvvmError> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function returns a constant text for any number.
        let text = unsafe { CStr::from_ptr((self.error_string)(status)) }.to_string_lossy().into_owned();
        let log = if log.is_empty() { log } else { format!(": {log}") };
        Err(NvvmError::Call { text, log })
    }

    /// The four numbers of `!nvvmir.version`.
    fn versions(&self) -> Result<[c_int; 4], NvvmError> {
        let mut v = [0; 4];
        let [major, minor, debug_major, debug_minor] = &mut v;
        // SAFETY: the pointers may be written.
        let status = unsafe { (self.ir_version)(major, minor, debug_major, debug_minor) };
        self.check(status, String::new())?;
        Ok(v)
    }

    /// The LLVM release of the IR that the library reads for an architecture; 7 for libraries without the query.
    fn reads(&self, arch: &CStr) -> c_int {
        let mut reads = 0;
        // SAFETY: the text ends with zero and the number may be written.
        match self.llvm_version.map(|f| unsafe { f(arch.as_ptr(), &mut reads) }) {
            Some(0) => reads,
            _ => 7,
        }
    }
}

/// A program of the library, which is destroyed on drop.
struct Program<'l>(&'l Library, *mut c_void);

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: made by the library, destroyed once.
        unsafe { (self.0.destroy)(&mut self.1) };
    }
}

impl Program<'_> {
    fn log(&self) -> String {
        // SAFETY: the sizes come from the library and the memory has them.
        unsafe { text_of(|n| (self.0.log_size)(self.1, n), |p| (self.0.log)(self.1, p)) }
            .map(|bytes| String::from_utf8_lossy(&bytes).trim().replace('\n', "; "))
            .unwrap_or_default()
    }
}

/// Reads a text from the library: `size` includes the terminating zero, which the result omits.
///
/// # Safety
/// `fill` writes as many bytes as `size` says.
unsafe fn text_of(size: impl Fn(*mut usize) -> c_int, fill: impl Fn(*mut c_char) -> c_int) -> Result<Vec<u8>, c_int> {
    let mut n = 0;
    match size(&mut n) {
        0 => {}
        status => return Err(status),
    }
    let mut bytes = vec![0u8; n];
    match fill(bytes.as_mut_ptr().cast()) {
        0 => {}
        status => return Err(status),
    }
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(bytes)
}

/// Compiles a module that LLVM has not optimized to PTX.
pub fn compile(module: &Module<'_>, file: &Path, options: Options, debug: DebugInfo) -> Result<String, CodegenError> {
    let library = Library::open(file)?;
    let arch = options.target.ptx_target.replacen("sm_", "compute_", 1);
    let argument = |text: String| CString::new(text).map_err(|_| NvvmError::Text);
    let plain = argument(arch.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_string())?;
    let reads = library.reads(&plain);
    if reads < OUR_LLVM {
        return Err(NvvmError::Dialect { file: file.to_owned(), arch, reads }.into());
    }
    let mut arguments = vec![argument(format!("-arch={arch}"))?];
    // The library has levels 0 and 3. Full debug information requires 0, which rejects some modules, such as modules
    // with vectors of bf16.
    let levels: &[&CStr] = match (options.opt_level, debug) {
        (_, DebugInfo::Full) => &[c"-opt=0"],
        (0, _) => &[c"-opt=0", c"-opt=3"],
        _ => &[c"-opt=3"],
    };
    arguments.extend(match debug {
        DebugInfo::None => None,
        DebugInfo::Lines => Some(c"-generate-line-info".to_owned()),
        DebugInfo::Full => Some(c"-g".to_owned()),
    });
    let bitcode = bitcode(module, library.versions()?)?;
    let mut result = Err(NvvmError::Text);
    for level in levels {
        let arguments: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).chain([level.as_ptr()]).collect();
        result = library.ptx(&bitcode, &arguments);
        if result.is_ok() {
            break;
        }
    }
    Ok(result?)
}

impl Library {
    /// Compiles bitcode to PTX. The arguments are zero-terminated texts.
    fn ptx(&self, bitcode: &[u8], arguments: &[*const c_char]) -> Result<String, NvvmError> {
        let mut program = Program(self, std::ptr::null_mut());
        // SAFETY: the pointer may be written.
        self.check(unsafe { (self.create)(&mut program.1) }, String::new())?;
        // SAFETY: the library copies the bitcode during the call.
        let status = unsafe { (self.add)(program.1, bitcode.as_ptr().cast(), bitcode.len(), MODULE_NAME.as_ptr()) };
        self.check(status, program.log())?;
        // SAFETY: the program is alive, and the array holds as many texts as are announced.
        let status = unsafe { (self.compile)(program.1, arguments.len() as c_int, arguments.as_ptr()) };
        self.check(status, program.log())?;
        if let Some(verify) = self.verify {
            // SAFETY: as for the call above.
            let _ = unsafe { verify(program.1, arguments.len() as c_int, arguments.as_ptr()) };
        }
        // SAFETY: the sizes come from the library and the memory has them.
        let ptx = unsafe { text_of(|n| (self.result_size)(program.1, n), |p| (self.result)(program.1, p)) };
        let ptx = ptx.or_else(|status| self.check(status, program.log()).map(|()| Vec::new()))?;
        String::from_utf8(ptx).map_err(|_| NvvmError::Text)
    }
}

/// The bitcode of the module in the form that libNVVM requires.
fn bitcode(module: &Module<'_>, versions: [c_int; 4]) -> Result<Vec<u8>, NvvmError> {
    let context = module.get_context();
    let numbers = versions.map(|v| context.i32_type().const_int(v as u64, false).into());
    if module.get_global_metadata_size("nvvmir.version") == 0 {
        module
            .add_global_metadata("nvvmir.version", &context.metadata_node(&numbers))
            .map_err(|_| NvvmError::Bitcode)?;
    }
    // The reader warns about unknown flags, but requires this one.
    if module.get_flag("Debug Info Version").is_none() {
        module.add_basic_value_flag(
            "Debug Info Version",
            FlagBehavior::Warning,
            context.i32_type().const_int(3, false),
        );
    }
    let buffer: MemoryBuffer = module.write_bitcode_to_memory();
    let mut bytes = buffer.as_slice().to_vec();
    identify(&mut bytes, PRODUCER)?;
    Ok(bytes)
}

/// Writes the producer into the identification block, the first block of a bitcode file.
///
/// The block is rewritten as a whole, because its records are bit strings. The rest of the file counts words from
/// here, so the new block must have the same length in words. It has these parts, each with its number of bits:
///
/// ```text
/// enter block   32     end of 2 bits, block 13 as vbr8, abbreviations of 5 bits as vbr4, to the word's end
/// length        32     in words, without these two
/// abbreviation  27     1 = record 1, then an array of 6-bit characters
/// producer      5+6+n*6
/// epoch         23     record 2 written out: 0
/// end of block  5      then to the word's end
/// ```
fn identify(bitcode: &mut [u8], producer: &str) -> Result<(), NvvmError> {
    const MAGIC: &[u8] = b"BC\xc0\xde";
    const ENTER_IDENTIFICATION: [u8; 4] = [0x35, 0x14, 0, 0];
    let word = |at: usize| bitcode.get(at..at + 4).and_then(|b| b.try_into().ok()).ok_or(NvvmError::Bitcode);
    let length = u32::from_le_bytes(word(8)?) as usize * 4;
    if !bitcode.starts_with(MAGIC) || word(4)? != ENTER_IDENTIFICATION || bitcode.len() < 12 + length {
        return Err(NvvmError::Bitcode);
    }
    const END_BLOCK: u64 = 0;
    const DEFINE_ABBREVIATION: u64 = 2;
    const UNABBREVIATED: u64 = 3;
    const FIRST_ABBREVIATION: u64 = 4;
    let mut bits = Bits::default();
    bits.put(DEFINE_ABBREVIATION, 5).put(3, 5);
    bits.put(1, 1).put(1, 8); // The literal number 1: a producer.
    bits.put(0, 1).put(3, 3); // An array
    bits.put(0, 1).put(4, 3); // of 6-bit characters.
    bits.put(FIRST_ABBREVIATION, 5).put(producer.len() as u64, 6);
    for c in producer.bytes() {
        let code = match c {
            b'a'..=b'z' => c - b'a',
            b'A'..=b'Z' => c - b'A' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'.' => 62,
            b'_' => 63,
            _ => return Err(NvvmError::Bitcode),
        };
        bits.put(code.into(), 6);
    }
    bits.put(UNABBREVIATED, 5).put(2, 6).put(1, 6).put(0, 6);
    bits.put(END_BLOCK, 5);
    // The length of the array is a vbr6, which holds up to 31 in one chunk.
    if producer.len() > 31 || bits.words() * 4 != length {
        return Err(NvvmError::Bitcode);
    }
    bitcode[12..12 + length].copy_from_slice(&bits.bytes(length));
    Ok(())
}

/// Bits in the order of a bitcode file: low bits first.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn put(&mut self, value: u64, width: u32) -> &mut Bits {
        self.0.extend((0..width).map(|i| value >> i & 1 == 1));
        self
    }
    fn words(&self) -> usize {
        self.0.len().div_ceil(32)
    }
    fn bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for (i, bit) in self.0.iter().enumerate() {
            bytes[i / 8] |= u8::from(*bit) << (i % 8);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::{context::Context, targets::TargetData};

    /// LLVM reads the rewritten block, and a message of its reader names the producer.
    #[test]
    fn the_producer_and_the_layout_are_those_of_the_contract() {
        assert_eq!(DATA_LAYOUT.len(), 154);
        let context = Context::create();
        let module = context.create_module("m");
        module.set_data_layout(&TargetData::create(DATA_LAYOUT).get_data_layout());
        module.add_function("f", context.void_type().fn_type(&[], false), None);
        let before = module.write_bitcode_to_memory().as_slice().len();
        let mut bytes = bitcode(&module, [2, 0, 3, 2]).unwrap();
        // Bare: no wrapper precedes the magic.
        assert!(bytes.starts_with(b"BC\xc0\xde") && bytes.len() >= before);

        let read = |bytes: &[u8]| {
            let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "mlir-input");
            Module::parse_bitcode_from_buffer(&buffer, &context).map(|m| m.print_to_string().to_string())
        };
        let text = read(&bytes).map_err(|e| e.to_string()).unwrap();
        for expected in ["!nvvmir.version = !{!", "!{i32 2, i32 0, i32 3, i32 2}", "declare void @f()", DATA_LAYOUT] {
            assert!(text.contains(expected), "{expected} in {text}");
        }

        // The reader names the producer in messages about invalid records. Corrupting some byte after the block
        // triggers one.
        let named = (40..bytes.len()).any(|i| {
            let kept = std::mem::replace(&mut bytes[i], 0xff);
            let said = read(&bytes).err().map(|e| e.to_string());
            bytes[i] = kept;
            said.is_some_and(|e| e.contains(PRODUCER))
        });
        assert!(named, "no message of the reader names the producer");
    }

    #[test]
    fn other_files_are_refused() {
        let mut wrapped = vec![0xde, 0xc0, 0x17, 0x0b];
        wrapped.resize(64, 0);
        assert!(identify(&mut wrapped, PRODUCER).is_err());
        assert!(identify(&mut b"BC\xc0\xde".to_vec(), PRODUCER).is_err());
    }
}
