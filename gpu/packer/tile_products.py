"""Kernels of the families of matrix products in cuTile Python: cases of `kit/peers/products.py`.

Where nothing else is said, the right matrix is (N, K), and a block takes the tile that `place` gives it: G rows of
tiles in a band.
"""
import cuda.tile as ct
from tile_kernels import CF, CI, place

ZERO = ct.PaddingMode.ZERO


def left(a, i, k, TM, TK):
    return ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)


def right(b, j, k, TN, TK):
    """A tile of rows of the right matrix, as columns."""
    return ct.transpose(ct.load(b, (j, k), (TN, TK), padding_mode=ZERO))


def my_tile(c, TM, TN, G):
    return place(ct.bid(0), ct.num_tiles(c, 0, shape=(TM, TN)), ct.num_tiles(c, 1, shape=(TM, TN)), G)


@ct.kernel
def bmm(a, b, c, TM: CI, TN: CI, TK: CI, G: CI):
    """(batch, M, K) by (batch, K, N). Grid (tiles, batch)."""
    n = ct.bid(1)
    i, j = place(ct.bid(0), ct.num_tiles(c, 1, shape=(1, TM, TN)), ct.num_tiles(c, 2, shape=(1, TM, TN)), G)
    total = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 2, shape=(1, TM, TK))):
        x = ct.reshape(ct.load(a, (n, i, k), (1, TM, TK), padding_mode=ZERO), (TM, TK))
        y = ct.reshape(ct.load(b, (n, k, j), (1, TK, TN), padding_mode=ZERO), (TK, TN))
        total = ct.mma(x, y, total)
    ct.store(c, (n, i, j), ct.astype(ct.reshape(total, (1, TM, TN)), c.dtype))


def times_sigmoid(x, y):
    """x times the sigmoid of y, by a division of full speed, as Triton's is."""
    return ct.truediv(x, 1.0 + ct.exp(-y), rounding_mode=ct.RoundingMode.FULL)


def gelu(x):
    """By its approximation with tanh: x times the sigmoid of twice the argument."""
    return times_sigmoid(x, x * (1.5957691216057308 + 0.07135481282553 * x * x))


@ct.kernel
def mm_gelu(a, b, bias, c, TM: CI, TN: CI, TK: CI, G: CI):
    """Persistent: each block takes every num_blocks-th tile."""
    rows, columns = ct.num_tiles(c, 0, shape=(TM, TN)), ct.num_tiles(c, 1, shape=(TM, TN))
    for t in range(ct.bid(0), rows * columns, ct.num_blocks(0)):
        i, j = place(t, rows, columns, G)
        total = ct.zeros((TM, TN), ct.float32)
        for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
            total = ct.mma(left(a, i, k, TM, TK), right(b, j, k, TN, TK), total)
        total = total + ct.astype(ct.load(bias, (j,), (TN,), padding_mode=ZERO), ct.float32)[None, :]
        ct.store(c, (i, j), ct.astype(gelu(total), c.dtype))


