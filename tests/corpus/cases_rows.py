# Cases of kernels_rows.py; cases.py runs this file at its end.


@case("rmsnorm_backward_f32")
def _(r, n):
    M, N = 9, 100
    x, dy = (arr("f32", r.normal(size=(M, N))) for _ in range(2))
    w = arr("f32", r.uniform(0.5, 1.5, N))
    s = arr("f32", ((x.value ** 2).mean(1) + 1e-5) ** -0.5)
    unit = x.value * s.value[:, None]
    g = dy.value * w.value
    dx = (g - unit * (g * unit).mean(1, keepdims=True)) * s.value[:, None]
    return Case((4, 1, 1), [x, w, dy, s, out("f32", M, N), into("f32", N)],
                {4: Expect(dx, 1e-4, 1e-5), 5: Expect((dy.value * unit).sum(0), 1e-4, 1e-5)})


@case("layernorm_backward_f16")
def _(r, n):
    M, N, G = 7, 90, 3
    x, dy = (arr("f16", r.normal(size=(M, N)) + 1) for _ in range(2))
    w = arr("f16", r.uniform(0.5, 1.5, N))
    mean = arr("f32", x.value.mean(1))
    rstd = arr("f32", (x.value.var(1) + 1e-5) ** -0.5)
    unit = (x.value - mean.value[:, None]) * rstd.value[:, None]
    g = dy.value * w.value
    dx = (g - unit * (g * unit).mean(1, keepdims=True) - g.mean(1, keepdims=True)) * rstd.value[:, None]
    dw, db = (np.stack([v[b::G].sum(0) for b in range(G)]) for v in (dy.value * unit, dy.value))
    return Case((G, 1, 1), [x, w, dy, mean, rstd, out("f16", M, N), out("f32", G, N), out("f32", G, N)],
                {5: Expect(dx, 2e-3, 2e-3), 6: Expect(dw, 1e-4, 1e-4), 7: Expect(db, 1e-4, 1e-4)})


@case("layernorm_weight_grads")
def _(r, n):
    dw, db = (arr("f32", r.normal(size=(10, 90))) for _ in range(2))
    return Case((2, 1, 1), [dw, db, out("f16", 90), out("f16", 90)],
                {2: Expect(dw.value.sum(0), 1e-3, 1e-3), 3: Expect(db.value.sum(0), 1e-3, 1e-3)})


@case("add_rmsnorm_bf16")
def _(r, n):
    x, res = (arr("bf16", r.normal(size=(4, 300))) for _ in range(2))
    w = arr("bf16", r.uniform(0.5, 1.5, 300))
    t = x.value + res.value
    want = t * ((t ** 2).mean(1, keepdims=True) + 1e-5) ** -0.5 * w.value
    return Case((4, 1, 1), [x, res, w, Sca("f32", 1e-5)], {0: Expect(want, 1.5e-2, 1e-3), 1: Expect(t, 8e-3, 1e-4)})


@case("group_norm_f16")
def _(r, n):
    B, G, CG, P = 2, 3, 4, 49
    x = arr("f16", r.normal(size=(B, G * CG, P)) * 2 + 1)
    w, b = arr("f32", r.uniform(0.5, 1.5, G * CG)), arr("f32", r.normal(size=G * CG))
    t = x.value.reshape(B, G, CG * P)
    t = (t - t.mean(-1, keepdims=True)) / np.sqrt(t.var(-1, keepdims=True) + 1e-5)
    want = t.reshape(B, G * CG, P) * w.value[:, None] + b.value[:, None]
    return Case((B, G, 1), [x, w, b, out("f16", B, G * CG, P)], {3: Expect(want, 2e-3, 2e-3)})


