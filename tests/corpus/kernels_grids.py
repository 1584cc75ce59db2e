"""Kernels of the corpus: images, grids and small systems, that is, convolutions, pooling, stencils, transforms, factors.

`generate.py` runs this file behind `kernels.py`; the cases are in `cases_grids.py`.
"""
import cuda.tile as ct
from kernels import CI, ZERO, A, C, S, add


@ct.kernel
def conv2d(x, w, bias, y, stride, pad, R: CI, TM: CI, TN: CI, TC: CI):
    # implicit product: x is (images, H, W, channels), w (R, R, channels, out), y (images, OH, OW, out)
    i, j = ct.bid(0), ct.bid(1)
    oh, ow = y.shape[1], y.shape[2]
    p = ct.arange(TM, dtype=ct.int32) + i * TM
    image = p // (oh * ow)
    py = p // ow % oh
    px = p % ow
    acc = ct.zeros((TM, TN), ct.float32)
    for u in range(R):
        h = py * stride - pad + u
        for v in range(R):
            g = px * stride - pad + v
            for c in range(ct.cdiv(x.shape[3], TC)):
                channel = ct.arange(TC, dtype=ct.int32) + c * TC
                xt = ct.gather(x, (image[:, None], h[:, None], g[:, None], channel[None, :]))
                wt = ct.reshape(ct.load(w, (u, v, c, j), (1, 1, TC, TN), padding_mode=ZERO), (TC, TN))
                acc = ct.mma(xt, wt, acc)
    acc += ct.load(bias, (j,), (TN,), padding_mode=ZERO)[None, :]
    o = ct.arange(TN, dtype=ct.int32) + j * TN
    ct.scatter(y, (image[:, None], py[:, None], px[:, None], o[None, :]), ct.astype(acc, y.dtype))


@ct.kernel
def conv1d_causal(x, w, bias, state, y, R: CI, TT: CI, TC: CI):
    # each channel with its own R taps; what is before the beginning is in `state`, whose rows the first block renews
    i, j, b = ct.bid(0), ct.bid(1), ct.bid(2)
    t = (ct.arange(TT, dtype=ct.int32) + i * TT)[:, None]
    c = ct.arange(TC, dtype=ct.int32) + j * TC
    acc = ct.zeros((TT, TC), ct.float32) + ct.gather(bias, c)[None, :]
    for k in range(R):
        at = t + (k - R + 1)
        v = ct.gather(x, (b, at, c[None, :]))
        if i == 0:
            old = ct.gather(state, (b, at + R - 1, c[None, :]), mask=at < 0)
            v = ct.where(at < 0, old, v)
        acc += ct.astype(v, ct.float32) * ct.gather(w, (k, c))[None, :]
    y_t = acc / (1.0 + ct.exp(-acc))
    ct.scatter(y, (b, t, c[None, :]), ct.astype(y_t, y.dtype))
    if i == 0:
        for k in range(R - 1):
            ct.scatter(state, (b, k, c), ct.gather(x, (b, x.shape[1] - R + 1 + k, c)))


@ct.kernel
def max_pool(x, y, index, R: CI, stride, pad, TH: CI, TW: CI):
    # the largest of R x R pixels, and where it is in the plane
    i, j, c = ct.bid(0), ct.bid(1), ct.bid(2)
    h = (ct.arange(TH, dtype=ct.int32) + i * TH) * stride - pad
    w = (ct.arange(TW, dtype=ct.int32) + j * TW) * stride - pad
    best = ct.full((TH, TW), float("-inf"), ct.float32)
    where = ct.zeros((TH, TW), ct.int32)
    for u in range(R):
        for v in range(R):
            row, col = (h + u)[:, None], (w + v)[None, :]
            t = ct.gather(x, (c, row, col), padding_value=float("-inf"))
            where = ct.where(t > best, row * x.shape[2] + col, where)
            best = ct.maximum(best, t)
    ct.store(y, (c, i, j), ct.reshape(best, (1, TH, TW)))
    ct.store(index, (c, i, j), ct.reshape(where, (1, TH, TW)))


