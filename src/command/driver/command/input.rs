//! Recognizes inputs.

use super::{Result, Session};
use tile_diag::{Code, Diagnostic};
use tile_interface::{InputKind, Level};

impl Session<'_> {
    /// The kind of the input, given `--start-from`. Bytecode can only hold the public dialect. Text that is not
    /// recognized as LLVM IR may still be LLVM IR, unless it is a module from between the last passes.
    pub(super) fn kind_with_level(
        &mut self,
        kind: InputKind,
        input: &[u8],
        start_from: Option<Level>,
    ) -> Result<InputKind> {
        let Some(level) = start_from else { return Ok(kind) };
        let what = match kind {
            InputKind::PublicBytecode | InputKind::SpecBytecode if level != Level::CudaTile => "Tile IR bytecode",
            InputKind::LlvmIr if level != Level::Llvm => "LLVM IR",
            InputKind::Text if level == Level::Llvm && !is_module(input) => return Ok(InputKind::LlvmIr),
            _ => return Ok(kind),
        };
        let text = format!("--start-from={} does not match the input, which is {what}", level.emit().name());
        Err(self.fail(Diagnostic::error(Code::BadConfiguration, text)))
    }
}

/// Whether the bytes look like a textual module, judging by the first word. The file name may not tell.
pub fn is_module(bytes: &[u8]) -> bool {
    const WORDS: [&str; 8] = [
        "module",
        "builtin.module",
        "cuda_tile.module",
        "gpu.module",
        "\"builtin.module\"",
        "\"cuda_tile.module\"",
        "#",
        "!",
    ];
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with("//"));
    first.is_some_and(|line| {
        let behind = |word: &str| line.strip_prefix(word).map(|rest| rest.chars().next());
        let ends = |next: Option<char>| next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
        WORDS.iter().any(|word| behind(word).is_some_and(|next| word.len() == 1 || ends(next)))
    })
}
