"""Triton's entries for the families of attention: the same programs as the tile kernels. Logits are in base 2."""
import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
HIDDEN: tl.constexpr = tl.constexpr(-1.0e30)


@triton.jit
def absorb(s, values, top, weight, total):
    """Adds another block of logits and values."""
    higher = tl.maximum(top, tl.max(s, 1))
    p = tl.math.exp2(s - higher[:, None])
    shrink = tl.math.exp2(top - higher)
    total = tl.dot(p.to(values.dtype), values, total * shrink[:, None])
    return higher, weight * shrink + tl.sum(p, 1), total


@triton.jit
def tanh(x):
    """From exponentials, because Triton lacks tanh on some devices."""
    return 1 - 2 / (tl.exp(2 * x) + 1)


@triton.jit
def families(q, k, v, bias, out, scale, cap, rows, shared_rows, length, window, heads, GROUP: tl.constexpr,
             D: tl.constexpr, COLUMNS: tl.constexpr, ROTATED: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr,
             CAUSAL: tl.constexpr, WINDOW: tl.constexpr, CAPPED: tl.constexpr, BIASED: tl.constexpr):
    """Heads of COLUMNS columns in tiles of D, with ROTATED more of queries and keys; GROUP heads share keys. The rows
    of all heads are consecutive: `rows` of queries in total, `shared_rows` of keys, `length` for each head."""
    WIDE: tl.constexpr = COLUMNS + ROTATED
    queries = tl.make_tensor_descriptor(q, shape=[rows, WIDE], strides=[WIDE, 1], block_shape=[TM, D])
    keys = tl.make_tensor_descriptor(k, shape=[shared_rows, WIDE], strides=[WIDE, 1], block_shape=[TN, D])
    values = tl.make_tensor_descriptor(v, shape=[shared_rows, COLUMNS], strides=[COLUMNS, 1], block_shape=[TN, D])
    results = tl.make_tensor_descriptor(out, shape=[rows, COLUMNS], strides=[COLUMNS, 1], block_shape=[TM, D])
    start, head = tl.program_id(0), tl.program_id(1)
    if BIASED:
        # Batches run together, because they share the bias.
        batches = rows // length // heads
        head = head % batches * heads + head // batches
    if CAUSAL:
        start = tl.num_programs(0) - 1 - start
    base, shared = head * length, head // GROUP * length
    row, column = start * TM + tl.arange(0, TM), tl.arange(0, TN)
    top, weight = tl.full([TM], HIDDEN, dtype=tl.float32), tl.zeros([TM], dtype=tl.float32)
    total = tl.zeros([TM, D], dtype=tl.float32)
    query = queries.load([base + start * TM, 0])
    if ROTATED:
        more_queries = tl.make_tensor_descriptor(q, shape=[rows, WIDE], strides=[WIDE, 1], block_shape=[TM, ROTATED])
        more_keys = tl.make_tensor_descriptor(k, shape=[shared_rows, WIDE], strides=[WIDE, 1],
                                              block_shape=[TN, ROTATED])
        turned = more_queries.load([base + start * TM, D])
    begin, end = 0, length
    if CAUSAL:
        end = (start + 1) * TM
    if WINDOW:
        begin = tl.maximum(start * TM - window + 1, 0) // TN * TN
    for at in tl.range(begin, end, TN):
        s = tl.dot(query, keys.load([shared + at, 0]).T)
        if ROTATED:
            s = tl.dot(turned, more_keys.load([shared + at, D]).T, s)
        if CAPPED:
            s = tanh(s * (scale / cap)) * (cap * LOG2E)
        else:
            s = s * (scale * LOG2E)
        seen = (at + column)[None, :]
        if BIASED:
            at_bias = bias + ((head % heads).to(tl.int64) * length + row)[:, None] * length + seen
            s += tl.load(at_bias).to(tl.float32) * LOG2E
        if CAUSAL:
            s = tl.where(row[:, None] >= seen, s, HIDDEN)
        if WINDOW:
            s = tl.where(row[:, None] - seen < window, s, HIDDEN)
        top, weight, total = absorb(s, values.load([shared + at, 0]), top, weight, total)
    results.store([base + start * TM, 0], (total / weight[:, None]).to(out.dtype.element_ty))


