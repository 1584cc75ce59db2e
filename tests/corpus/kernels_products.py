"""Kernels of the corpus: matrix products as models and libraries have them.

`generate.py` runs this file behind `kernels.py`; the cases are in `cases_products.py`.
"""
import cuda.tile as ct
from kernels import CB, CI, ZERO, A, C, L, S, add


# ---------------------------------------------------------------- quantized operands
@ct.kernel
def matmul_w8a8(a, w, row_scale, col_scale, c, TM: CI, TN: CI, TK: CI):
    # rows of weights are columns of the result; scales of rows and columns behind the product
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.int32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        at = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)
        wt = ct.load(w, (k, j), (TK, TN), order="F", padding_mode=ZERO)
        acc = ct.mma(at, wt, acc)
    rs = ct.load(row_scale, (i,), (TM,), padding_mode=ZERO)[:, None]
    cs = ct.load(col_scale, (j,), (TN,), padding_mode=ZERO)[None, :]
    ct.store(c, (i, j), ct.astype(ct.astype(acc, ct.float32) * rs * cs, c.dtype))


@ct.kernel
def matmul_w4_zeros(a, packed, zeros, scale, c, TM: CI, TN: CI, TK: CI, G: CI):
    # two neighbours of a column in a byte; zero points and scales for groups of G rows of weights
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        at = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)
        b = ct.load(packed, (k, j), (TK // 2, TN), padding_mode=ZERO)
        lo = ct.reshape(b & 15, (TK // 2, 1, TN))
        hi = ct.reshape(b >> 4, (TK // 2, 1, TN))
        q = ct.reshape(ct.astype(ct.cat((lo, hi), axis=1), ct.float32), (TK // G, G, TN))
        z = ct.load(zeros, (k, j), (TK // G, TN), padding_mode=ZERO)
        s = ct.load(scale, (k, j), (TK // G, TN), padding_mode=ZERO)
        z = ct.reshape(ct.astype(z, ct.float32), (TK // G, 1, TN))
        s = ct.reshape(ct.astype(s, ct.float32), (TK // G, 1, TN))
        wt = ct.reshape(ct.astype((q - z) * s, a.dtype), (TK, TN))
        acc = ct.mma(at, wt, acc)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


@ct.kernel
def matmul_scaled_blocks(a, sa, b, sb, c, TM: CI, TN: CI, TK: CI):
    # fp8; a scale for TK columns of a row of A, and for a block of TN x TK of B
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        at = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)
        bt = ct.transpose(ct.load(b, (j, k), (TN, TK), padding_mode=ZERO))
        rows = ct.load(sa, (i, k), (TM, 1), padding_mode=ZERO)
        block = ct.load(sb, (j, k), shape=(1, 1)).item()
        acc += ct.mma(at, bt, ct.zeros((TM, TN), ct.float32)) * (rows * block)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


# ---------------------------------------------------------------- work of a product over blocks
@ct.kernel
def matmul_parts(a, b, part, TM: CI, TN: CI, TK: CI):
    # a block has a tile of the result and every num_blocks(2)-th tile of K; a part may be of no tile at all
    i, j, z = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(z, ct.num_tiles(a, 1, shape=(TM, TK)), ct.num_blocks(2)):
        acc = ct.mma(ct.load(a, (i, k), (TM, TK), padding_mode=ZERO), ct.load(b, (k, j), (TK, TN), padding_mode=ZERO), acc)
    ct.store(part, (z, i, j), ct.reshape(acc, (1, TM, TN)))


@ct.kernel
def matmul_parts_sum(part, bias, c, TM: CI, TN: CI):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for z in range(part.shape[0]):
        acc += ct.reshape(ct.load(part, (z, i, j), (1, TM, TN), padding_mode=ZERO), (TM, TN))
    acc += ct.astype(ct.load(bias, (j,), (TN,), padding_mode=ZERO), ct.float32)[None, :]
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


@ct.kernel
def matmul_stream(a, b, c, TM: CI, TN: CI, TK: CI):
    # all steps of all tiles in a line, of which each block has an equal share: it may begin and end inside a tile
    kt = ct.num_tiles(a, 1, shape=(TM, TK))
    nt = ct.num_tiles(b, 1, shape=(TK, TN))
    total = ct.num_tiles(a, 0, shape=(TM, TK)) * nt * kt
    share = ct.cdiv(total, ct.num_blocks(0))
    at = ct.bid(0) * share
    stop = ct.minimum(at + share, total)
    while at < stop:
        tile = at // kt
        i, j = tile // nt, tile % nt
        first = at % kt
        last = ct.minimum(kt, first + stop - at)
        acc = ct.zeros((TM, TN), ct.float32)
        for k in range(first, last):
            acc = ct.mma(ct.load(a, (i, k), (TM, TK), padding_mode=ZERO), ct.load(b, (k, j), (TK, TN), padding_mode=ZERO), acc)
        if last - first == kt:
            ct.store(c, (i, j), acc)
        else:
            row = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None]
            col = (ct.arange(TN, dtype=ct.int32) + j * TN)[None, :]
            ct.atomic_add(c, (row, col), acc, memory_order=ct.MemoryOrder.RELAXED)
        at += last - first


@ct.kernel
def matmul_of_groups(x, weights, starts, y, TM: CI, TN: CI, TK: CI):
    # rows sorted by group, each group with its matrix of a list, groups of any size; a persistent launch
    t = ct.bid(0)
    base = 0
    nt = ct.num_tiles(y, 1, shape=(TM, TN))
    for g in range(len(weights)):
        lo = ct.load(starts, (g,), shape=()).item()
        hi = ct.load(starts, (g + 1,), shape=()).item()
        n = ct.cdiv(hi - lo, TM) * nt
        if n > 0:
            w = weights[g]
            xs = x.slice(axis=0, start=lo, stop=hi)
            ys = y.slice(axis=0, start=lo, stop=hi)
            while t < base + n:
                i, j = (t - base) // nt, (t - base) % nt
                acc = ct.zeros((TM, TN), ct.float32)
                for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
                    acc = ct.mma(ct.load(xs, (i, k), (TM, TK), padding_mode=ZERO),
                                 ct.load(w, (k, j), (TK, TN), padding_mode=ZERO), acc)
                ct.store(ys, (i, j), ct.astype(acc, y.dtype))
                t += ct.num_blocks(0)
        base += n


@ct.kernel
def bmm_broadcast(a, b, c, TM: CI, TN: CI, TK: CI):
    # (B, H, M, K) @ (B or 1, H or 1, K, N)
    n, h, i = ct.bid(0), ct.bid(1), ct.bid(2)
    nb = ct.minimum(n, b.shape[0] - 1)
    hb = ct.minimum(h, b.shape[1] - 1)
    for j in range(ct.num_tiles(c, 3, shape=(1, 1, TM, TN))):
        acc = ct.zeros((TM, TN), ct.float32)
        for k in range(ct.num_tiles(a, 3, shape=(1, 1, TM, TK))):
            at = ct.reshape(ct.load(a, (n, h, i, k), (1, 1, TM, TK), padding_mode=ZERO), (TM, TK))
            bt = ct.reshape(ct.load(b, (nb, hb, k, j), (1, 1, TK, TN), padding_mode=ZERO), (TK, TN))
            acc = ct.mma(at, bt, acc)
        ct.store(c, (n, h, i, j), ct.astype(ct.reshape(acc, (1, 1, TM, TN)), c.dtype))


# ---------------------------------------------------------------- what follows a product
def activated(x, act):
    if act == 1:
        return ct.maximum(x, 0.0)
    if act == 2:
        return 0.5 * x * (1.0 + ct.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    return x


@ct.kernel
def matmul_epilogue(a, b, bias, residual, c, act: CI, TM: CI, TN: CI, TK: CI):
    # persistent; act(A@B + bias) + residual
    nt = ct.num_tiles(c, 1, shape=(TM, TN))
    for t in range(ct.bid(0), ct.num_tiles(c, 0, shape=(TM, TN)) * nt, ct.num_blocks(0)):
        i, j = t // nt, t % nt
        acc = ct.zeros((TM, TN), ct.float32)
        for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
            acc = ct.mma(ct.load(a, (i, k), (TM, TK), padding_mode=ZERO), ct.load(b, (k, j), (TK, TN), padding_mode=ZERO), acc)
        acc = activated(acc + ct.astype(ct.load(bias, (j,), (TN,), padding_mode=ZERO), ct.float32)[None, :], act)
        acc += ct.astype(ct.load(residual, (i, j), (TM, TN), padding_mode=ZERO), ct.float32)
        ct.store(c, (i, j), ct.astype(acc, c.dtype))


@ct.kernel
def matmul_transposed(a, b, c, second: CB, TM: CI, TN: CI, TK: CI):
    # A is (K, M), and B is (N, K) where `second`
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 0, shape=(TK, TM))):
        at = ct.transpose(ct.load(a, (k, i), (TK, TM), padding_mode=ZERO))
        if second:
            bt = ct.load(b, (k, j), (TK, TN), order="F", padding_mode=ZERO)
        else:
            bt = ct.load(b, (k, j), (TK, TN), padding_mode=ZERO)
        acc = ct.mma(at, bt, acc)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


@ct.kernel
def matmul_row_ends(a, b, c, most, total, TM: CI, TN: CI, TK: CI):
    # the product, and of each row and tile of columns the largest number and the sum
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        acc = ct.mma(ct.load(a, (i, k), (TM, TK), padding_mode=ZERO), ct.load(b, (k, j), (TK, TN), padding_mode=ZERO), acc)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))
    inside = (ct.arange(TN, dtype=ct.int32) + j * TN < b.shape[1])[None, :]
    ct.store(most, (i, j), ct.max(ct.where(inside, acc, float("-inf")), 1, keepdims=True))
    ct.store(total, (i, j), ct.sum(acc, 1, keepdims=True))


@ct.kernel
def linear_loss(x, w, target, loss, ignore: CI, TM: CI, TN: CI, TK: CI):
    # cross entropy of x @ w^T, whose logits are never stored: a loop over words around a loop over columns
    i = ct.bid(0)
    want = ct.load(target, (i,), (TM,), padding_mode=ZERO)[:, None]
    m = ct.full((TM, 1), -1e30, ct.float32)
    s = ct.zeros((TM, 1), ct.float32)
    hit = ct.zeros((TM, 1), ct.float32)
    for j in range(ct.num_tiles(w, 0, shape=(TN, TK))):
        acc = ct.zeros((TM, TN), ct.float32)
        for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
            xt = ct.load(x, (i, k), (TM, TK), padding_mode=ZERO)
            wt = ct.load(w, (j, k), (TN, TK), padding_mode=ZERO)
            acc = ct.mma(xt, ct.transpose(wt), acc)
        col = (ct.arange(TN, dtype=ct.int32) + j * TN)[None, :]
        hit += ct.sum(ct.where(col == want, acc, 0.0), 1, keepdims=True)
        acc = ct.where(col < w.shape[0], acc, -1e30)
        m2 = ct.maximum(m, ct.max(acc, 1, keepdims=True))
        s = s * ct.exp(m - m2) + ct.sum(ct.exp(acc - m2), 1, keepdims=True)
        m = m2
    y = ct.where(want == ignore, 0.0, m + ct.log(s) - hit)
    ct.store(loss, (i,), ct.reshape(y, (TM,)))


# ---------------------------------------------------------------- operands computed from products
@ct.kernel
def mlp(x, up, down, y, TM: CI, TH: CI, TK: CI, TN: CI):
    # relu(x @ up)**2 @ down for a block of rows: each tile of hidden columns is a product, and an operand of the next
    i, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for j in range(ct.num_tiles(up, 1, shape=(TK, TH))):
        h = ct.zeros((TM, TH), ct.float32)
        for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
            h = ct.mma(ct.load(x, (i, k), (TM, TK), padding_mode=ZERO), ct.load(up, (k, j), (TK, TH), padding_mode=ZERO), h)
        h = ct.maximum(h, 0.0)
        dt = ct.load(down, (j, n), (TH, TN), padding_mode=ZERO)
        acc = ct.mma(ct.astype(h * h, x.dtype), dt, acc)
    ct.store(y, (i, n), ct.astype(acc, y.dtype))


@ct.kernel
def matmul_low_rank(x, w, down, up, slot, y, scale, R: CI, TM: CI, TN: CI, TK: CI):
    # x @ w + scale * (x @ down[e]) @ up[e] with e of the block of rows; none where e < 0
    i, j = ct.bid(0), ct.bid(1)
    e = ct.load(slot, (i,), shape=()).item()
    acc = ct.zeros((TM, TN), ct.float32)
    low = ct.zeros((TM, R), ct.float32)
    for k in range(ct.num_tiles(x, 1, shape=(TM, TK))):
        xt = ct.load(x, (i, k), (TM, TK), padding_mode=ZERO)
        acc = ct.mma(xt, ct.load(w, (k, j), (TK, TN), padding_mode=ZERO), acc)
        if e >= 0:
            low = ct.mma(xt, ct.reshape(ct.load(down, (e, k, 0), (1, TK, R), padding_mode=ZERO), (TK, R)), low)
    if e >= 0:
        ut = ct.reshape(ct.load(up, (e, 0, j), (1, R, TN), padding_mode=ZERO), (R, TN))
        acc = ct.mma(ct.astype(low * scale, x.dtype), ut, acc)
    ct.store(y, (i, j), ct.astype(acc, y.dtype))


def rows_or_zeros(a, i, k, T, TK):
    """A tile of rows; what lies behind the last one is zeros."""
    if i * T >= a.shape[0]:
        return ct.zeros((T, TK), a.dtype)
    # the front end loads before it returns, so that the tile has to be one of the array's
    return ct.load(a, (ct.minimum(i, ct.num_tiles(a, 0, shape=(T, TK)) - 1), k), (T, TK), padding_mode=ZERO)


@ct.kernel
def gram(a, c, T: CI, TK: CI):
    # A @ A^T by blocks of 2 x 2 tiles, of which those below the diagonal are copies
    i, j = ct.bid(0), ct.bid(1)
    if j < i:
        return
    for u in range(2):
        for v in range(2):
            acc = ct.zeros((T, T), ct.float32)
            for k in range(ct.num_tiles(a, 1, shape=(T, TK))):
                left = rows_or_zeros(a, 2 * i + u, k, T, TK)
                right = rows_or_zeros(a, 2 * j + v, k, T, TK)
                acc = ct.mma(left, ct.transpose(right), acc)
            row, col = ct.arange(T, dtype=ct.int32) + (2 * i + u) * T, ct.arange(T, dtype=ct.int32) + (2 * j + v) * T
            ct.scatter(c, (row[:, None], col[None, :]), acc)
            if i != j:
                ct.scatter(c, (col[None, :], row[:, None]), acc)


@ct.kernel
def matmul_plus(a, b, c, alpha, beta, TM: CI, TN: CI, TK: CI):
    # C = alpha * A@B + beta * C, in place
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(TM, TK))):
        acc = ct.mma(ct.load(a, (i, k), (TM, TK), padding_mode=ZERO), ct.load(b, (k, j), (TK, TN), padding_mode=ZERO), acc)
    old = ct.astype(ct.load(c, (i, j), (TM, TN), padding_mode=ZERO), ct.float32)
    ct.store(c, (i, j), ct.astype(acc * alpha + old * beta, c.dtype))


F16, BF16, F32 = A("f16", 2, "strides"), A("bf16", 2, "strides"), A("f32", 2)
add("matmul_w8a8_rows", matmul_w8a8,
    [A("i8", 2, "strides"), A("i8", 2, "strides"), A("f32", 1), A("f32", 1), BF16, C(32), C(32), C(64)],
    "int8 products with scales of rows and columns")
add("matmul_w4_zeros_f16", matmul_w4_zeros,
    [F16, A("u8", 2, "strides"), A("u8", 2), A("f16", 2), F16, C(16), C(32), C(64), C(32)],
    "weights of 4 bits with zero points and scales of groups")
add("matmul_scaled_blocks_e4m3", matmul_scaled_blocks,
    [A("e4m3", 2, "strides"), F32, A("e4m3", 2, "strides"), F32, BF16, C(32), C(32), C(64)], "fp8 products with scales of blocks")
add("matmul_parts_f16", matmul_parts, [F16, F16, A("f32", 3), C(32), C(32), C(32)], "split-K, parts stored")
add("matmul_parts_sum_f16", matmul_parts_sum, [A("f32", 3), A("f16", 1), F16, C(32), C(32)], "split-K, parts summed, with a bias")
add("matmul_stream_bf16", matmul_stream, [BF16, BF16, F32, C(32), C(32), C(16)], "stream-K, whole tiles stored and others added")
add("matmul_of_groups_bf16", matmul_of_groups, [BF16, L(BF16), A("i32", 1), BF16, C(32), C(32), C(32)],
    "rows by group with matrices of a list")
add("bmm_broadcast_f16", bmm_broadcast, [A("f16", 4)] * 3 + [C(32), C(16), C(32)], "batched matmul with broadcasting")
add("matmul_epilogue_bf16", matmul_epilogue, [BF16, BF16, A("bf16", 1), BF16, BF16, C(2), C(32), C(32), C(32)],
    "persistent, gelu(A@B + bias) + residual")
add("matmul_tn_f16", matmul_transposed, [F16] * 3 + [C(False), C(32), C(32), C(32)], "C = A^T@B")
add("matmul_tt_bf16", matmul_transposed, [BF16] * 3 + [C(True), C(64), C(32), C(32)], "C = A^T@B^T")
add("matmul_row_ends_f16", matmul_row_ends, [F16, F16, F16, F32, F32, C(32), C(32), C(32)], "a product with reductions of its rows")
add("linear_loss_bf16", linear_loss, [BF16, BF16, A("i32", 1), A("f32", 1), C(-100), C(16), C(32), C(32)],
    "cross entropy of a product")
add("mlp_f16", mlp, [F16] * 4 + [C(32), C(32), C(32), C(32)], "two layers of a perceptron in one loop")
add("matmul_low_rank_bf16", matmul_low_rank,
    [BF16, BF16, A("bf16", 3), A("bf16", 3), A("i32", 1), BF16, S("f32"), C(16), C(16), C(32), C(32)],
    "a product and a chosen one of low rank")
add("gram_f32", gram, [A("f32", 2), A("f32", 2), C(16), C(16)], "A@A^T, half of it computed")
add("matmul_plus_k0_f16", matmul_plus, [A("f16", 2)] * 3 + [S("f32"), S("f32"), C(32), C(32), C(32)], "A has no columns")
add("matmul_plus_k1_f32", matmul_plus, [A("f32", 2)] * 3 + [S("f32"), S("f32"), C(16), C(32), C(16)], "A has one column")
