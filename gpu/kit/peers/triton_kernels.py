"""Triton's entries: the same programs as the tile kernels. Inner dimensions are contiguous. Written for Triton 3.6."""
import triton
import triton.language as tl


@triton.jit
def vadd(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, N: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    t = tl.load(x + at).to(tl.float32)
    e = tl.exp(t - tl.max(t, axis=0))
    tl.store(out + at, (e / tl.sum(e, axis=0)).to(out.dtype.element_ty))


@triton.jit
def layernorm(x, w, b, out, eps, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0).to(tl.int64) * N + i
    t = tl.load(x + at).to(tl.float32)
    centred = t - tl.sum(t, axis=0) / N
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    result = centred * scale * tl.load(w + i).to(tl.float32) + tl.load(b + i).to(tl.float32)
    tl.store(out + at, result.to(out.dtype.element_ty))


@triton.jit
def banded(t, rows, columns, BAND: tl.constexpr):
    """Tile t in bands of rows, with the row index varying fastest."""
    per_band = BAND * columns
    first = t // per_band * BAND
    height = min(rows - first, BAND)
    return first + t % per_band % height, t % per_band // height


@triton.jit
def product_pointers(a, b, c, M, N, K, stride_a, stride_bk, stride_bn, stride_c, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr,
                     ACC: tl.constexpr):
    """One tile per program, through pointers: any extents and layouts."""
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    row, column, depth = i * TM + tl.arange(0, TM), j * TN + tl.arange(0, TN), tl.arange(0, TK)
    # Rows and columns outside wrap around to the start, and are not written.
    at_a = a + (row % M)[:, None] * stride_a + depth[None, :]
    at_b = b + depth[:, None] * stride_bk + (column % N)[None, :] * stride_bn
    total = tl.zeros((TM, TN), dtype=ACC)
    for k in range(0, tl.cdiv(K, TK)):
        left = K - k * TK
        x = tl.load(at_a, mask=depth[None, :] < left, other=0)
        y = tl.load(at_b, mask=depth[:, None] < left, other=0)
        total = tl.dot(x, y, total, out_dtype=ACC)
        at_a += TK
        at_b += TK * stride_bk
    inside = (row < M)[:, None] & (column < N)[None, :]
    tl.store(c + row[:, None] * stride_c + column[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def product_descriptors(a, b, c, M, N, K, PROGRAMS: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr,
                        FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr):
    """Persistent, through tensor descriptors created on the device; B is transposed (N x K)."""
    from_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[TM, TK])
    from_b = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[TN, TK])
    to_c = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[TM, TN])
    rows, columns, steps = tl.cdiv(M, TM), tl.cdiv(N, TN), tl.cdiv(K, TK)
    for t in tl.range(tl.program_id(0), rows * columns, PROGRAMS, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        i, j = banded(t, rows, columns, BAND)
        total = tl.zeros((TM, TN), dtype=tl.float32)
        for k in range(steps):
            x = from_a.load([i * TM, k * TK])
            y = from_b.load([j * TN, k * TK])
            total = tl.dot(x, y.T, total)
        to_c.store([i * TM, j * TN], total.to(c.dtype.element_ty))


@triton.jit
def attention(q, k, v, out, scale, rows, length, D: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, CAUSAL: tl.constexpr, SPECIALIZE: tl.constexpr):
    """Forward, online softmax. The rows of all heads are consecutive: `rows` in total, `length` for each head."""
    queries = tl.make_tensor_descriptor(q, shape=[rows, D], strides=[D, 1], block_shape=[TM, D])
    keys = tl.make_tensor_descriptor(k, shape=[rows, D], strides=[D, 1], block_shape=[TN, D])
    values = tl.make_tensor_descriptor(v, shape=[rows, D], strides=[D, 1], block_shape=[TN, D])
    results = tl.make_tensor_descriptor(out, shape=[rows, D], strides=[D, 1], block_shape=[TM, D])
    start = tl.program_id(0)
    if CAUSAL:
        start = tl.num_programs(0) - 1 - start
    base = tl.program_id(1) * length
    row, column = start * TM + tl.arange(0, TM), tl.arange(0, TN)
    top = tl.full([TM], -1.0e30, dtype=tl.float32)
    weight = tl.zeros([TM], dtype=tl.float32)
    total = tl.zeros([TM, D], dtype=tl.float32)
    scale2 = scale * 1.4426950408889634
    query = queries.load([base + start * TM, 0])
    end = length
    if CAUSAL:
        end = (start + 1) * TM
    for at in tl.range(0, end, TN, warp_specialize=SPECIALIZE):
        s = tl.dot(query, keys.load([base + at, 0]).T) * scale2
        if CAUSAL:
            s = tl.where(row[:, None] >= (at + column)[None, :], s, -1.0e30)
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - higher[:, None])
        shrink = tl.math.exp2(top - higher)
        weight = weight * shrink + tl.sum(p, 1)
        total = tl.dot(p.to(out.dtype.element_ty), values.load([base + at, 0]), total * shrink[:, None])
        top = higher
    results.store([base + start * TM, 0], (total / weight[:, None]).to(out.dtype.element_ty))
