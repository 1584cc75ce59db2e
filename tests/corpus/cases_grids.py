# Cases of kernels_grids.py; cases.py runs this file at its end.


@case("conv2d_f16")
def _(r, n):
    B, H, W, IC, OC, R, s, p = 2, 9, 7, 20, 12, 3, 2, 1
    x, w = arr("f16", r.normal(size=(B, H, W, IC))), arr("f16", r.normal(size=(R, R, IC, OC)) * (9 * IC) ** -0.5)
    bias, oh, ow = arr("f32", r.normal(size=OC)), (H + 2 * p - R) // s + 1, (W + 2 * p - R) // s + 1
    pad = np.pad(x.value, ((0, 0), (p, p), (p, p), (0, 0)))
    want = np.zeros((B, oh, ow, OC)) + bias.value
    for u in range(R):
        for v in range(R):
            want += pad[:, u:u + s * oh:s, v:v + s * ow:s][:, :oh, :ow] @ w.value[u, v]
    return Case((cdiv(B * oh * ow, 32), 1, 1), [x, w, bias, out("f16", B, oh, ow, OC), Sca("i32", s), Sca("i32", p)],
                {3: Expect(want, 2e-3, 2e-3)})


@case("conv1d_causal_bf16")
def _(r, n):
    B, T, D, R = 2, 25, 40, 4
    x, w = arr("bf16", r.normal(size=(B, T, D))), arr("f32", r.normal(size=(R, D)) * 0.5)
    bias, state = arr("f32", r.normal(size=D)), arr("bf16", r.normal(size=(B, R - 1, D)))
    all_x = np.concatenate([state.value, x.value], 1)
    t = bias.value + sum(all_x[:, k:k + T] * w.value[k] for k in range(R))
    return Case((2, 2, B), [x, w, bias, state, out("bf16", B, T, D)],
                {3: Expect(x.value[:, 1 - R:]), 4: Expect(t / (1 + np.exp(-t)), 8e-3, 1e-4)})


@case("max_pool_f32")
def _(r, n):
    C, H, W, R, s, p = 2, 17, 20, 3, 2, 1
    x, oh, ow = arr("f32", r.normal(size=(C, H, W))), (H + 2 * p - R) // s + 1, (W + 2 * p - R) // s + 1
    pad = np.pad(x.value, ((0, 0), (p, p), (p, p)), constant_values=-np.inf)
    parts = np.stack([pad[:, u:u + s * oh:s, v:v + s * ow:s][:, :oh, :ow] for u in range(R) for v in range(R)])
    at = parts.argmax(0)
    index = (np.arange(oh)[:, None] * s - p + at // R) * W + np.arange(ow) * s - p + at % R
    return Case((2, 2, C), [x, out("f32", C, oh, ow), out("i32", C, oh, ow), Sca("i32", s), Sca("i32", p)],
                {1: Expect(parts.max(0)), 2: Expect(index)})


@case("upsample_f16")
def _(r, n):
    C, H, W, OH, OW = 2, 5, 7, 15, 21
    x = arr("f16", r.normal(size=(C, H, W)))

    def weights(n, o):
        at = np.maximum((np.arange(o) + 0.5) * n / o - 0.5, 0)
        low = np.minimum(np.floor(at).astype(int), n - 1)
        m = np.zeros((o, n))
        m[np.arange(o), low] += 1 - (at - low)
        m[np.arange(o), np.minimum(low + 1, n - 1)] += at - low
        return m
    want = weights(H, OH) @ x.value @ weights(W, OW).T
    return Case((2, 2, C), [x, out("f16", C, OH, OW), Sca("f32", H / OH), Sca("f32", W / OW)], {1: Expect(want, 2e-3, 2e-3)})


@case("jacobi3d_f32")
def _(r, n):
    x, f = (arr("f32", r.normal(size=(5, 7, 20))) for _ in range(2))
    v, want = np.pad(x.data, 1), x.data.copy()
    # the order of the sums is that of the kernel, which makes the change exact
    s = v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1]
    s += v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1]
    s += v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:]
    inner = np.s_[1:-1, 1:-1, 1:-1]
    want[inner] = ((s - f.data) / np.float32(6))[inner]
    change = np.abs(want - x.data).max().view(np.int32)
    return Case((2, 2, 2), [x, f, out("f32", 5, 7, 20), into("i32", 1)],
                {2: Expect(want, 1e-5, 1e-6), 3: Expect(np.array([change]), atol=16)})


@case("permute_0213_f16")
def _(r, n):
    x = arr("f16", r.normal(size=(2, 21, 3, 40)))
    return Case((2, 2, 2), [x, out("f16", 2, 3, 21, 40)], {1: Expect(x.value.transpose(0, 2, 1, 3))})


@case("fft_dots_f32")
def _(r, n):
    x, y = (arr("f32", r.normal(size=(3, 256))) for _ in range(2))
    want = np.fft.fft(x.value + 1j * y.value)
    return Case((3, 1, 1), [x, y, out("f32", 3, 256), out("f32", 3, 256)],
                {2: Expect(want.real, 1e-4, 1e-3), 3: Expect(want.imag, 1e-4, 1e-3)})


@case("cholesky_solve_f32")
def _(r, n):
    B, N = 2, 13
    g = r.normal(size=(B, N, N))
    a, b = arr("f32", g @ g.transpose(0, 2, 1) + N * np.eye(N)), arr("f32", r.normal(size=(B, N)))
    return Case((B, 1, 1), [a, b, out("f32", B, N, N), out("f32", B, N)],
                {2: Expect(np.linalg.cholesky(a.value), 1e-4, 1e-4),
                 3: Expect(np.linalg.solve(a.value, b.value[..., None])[..., 0], 1e-4, 1e-4)})