@case("batchnorm_stats_f32")
def _(r, n):
    M, N = 37, 50
    x = arr("f32", r.normal(size=(M, N)) * 3 + r.normal(size=N) * 10)
    rm, rv = arr("f32", r.normal(size=N)), arr("f32", r.uniform(1, 5, N))
    mean, var = x.value.mean(0), x.value.var(0)
    p = float(np.float32(0.1))
    return Case((2, 1, 1), [x, out("f32", N), out("f32", N), rm, rv, Sca("f32", p), Sca("f32", 1e-5)],
                {1: Expect(mean, 1e-5, 1e-5), 2: Expect((var + 1e-5) ** -0.5, 1e-4, 1e-6),
                 3: Expect(rm.value + (mean - rm.value) * p, 1e-5, 1e-5),
                 4: Expect(rv.value + (x.value.var(0, ddof=1) - rv.value) * p, 1e-4, 1e-5)})


@case("softmax_masked_f16")
def _(r, n):
    H, R, T = 2, 5, 100
    x = arr("f16", r.normal(size=(H, R, T)) * 3)
    mask = r.integers(0, 2, (R, T))
    mask[3] = 0
    with np.errstate(all="ignore"):
        want = np.nan_to_num(_softmax(np.where(mask, x.value * 0.5, -np.inf)))
    return Case((R, H, 1), [x, arr("i8", mask), out("f16", H, R, T), Sca("f32", 0.5)], {2: Expect(want, 2e-3, 1e-4)})


@case("softmax_backward_f32")
def _(r, n):
    y, dy = arr("f32", _softmax(r.normal(size=(5, 150)))), arr("f32", r.normal(size=(5, 150)))
    want = y.value * (dy.value - (y.value * dy.value).sum(1, keepdims=True))
    return Case((5, 1, 1), [y, dy, out("f32", 5, 150)], {2: Expect(want, 1e-5, 1e-6)})


@case("cross_entropy_backward_bf16")
def _(r, n):
    M, V = 6, 300
    x, t = arr("bf16", r.normal(size=(M, V)) * 3), r.integers(0, V, M)
    t[[1, 4]] = -100
    g = arr("f32", r.uniform(0.5, 2, M))
    want = (_softmax(x.value) - (np.arange(V) == t[:, None])) * g.value[:, None] * (t != -100)[:, None]
    return Case((M, 1, 1), [x, arr("i64", t), g], {0: Expect(want, 1e-2, 1e-4)})


@case("rope_interleaved_f16")
def _(r, n):
    M, H = 8, 32
    x, a = arr("f16", r.normal(size=(M, 2 * H))), r.uniform(-3, 3, (M, H))
    c, s = arr("f32", np.cos(a)), arr("f32", np.sin(a))
    u, v = x.value[:, ::2], x.value[:, 1::2]
    want = np.stack([u * c.value - v * s.value, v * c.value + u * s.value], -1).reshape(M, 2 * H)
    return Case((M, 1, 1), [x, c, s, out("f16", M, 2 * H)], {3: Expect(want, 1e-3, 1e-3)})


@case("rope_half_pair_bf16")
def _(r, n):
    T, HQ, HK, H, P = 5, 3, 1, 32, 20
    q, k = arr("bf16", r.normal(size=(T, HQ, 2 * H))), arr("bf16", r.normal(size=(T, HK, 2 * H)))
    at = r.integers(0, P, T)
    at[2] = -1
    a = r.uniform(-3, 3, (P, H))
    table = arr("f32", np.hstack([np.cos(a), np.sin(a)]))
    c, s = (table.value[at, None, o:o + H] for o in (0, H))

    def turned(x):
        u, v = x.value[..., :H], x.value[..., H:]
        new = np.concatenate([u * c - v * s, v * c + u * s], -1)
        return np.where((at < 0)[:, None, None], x.value, new)
    return Case((T, 1, 1), [q, k, arr("i32", at), table], {0: Expect(turned(q), 8e-3, 8e-3), 1: Expect(turned(k), 8e-3, 8e-3)})


