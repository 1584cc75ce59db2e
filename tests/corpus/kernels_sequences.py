"""Kernels of the corpus: sequences as serving has them, that is, attention of many kinds, and recurrences by chunks.

`generate.py` runs this file behind `kernels.py`; the cases are in `cases_sequences.py`.
"""
import cuda.tile as ct
from kernels import CI, ZERO, A, C, S, add

LOG2E = 1.4426950408889634


@ct.kernel
def attention_mixed(q, k, v, starts_q, starts_k, slope, sink, o, scale, G: CI, W: CI, D: CI, TM: CI, TN: CI):
    # packed sequences that end together; G heads of queries for one of keys; a window of W keys, a slope for distances, and a
    # number for each head that takes part in the sum alone; only tiles at an edge are masked
    i, h, b = ct.bid(0), ct.bid(1), ct.bid(2)
    q0 = ct.load(starts_q, (b,), shape=()).item()
    rows = ct.load(starts_q, (b + 1,), shape=()).item() - q0
    k0 = ct.load(starts_k, (b,), shape=()).item()
    keys = ct.load(starts_k, (b + 1,), shape=()).item() - k0
    if i * TM >= rows:
        return
    qs = q.slice(axis=0, start=q0, stop=q0 + rows)
    os = o.slice(axis=0, start=q0, stop=q0 + rows)
    ks = k.slice(axis=0, start=k0, stop=k0 + keys)
    vs = v.slice(axis=0, start=k0, stop=k0 + keys)
    qt = ct.reshape(ct.load(qs, (i, h, 0), (TM, 1, D), padding_mode=ZERO), (TM, D))
    m = ct.full((TM, 1), 0.0, ct.float32) + ct.load(sink, (h,), shape=()).item() * LOG2E
    l = ct.full((TM, 1), 1.0, ct.float32)
    acc = ct.zeros((TM, D), ct.float32)
    steep = ct.load(slope, (h,), shape=()).item() * LOG2E
    first = keys - rows + i * TM
    age = (ct.arange(TM, dtype=ct.int32) + first)[:, None] - ct.arange(TN, dtype=ct.int32)[None, :]
    for j in range(ct.maximum(first - W + 1, 0) // TN, ct.minimum(ct.cdiv(first + TM, TN), ct.cdiv(keys, TN))):
        kt = ct.transpose(ct.reshape(ct.load(ks, (j, h // G, 0), (TN, 1, D), padding_mode=ZERO), (TN, D)))
        s = ct.mma(qt, kt, ct.zeros((TM, TN), ct.float32)) * (scale * LOG2E)
        old = age - j * TN
        s -= ct.astype(old, ct.float32) * steep
        if (j + 1) * TN > ct.minimum(first + 1, keys) or j * TN <= first + TM - 1 - W:
            s = ct.where((old >= 0) & (old < W), s, -1e30)
        m2 = ct.maximum(m, ct.max(s, 1, keepdims=True))
        p = ct.exp2(s - m2)
        a = ct.exp2(m - m2)
        l = l * a + ct.sum(p, 1, keepdims=True)
        vt = ct.reshape(ct.load(vs, (j, h // G, 0), (TN, 1, D), padding_mode=ZERO), (TN, D))
        acc = ct.mma(ct.astype(p, q.dtype), vt, acc * a)
        m = m2
    ct.store(os, (i, h, 0), ct.astype(ct.reshape(acc / l, (TM, 1, D)), o.dtype))


@ct.kernel
def decode_paged_split(q, k, v, pages, length, part, lse, scale, G: CI, PER: CI, D: CI, TM: CI, PAGE: CI):
    # one token of each sequence; G heads share keys, which lie in pages: (pages, PAGE, heads, D); a split has PER pages
    b, h, z = ct.bid(0), ct.bid(1), ct.bid(2)
    keys = ct.load(length, (b,), shape=()).item()
    row = ct.arange(TM, dtype=ct.int32)
    col = ct.arange(D, dtype=ct.int32)
    if z * PER * PAGE >= keys:
        ct.scatter(lse, (b, z, h * G + row), float("-inf"), mask=row < G)
        return
    qt = ct.gather(q, (b, (h * G + row)[:, None], col[None, :]), mask=(row < G)[:, None])
    m = ct.full((TM, 1), -1e30, ct.float32)
    l = ct.zeros((TM, 1), ct.float32)
    acc = ct.zeros((TM, D), ct.float32)
    at = ct.arange(PAGE, dtype=ct.int32)[None, :]
    for j in range(z * PER, ct.minimum((z + 1) * PER, ct.cdiv(keys, PAGE))):
        page = ct.load(pages, (b, j), shape=()).item()
        kt = ct.reshape(ct.load(k, (page, 0, h, 0), (1, PAGE, 1, D)), (PAGE, D))
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((TM, PAGE), ct.float32))
        s = ct.where(at + j * PAGE < keys, s * (scale * LOG2E), -1e30)
        m2 = ct.maximum(m, ct.max(s, 1, keepdims=True))
        p = ct.exp2(s - m2)
        a = ct.exp2(m - m2)
        l = l * a + ct.sum(p, 1, keepdims=True)
        vt = ct.reshape(ct.load(v, (page, 0, h, 0), (1, PAGE, 1, D)), (PAGE, D))
        acc = ct.mma(ct.astype(p, q.dtype), vt, acc * a)
        m = m2
    ct.scatter(part, (b, z, (h * G + row)[:, None], col[None, :]), acc / l, mask=(row < G)[:, None])
    ct.scatter(lse, (b, z, h * G + row), ct.reshape(m + ct.log2(l), (TM,)), mask=row < G)


@ct.kernel
def decode_combine(part, lse, o, D: CI):
    # any number of splits; those that have seen nothing, whose part was never written, are left out
    b, h = ct.bid(0), ct.bid(1)
    m = float("-inf")
    l = 0.0
    acc = ct.zeros((1, 1, D), ct.float32)
    for z in range(part.shape[1]):
        w = ct.load(lse, (b, z, h), shape=()).item()
        if w == float("-inf"):
            continue
        m2 = ct.maximum(m, w)
        a = ct.exp2(m - m2)
        w = ct.exp2(w - m2)
        acc = acc * a + ct.reshape(ct.load(part, (b, z, h, 0), (1, 1, 1, D)), (1, 1, D)) * w
        l = l * a + w
        m = m2
    if l > 0.0:
        acc = acc / l
    ct.store(o, (b, h, 0), ct.astype(acc, o.dtype))


@ct.kernel
def decode_latent(q, qr, cache, cr, length, o, scale, H: CI, D: CI, R: CI, TN: CI):
    # all heads of a sequence share latent rows, which are keys, with R rotated columns beside them, and values
    b = ct.bid(0)
    keys = ct.load(length, (b,), shape=()).item()
    qt = ct.reshape(ct.load(q, (b, 0, 0), (1, H, D)), (H, D))
    rt = ct.reshape(ct.load(qr, (b, 0, 0), (1, H, R)), (H, R))
    m = ct.full((H, 1), -1e30, ct.float32)
    l = ct.zeros((H, 1), ct.float32)
    acc = ct.zeros((H, D), ct.float32)
    col = ct.arange(TN, dtype=ct.int32)[None, :]
    for j in range(ct.cdiv(keys, TN)):
        c = ct.reshape(ct.load(cache, (b, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
        r = ct.reshape(ct.load(cr, (b, j, 0), (1, TN, R), padding_mode=ZERO), (TN, R))
        s = ct.mma(qt, ct.transpose(c), ct.zeros((H, TN), ct.float32))
        s = ct.mma(rt, ct.transpose(r), s) * (scale * LOG2E)
        s = ct.where(col + j * TN < keys, s, -1e30)
        m2 = ct.maximum(m, ct.max(s, 1, keepdims=True))
        p = ct.exp2(s - m2)
        a = ct.exp2(m - m2)
        l = l * a + ct.sum(p, 1, keepdims=True)
        acc = ct.mma(ct.astype(p, q.dtype), c, acc * a)
        m = m2
    ct.store(o, (b, 0, 0), ct.astype(ct.reshape(acc / l, (1, H, D)), o.dtype))


@ct.kernel
def linear_attention(q, k, v, decay, state, o, DK: CI, DV: CI, T: CI):
    # o[t] = q[t] @ S[t] with S[t] = exp(decay[t]) * S[t - 1] + k[t]^T v[t], in chunks of T; the state comes and goes
    h = ct.bid(0)
    st = ct.reshape(ct.load(state, (h, 0, 0), (1, DK, DV)), (DK, DV))
    row = ct.arange(T, dtype=ct.int32)[:, None]
    col = ct.arange(T, dtype=ct.int32)[None, :]
    for i in range(ct.num_tiles(q, 1, shape=(1, T, DK))):
        g = ct.cumsum(ct.reshape(ct.load(decay, (h, i), (1, T), padding_mode=ZERO), (T,)), 0)
        whole = ct.sum(ct.where(ct.arange(T, dtype=ct.int32) == T - 1, g, 0.0))
        qt = ct.reshape(ct.load(q, (h, i, 0), (1, T, DK), padding_mode=ZERO), (T, DK))
        kt = ct.reshape(ct.load(k, (h, i, 0), (1, T, DK), padding_mode=ZERO), (T, DK))
        vt = ct.reshape(ct.load(v, (h, i, 0), (1, T, DV), padding_mode=ZERO), (T, DV))
        inner = ct.mma(qt, ct.transpose(kt), ct.zeros((T, T), ct.float32))
        inner = ct.where(row >= col, inner * ct.exp(ct.where(row >= col, g[:, None] - g[None, :], 0.0)), 0.0)
        y = ct.mma(qt, ct.astype(st, q.dtype), ct.zeros((T, DV), ct.float32)) * ct.exp(g)[:, None]
        y = ct.mma(ct.astype(inner, q.dtype), vt, y)
        ct.store(o, (h, i, 0), ct.astype(ct.reshape(y, (1, T, DV)), o.dtype))
        kd = ct.astype(ct.astype(kt, ct.float32) * ct.exp(whole - g)[:, None], k.dtype)
        st = ct.mma(ct.transpose(kd), vt, st * ct.exp(whole))
    ct.store(state, (h, 0, 0), ct.reshape(st, (1, DK, DV)))


@ct.kernel
def selective_scan(u, delta, a, b, c, skip, gate, y, state, TD: CI, N: CI):
    # h = exp(d * a) * h + d * b[t] * u[t] with d = softplus(delta); y = (h . c[t] + skip * u[t]) * silu(gate), TD channels
    i, n = ct.bid(0), ct.bid(1)
    at = ct.load(a, (i, 0), (TD, N), padding_mode=ZERO)
    h = ct.reshape(ct.load(state, (n, i, 0), (1, TD, N), padding_mode=ZERO), (TD, N))
    st = ct.load(skip, (i,), (TD,), padding_mode=ZERO)
    for t in range(u.shape[1]):
        ut = ct.reshape(ct.astype(ct.load(u, (n, t, i), (1, 1, TD), padding_mode=ZERO), ct.float32), (TD,))
        dt = ct.reshape(ct.astype(ct.load(delta, (n, t, i), (1, 1, TD), padding_mode=ZERO), ct.float32), (TD,))
        dt = ct.where(dt > 20.0, dt, ct.log(1.0 + ct.exp(dt)))
        bt = ct.reshape(ct.load(b, (n, t, 0), (1, 1, N)), (1, N))
        c_t = ct.reshape(ct.load(c, (n, t, 0), (1, 1, N)), (1, N))
        h = ct.exp(dt[:, None] * at) * h + (dt * ut)[:, None] * bt
        y_t = ct.sum(h * c_t, 1) + st * ut
        z = ct.reshape(ct.astype(ct.load(gate, (n, t, i), (1, 1, TD), padding_mode=ZERO), ct.float32), (TD,))
        y_t = y_t * z / (1.0 + ct.exp(-z))
        ct.store(y, (n, t, i), ct.astype(ct.reshape(y_t, (1, 1, TD)), y.dtype))
    ct.store(state, (n, i, 0), ct.reshape(h, (1, TD, N)))


F1, F2, F3, I1 = A("f32", 1), A("f32", 2), A("f32", 3), A("i32", 1)
B3, H3 = A("bf16", 3, "strides"), A("f16", 3, "strides")
add("attention_mixed_f16", attention_mixed, [H3] * 3 + [I1, I1, F1, F1, H3, S("f32"), C(2), C(24), C(32), C(16), C(16)],
    "packed attention with window, slopes and sinks")
add("decode_paged_split_bf16", decode_paged_split,
    [B3, A("bf16", 4, "strides"), A("bf16", 4, "strides"), A("i32", 2), I1, A("f32", 4), F3, S("f32"),
     C(4), C(2), C(32), C(16), C(16)], "decoding over pages of keys, split over blocks")
add("decode_combine_f16", decode_combine, [A("f32", 4), F3, A("f16", 3), C(32)], "splits of decoding put together, some empty")
add("decode_latent_bf16", decode_latent, [B3, B3, B3, B3, I1, B3, S("f32"), C(16), C(64), C(16), C(32)],
    "decoding over latent rows")
add("linear_attention_bf16", linear_attention, [B3, B3, B3, F2, F3, B3, C(16), C(32), C(16)],
    "linear attention with decay, by chunks")
add("selective_scan_f16", selective_scan,
    [A("f16", 3), A("f16", 3), F2, F3, F3, F1, A("f16", 3), A("f16", 3), F3, C(32), C(8)], "selective state space, step by step")
