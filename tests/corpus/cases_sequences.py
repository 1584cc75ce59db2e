# Cases of kernels_sequences.py; cases.py runs this file at its end.


@case("attention_mixed_f16")
def _(r, n):
    H, G, D, W = 4, 2, 32, 24
    rows, keys = np.array([20, 1, 0, 35]), np.array([20, 41, 5, 50])
    a, b = np.cumsum([0, *rows]), np.cumsum([0, *keys])
    q = arr("f16", r.normal(size=(a[-1], H, D)))
    k, v = (arr("f16", r.normal(size=(b[-1], H // G, D))) for _ in range(2))
    slope, sink = arr("f32", 2.0 ** -np.arange(2, 2 + H)), arr("f32", r.normal(size=H))
    scale, want = np.float32(D ** -0.5), np.empty((a[-1], H, D))
    for i, h in np.ndindex(4, H):
        mine, seen = np.s_[a[i]:a[i + 1], h], np.s_[b[i]:b[i + 1], h // G]
        age = np.arange(rows[i])[:, None] + keys[i] - rows[i] - np.arange(keys[i])
        s = q.value[mine] @ k.value[seen].T * float(scale) - slope.value[h] * age
        s = np.where((age < 0) | (age >= W), -np.inf, s)
        s = np.hstack([s, np.full((rows[i], 1), sink.value[h])])
        want[mine] = _softmax(s)[:, :-1] @ v.value[seen] if rows[i] else 0
    return Case((3, H, 4), [q, k, v, arr("i32", a), arr("i32", b), slope, sink, out("f16", *want.shape), Sca("f32", float(scale))],
                {7: Expect(want, 5e-3, 4e-3)})


@case("decode_paged_split_bf16")
def _(r, n):
    B, HK, G, D, PAGE, Z, length = 2, 2, 4, 32, 16, 3, np.array([70, 20])
    q = arr("bf16", r.normal(size=(B, HK * G, D)))
    k, v = (arr("bf16", r.normal(size=(8, PAGE, HK, D))) for _ in range(2))
    table = np.full((B, 5), 1 << 20)
    free = list(r.permutation(8))
    for b in range(B):
        used = cdiv(length[b], PAGE)
        table[b, :used] = [free.pop() for _ in range(used)]
    scale = np.float32(D ** -0.5)
    part, lse = np.zeros((B, Z, HK * G, D)), np.full((B, Z, HK * G), -np.inf)
    for b, z, h in np.ndindex(B, Z, HK):
        mine = table[b, :cdiv(length[b], PAGE)]
        at = np.s_[32 * z:min(32 * z + 32, length[b])]
        kb, vb = (x.value[mine, :, h].reshape(-1, D)[at] for x in (k, v))
        if len(kb):
            heads = np.s_[h * G:h * G + G]
            s = q.value[b, heads] @ kb.T * float(scale)
            part[b, z, heads] = _softmax(s) @ vb
            lse[b, z, heads] = np.log2(np.exp(s).sum(1))
    return Case((B, HK, Z), [q, k, v, arr("i32", table), arr("i32", length), into("f32", *part.shape), out("f32", *lse.shape),
                             Sca("f32", float(scale))], {5: Expect(part, 2e-2, 3e-2), 6: Expect(lse, 1e-3, 1e-2)})


@case("decode_combine_f16")
def _(r, n):
    # a sequence of three splits, one of one, one of none
    B, Z, H, D = 3, 3, 2, 32
    part, lse = arr("f32", r.normal(size=(B, Z, H, D))), arr("f32", 4 * r.normal(size=(B, Z, H)))
    lse.data[1, 1:] = lse.data[2] = -np.inf
    part.data[1, 1:] = part.data[2] = np.nan
    w = np.exp2(lse.value)[..., None]
    want = (w * np.nan_to_num(part.value)).sum(1) / np.maximum(w.sum(1), 1e-30)
    return Case((B, H, 1), [part, lse, out("f16", B, H, D)], {2: Expect(want, 1e-3, 1e-3)})


@case("decode_latent_bf16")
def _(r, n):
    B, H, D, R, most, length = 2, 16, 64, 16, 90, np.array([90, 33])
    q, qr = arr("bf16", r.normal(size=(B, H, D))), arr("bf16", r.normal(size=(B, H, R)))
    c, cr = arr("bf16", r.normal(size=(B, most, D))), arr("bf16", r.normal(size=(B, most, R)))
    scale = np.float32((D + R) ** -0.5)
    want = np.stack([_attention(np.hstack([q.value[b], qr.value[b]]), np.hstack([c.value[b, :m], cr.value[b, :m]]),
                                c.value[b, :m], scale) for b, m in enumerate(length)])
    return Case((B, 1, 1), [q, qr, c, cr, arr("i32", length), out("bf16", B, H, D), Sca("f32", float(scale))],
                {5: Expect(want, 2e-2, 3e-2)})


@case("linear_attention_bf16")
def _(r, n):
    H, T, DK, DV = 3, 40, 16, 32
    q, k = (arr("bf16", r.normal(size=(H, T, DK)) * DK ** -0.5) for _ in range(2))
    v, g = arr("bf16", r.normal(size=(H, T, DV))), arr("f32", -r.uniform(0, 0.3, (H, T)))
    state = arr("f32", r.normal(size=(H, DK, DV)))
    s, want = state.value.copy(), np.empty((H, T, DV))
    for t in range(T):
        s = np.exp(g.value[:, t])[:, None, None] * s + k.value[:, t, :, None] * v.value[:, t, None, :]
        want[:, t] = (q.value[:, t, None] @ s)[:, 0]
    return Case((H, 1, 1), [q, k, v, g, state, out("bf16", H, T, DV)], {4: Expect(s, 1e-2, 2e-2), 5: Expect(want, 2e-2, 2e-2)})


@case("selective_scan_f16")
def _(r, n):
    B, T, D, N = 2, 9, 40, 8
    u, d, z = (arr("f16", r.normal(size=(B, T, D))) for _ in range(3))
    d.data[:, 3, ::5] = 24
    a, skip = arr("f32", -np.exp(r.normal(size=(D, N)))), arr("f32", r.normal(size=D))
    b, c = (arr("f32", r.normal(size=(B, T, N))) for _ in range(2))
    state = arr("f32", r.normal(size=(B, D, N)))
    h, want, step = state.value.copy(), np.empty((B, T, D)), np.log1p(np.exp(d.value))
    for t in range(T):
        h = np.exp(step[:, t, :, None] * a.value) * h + (step * u.value)[:, t, :, None] * b.value[:, t, None]
        want[:, t] = (h * c.value[:, t, None]).sum(-1) + skip.value * u.value[:, t]
    want *= z.value / (1 + np.exp(-z.value))
    return Case((2, B, 1), [u, d, a, b, c, skip, z, out("f16", B, T, D), state],
                {7: Expect(want, 2e-3, 2e-3), 8: Expect(h, 1e-4, 1e-4)})