def source(o, scale, most):
    """Two neighbours and the weight of the second, for pixels whose centers are kept."""
    at = ct.maximum((ct.astype(o, ct.float32) + 0.5) * scale - 0.5, 0.0)
    low = ct.minimum(ct.astype(ct.floor(at), ct.int32), most)
    return low, ct.minimum(low + 1, most), at - ct.astype(low, ct.float32)


@ct.kernel
def upsample(x, y, sh, sw, TH: CI, TW: CI):
    i, j, c = ct.bid(0), ct.bid(1), ct.bid(2)
    h0, h1, a = source((ct.arange(TH, dtype=ct.int32) + i * TH)[:, None], sh, x.shape[1] - 1)
    w0, w1, b = source((ct.arange(TW, dtype=ct.int32) + j * TW)[None, :], sw, x.shape[2] - 1)
    top = ct.gather(x, (c, h0, w0)) * (1.0 - b) + ct.gather(x, (c, h0, w1)) * b
    low = ct.gather(x, (c, h1, w0)) * (1.0 - b) + ct.gather(x, (c, h1, w1)) * b
    ct.store(y, (c, i, j), ct.astype(ct.reshape(top * (1.0 - a) + low * a, (1, TH, TW)), y.dtype))


@ct.kernel
def jacobi3d(x, f, y, change, TA: CI, TB: CI, TC: CI):
    # a step inside of a box whose surface stays; change: the largest one, as bits of f32
    a = (ct.arange(TA, dtype=ct.int32) + ct.bid(0) * TA)[:, None, None]
    b = (ct.arange(TB, dtype=ct.int32) + ct.bid(1) * TB)[None, :, None]
    c = (ct.arange(TC, dtype=ct.int32) + ct.bid(2) * TC)[None, None, :]
    s = ct.gather(x, (a - 1, b, c)) + ct.gather(x, (a + 1, b, c))
    s += ct.gather(x, (a, b - 1, c)) + ct.gather(x, (a, b + 1, c))
    s += ct.gather(x, (a, b, c - 1)) + ct.gather(x, (a, b, c + 1))
    old = ct.gather(x, (a, b, c))
    new = (s - ct.gather(f, (a, b, c))) / 6.0
    inner = (a > 0) & (a < x.shape[0] - 1) & (b > 0) & (b < x.shape[1] - 1) & (c > 0) & (c < x.shape[2] - 1)
    new = ct.where(inner, new, old)
    ct.scatter(y, (a, b, c), new)
    ct.atomic_max(change, 0, ct.bitcast(ct.max(abs(new - old)), ct.int32))


@ct.kernel
def permute_0213(x, y, TS: CI, TH: CI, TD: CI):
    # (batch, sequence, heads, columns) to (batch, heads, sequence, columns)
    b, i, h = ct.bid(0), ct.bid(1), ct.bid(2)
    for d in range(ct.num_tiles(x, 3, shape=(1, TS, TH, TD))):
        t = ct.load(x, (b, i, h, d), (1, TS, TH, TD), padding_mode=ZERO)
        ct.store(y, (b, h, i, d), ct.permute(t, (0, 2, 1, 3)))


def turns(N, sign, per):
    """cos and sin of the angles i * j * 2 * pi / per."""
    i = ct.arange(N, dtype=ct.int32)
    k = ct.astype((i[:, None] * i[None, :]) & (per - 1), ct.float32) * (sign * 6.283185307179586 / per)
    return ct.cos(k), ct.sin(k)


def complex_product(ar, ai, br, bi, N):
    zero = ct.zeros((N, N), ct.float32)
    return ct.mma(ar, br, ct.mma(ai, bi * -1.0, zero)), ct.mma(ar, bi, ct.mma(ai, br, zero))


