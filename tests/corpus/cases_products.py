# Cases of kernels_products.py; cases.py runs this file at its end.


@case("matmul_w8a8_rows")
def _(r, n):
    M, N, K = 40, 56, 144
    a, w = arr("i8", r.integers(-127, 128, (M, K))), arr("i8", r.integers(-127, 128, (N, K)))
    rs, cs = arr("f32", r.uniform(0.5, 2, M) / 127), arr("f32", r.uniform(0.5, 2, N) / 127)
    want = a.value.astype(np.int64) @ w.value.astype(np.int64).T * rs.value[:, None] * cs.value
    return Case((2, 2, 1), [a, w, rs, cs, out("bf16", M, N)], {4: Expect(want, 8e-3, 1e-4)})


@case("matmul_w4_zeros_f16")
def _(r, n):
    M, N, K, G = 12, 48, 128, 32
    a, q = arr("f16", r.normal(size=(M, K))), r.integers(0, 16, (K, N))
    z, s = arr("u8", r.integers(0, 16, (K // G, N))), arr("f16", r.uniform(0.02, 0.1, (K // G, N)))
    w = decode("f16", encode("f16", (q - np.repeat(z.value.astype(int), G, 0)) * np.repeat(s.value, G, 0)))
    return Case((1, 2, 1), [a, arr("u8", q[::2] | q[1::2] << 4), z, s, out("f16", M, N)],
                {4: Expect(a.value @ w, 2e-3, 1e-2)})


@case("matmul_scaled_blocks_e4m3")
def _(r, n):
    M, N, K, TN, TK = 40, 48, 160, 32, 64
    a, b = arr("e4m3", r.normal(size=(M, K))), arr("e4m3", r.normal(size=(N, K)))
    sa, sb = arr("f32", r.uniform(0.5, 2, (M, cdiv(K, TK)))), arr("f32", r.uniform(0.5, 2, (cdiv(N, TN), cdiv(K, TK))))
    x = a.value * np.repeat(sa.value, TK, 1)[:, :K]
    y = b.value * np.repeat(np.repeat(sb.value, TK, 1), TN, 0)[:N, :K]
    return Case((2, 2, 1), [a, sa, b, sb, out("bf16", M, N)], {4: Expect(x @ y.T, 1e-2, 5e-2)})


@case("matmul_parts_f16")
def _(r, n):
    # the last part has no tile of K
    M, N, K, Z = 40, 48, 72, 4
    a, b = arr("f16", r.normal(size=(M, K))), arr("f16", r.normal(size=(K, N)))
    at = np.arange(K) // 32
    want = np.stack([a.value[:, at == z] @ b.value[at == z] for z in range(Z)])
    return Case((2, 2, Z), [a, b, out("f32", Z, M, N)], {2: Expect(want, 1e-4, 1e-3)})


@case("matmul_parts_sum_f16")
def _(r, n):
    part, bias = arr("f32", r.normal(size=(3, 40, 48))), arr("f16", r.normal(size=48))
    return Case((2, 2, 1), [part, bias, out("f16", 40, 48)], {2: Expect(part.value.sum(0) + bias.value, 1e-3, 1e-3)})


@case("matmul_stream_bf16")
def _(r, n):
    M, N, K = 48, 72, 56
    a, b = arr("bf16", r.normal(size=(M, K))), arr("bf16", r.normal(size=(K, N)))
    return Case((5, 1, 1), [a, b, into("f32", M, N)], {2: Expect(a.value @ b.value, 1e-4, 1e-3)})


@case("matmul_of_groups_bf16")
def _(r, n):
    K, N, length = 56, 40, [33, 0, 7, 40, 0]
    starts = np.cumsum([0, *length])
    x = arr("bf16", r.normal(size=(starts[-1], K)))
    ws = [arr("bf16", r.normal(size=(K, N)) * K ** -0.5) for _ in length]
    want = np.vstack([x.value[a:b] @ w.value for a, b, w in zip(starts, starts[1:], ws)])
    return Case((3, 1, 1), [x, Lst(ws), arr("i32", starts), out("bf16", starts[-1], N)], {3: Expect(want, 1e-2, 1e-2)})


@case("bmm_broadcast_f16")
def _(r, n):
    B, H, M, N, K = 2, 2, 35, 20, 45
    a, b = arr("f16", r.normal(size=(B, H, M, K)) * 0.5), arr("f16", r.normal(size=(1, H, K, N)) * 0.5)
    return Case((B, H, 2), [a, b, out("f16", B, H, M, N)], {2: Expect(a.value @ b.value, 2e-3, 1e-2)})


@case("matmul_epilogue_bf16")
def _(r, n):
    M, N, K = 48, 72, 80
    a, b = arr("bf16", r.normal(size=(M, K))), arr("bf16", r.normal(size=(K, N)) * K ** -0.5)
    bias, res = arr("bf16", r.normal(size=N)), arr("bf16", r.normal(size=(M, N)))
    t = a.value @ b.value + bias.value
    want = 0.5 * t * (1 + np.tanh(0.7978845608028654 * (t + 0.044715 * t ** 3))) + res.value
    return Case((4, 1, 1), [a, b, bias, res, out("bf16", M, N)], {4: Expect(want, 1e-2, 1e-2)})


@case("matmul_tn_f16", "matmul_tt_bf16")
def _(r, n):
    d = n.split("_")[-1]
    M, N, K = (40, 48, 72) if d == "f16" else (80, 40, 56)
    a, b = arr(d, r.normal(size=(K, M)) * 0.5), arr(d, r.normal(size=(K, N) if d == "f16" else (N, K)) * 0.5)
    want = a.value.T @ (b.value if d == "f16" else b.value.T)
    return Case((2, 2, 1), [a, b, out(d, M, N)], {2: Expect(want, *((2e-3, 1e-2) if d == "f16" else (1e-2, 2e-2)))})


@case("matmul_row_ends_f16")
def _(r, n):
    M, N, K = 40, 48, 72
    a, b = arr("f16", r.normal(size=(M, K)) * 0.5), arr("f16", r.normal(size=(K, N)) * 0.5)
    c = a.value @ b.value
    most, total = (np.stack([f(c[:, :32], 1), f(c[:, 32:], 1)], 1) for f in (np.max, np.sum))
    return Case((2, 2, 1), [a, b, out("f16", M, N), out("f32", M, 2), out("f32", M, 2)],
                {2: Expect(c, 2e-3, 1e-2), 3: Expect(most, 1e-4, 1e-3), 4: Expect(total, 1e-4, 5e-3)})


@case("linear_loss_bf16")
def _(r, n):
    M, V, K = 24, 72, 56
    x, w, t = arr("bf16", r.normal(size=(M, K))), arr("bf16", r.normal(size=(V, K)) * 0.3), r.integers(0, V, M)
    t[::5] = -100
    s = x.value @ w.value.T
    want = np.where(t < 0, 0, np.log(np.exp(s).sum(1)) - s[np.arange(M), np.maximum(t, 0)])
    return Case((2, 1, 1), [x, w, arr("i32", t), out("f32", M)], {3: Expect(want, 1e-3, 1e-3)})


@case("mlp_f16")
def _(r, n):
    M, K, H, N = 40, 48, 72, 40
    x, u = arr("f16", r.normal(size=(M, K))), arr("f16", r.normal(size=(K, H)) * K ** -0.5)
    d = arr("f16", r.normal(size=(H, N)) * H ** -0.5)
    want = np.maximum(x.value @ u.value, 0) ** 2 @ d.value
    return Case((2, 2, 1), [x, u, d, out("f16", M, N)], {3: Expect(want, 5e-3, 5e-3)})


@case("matmul_low_rank_bf16")
def _(r, n):
    M, N, K, R, E = 40, 48, 56, 16, 2
    x, w = arr("bf16", r.normal(size=(M, K))), arr("bf16", r.normal(size=(K, N)) * K ** -0.5)
    d, u = arr("bf16", r.normal(size=(E, K, R)) * K ** -0.5), arr("bf16", r.normal(size=(E, R, N)) * R ** -0.5)
    want = x.value @ w.value
    for i, e in enumerate([1, -1, 0]):
        if e >= 0:
            rows = np.s_[16 * i:16 * i + 16]
            want[rows] += 0.5 * (x.value[rows] @ d.value[e]) @ u.value[e]
    return Case((3, 2, 1), [x, w, d, u, arr("i32", [1, -1, 0]), out("bf16", M, N), Sca("f32", 0.5)],
                {5: Expect(want, 1e-2, 2e-2)})


@case("gram_f32")
def _(r, n):
    a = arr("f32", r.normal(size=(40, 24)))
    return Case((2, 2, 1), [a, out("f32", 40, 40)], {1: Expect(a.value @ a.value.T, 5e-3, 2e-2)})


@case("matmul_plus_k0_f16", "matmul_plus_k1_f32")
def _(r, n):
    d, K, M, N = ("f16", 0, 40, 50) if "k0" in n else ("f32", 1, 20, 40)
    a, b, c = arr(d, r.normal(size=(M, K))), arr(d, r.normal(size=(K, N))), arr(d, r.normal(size=(M, N)))
    want = 1.5 * a.value @ b.value + 0.5 * c.value
    return Case((2, 2, 1), [a, b, c, Sca("f32", 1.5), Sca("f32", 0.5)], {2: Expect(want, 2e-3, 1e-3)})
