//! Recognizes inputs without a magic number.

/// Whether the bytes look like a textual module, judging by the first word. The file name may not tell.
pub(super) fn is_module(bytes: &[u8]) -> bool {
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
