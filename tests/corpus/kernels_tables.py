"""Kernels of the corpus: tables and lists, that is, embeddings, counts, selections, routing, sparse rows, generators.

`generate.py` runs this file behind `kernels.py`; the cases are in `cases_tables.py`.
"""
import cuda.tile as ct
from kernels import CI, NEG_INF, ZERO, A, C, S, add


@ct.kernel
def embedding_backward(grad, ids, dw, first, pad: CI, TR: CI, TC: CI):
    # dw has the rows from `first` on, other words belong to other devices; the word `pad` has no gradient
    i, j = ct.bid(0), ct.bid(1)
    word = ct.gather(ids, ct.arange(TR, dtype=ct.int32) + i * TR, padding_value=pad)
    row = ct.where(word == pad, -1, word - first)
    g = ct.astype(ct.load(grad, (i, j), (TR, TC), padding_mode=ZERO), ct.float32)
    col = ct.arange(TC, dtype=ct.int32) + j * TC
    ct.atomic_add(dw, (row[:, None], col[None, :]), g, memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def bincount(x, weight, bins, T: CI):
    # blocks walk over the numbers; those without a bin are not counted
    at = ct.bid(0) * T
    while at < x.shape[0]:
        k = ct.arange(T, dtype=ct.int32) + at
        b = ct.gather(x, k, padding_value=-1)
        w = ct.gather(weight, k)
        ct.atomic_add(bins, b, w)
        at += ct.num_blocks(0) * T


@ct.kernel
def topk_rows(x, value, index, K: CI, T: CI):
    # the largest first; what was taken is out of the row
    r = ct.bid(0)
    t = ct.load(x, (r, 0), (1, T), padding_mode=NEG_INF)
    col = ct.arange(T, dtype=ct.int32)[None, :]
    for k in range(K):
        at = ct.argmax(t, 1, keepdims=True)
        ct.store(value, (r, k), ct.max(t, 1, keepdims=True))
        ct.store(index, (r, k), at)
        t = ct.where(col == at, float("-inf"), t)


@ct.kernel
def moe_gating(logits, bias, weight, index, K: CI, TK: CI, TT: CI, TE: CI):
    # softmax; experts are chosen by what a bias adds and weighted by what they had, weights sum up to one
    i = ct.bid(0)
    t = ct.load(logits, (i, 0), (TT, TE), padding_mode=NEG_INF)
    e = ct.exp(t - ct.max(t, 1, keepdims=True))
    p = e / ct.sum(e, 1, keepdims=True)
    col = ct.arange(TE, dtype=ct.int32)[None, :]
    key = ct.where(col < logits.shape[1], p + ct.load(bias, (0,), (TE,), padding_mode=ZERO)[None, :], -1e30)
    place = ct.arange(TK, dtype=ct.int32)[None, :]
    ids = ct.zeros((TT, TK), ct.int32)
    ws = ct.zeros((TT, TK), ct.float32)
    for k in range(K):
        at = ct.argmax(key, 1, keepdims=True)
        mine = col == at
        ids = ct.where(place == k, at, ids)
        ws = ct.where(place == k, ct.sum(ct.where(mine, p, 0.0), 1, keepdims=True), ws)
        key = ct.where(mine, -1e30, key)
    ct.store(weight, (i, 0), ws / ct.sum(ws, 1, keepdims=True))
    ct.store(index, (i, 0), ids)


@ct.kernel
def moe_align(ids, sorted_slots, block_expert, total, B: CI, TE: CI, T: CI, CAP: CI):
    # slots sorted by expert, each expert with whole blocks of B; places of no slot hold the number of slots
    n = ids.shape[0]
    slot = ct.arange(T, dtype=ct.int32)
    e = ct.gather(ids, slot, padding_value=-1)
    expert = ct.arange(TE, dtype=ct.int32)
    hot = ct.astype(e[:, None] == expert[None, :], ct.int32)
    size = ct.cdiv(ct.sum(hot, 0), B) * B
    end = ct.cumsum(size, 0)
    rank = ct.cumsum(hot, 0) - 1
    place = ct.sum(hot * (rank + (end - size)[None, :]), 1)
    ct.store(sorted_slots, (0,), ct.full((CAP,), 0, ct.int32) + n)
    ct.scatter(sorted_slots, place, slot, mask=e >= 0)
    at = ct.arange(CAP // B, dtype=ct.int32) * B
    all_slots = ct.sum(size)
    owner = ct.sum(ct.astype(at[:, None] >= end[None, :], ct.int32), 1)
    ct.store(block_expert, (0,), ct.where(at < all_slots, owner, -1))
    ct.store(total, (0,), ct.reshape(all_slots, (1,)))


@ct.kernel
def moe_experts(x, w, slots, block_expert, weight, y, K: CI, TM: CI, TN: CI, TK: CI):
    # a block of slots of one expert: K slots of a token follow each other; blocks of no expert do nothing
    i, j = ct.bid(0), ct.bid(1)
    e = ct.load(block_expert, (i,), shape=()).item()
    slot = ct.load(slots, (i,), (TM,))
    if e < 0:
        return
    row = slot // K
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.cdiv(x.shape[1], TK)):
        col = ct.arange(TK, dtype=ct.int32) + k * TK
        xt = ct.gather(x, (row[:, None], col[None, :]))
        wt = ct.reshape(ct.load(w, (e, k, j), (1, TK, TN), order=(0, 2, 1), padding_mode=ZERO), (TK, TN))
        acc = ct.mma(xt, wt, acc)
    acc = acc * ct.gather(weight, slot)[:, None]
    col = ct.arange(TN, dtype=ct.int32) + j * TN
    ct.scatter(y, (slot[:, None], col[None, :]), ct.astype(acc, y.dtype))


@ct.kernel
def csr_matvec(starts, cols, values, x, y, T: CI):
    # rows of any length, also none
    for r in range(ct.bid(0), y.shape[0], ct.num_blocks(0)):
        at = ct.load(starts, (r,), shape=()).item()
        stop = ct.load(starts, (r + 1,), shape=()).item()
        acc = ct.zeros((T,), ct.float32)
        while at < stop:
            k = ct.arange(T, dtype=ct.int32) + at
            c = ct.gather(cols, k, mask=k < stop, padding_value=-1)
            acc += ct.gather(values, k, mask=k < stop) * ct.gather(x, c)
            at += T
        ct.store(y, (r,), ct.reshape(ct.sum(acc), (1,)))


@ct.kernel
def kmeans_assign(x, centers, nearest, count, TN: CI, TK: CI, TD: CI):
    # the nearest of any number of centers, and how many points each has
    i = ct.bid(0)
    best = ct.full((TN,), 1e30, ct.float32)
    where = ct.zeros((TN,), ct.int32)
    for j in range(ct.num_tiles(centers, 0, shape=(TK, TD))):
        dot = ct.zeros((TN, TK), ct.float32)
        norm = ct.zeros((TK,), ct.float32)
        for d in range(ct.num_tiles(x, 1, shape=(TN, TD))):
            c = ct.load(centers, (j, d), (TK, TD), padding_mode=ZERO)
            dot = ct.mma(ct.load(x, (i, d), (TN, TD), padding_mode=ZERO), ct.transpose(c), dot)
            cf = ct.astype(c, ct.float32)
            norm += ct.sum(cf * cf, 1)
        col = ct.arange(TK, dtype=ct.int32) + j * TK
        far = ct.where((col < centers.shape[0])[None, :], norm[None, :] - 2.0 * dot, 1e30)
        low = ct.min(far, 1)
        at = ct.argmin(far, 1) + j * TK
        where = ct.where(low < best, at, where)
        best = ct.minimum(best, low)
    ct.store(nearest, (i,), where)
    point = ct.arange(TN, dtype=ct.int32) + i * TN
    ct.atomic_add(count, ct.where(point < x.shape[0], where, -1), 1)


def xorshift(s):
    s = s ^ (s << 13)
    s = s ^ (s >> 17)
    return s ^ (s << 5)


@ct.kernel
def monte_carlo(hits, seed, rounds, T: CI):
    # points in a quarter of a circle, all in integers
    i = ct.bid(0)
    s = ct.astype(ct.arange(T, dtype=ct.int32) + (i * T + 1), ct.uint32) * ct.full((T,), 2654435761, ct.uint32) + seed
    n = ct.zeros((T,), ct.int32)
    for _ in range(rounds):
        s = xorshift(s)
        x = ct.astype(s >> 17, ct.int32)
        s = xorshift(s)
        y = ct.astype(s >> 17, ct.int32)
        n += ct.astype(x * x + y * y < (1 << 30), ct.int32)
    ct.atomic_add(hits, 0, ct.sum(n))


def normal_below(x):
    """The distribution function of the normal distribution by a polynomial of 1 / (1 + a * |x|)."""
    t = 1.0 / (1.0 + 0.2316419 * abs(x))
    p = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.3989422804014327 * ct.exp(-0.5 * x * x) * p
    return ct.where(x > 0.0, 1.0 - tail, tail)


@ct.kernel
def black_scholes(price, strike, years, call, put, rate, volatility, T: CI):
    i = ct.bid(0)
    s = ct.load(price, (i,), (T,), padding_mode=ZERO)
    x = ct.load(strike, (i,), (T,), padding_mode=ZERO)
    t = ct.load(years, (i,), (T,), padding_mode=ZERO)
    root = volatility * ct.sqrt(t)
    d1 = (ct.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / root
    d2 = d1 - root
    later = x * ct.exp(-rate * t)
    c = s * normal_below(d1) - later * normal_below(d2)
    ct.store(call, (i,), c)
    ct.store(put, (i,), c - s + later)


F1, F2, I1 = A("f32", 1), A("f32", 2), A("i32", 1)
add("embedding_backward_bf16", embedding_backward, [A("bf16", 2), I1, F2, S("i32"), C(7), C(8), C(32)],
    "gradients of embeddings by atomics, for a part of the words")
add("bincount_weights_f32", bincount, [I1, F1, F1, C(64)], "weights by bin")
add("topk_rows_f32", topk_rows, [F2, F2, A("i32", 2), C(5), C(128)], "the five largest of a row, with indices")
add("moe_gating_f32", moe_gating, [F2, F1, F2, A("i32", 2), C(3), C(4), C(16), C(32)], "experts of tokens, chosen with a bias")
add("moe_align_i32", moe_align, [I1, I1, I1, I1, C(8), C(8), C(64), C(128)], "slots sorted by expert in whole blocks")
add("moe_experts_bf16", moe_experts,
    [A("bf16", 2, "strides"), A("bf16", 3, "strides"), I1, I1, F1, A("bf16", 2), C(2), C(16), C(32), C(32)],
    "products of sorted slots with their experts, weighted")
add("csr_matvec_f32", csr_matvec, [I1, I1, F1, F1, F1, C(32)], "sparse rows times a vector")
add("kmeans_assign_f16", kmeans_assign, [A("f16", 2), A("f16", 2), I1, I1, C(32), C(16), C(16)], "nearest centers by a product")
add("monte_carlo_i32", monte_carlo, [I1, S("u32"), S("i32"), C(128)], "points in a circle, xorshift as generator")
add("black_scholes_f32", black_scholes, [F1] * 5 + [S("f32"), S("f32"), C(128)], "prices of options")