@ct.kernel
def mm_splitk(a, b, c, TM: CI, TN: CI, TK: CI, G: CI):
    """Adds to c, which is of f32 and zero before. Grid (tiles, splits)."""
    i, j = my_tile(c, TM, TN, G)
    depth = ct.num_tiles(a, 1, shape=(TM, TK))
    each = ct.cdiv(depth, ct.num_blocks(1))
    first = ct.bid(1) * each
    total = ct.zeros((TM, TN), ct.float32)
    for k in range(first, ct.minimum(first + each, depth)):
        total = ct.mma(left(a, i, k, TM, TK), right(b, j, k, TN, TK), total)
    row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], (ct.arange(TN, dtype=ct.int32) + j * TN)[None, :]
    ct.atomic_add(c, (row, column), total, memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def mm_w8(a, w, scale, c, TM: CI, TN: CI, TK: CI, G: CI):
    """Weights of e4m3, with a scale for TK columns of each row. They are the left operand: the tile of the result is
    transposed."""
    i, j = my_tile(c, TM, TN, G)
    total = ct.zeros((TN, TM), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        weights = ct.astype(ct.load(w, (j, k), (TN, TK), padding_mode=ZERO), ct.float32)
        weights = ct.astype(weights * ct.load(scale, (j, k), (TN, 1), padding_mode=ZERO), a.dtype)
        total = ct.mma(weights, ct.transpose(left(a, i, k, TM, TK)), total)
    ct.store(c, (i, j), ct.astype(ct.transpose(total), c.dtype))


@ct.kernel
def mm_w4(a, w, scale, c, TM: CI, TN: CI, TK: CI, G: CI):
    """Weights of 4 bits: byte j of TK / 2 holds columns j and j + TK / 2 of TK, which have one scale. As above."""
    i, j = my_tile(c, TM, TN, G)
    total = ct.zeros((TN, TM), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        pairs = ct.astype(ct.load(w, (j, k), (TN, TK // 2), padding_mode=ZERO), ct.int32)
        s = ct.load(scale, (j, k), (TN, 1), padding_mode=ZERO)
        low = ct.astype(ct.astype(((pairs & 15) ^ 8) - 8, ct.float32) * s, a.dtype)
        high = ct.astype(ct.astype(pairs >> 4, ct.float32) * s, a.dtype)
        total = ct.mma(low, ct.transpose(left(a, i, 2 * k, TM, TK // 2)), total)
        total = ct.mma(high, ct.transpose(left(a, i, 2 * k + 1, TM, TK // 2)), total)
    ct.store(c, (i, j), ct.astype(ct.transpose(total), c.dtype))


@ct.kernel
def mm_blocks(a, b, scale_a, scale_b, c, TM: CI, TN: CI, TK: CI, G: CI):
    """fp8 with a scale for TK columns of each row of a, (K / TK, M), and for TN x TK of b: each step's product is
    promoted."""
    i, j = my_tile(c, TM, TN, G)
    total = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        step = ct.mma(left(a, i, k, TM, TK), right(b, j, k, TN, TK), ct.zeros((TM, TN), ct.float32))
        of_rows = ct.reshape(ct.load(scale_a, (k, i), (1, TM), padding_mode=ZERO), (TM, 1))
        total = total + step * (of_rows * ct.load(scale_b, (j, k), shape=()).item())
    ct.store(c, (i, j), ct.astype(total, c.dtype))


@ct.kernel
def gated_unit(x, gate, up, y, TM: CI, TN: CI, TK: CI, G: CI):
    i, j = my_tile(y, TM, TN, G)
    g, u = ct.zeros((TM, TN), ct.float32), ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
        rows = left(x, i, k, TM, TK)
        g = ct.mma(rows, right(gate, j, k, TN, TK), g)
        u = ct.mma(rows, right(up, j, k, TN, TK), u)
    ct.store(y, (i, j), ct.astype(times_sigmoid(g, g) * u, y.dtype))


@ct.kernel
def mm_of_norm(x, weight, b, y, eps: CF, TM: CI, TN: CI, TK: CI, G: CI):
    """The rows' scale is found beside the product."""
    i, j = my_tile(y, TM, TN, G)
    total, squares = ct.zeros((TM, TN), ct.float32), ct.zeros((TM, 1), ct.float32)
    for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
        rows = ct.astype(left(x, i, k, TM, TK), ct.float32)
        w = ct.astype(ct.reshape(ct.load(weight, (k,), (TK,), padding_mode=ZERO), (1, TK)), ct.float32)
        squares = squares + ct.sum(rows * rows, 1, keepdims=True)
        total = ct.mma(ct.astype(rows * w, x.dtype), right(b, j, k, TN, TK), total)
    ct.store(y, (i, j), ct.astype(total * ct.rsqrt(squares / ct.astype(x.shape[1], ct.float32) + eps), y.dtype))


@ct.kernel
def mm_ragged(x, w, ends, y, TM: CI, TN: CI, TK: CI):
    """Rows before ends[0] belong to the first matrix of w, (experts, N, K), and so on. Persistent over the tiles of
    all."""
    t, before, first = ct.bid(0), 0, 0
    columns, depth = ct.num_tiles(w, 1, shape=(1, TN, TK)), ct.num_tiles(x, 1, shape=(TM, TK))
    for e in range(w.shape[0]):
        last = ct.load(ends, (e,), shape=()).item()
        rows, results = x.slice(axis=0, start=first, stop=last), y.slice(axis=0, start=first, stop=last)
        count = ct.cdiv(last - first, TM) * columns
        while t < before + count:
            i, j = (t - before) // columns, (t - before) % columns
            total = ct.zeros((TM, TN), ct.float32)
            for k in range(depth):
                weights = ct.reshape(ct.load(w, (e, j, k), (1, TN, TK), padding_mode=ZERO), (TN, TK))
                total = ct.mma(left(rows, i, k, TM, TK), ct.transpose(weights), total)
            ct.store(results, (i, j), ct.astype(total, y.dtype))
            t += ct.num_blocks(0)
        before += count
        first = last


@ct.kernel
def moe(x, w, rows, experts, y, SLOTS: CI, TM: CI, TN: CI, TK: CI):
    """Slot s of y is row rows[s] of x by the matrix of w, (experts, N, K), that is given for each SLOTS slots. Rows
    that do not exist are zero. Grid: columns of tiles fastest, so that those which gather the same rows run
    together."""
    columns = ct.num_tiles(w, 1, shape=(1, TN, TK))
    i, j = ct.bid(0) // columns, ct.bid(0) % columns
    e = ct.load(experts, (i * TM // SLOTS,), shape=()).item()
    row = ct.load(rows, (i,), (TM,))[:, None]
    total = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
        column = (ct.arange(TK, dtype=ct.int32) + k * TK)[None, :]
        weights = ct.reshape(ct.load(w, (e, j, k), (1, TN, TK), padding_mode=ZERO), (TN, TK))
        total = ct.mma(ct.gather(x, (row, column)), ct.transpose(weights), total)
    ct.store(y, (i, j), ct.astype(total, y.dtype))


@ct.kernel
def mm_lists(As, Bs, Cs, TM: CI, TN: CI, TK: CI):
    """Lists of arrays, right matrices (K, N). Persistent over the tiles of all."""
    t, before = ct.bid(0), 0
    for g in range(len(As)):
        a, b, c = As[g], Bs[g], Cs[g]
        columns = ct.num_tiles(c, 1, shape=(TM, TN))
        count = ct.num_tiles(c, 0, shape=(TM, TN)) * columns
        while t < before + count:
            i, j = (t - before) // columns, (t - before) % columns
            total = ct.zeros((TM, TN), ct.float32)
            for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
                total = ct.mma(left(a, i, k, TM, TK), ct.load(b, (k, j), (TK, TN), padding_mode=ZERO), total)
            ct.store(c, (i, j), ct.astype(total, c.dtype))
            t += ct.num_blocks(0)
        before += count


@ct.kernel
def conv(x, w, y, TAPS: CI, TH: CI, TW: CI, TF: CI, TC: CI):
    """Images with their border, (images, H, W, C); w is (filters, TAPS * TAPS, C). Each tap is a view of the input
    whose tiles begin as many rows and columns later. Grid (tiles of filters, tiles of an image, images)."""
    j, n = ct.bid(0), ct.bid(2)
    across = ct.num_tiles(y, 2, shape=(1, TH, TW, TF))
    h, v = ct.bid(1) // across, ct.bid(1) % across
    depth = ct.num_tiles(x, 3, shape=(1, TH, TW, TC))
    # Tiles overlap: they begin at every row and column.
    view = x.tiled_view((1, TH, TW, TC), padding_mode=ZERO, traversal_steps=(1, 1, 1, TC))
    total = ct.zeros((TH * TW, TF), ct.float32)
    for k in range(TAPS * TAPS * depth):
        tap, c = k // depth, k % depth
        rows = ct.reshape(view.load((n, h * TH + tap // TAPS, v * TW + tap % TAPS, c)), (TH * TW, TC))
        weights = ct.reshape(ct.load(w, (j, tap, c), (TF, 1, TC), padding_mode=ZERO), (TF, TC))
        total = ct.mma(rows, ct.transpose(weights), total)
    ct.store(y, (n, h, v, j), ct.astype(ct.reshape(total, (1, TH, TW, TF)), y.dtype))
