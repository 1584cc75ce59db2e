// Prints that take a loop: elements of large tiles, and the false elements of an assertion.
//
// The driver's `vprintf` takes a format and a buffer in which each argument has its natural alignment. The caller
// provides the buffer, so that a kernel has one. The functions act for one thread.

// The text before an element of a tile: texts for n pairs of brackets that close and open, n = 0 .. rank - 1, and the
// text before the first element, each `stride` bytes long. `closed` has the number of elements in each pair of
// brackets but the outermost, from the inside out.
TL_INLINE tl_u64 tl_text_before(tl_u64 texts, tl_u32 stride, tl_u64 closed, tl_u32 rank, tl_u32 index) {
  const TL_GLOBAL tl_u32 *volumes = (const TL_GLOBAL tl_u32 *)closed;
  tl_u32 levels = 0;
  while (levels < rank - 1 && index % volumes[levels] == 0) levels++;
  return texts + (index == 0 ? rank : levels) * stride;
}

// Prints an element of a tile after the text before it, in one call, so that CTAs do not interleave within it. The
// format is "%s" and the conversion of the element.
TL_EXPORT void __tileir_print_element(tl_u64 format, tl_u64 buffer, tl_u64 texts, tl_u32 stride, tl_u64 closed,
                                      tl_u32 rank, tl_u32 index, tl_u64 value) {
  tl_u64 *arguments = (tl_u64 *)buffer;
  arguments[0] = tl_text_before(texts, stride, closed, rank, index);
  // A narrow argument is in the low bytes.
  arguments[1] = value;
  tl_vprintf((const char *)format, arguments);
}

// Prints a line with the coordinates of each register whose bit in `word` is set. Bit i is register `first` + i; the
// index of its element is `thread` and the bases of the bits of its number, combined by XOR. `fields` has the lowest
// bit and the number of bits of each coordinate in an index.
TL_EXPORT void __tileir_print_failures(tl_u64 format, tl_u64 buffer, tl_u32 word, tl_u32 first, tl_u32 thread,
                                       tl_u64 bases, tl_u64 fields, tl_u32 rank) {
  const TL_GLOBAL tl_u32 *base = (const TL_GLOBAL tl_u32 *)bases;
  const TL_GLOBAL tl_u32 *field = (const TL_GLOBAL tl_u32 *)fields;
  tl_u32 *arguments = (tl_u32 *)buffer;
  TL_ROLLED for (; word != 0; word &= word - 1) {
    tl_u32 element = thread;
    TL_ROLLED for (tl_u32 bits = first + (tl_u32)__builtin_ctz(word); bits != 0; bits &= bits - 1) {
      element ^= base[__builtin_ctz(bits)];
    }
    TL_ROLLED for (tl_u32 d = 0; d < rank; d++) {
      arguments[d] = element >> field[2 * d] & ((1u << field[2 * d + 1]) - 1u);
    }
    tl_vprintf((const char *)format, arguments);
  }
}
