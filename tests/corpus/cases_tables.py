# Cases of kernels_tables.py; cases.py runs this file at its end.
import math


@case("embedding_backward_bf16")
def _(r, n):
    T, D, V, first = 20, 40, 12, 5
    g, ids = arr("bf16", r.normal(size=(T, D))), r.integers(0, 25, T)
    ids[[3, 11]] = 7
    want = np.zeros((V, D))
    for t, k in enumerate(ids):
        if k != 7 and first <= k < first + V:
            want[k - first] += g.value[t]
    return Case((3, 2, 1), [g, arr("i32", ids), into("f32", V, D), Sca("i32", first)], {2: Expect(want, 1e-5, 1e-5)})


@case("bincount_weights_f32")
def _(r, n):
    k, w = r.integers(-2, 22, 500), arr("f32", r.uniform(0.5, 2, 500))
    want = np.array([w.value[k == b].sum() for b in range(20)])
    return Case((3, 1, 1), [arr("i32", k), w, into("f32", 20)], {2: Expect(want, 1e-5, 1e-5)})


@case("topk_rows_f32")
def _(r, n):
    x = arr("f32", r.normal(size=(4, 100)))
    at = np.argsort(-x.value, 1, kind="stable")[:, :5]
    return Case((4, 1, 1), [x, out("f32", 4, 5), out("i32", 4, 5)],
                {1: Expect(np.take_along_axis(x.value, at, 1)), 2: Expect(at)})


@case("moe_gating_f32")
def _(r, n):
    T, E, K = 20, 24, 3
    x, b = arr("f32", r.normal(size=(T, E))), arr("f32", r.normal(size=E) * 0.02)
    p = _softmax(x.value)
    at = np.argsort(-(p + b.value), 1, kind="stable")[:, :K]
    w = np.take_along_axis(p, at, 1)
    return Case((2, 1, 1), [x, b, out("f32", T, K), out("i32", T, K)],
                {2: Expect(w / w.sum(1, keepdims=True), 1e-4, 1e-5), 3: Expect(at)})


def _aligned(ids, experts, B, cap):
    """Slots by expert in whole blocks of B, the experts of blocks, and how many places are used."""
    slots, owner = [], []
    for e in range(experts):
        mine = list(np.flatnonzero(ids == e))
        mine += [len(ids)] * (-len(mine) % B)
        slots += mine
        owner += [e] * (len(mine) // B)
    used = len(slots)
    return np.array(slots + [len(ids)] * (cap - used)), np.array(owner + [-1] * (cap // B - len(owner))), used


@case("moe_align_i32")
def _(r, n):
    # an expert that nobody wants, and one of two blocks at least
    ids = r.choice([0, 1, 3, 4, 5, 6, 7, 7], 50)
    slots, owner, used = _aligned(ids, 8, 8, 128)
    return Case((1, 1, 1), [arr("i32", ids), out("i32", 128), out("i32", 16), out("i32", 1)],
                {1: Expect(slots), 2: Expect(owner), 3: Expect(np.array([used]))})


@case("moe_experts_bf16")
def _(r, n):
    T, K, E, D, N = 12, 2, 3, 56, 40
    ids = r.choice([0, 0, 2], T * K)
    slots, owner, _ = _aligned(ids, E, 16, 64)
    x, w = arr("bf16", r.normal(size=(T, D))), arr("bf16", r.normal(size=(E, N, D)) * D ** -0.5)
    g = arr("f32", r.uniform(0, 1, T * K))
    want = np.stack([g.value[s] * (w.value[ids[s]] @ x.value[s // K]) for s in range(T * K)])
    return Case((4, 2, 1), [x, w, arr("i32", slots), arr("i32", owner), g, out("bf16", T * K, N)],
                {5: Expect(want, 1e-2, 1e-2)})


@case("csr_matvec_f32")
def _(r, n):
    length, N = [3, 0, 70, 32, 1, 0, 33], 60
    starts = np.cumsum([0, *length])
    cols, v, x = r.integers(0, N, starts[-1]), arr("f32", r.normal(size=starts[-1])), arr("f32", r.normal(size=N))
    want = np.array([(v.value[a:b] * x.value[cols[a:b]]).sum() for a, b in zip(starts, starts[1:])])
    return Case((3, 1, 1), [arr("i32", starts), arr("i32", cols), v, x, out("f32", len(length))],
                {4: Expect(want, 1e-4, 1e-4)})


@case("kmeans_assign_f16")
def _(r, n):
    N, K, D = 50, 20, 24
    c = arr("f16", r.normal(size=(K, D)) * 4)
    at = r.integers(0, K, N)
    x = arr("f16", c.value[at] + 0.3 * r.normal(size=(N, D)))
    near = ((x.value[:, None] - c.value) ** 2).sum(-1).argmin(1)
    return Case((2, 1, 1), [x, c, out("i32", N), into("i32", K)], {2: Expect(near), 3: Expect(np.bincount(near, minlength=K))})


@case("monte_carlo_i32")
def _(r, n):
    seed, s = 12345, np.arange(1, 257, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(12345)
    hits = 0
    for _ in range(6):
        at = []
        for _ in range(2):
            s = s ^ (s << np.uint32(13))
            s = s ^ (s >> np.uint32(17))
            s = s ^ (s << np.uint32(5))
            at.append((s >> np.uint32(17)).astype(np.int64))
        hits += int((at[0] ** 2 + at[1] ** 2 < 1 << 30).sum())
    return Case((2, 1, 1), [into("i32", 1), Sca("u32", seed), Sca("i32", 6)], {0: Expect(np.array([hits]))})


@case("black_scholes_f32")
def _(r, n):
    N = 300
    s, x, t = arr("f32", r.uniform(5, 30, N)), arr("f32", r.uniform(1, 100, N)), arr("f32", r.uniform(0.25, 10, N))
    rate, vol = float(np.float32(0.02)), float(np.float32(0.3))
    below = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))
    d1 = (np.log(s.value / x.value) + (rate + vol * vol / 2) * t.value) / (vol * np.sqrt(t.value))
    later = x.value * np.exp(-rate * t.value)
    call = s.value * below(d1) - later * below(d1 - vol * np.sqrt(t.value))
    return Case((3, 1, 1), [s, x, t, out("f32", N), out("f32", N), Sca("f32", rate), Sca("f32", vol)],
                {3: Expect(call, 1e-4, 1e-4), 4: Expect(call - s.value + later, 1e-4, 1e-4)})