@case("geglu_f16")
def _(r, n):
    x = arr("f16", r.normal(size=(4, 180)))
    g, u = x.value[:, :90], x.value[:, 90:]
    want = 0.5 * g * (1 + np.tanh(0.7978845608028654 * (g + 0.044715 * g ** 3))) * u
    return Case((4, 2, 1), [x, out("f16", 4, 90)], {1: Expect(want, 2e-3, 1e-4)})


@case("silu_mul_quantized_e4m3")
def _(r, n):
    M, N, G = 4, 256, 32
    x = arr("f16", r.normal(size=(M, 2 * N)))
    g, u = x.value[:, :N], x.value[:, N:]
    v = (g / (1 + np.exp(-g)) * u).reshape(M, N // G, G)
    s = np.maximum(np.abs(v).max(-1), 1e-6) / 448
    # a quotient beside the middle of two numbers goes to either
    return Case((M, 2, 1), [x, out("e4m3", M, N), out("f32", M, N // G)],
                {1: Expect(decode("e4m3", encode("e4m3", (v / s[..., None]).reshape(M, N))), 0.13, 0.01), 2: Expect(s, 1e-4)})


@case("dropout_philox_f32")
def _(r, n):
    N, seed, keep = 900, 0x2545F491, 0.75
    x, low = arr("f32", r.normal(size=N)), np.uint64(0xFFFFFFFF)
    c = np.zeros((4, 256), np.uint64)
    c[0] = np.arange(256)
    k = [seed, 0x1BD11BDA]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = np.stack([(q >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), q & low,
                      (p >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), p & low])
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    u = (c.T.reshape(-1)[:N] >> np.uint64(8)) * 2.0 ** -24
    return Case((4, 1, 1), [x, out("f32", N), Sca("u32", seed)], {1: Expect(np.where(u < keep, x.value / keep, 0), 1e-6)})


@case("adam_step_f32")
def _(r, n):
    N = 300
    p, g = arr("f32", r.normal(size=N)), arr("bf16", r.normal(size=N))
    m, v = arr("f32", r.normal(size=N) * 0.1), arr("f32", r.uniform(0.01, 1, N))
    lr, b1, b2, eps, decay, f1, f2 = s = [float(np.float32(x)) for x in (0.01, 0.9, 0.98, 1e-6, 0.1, 2.4, 5.2)]
    m2 = m.value + (g.value - m.value) * (1 - b1)
    v2 = v.value + (g.value ** 2 - v.value) * (1 - b2)
    p2 = p.value - lr * (m2 * f1 / (np.sqrt(v2 * f2) + eps) + decay * p.value)
    return Case((3, 1, 1), [p, g, m, v, out("bf16", N), *(Sca("f32", x) for x in s)],
                {0: Expect(p2, 1e-5, 1e-5), 2: Expect(m2, 1e-5, 1e-6), 3: Expect(v2, 1e-5, 1e-6), 4: Expect(p2, 8e-3, 1e-4)})


@case("grad_norm_list_f32")
def _(r, n):
    gs = [arr("f32", r.normal(size=k)) for k in (300, 0, 64, 1)]
    return Case((3, 1, 1), [Lst(gs), into("f32", 1)], {1: Expect(np.array([sum((g.value ** 2).sum() for g in gs)]), 1e-5)})


@case("grad_clip_f16")
def _(r, n):
    g, norm = arr("f16", r.normal(size=300)), 4.0
    return Case((3, 1, 1), [g, arr("f32", [norm ** 2]), Sca("f32", 1.5)], {0: Expect(g.value * 1.5 / norm, 2e-3, 1e-5)})


@case("sum_last_block_f32")
def _(r, n):
    x = arr("f32", r.normal(size=1500))
    parts = np.array([x.value[k:k + 256].sum() for k in range(0, 1500, 256)])
    return Case((6, 1, 1), [x, out("f32", 6), into("i32", 1), out("f32", 1)],
                {1: Expect(parts, 1e-4, 1e-4), 2: Expect(np.array([6])), 3: Expect(np.array([parts.sum()]), 1e-4, 1e-4)})