@ct.kernel
def fft_dots(xr, xi, yr, yi, N: CI):
    # N * N points as two products with the matrix of N points, and factors between them
    r = ct.bid(0)
    ar = ct.reshape(ct.load(xr, (r, 0), (1, N * N)), (N, N))
    ai = ct.reshape(ct.load(xi, (r, 0), (1, N * N)), (N, N))
    fr, fi = turns(N, -1.0, N)
    br, bi = complex_product(fr, fi, ar, ai, N)
    wr, wi = turns(N, -1.0, N * N)
    cr, ci = complex_product(br * wr - bi * wi, br * wi + bi * wr, fr, fi, N)
    ct.store(yr, (r, 0), ct.reshape(ct.transpose(cr), (1, N * N)))
    ct.store(yi, (r, 0), ct.reshape(ct.transpose(ci), (1, N * N)))


@ct.kernel
def cholesky_solve(a, b, l, x, T: CI):
    # A = L @ L^T in registers, column by column; then L y = b and L^T x = y
    n = ct.bid(0)
    m = ct.reshape(ct.load(a, (n, 0, 0), (1, T, T), padding_mode=ZERO), (T, T))
    row = ct.arange(T, dtype=ct.int32)[:, None]
    col = ct.arange(T, dtype=ct.int32)[None, :]
    low = ct.zeros((T, T), ct.float32)
    for k in range(a.shape[1]):
        pivot = ct.sqrt(ct.sum(ct.where((row == k) & (col == k), m, 0.0)))
        c = ct.where(row >= k, ct.sum(ct.where(col == k, m, 0.0), 1, keepdims=True) / pivot, 0.0)
        m -= c * ct.reshape(c, (1, T))
        low = ct.where(col == k, c, low)
    ct.store(l, (n, 0, 0), ct.reshape(low, (1, T, T)))
    v = ct.reshape(ct.load(b, (n, 0), (1, T), padding_mode=ZERO), (T, 1))
    for k in range(a.shape[1]):
        c = ct.sum(ct.where(col == k, low, 0.0), 1, keepdims=True)
        y = ct.sum(ct.where(row == k, v, 0.0)) / ct.sum(ct.where(row == k, c, 0.0))
        v = ct.where(row == k, y, ct.where(row > k, v - c * y, v))
    k = a.shape[1] - 1
    while k >= 0:
        c = ct.reshape(ct.sum(ct.where(row == k, low, 0.0), 0, keepdims=True), (T, 1))
        y = ct.sum(ct.where(row == k, v, 0.0)) / ct.sum(ct.where(row == k, c, 0.0))
        v = ct.where(row == k, y, ct.where(row < k, v - c * y, v))
        k -= 1
    ct.store(x, (n, 0), ct.reshape(v, (1, T)))


F1, F2, F3 = A("f32", 1), A("f32", 2), A("f32", 3)
add("conv2d_f16", conv2d, [A("f16", 4), A("f16", 4), F1, A("f16", 4), S("i32"), S("i32"), C(3), C(32), C(16), C(16)],
    "convolution of images as a product")
add("conv1d_causal_bf16", conv1d_causal, [A("bf16", 3), F2, F1, A("bf16", 3), A("bf16", 3), C(4), C(16), C(32)],
    "causal convolution of channels with a state")
add("max_pool_f32", max_pool, [F3, F3, A("i32", 3), C(3), S("i32"), S("i32"), C(8), C(8)], "pooling with indices")
add("upsample_f16", upsample, [A("f16", 3), A("f16", 3), S("f32"), S("f32"), C(8), C(16)], "bilinear upsampling")
add("jacobi3d_f32", jacobi3d, [F3, F3, F3, A("i32", 1), C(4), C(4), C(16)], "a step of Jacobi in a box, and the largest change")
add("permute_0213_f16", permute_0213, [A("f16", 4), A("f16", 4), C(16), C(2), C(32)], "y = permute(x, (0,2,1,3))")
add("fft_dots_f32", fft_dots, [F2] * 4 + [C(16)], "256-point FFT by products")
add("cholesky_solve_f32", cholesky_solve, [F3, F2, F3, F2, C(16)], "small systems by Cholesky's method")
