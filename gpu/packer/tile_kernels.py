"""Kernels in cuTile Python that compilers of Tile IR compete on: vector addition, rows, matrix products, attention.

All arrays are row-major. Constants (`CI`, ...) are no entry parameters.
"""
import cuda.tile as ct

CI, CB, CF = ct.Constant[int], ct.Constant[bool], ct.Constant[float]
LOG2E = 1.4426950408889634


@ct.kernel
def vadd(a, b, c, T: CI):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (T,)) + ct.load(b, (i,), (T,)))


@ct.kernel
def softmax(x, y, N: CI):
    """One block a row."""
    row = ct.bid(0)
    scaled = ct.astype(ct.load(x, (row, 0), (1, N)), ct.float32) * LOG2E
    e = ct.exp2(scaled - ct.max(scaled, 1, keepdims=True), flush_to_zero=True)
    ct.store(y, (row, 0), ct.astype(e * (1.0 / ct.sum(e, 1, keepdims=True)), y.dtype))


@ct.kernel
def layernorm(x, w, b, y, eps: CF, N: CI):
    """One block a row."""
    row = ct.bid(0)
    t = ct.astype(ct.load(x, (row, 0), (1, N)), ct.float32)
    centred = t - ct.sum(t, 1, keepdims=True) * (1.0 / N)
    scale = ct.rsqrt(ct.sum(centred * centred, 1, keepdims=True) * (1.0 / N) + eps)
    weight = ct.astype(ct.reshape(ct.load(w, (0,), (N,)), (1, N)), ct.float32)
    bias = ct.astype(ct.reshape(ct.load(b, (0,), (N,)), (1, N)), ct.float32)
    ct.store(y, (row, 0), ct.astype(centred * scale * weight + bias, y.dtype))


def place(t, rows, columns, G):
    """Tile t of a grid of `rows` x `columns`, in bands of G rows: blocks that run together share operands in L2."""
    band = G * columns
    first = t // band * G
    height = ct.minimum(rows - first, G)
    inside = t % band
    return first + inside % height, inside // height


def accumulate(a, b, i, j, depth, NT, TF32, ACC, TM, TN, TK):
    """Tile (i, j) of `a b`, or of `a b^T` where NT."""
    total = ct.zeros((TM, TN), ACC)
    for k in range(depth):
        x = ct.load(a, (i, k), (TM, TK), padding_mode=ct.PaddingMode.ZERO)
        if NT:
            y = ct.transpose(ct.load(b, (j, k), (TN, TK), padding_mode=ct.PaddingMode.ZERO))
        else:
            y = ct.load(b, (k, j), (TK, TN), padding_mode=ct.PaddingMode.ZERO)
        if TF32:
            x, y = ct.astype(x, ct.tfloat32), ct.astype(y, ct.tfloat32)
        total = ct.mma(x, y, total)
    return total


def matrix_product(persistent, NT, TF32, ACC):
    """A kernel with these choices built in. Persistent: each block takes every num_blocks-th tile."""
    if persistent:
        def product(a, b, c, TM: CI, TN: CI, TK: CI, G: CI):
            rows, columns = ct.num_tiles(c, 0, shape=(TM, TN)), ct.num_tiles(c, 1, shape=(TM, TN))
            depth = ct.num_tiles(a, 1, shape=(TM, TK))
            for t in range(ct.bid(0), rows * columns, ct.num_blocks(0)):
                i, j = place(t, rows, columns, G)
                total = accumulate(a, b, i, j, depth, NT, TF32, ACC, TM, TN, TK)
                ct.store(c, (i, j), ct.astype(total, c.dtype))
    else:
        def product(a, b, c, TM: CI, TN: CI, TK: CI, G: CI):
            rows, columns = ct.num_tiles(c, 0, shape=(TM, TN)), ct.num_tiles(c, 1, shape=(TM, TN))
            i, j = place(ct.bid(0), rows, columns, G)
            depth = ct.num_tiles(a, 1, shape=(TM, TK))
            total = accumulate(a, b, i, j, depth, NT, TF32, ACC, TM, TN, TK)
            ct.store(c, (i, j), ct.astype(total, c.dtype))
    return ct.kernel(product)


def attend(q, k, v, head, j, top, weight, total, scale, rows, MASK, D, TM, TN):
    """One step of the online softmax: keys and values j."""
    keys = ct.transpose(ct.reshape(ct.load(k, (head, j, 0), (1, TN, D)), (TN, D)))
    s = ct.mma(q, keys, ct.zeros((TM, TN), ct.float32))
    if MASK:
        columns = (ct.arange(TN, dtype=ct.int32) + j * TN)[None, :]
        s = ct.where(rows >= columns, s, -1e30)
    higher = ct.maximum(top, ct.max(s, 1, keepdims=True) * scale)
    p = ct.exp2(s * scale - higher, flush_to_zero=True)
    shrink = ct.exp2(top - higher, flush_to_zero=True)
    values = ct.reshape(ct.load(v, (head, j, 0), (1, TN, D)), (TN, D))
    total = ct.mma(ct.astype(p, q.dtype), values, total * shrink)
    return higher, weight * shrink + ct.sum(p, 1, keepdims=True), total


@ct.kernel
def attention(q, k, v, o, scale, CAUSAL: CB, D: CI, TM: CI, TN: CI):
    """q, k, v, o are (heads of all batches, length, D); the length is a multiple of TM and TN. Grid (length / TM, heads)."""
    head = ct.bid(1)
    scale2 = scale * LOG2E
    if CAUSAL:
        # The longest rows first.
        i = ct.num_blocks(0) - 1 - ct.bid(0)
        whole = i * TM // TN
        end = ct.cdiv((i + 1) * TM, TN)
    else:
        i = ct.bid(0)
        whole = k.shape[1] // TN
        end = whole
    query = ct.reshape(ct.load(q, (head, i, 0), (1, TM, D)), (TM, D))
    rows = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None]
    top, weight = ct.full((TM, 1), -1e30, ct.float32), ct.zeros((TM, 1), ct.float32)
    total = ct.zeros((TM, D), ct.float32)
    for j in range(whole):
        top, weight, total = attend(query, k, v, head, j, top, weight, total, scale2, rows, False, D, TM, TN)
    if CAUSAL:
        for j in range(whole, end):
            top, weight, total = attend(query, k, v, head, j, top, weight, total, scale2, rows, True, D, TM, TN)
    ct.store(o, (head, i, 0), ct.astype(ct.reshape(total * (1.0 / weight), (1, TM, D)), o.dtype))
