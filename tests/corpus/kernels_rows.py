"""Kernels of the corpus: rows of models, that is, norms, losses, activations, position embeddings, and optimizers.

`generate.py` runs this file behind `kernels.py`; the cases are in `cases_rows.py`.
"""
import cuda.tile as ct
from kernels import CF, CI, NEG_INF, ZERO, A, C, L, S, add


# ---------------------------------------------------------------- norms
@ct.kernel
def rmsnorm_backward(x, w, dy, rstd, dx, dw, T: CI):
    # a block takes every num_blocks-th row; what it has of dw is added once
    wt = ct.load(w, (0,), (T,), padding_mode=ZERO)[None, :]
    total = ct.zeros((1, T), ct.float32)
    for r in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        xt = ct.load(x, (r, 0), (1, T), padding_mode=ZERO)
        dt = ct.load(dy, (r, 0), (1, T), padding_mode=ZERO)
        s = ct.load(rstd, (r,), shape=()).item()
        unit = xt * s
        g = dt * wt
        along = ct.sum(g * unit, 1, keepdims=True) / x.shape[1]
        ct.store(dx, (r, 0), (g - unit * along) * s)
        total += dt * unit
    ct.atomic_add(dw, ct.arange(T, dtype=ct.int32), ct.reshape(total, (T,)), memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def layernorm_backward(x, w, dy, mean, rstd, dx, dw, db, T: CI):
    # dw and db: a row of partial sums for each block
    n = x.shape[1]
    b = ct.bid(0)
    wt = ct.astype(ct.load(w, (0,), (T,), padding_mode=ZERO), ct.float32)[None, :]
    inside = (ct.arange(T, dtype=ct.int32) < n)[None, :]
    gw = ct.zeros((1, T), ct.float32)
    gb = ct.zeros((1, T), ct.float32)
    for r in range(b, x.shape[0], ct.num_blocks(0)):
        xt = ct.astype(ct.load(x, (r, 0), (1, T), padding_mode=ZERO), ct.float32)
        dt = ct.astype(ct.load(dy, (r, 0), (1, T), padding_mode=ZERO), ct.float32)
        mu = ct.load(mean, (r,), shape=()).item()
        rs = ct.load(rstd, (r,), shape=()).item()
        unit = ct.where(inside, (xt - mu) * rs, 0.0)
        g = dt * wt
        c1 = ct.sum(g * unit, 1, keepdims=True) / n
        c2 = ct.sum(g, 1, keepdims=True) / n
        ct.store(dx, (r, 0), ct.astype((g - unit * c1 - c2) * rs, dx.dtype))
        gw += dt * unit
        gb += dt
    ct.store(dw, (b, 0), gw)
    ct.store(db, (b, 0), gb)


@ct.kernel
def layernorm_weight_grads(dw, db, w, b, TM: CI, TN: CI):
    # partial sums of blocks to the gradients of both parameters
    j = ct.bid(0)
    sw = ct.zeros((TM, TN), ct.float32)
    sb = ct.zeros((TM, TN), ct.float32)
    for i in range(ct.num_tiles(dw, 0, shape=(TM, TN))):
        sw += ct.load(dw, (i, j), (TM, TN), padding_mode=ZERO)
        sb += ct.load(db, (i, j), (TM, TN), padding_mode=ZERO)
    ct.store(w, (j,), ct.astype(ct.sum(sw, 0), w.dtype))
    ct.store(b, (j,), ct.astype(ct.sum(sb, 0), b.dtype))


@ct.kernel
def add_rmsnorm(x, residual, w, eps, T: CI):
    # residual += x; x = rmsnorm(residual) * w, both in place
    r = ct.bid(0)
    k = ct.num_tiles(x, 1, shape=(1, T))
    squares = ct.zeros((1, T), ct.float32)
    for j in range(k):
        t = ct.astype(ct.load(x, (r, j), (1, T), padding_mode=ZERO), ct.float32)
        t += ct.astype(ct.load(residual, (r, j), (1, T), padding_mode=ZERO), ct.float32)
        ct.store(residual, (r, j), ct.astype(t, residual.dtype))
        squares += t * t
    scale = ct.rsqrt(ct.sum(squares, 1, keepdims=True) / x.shape[1] + eps)
    for j in range(k):
        t = ct.astype(ct.load(residual, (r, j), (1, T), padding_mode=ZERO), ct.float32)
        wt = ct.astype(ct.load(w, (j,), (T,), padding_mode=ZERO), ct.float32)[None, :]
        ct.store(x, (r, j), ct.astype(t * scale * wt, x.dtype))


@ct.kernel
def group_norm(x, w, b, y, G: CI, CG: CI, eps: CF, T: CI):
    # x: (images, channels, pixels); CG channels make a group
    i, g = ct.bid(0), ct.bid(1)
    pixels = x.shape[2]
    t = ct.astype(ct.load(x, (i, g, 0), (1, CG, T), padding_mode=ZERO), ct.float32)
    t = ct.reshape(t, (CG, T))
    inside = (ct.arange(T, dtype=ct.int32) < pixels)[None, :]
    mu = ct.sum(t) / (CG * pixels)
    d = ct.where(inside, t - mu, 0.0)
    rs = ct.rsqrt(ct.sum(d * d) / (CG * pixels) + eps)
    wt = ct.load(w, (g,), (CG,))[:, None]
    bt = ct.load(b, (g,), (CG,))[:, None]
    ct.store(y, (i, g, 0), ct.astype(ct.reshape(d * rs * wt + bt, (1, CG, T)), y.dtype))


@ct.kernel
def batchnorm_stats(x, mean, rstd, run_mean, run_var, momentum, eps, TM: CI, TN: CI):
    # columns are channels; tiles of rows are merged as Welford does
    j = ct.bid(0)
    rows = x.shape[0]
    m = ct.zeros((1, TN), ct.float32)
    q = ct.zeros((1, TN), ct.float32)
    seen = 0
    for i in range(ct.num_tiles(x, 0, shape=(TM, TN))):
        t = ct.load(x, (i, j), (TM, TN), padding_mode=ZERO)
        n = ct.minimum(rows - i * TM, TM)
        inside = (ct.arange(TM, dtype=ct.int32) < n)[:, None]
        m2 = ct.sum(t, 0, keepdims=True) / n
        d = ct.where(inside, t - m2, 0.0)
        delta = m2 - m
        both = seen + n
        q += ct.sum(d * d, 0, keepdims=True) + delta * delta * (ct.astype(seen, ct.float32) * n / both)
        m += delta * (ct.astype(n, ct.float32) / both)
        seen = both
    m = ct.reshape(m, (TN,))
    q = ct.reshape(q, (TN,))
    ct.store(mean, (j,), m)
    ct.store(rstd, (j,), ct.rsqrt(q / rows + eps))
    om = ct.load(run_mean, (j,), (TN,), padding_mode=ZERO)
    ov = ct.load(run_var, (j,), (TN,), padding_mode=ZERO)
    ct.store(run_mean, (j,), om + (m - om) * momentum)
    ct.store(run_var, (j,), ov + (q / (rows - 1) - ov) * momentum)


# ---------------------------------------------------------------- softmax and losses
@ct.kernel
def softmax_masked(x, mask, y, scale, T: CI):
    # mask: bytes, shared by heads; a row that sees nothing is zero
    r, h = ct.bid(0), ct.bid(1)
    seen = ct.load(mask, (r, 0), (1, T), padding_mode=ZERO) != 0
    t = ct.astype(ct.reshape(ct.load(x, (h, r, 0), (1, 1, T), padding_mode=ZERO), (1, T)), ct.float32)
    if ct.sum(ct.astype(seen, ct.int32)) == 0:
        ct.store(y, (h, r, 0), ct.zeros((1, 1, T), y.dtype))
        return
    s = ct.where(seen, t * scale, float("-inf"))
    e = ct.exp(s - ct.max(s, 1, keepdims=True))
    ct.store(y, (h, r, 0), ct.astype(ct.reshape(e / ct.sum(e, 1, keepdims=True), (1, 1, T)), y.dtype))


@ct.kernel
def softmax_backward(y, dy, dx, T: CI):
    r = ct.bid(0)
    n = ct.num_tiles(y, 1, shape=(1, T))
    acc = ct.zeros((1, T), ct.float32)
    for j in range(n):
        acc += ct.load(y, (r, j), (1, T), padding_mode=ZERO) * ct.load(dy, (r, j), (1, T), padding_mode=ZERO)
    s = ct.sum(acc, 1, keepdims=True)
    for j in range(n):
        t = ct.load(y, (r, j), (1, T), padding_mode=ZERO)
        ct.store(dx, (r, j), t * (ct.load(dy, (r, j), (1, T), padding_mode=ZERO) - s))


@ct.kernel
def cross_entropy_backward(logits, target, grad, ignore: CI, T: CI):
    # logits become their gradients; rows whose target is not counted become zero
    r = ct.bid(0)
    n = ct.num_tiles(logits, 1, shape=(1, T))
    k = ct.load(target, (r,), shape=()).item()
    g = ct.load(grad, (r,), shape=()).item()
    if k == ignore:
        for j in range(n):
            ct.store(logits, (r, j), ct.zeros((1, T), logits.dtype))
        return
    m = ct.full((1, 1), -1e30, ct.float32)
    s = ct.zeros((1, 1), ct.float32)
    for j in range(n):
        t = ct.astype(ct.load(logits, (r, j), (1, T), padding_mode=NEG_INF), ct.float32)
        m2 = ct.maximum(m, ct.max(t, 1, keepdims=True))
        s = s * ct.exp(m - m2) + ct.sum(ct.exp(t - m2), 1, keepdims=True)
        m = m2
    for j in range(n):
        t = ct.astype(ct.load(logits, (r, j), (1, T), padding_mode=NEG_INF), ct.float32)
        col = (ct.arange(T, dtype=ct.int32) + j * T)[None, :]
        p = ct.exp(t - m) / s - ct.where(col == k, 1.0, 0.0)
        ct.store(logits, (r, j), ct.astype(p * g, logits.dtype))


# ---------------------------------------------------------------- position embeddings
@ct.kernel
def rope_interleaved(x, cos, sin, y, H: CI):
    # pairs are neighbours: x is (rows, 2*H), cos and sin are (rows, H)
    r = ct.bid(0)
    t = ct.reshape(ct.astype(ct.load(x, (r, 0), (1, 2 * H)), ct.float32), (H, 2))
    even = ct.extract(t, (0, 0), shape=(H, 1))
    odd = ct.extract(t, (0, 1), shape=(H, 1))
    c = ct.reshape(ct.load(cos, (r, 0), (1, H)), (H, 1))
    s = ct.reshape(ct.load(sin, (r, 0), (1, H)), (H, 1))
    both = ct.cat((even * c - odd * s, odd * c + even * s), axis=1)
    ct.store(y, (r, 0), ct.astype(ct.reshape(both, (1, 2 * H)), y.dtype))


def rotate_in_place(x, token, head, c, s, H):
    lo = ct.reshape(ct.astype(ct.load(x, (token, head, 0), (1, 1, H)), ct.float32), (1, H))
    hi = ct.reshape(ct.astype(ct.load(x, (token, head, 1), (1, 1, H)), ct.float32), (1, H))
    ct.store(x, (token, head, 0), ct.astype(ct.reshape(lo * c - hi * s, (1, 1, H)), x.dtype))
    ct.store(x, (token, head, 1), ct.astype(ct.reshape(hi * c + lo * s, (1, 1, H)), x.dtype))


@ct.kernel
def rope_half_pair(q, k, position, table, H: CI):
    # queries and fewer keys of a token in one block; table: (positions, 2*H), cosines and then sines
    t = ct.bid(0)
    p = ct.load(position, (t,), shape=()).item()
    if p < 0:
        return
    c = ct.load(table, (p, 0), (1, H))
    s = ct.load(table, (p, 1), (1, H))
    for h in range(q.shape[1] + k.shape[1]):
        if h < q.shape[1]:
            rotate_in_place(q, t, h, c, s, H)
        else:
            rotate_in_place(k, t, h - q.shape[1], c, s, H)


# ---------------------------------------------------------------- activations
def gelu(t):
    return 0.5 * t * (1.0 + ct.tanh(0.7978845608028654 * (t + 0.044715 * t * t * t)))


@ct.kernel
def geglu(x, y, T: CI):
    # the halves of a row of any length: gelu(first) * second
    r, c = ct.bid(0), ct.bid(1)
    half = y.shape[1]
    first = x.slice(axis=1, start=0, stop=half)
    second = x.slice(axis=1, start=half, stop=x.shape[1])
    g = ct.astype(ct.load(first, (r, c), (1, T), padding_mode=ZERO), ct.float32)
    u = ct.astype(ct.load(second, (r, c), (1, T), padding_mode=ZERO), ct.float32)
    ct.store(y, (r, c), ct.astype(gelu(g) * u, y.dtype))


@ct.kernel
def silu_mul_quantized(x, y, scale, G: CI, T: CI):
    # silu(gate) * up in fp8, with a scale for each group of G columns
    r, c = ct.bid(0), ct.bid(1)
    half = y.shape[1] // T
    g = ct.astype(ct.load(x, (r, c), (1, T)), ct.float32)
    u = ct.astype(ct.load(x, (r, c + half), (1, T)), ct.float32)
    v = ct.reshape(g / (1.0 + ct.exp(-g)) * u, (T // G, G))
    s = ct.maximum(ct.max(abs(v), 1, keepdims=True), 1e-6) / 448.0
    ct.store(y, (r, c), ct.astype(ct.reshape(v / s, (1, T)), y.dtype))
    ct.store(scale, (r, c), ct.reshape(s, (1, T // G)))


def wide_product(a, factor, T):
    """The high and low words of products of 32-bit words."""
    p = ct.astype(a, ct.uint64) * ct.full((T,), factor, ct.uint64)
    return ct.astype(p >> 32, ct.uint32), ct.astype(p & 0xFFFFFFFF, ct.uint32)


@ct.kernel
def dropout_philox(x, y, seed, keep: CF, T: CI):
    # Philox 4x32 of ten rounds: a counter gives four words, for four neighbours
    i = ct.bid(0)
    c0 = ct.astype(ct.arange(T, dtype=ct.int32) + i * T, ct.uint32)
    c1 = ct.zeros((T,), ct.uint32)
    c2 = ct.zeros((T,), ct.uint32)
    c3 = ct.zeros((T,), ct.uint32)
    k0 = ct.full((T,), 0, ct.uint32) + seed
    k1 = ct.full((T,), 0x1BD11BDA, ct.uint32)
    for _ in range(10):
        h0, l0 = wide_product(c0, 0xD2511F53, T)
        h1, l1 = wide_product(c2, 0xCD9E8D57, T)
        c0 = h1 ^ c1 ^ k0
        c1 = l1
        c2 = h0 ^ c3 ^ k1
        c3 = l0
        k0 = k0 + ct.full((T,), 0x9E3779B9, ct.uint32)
        k1 = k1 + ct.full((T,), 0xBB67AE85, ct.uint32)
    left = ct.cat((ct.reshape(c0, (T, 1)), ct.reshape(c1, (T, 1))), axis=1)
    right = ct.cat((ct.reshape(c2, (T, 1)), ct.reshape(c3, (T, 1))), axis=1)
    word = ct.reshape(ct.cat((left, right), axis=1), (4 * T,))
    u = ct.astype(word >> 8, ct.float32) * (1.0 / 16777216.0)
    t = ct.load(x, (i,), (4 * T,), padding_mode=ZERO)
    ct.store(y, (i,), ct.where(u < keep, t * (1.0 / keep), 0.0))


# ---------------------------------------------------------------- optimizers
@ct.kernel
def adam_step(p, g, m, v, half, lr, beta1, beta2, eps, decay, fix1, fix2, T: CI):
    # decoupled decay of weights; a copy of the weights in half precision
    i = ct.bid(0)
    pt = ct.load(p, (i,), (T,), padding_mode=ZERO)
    gt = ct.astype(ct.load(g, (i,), (T,), padding_mode=ZERO), ct.float32)
    mt = ct.load(m, (i,), (T,), padding_mode=ZERO)
    vt = ct.load(v, (i,), (T,), padding_mode=ZERO)
    mt = mt + (gt - mt) * (1.0 - beta1)
    vt = vt + (gt * gt - vt) * (1.0 - beta2)
    step = (mt * fix1) / (ct.sqrt(vt * fix2) + eps)
    pt = pt - lr * (step + decay * pt)
    ct.store(p, (i,), pt)
    ct.store(m, (i,), mt)
    ct.store(v, (i,), vt)
    ct.store(half, (i,), ct.astype(pt, half.dtype))


@ct.kernel
def grad_norm(grads, total, T: CI):
    # a list of gradients of any lengths, also none; a block takes tiles of each
    acc = ct.zeros((T,), ct.float32)
    for n in range(len(grads)):
        g = grads[n]
        for i in range(ct.bid(0), ct.num_tiles(g, 0, shape=(T,)), ct.num_blocks(0)):
            t = ct.astype(ct.load(g, (i,), (T,), padding_mode=ZERO), ct.float32)
            acc += t * t
    ct.atomic_add(total, 0, ct.sum(acc))


@ct.kernel
def grad_clip(g, squares, most, T: CI):
    i = ct.bid(0)
    t = ct.astype(ct.load(g, (i,), (T,), padding_mode=ZERO), ct.float32)
    norm = ct.sqrt(ct.load(squares, (0,), shape=()).item())
    if norm <= most:
        return
    ct.store(g, (i,), ct.astype(t * (most / (norm + 1e-6)), g.dtype))


@ct.kernel
def sum_last_block(x, part, count, out, TILES: CI, B: CI, T: CI):
    # the block that is the last to count itself adds what all have stored
    b = ct.bid(0)
    acc = ct.zeros((T,), ct.float32)
    for i in range(b * TILES, ct.minimum((b + 1) * TILES, ct.num_tiles(x, 0, shape=(T,)))):
        acc += ct.load(x, (i,), (T,), padding_mode=ZERO)
    ct.store(part, (b,), ct.reshape(ct.sum(acc), (1,)))
    before = ct.atomic_add(count, 0, 1, memory_order=ct.MemoryOrder.ACQ_REL)
    if before == ct.num_blocks(0) - 1:
        all_parts = ct.load(part, (0,), (B,), padding_mode=ZERO)
        ct.store(out, (0,), ct.reshape(ct.sum(all_parts), (1,)))


F1, F2 = A("f32", 1), A("f32", 2)
add("rmsnorm_backward_f32", rmsnorm_backward, [F2, F1, F2, F1, F2, F1, C(128)], "rms norm backward, weights by atomics")
add("layernorm_backward_f16", layernorm_backward,
    [A("f16", 2), A("f16", 1), A("f16", 2), F1, F1, A("f16", 2), F2, F2, C(128)], "layer norm backward, partial sums of weights")
add("layernorm_weight_grads", layernorm_weight_grads, [F2, F2, A("f16", 1), A("f16", 1), C(4), C(64)],
    "layer norm backward, second stage")
add("add_rmsnorm_bf16", add_rmsnorm, [A("bf16", 2), A("bf16", 2), A("bf16", 1), S("f32"), C(128)],
    "residual sum and rms norm, in place")
add("group_norm_f16", group_norm, [A("f16", 3), F1, F1, A("f16", 3), C(3), C(4), C(1e-5), C(64)], "group norm of images")
add("batchnorm_stats_f32", batchnorm_stats, [F2, F1, F1, F1, F1, S("f32"), S("f32"), C(16), C(32)],
    "batch norm statistics, tiles merged")
add("softmax_masked_f16", softmax_masked, [A("f16", 3), A("i8", 2), A("f16", 3), S("f32"), C(128)],
    "row softmax with a mask of bytes")
add("softmax_backward_f32", softmax_backward, [F2, F2, F2, C(64)], "row softmax backward")
add("cross_entropy_backward_bf16", cross_entropy_backward, [A("bf16", 2), A("i64", 1), F1, C(-100), C(128)],
    "cross-entropy backward, in place, with an ignored target")
add("rope_interleaved_f16", rope_interleaved,
    [A("f16", 2, "strides"), A("f32", 2, "strides"), A("f32", 2, "strides"), A("f16", 2, "strides"), C(32)],
    "rotary embedding of neighbours")
add("rope_half_pair_bf16", rope_half_pair, [A("bf16", 3), A("bf16", 3), A("i32", 1), F2, C(32)],
    "rotary embedding of queries and keys, in place")
add("geglu_f16", geglu, [A("f16", 2), A("f16", 2), C(64)], "gelu(first half) * second half")
add("silu_mul_quantized_e4m3", silu_mul_quantized, [A("f16", 2, "strides"), A("e4m3", 2, "strides"), F2, C(32), C(128)],
    "silu(gate) * up in fp8 with scales of groups")
add("dropout_philox_f32", dropout_philox, [F1, F1, S("u32"), C(0.75), C(64)], "dropout with Philox as generator")
add("adam_step_f32", adam_step, [F1, A("bf16", 1), F1, F1, A("bf16", 1)] + [S("f32")] * 7 + [C(128)], "a step of Adam")
add("grad_norm_list_f32", grad_norm, [L(A("f32", 1)), F1, C(64)], "sum of squares of a list of arrays")
add("grad_clip_f16", grad_clip, [A("f16", 1), F1, S("f32"), C(128)], "gradients scaled where their norm is too large")
add("sum_last_block_f32", sum_last_block, [F1, F1, A("i32", 1), F1, C(4), C(8), C(64)],
    "sum in two stages, the second by the last block")