@triton.jit
def packed(q, k, v, starts, out, scale, heads, GROUP: tl.constexpr, D: tl.constexpr, TM: tl.constexpr,
           TN: tl.constexpr):
    """Packed sequences, (tokens, heads * D). Causal."""
    i, head, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    first, last = tl.load(starts + b), tl.load(starts + b + 1)
    length = last - first
    if i * TM < length:
        stride, shared = heads * D, heads // GROUP * D
        row, column, depth = i * TM + tl.arange(0, TM), tl.arange(0, TN), tl.arange(0, D)
        at_q = (first + row).to(tl.int64)[:, None] * stride + head * D + depth[None, :]
        query = tl.load(q + at_q, mask=(row < length)[:, None], other=0)
        top, weight = tl.full([TM], HIDDEN, dtype=tl.float32), tl.zeros([TM], dtype=tl.float32)
        total = tl.zeros([TM, D], dtype=tl.float32)
        for at in tl.range(0, tl.minimum((i + 1) * TM, length), TN):
            here = at + column
            at_k = (first + here).to(tl.int64)[:, None] * shared + head // GROUP * D + depth[None, :]
            keys = tl.load(k + at_k, mask=(here < length)[:, None], other=0)
            s = tl.where(row[:, None] >= here[None, :], tl.dot(query, keys.T) * (scale * LOG2E), HIDDEN)
            values = tl.load(v + at_k, mask=(here < length)[:, None], other=0)
            top, weight, total = absorb(s, values, top, weight, total)
        tl.store(out + at_q, (total / weight[:, None]).to(out.dtype.element_ty), mask=(row < length)[:, None])


@triton.jit
def paged(q, k, v, pages, lengths, out, scale, heads, most, GROUP: tl.constexpr, D: tl.constexpr, TM: tl.constexpr,
          PAGE: tl.constexpr):
    """Decoding, with keys and values in pages of (PAGE, heads, D)."""
    n = tl.program_id(0)
    sequence, head = n // heads, n % heads
    length = tl.load(lengths + sequence)
    row, column, depth = tl.arange(0, TM), tl.arange(0, PAGE), tl.arange(0, D)
    at_q = (n * GROUP + row)[:, None] * D + depth[None, :]
    query = tl.load(q + at_q, mask=(row < GROUP)[:, None], other=0)
    top, weight = tl.full([TM], HIDDEN, dtype=tl.float32), tl.zeros([TM], dtype=tl.float32)
    total = tl.zeros([TM, D], dtype=tl.float32)
    for j in tl.range(0, tl.cdiv(length, PAGE)):
        page = tl.load(pages + sequence * most + j).to(tl.int64)
        at = ((page * PAGE + column) * heads + head)[:, None] * D + depth[None, :]
        s = tl.where((j * PAGE + column < length)[None, :], tl.dot(query, tl.load(k + at).T) * (scale * LOG2E), HIDDEN)
        top, weight, total = absorb(s, tl.load(v + at), top, weight, total)
    tl.store(out + at_q, (total / weight[:, None]).to(out.dtype.element_ty), mask=(row < GROUP)[:, None])


@triton.jit
def split(q, k, v, part, sums, scale, length, EACH, GROUP: tl.constexpr, D: tl.constexpr, TM: tl.constexpr,
          TN: tl.constexpr):
    """Decoding, with EACH blocks of keys per program: (heads, splits)."""
    head, z = tl.program_id(0), tl.program_id(1)
    row, column, depth = tl.arange(0, TM), tl.arange(0, TN), tl.arange(0, D)
    query = tl.load(q + (head * GROUP + row)[:, None] * D + depth[None, :], mask=(row < GROUP)[:, None], other=0)
    top, weight = tl.full([TM], HIDDEN, dtype=tl.float32), tl.zeros([TM], dtype=tl.float32)
    total = tl.zeros([TM, D], dtype=tl.float32)
    for j in tl.range(z * EACH, tl.minimum((z + 1) * EACH, tl.cdiv(length, TN))):
        here = j * TN + column
        at = (head.to(tl.int64) * length + here)[:, None] * D + depth[None, :]
        keys = tl.load(k + at, mask=(here < length)[:, None], other=0)
        s = tl.where((here < length)[None, :], tl.dot(query, keys.T) * (scale * LOG2E), HIDDEN)
        top, weight, total = absorb(s, tl.load(v + at, mask=(here < length)[:, None], other=0), top, weight, total)
    at_row = (head * tl.num_programs(1) + z) * GROUP + row
    tl.store(part + at_row[:, None] * D + depth[None, :], total / weight[:, None], mask=(row < GROUP)[:, None])
    tl.store(sums + at_row, top + tl.math.log2(weight), mask=row < GROUP)


@triton.jit
def combine(part, sums, out, GROUP: tl.constexpr, Z: tl.constexpr, D: tl.constexpr):
    head, row = tl.program_id(0), tl.program_id(1)
    z, depth = tl.arange(0, Z), tl.arange(0, D)
    at = (head * Z + z) * GROUP + row
    seen = tl.load(sums + at)
    weight = tl.math.exp2(seen - tl.max(seen, 0))
    found = tl.sum(tl.load(part + at[:, None] * D + depth[None, :]) * weight[:, None], 0) / tl.sum(weight, 0)
    tl.store(out + (head * GROUP + row) * D + depth, found.to(out.dtype.element_ty))
