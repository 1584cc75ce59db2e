"""Triton's entries for the matmul families: the same programs as the tile kernels. Right matrices are (N, K)."""
import triton
import triton.language as tl

from .triton_kernels import banded


@triton.jit
def descriptor(x, rows, columns, T: tl.constexpr, TK: tl.constexpr):
    return tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[columns, 1], block_shape=[T, TK])


@triton.jit
def gelu(a, b, bias, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    from_a, from_b, to_c = descriptor(a, M, K, TM, TK), descriptor(b, N, K, TN, TK), descriptor(c, M, N, TM, TN)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(tl.cdiv(K, TK)):
        total = tl.dot(from_a.load([i * TM, k * TK]), from_b.load([j * TN, k * TK]).T, total)
    column = j * TN + tl.arange(0, TN)
    total += tl.load(bias + column, mask=column < N, other=0).to(tl.float32)[None, :]
    twice = total * (1.5957691216057308 + 0.07135481282553 * total * total)
    to_c.store([i * TM, j * TN], (total / (1 + tl.exp(-twice))).to(c.dtype.element_ty))


@triton.jit
def gated(x, gate, up, y, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    from_x, to_y = descriptor(x, M, K, TM, TK), descriptor(y, M, N, TM, TN)
    from_gate, from_up = descriptor(gate, N, K, TN, TK), descriptor(up, N, K, TN, TK)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    g, u = tl.zeros((TM, TN), dtype=tl.float32), tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(tl.cdiv(K, TK)):
        rows = from_x.load([i * TM, k * TK])
        g = tl.dot(rows, from_gate.load([j * TN, k * TK]).T, g)
        u = tl.dot(rows, from_up.load([j * TN, k * TK]).T, u)
    to_y.store([i * TM, j * TN], (g / (1 + tl.exp(-g)) * u).to(y.dtype.element_ty))


@triton.jit
def of_norm(x, weight, b, y, M, N, K, eps, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    from_x, from_b, to_y = descriptor(x, M, K, TM, TK), descriptor(b, N, K, TN, TK), descriptor(y, M, N, TM, TN)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    total, squares = tl.zeros((TM, TN), dtype=tl.float32), tl.zeros((TM,), dtype=tl.float32)
    for k in range(tl.cdiv(K, TK)):
        rows = from_x.load([i * TM, k * TK]).to(tl.float32)
        column = k * TK + tl.arange(0, TK)
        w = tl.load(weight + column, mask=column < K, other=0).to(tl.float32)
        squares += tl.sum(rows * rows, 1)
        total = tl.dot((rows * w[None, :]).to(x.dtype.element_ty), from_b.load([j * TN, k * TK]).T, total)
    to_y.store([i * TM, j * TN], (total * tl.rsqrt(squares / K + eps)[:, None]).to(y.dtype.element_ty))


@triton.jit
def weights8(a, w, scale, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    """Weights are the left operand, from registers."""
    from_a, from_w, to_c = descriptor(a, M, K, TM, TK), descriptor(w, N, K, TN, TK), descriptor(c, M, N, TM, TN)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    column, steps = j * TN + tl.arange(0, TN), tl.cdiv(K, TK)
    total = tl.zeros((TN, TM), dtype=tl.float32)
    for k in range(steps):
        s = tl.load(scale + column * steps + k, mask=column < N, other=0)
        weights = (from_w.load([j * TN, k * TK]).to(tl.float32) * s[:, None]).to(a.dtype.element_ty)
        total = tl.dot(weights, from_a.load([i * TM, k * TK]).T, total)
    to_c.store([i * TM, j * TN], total.T.to(c.dtype.element_ty))


@triton.jit
def weights4(a, w, scale, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    """Byte j of TK / 2 holds columns j and j + TK / 2 of TK."""
    HALF: tl.constexpr = TK // 2
    from_a, to_c = descriptor(a, M, K, TM, HALF), descriptor(c, M, N, TM, TN)
    from_w = descriptor(w, N, K // 2, TN, HALF)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    column, steps = j * TN + tl.arange(0, TN), tl.cdiv(K, TK)
    total = tl.zeros((TN, TM), dtype=tl.float32)
    for k in range(steps):
        s = tl.load(scale + column * steps + k, mask=column < N, other=0)[:, None]
        pairs = from_w.load([j * TN, k * HALF])
        high = pairs >> 4
        low = (pairs << 4).to(tl.int8) >> 4
        total = tl.dot((low.to(tl.float32) * s).to(a.dtype.element_ty), from_a.load([i * TM, k * TK]).T, total)
        total = tl.dot((high.to(tl.float32) * s).to(a.dtype.element_ty), from_a.load([i * TM, k * TK + HALF]).T, total)
    to_c.store([i * TM, j * TN], total.T.to(c.dtype.element_ty))


@triton.jit
def blocks(a, b, scale_a, scale_b, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr,
           BAND: tl.constexpr):
    from_a, from_b, to_c = descriptor(a, M, K, TM, TK), descriptor(b, N, K, TN, TK), descriptor(c, M, N, TM, TN)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    row, steps = i * TM + tl.arange(0, TM), tl.cdiv(K, TK)
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(steps):
        s = tl.load(scale_a + k * M + row, mask=row < M, other=0) * tl.load(scale_b + j * steps + k)
        total += tl.dot(from_a.load([i * TM, k * TK]), from_b.load([j * TN, k * TK]).T) * s[:, None]
    to_c.store([i * TM, j * TN], total.to(c.dtype.element_ty))


@triton.jit
def batched(a, b, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    """Right matrices are (K, N). A program computes a tile of one of the matrices."""
    n = tl.program_id(1).to(tl.int64)
    from_a = descriptor(a + n * M * K, M, K, TM, TK)
    from_b = descriptor(b + n * K * N, K, N, TK, TN)
    to_c = descriptor(c + n * M * N, M, N, TM, TN)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(tl.cdiv(K, TK)):
        total = tl.dot(from_a.load([i * TM, k * TK]), from_b.load([k * TK, j * TN]), total)
    to_c.store([i * TM, j * TN], total.to(c.dtype.element_ty))


@triton.jit
def split(a, b, c, M, N, K, EACH, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, BAND: tl.constexpr):
    """Adds EACH steps of the sum to c."""
    from_a, from_b = descriptor(a, M, K, TM, TK), descriptor(b, N, K, TN, TK)
    i, j = banded(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), BAND)
    first = tl.program_id(1) * EACH
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(first, tl.minimum(first + EACH, tl.cdiv(K, TK))):
        total = tl.dot(from_a.load([i * TM, k * TK]), from_b.load([j * TN, k * TK]).T, total)
    row, column = i * TM + tl.arange(0, TM), j * TN + tl.arange(0, TN)
    tl.atomic_add(c + row[:, None] * N + column[None, :], total, mask=(row < M)[:, None] & (column < N)[None, :],
                  sem="relaxed")


@triton.jit
def ragged(x, w, ends, y, E, N, K, PROGRAMS: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """Persistent over the tiles of all experts. Results are stored row by row, because the next expert's rows
    follow."""
    t, before, first = tl.program_id(0), 0, 0
    columns = tl.cdiv(N, TN)
    for e in range(E):
        last = tl.load(ends + e)
        count = tl.cdiv(last - first, TM) * columns
        from_x = descriptor(x, last, K, TM, TK)
        from_w = descriptor(w + tl.cast(e, tl.int64) * N * K, N, K, TN, TK)
        while t < before + count:
            i, j = (t - before) // columns, (t - before) % columns
            total = tl.zeros((TM, TN), dtype=tl.float32)
            for k in range(tl.cdiv(K, TK)):
                total = tl.dot(from_x.load([first + i * TM, k * TK]), from_w.load([j * TN, k * TK]).T, total)
            row, column = first + i * TM + tl.arange(0, TM), j * TN + tl.arange(0, TN)
            inside = (row < last)[:, None] & (column < N)[None, :]
            tl.store(y + row.to(tl.int64)[:, None] * N + column[None, :], total.to(y.dtype.element_ty), mask=inside)
            t += PROGRAMS
        before += count
        first = last


@triton.jit
def gathered(x, w, rows, experts, y, T, N, K, SLOTS: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr,
             TK: tl.constexpr):
    columns = tl.cdiv(N, TN)
    i, j = tl.program_id(0) // columns, tl.program_id(0) % columns
    e = tl.load(experts + i * TM // SLOTS).to(tl.int64)
    slot, column, depth = i * TM + tl.arange(0, TM), j * TN + tl.arange(0, TN), tl.arange(0, TK)
    row = tl.load(rows + slot)
    from_w = descriptor(w + e * N * K, N, K, TN, TK)
    at = x + row.to(tl.int64)[:, None] * K + depth[None, :]
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(tl.cdiv(K, TK)):
        tokens = tl.load(at + k * TK, mask=(row < T)[:, None] & (depth[None, :] < K - k * TK), other=0)
        total = tl.dot(tokens, from_w.load([j * TN, k * TK]).T, total)
    tl.store(y + slot.to(tl.int64)[:, None] * N + column[None, :], total.to(y.dtype.element_ty),
             mask=(column < N)[None, :])


@triton.jit
def lists(a, b, c, GROUPS, ELEMENT: tl.constexpr, PROGRAMS: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr,
          TK: tl.constexpr):
    """Five words for each array: address, extents, strides. Right matrices are (K, N)."""
    t, before = tl.program_id(0), 0
    for g in range(GROUPS):
        M, N = tl.load(c + 5 * g + 1).to(tl.int32), tl.load(c + 5 * g + 2).to(tl.int32)
        K = tl.load(a + 5 * g + 2).to(tl.int32)
        columns = tl.cdiv(N, TN)
        count = tl.cdiv(M, TM) * columns
        if t < before + count:
            from_a = descriptor(tl.load(a + 5 * g).to(tl.pointer_type(ELEMENT)), M, K, TM, TK)
            from_b = descriptor(tl.load(b + 5 * g).to(tl.pointer_type(ELEMENT)), K, N, TK, TN)
            to_c = descriptor(tl.load(c + 5 * g).to(tl.pointer_type(ELEMENT)), M, N, TM, TN)
            while t < before + count:
                i, j = (t - before) // columns, (t - before) % columns
                total = tl.zeros((TM, TN), dtype=tl.float32)
                for k in range(tl.cdiv(K, TK)):
                    total = tl.dot(from_a.load([i * TM, k * TK]), from_b.load([k * TK, j * TN]), total)
                to_c.store([i * TM, j * TN], total.to(ELEMENT))
                t += PROGRAMS
        before += count


@triton.jit
def convolution(x, w, y, H, W, C, F, TAPS: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """Through pointers. A program has TM pixels of an image and TN filters; C is a multiple of TK."""
    across = W + TAPS - 1
    pixel, column = tl.program_id(1) * TM + tl.arange(0, TM), tl.program_id(0) * TN + tl.arange(0, TN)
    depth = tl.arange(0, TK)
    image = tl.program_id(2).to(tl.int64)
    inside = pixel < H * W
    at_x = x + image * (H + TAPS - 1) * across * C + ((pixel // W) * across + pixel % W)[:, None] * C + depth[None, :]
    at_w = w + column[None, :] * (TAPS * TAPS) * C + depth[:, None]
    steps = C // TK
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(TAPS * TAPS * steps):
        tap, c = k // steps, k % steps
        rows = tl.load(at_x + ((tap // TAPS) * across + tap % TAPS) * C + c * TK, mask=inside[:, None], other=0)
        weights = tl.load(at_w + tap * C + c * TK, mask=(column < F)[None, :], other=0)
        total = tl.dot(rows, weights, total)
    at_y = y + image * H * W * F + pixel[:, None] * F + column[None, :]
    tl.store(at_y, total.to(y.dtype.element_ty), mask=inside[:, None] & (column < F)[None, :])
