"""Kernels of attention in cuTile Python, as serving systems have it: cases of `kit/peers/attention.py`.

q and o are (heads of all batches, length, D), keys and values likewise, with G heads of queries for one of theirs. A
grid is (tiles of rows, heads) unless a kernel says something else. Logits are in base 2: `scale2` has the factor.
"""
import cuda.tile as ct
from tile_kernels import CB, CI, LOG2E

ZERO = ct.PaddingMode.ZERO
HIDDEN = -1e30


def start(TM, D):
    """Maxima, sums and results of rows before their first keys."""
    return ct.full((TM, 1), HIDDEN, ct.float32), ct.zeros((TM, 1), ct.float32), ct.zeros((TM, D), ct.float32)


def absorb(s, scale2, values, top, weight, total):
    """Another block of logits and values."""
    higher = ct.maximum(top, ct.max(s, 1, keepdims=True) * scale2)
    p = ct.exp2(s * scale2 - higher, flush_to_zero=True)
    shrink = ct.exp2(top - higher, flush_to_zero=True)
    total = ct.mma(ct.astype(p, values.dtype), values, total * shrink)
    return higher, weight * shrink + ct.sum(p, 1, keepdims=True), total


def rows_of(x, head, i, T, D):
    """Tile i of a head's rows."""
    return ct.reshape(ct.load(x, (head, i, 0), (1, T, D)), (T, D))


def put(o, head, i, weight, total, TM, D):
    ct.store(o, (head, i, 0), ct.astype(ct.reshape(total * (1.0 / weight), (1, TM, D)), o.dtype))


def logits(query, k, head, j, TM, TN, D):
    return ct.mma(query, ct.transpose(rows_of(k, head, j, TN, D)), ct.zeros((TM, TN), ct.float32))


@ct.kernel
def attention_padded(q, k, v, o, scale, CAUSAL: CB, D: CI, TM: CI, TN: CI):
    """Heads whose columns are no power of two: D is the next one, and what is missing is zero."""
    head, scale2 = ct.bid(1), scale * LOG2E
    if CAUSAL:
        i = ct.num_blocks(0) - 1 - ct.bid(0)
        whole, end = i * TM // TN, ct.cdiv((i + 1) * TM, TN)
    else:
        i = ct.bid(0)
        whole = k.shape[1] // TN
        end = whole
    query = ct.reshape(ct.load(q, (head, i, 0), (1, TM, D), padding_mode=ZERO), (TM, D))
    row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], ct.arange(TN, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    for j in range(whole):
        keys = ct.reshape(ct.load(k, (head, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
        s = ct.mma(query, ct.transpose(keys), ct.zeros((TM, TN), ct.float32))
        values = ct.reshape(ct.load(v, (head, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
        top, weight, total = absorb(s, scale2, values, top, weight, total)
    if CAUSAL:
        for j in range(whole, end):
            keys = ct.reshape(ct.load(k, (head, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
            s = ct.mma(query, ct.transpose(keys), ct.zeros((TM, TN), ct.float32))
            s = ct.where(row >= column + j * TN, s, HIDDEN)
            values = ct.reshape(ct.load(v, (head, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
            top, weight, total = absorb(s, scale2, values, top, weight, total)
    put(o, head, i, weight, total, TM, D)


@ct.kernel
def attention_grouped(q, k, v, o, scale, G: CI, D: CI, TM: CI, TN: CI):
    """Causal, the longest rows first."""
    i, head = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1)
    shared, scale2 = head // G, scale * LOG2E
    query = rows_of(q, head, i, TM, D)
    row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], ct.arange(TN, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    whole = i * TM // TN
    for j in range(whole):
        top, weight, total = absorb(logits(query, k, shared, j, TM, TN, D), scale2, rows_of(v, shared, j, TN, D), top,
                                    weight, total)
    for j in range(whole, ct.cdiv((i + 1) * TM, TN)):
        s = ct.where(row >= column + j * TN, logits(query, k, shared, j, TM, TN, D), HIDDEN)
        top, weight, total = absorb(s, scale2, rows_of(v, shared, j, TN, D), top, weight, total)
    put(o, head, i, weight, total, TM, D)


def in_window(s, row, column, window):
    return ct.where((row >= column) & (row - column < window), s, HIDDEN)


@ct.kernel
def attention_window(q, k, v, o, scale, window, G: CI, D: CI, TM: CI, TN: CI):
    """Each row sees the `window` keys that end with its own. Blocks of keys that all rows see in whole need no mask."""
    i, head = ct.bid(0), ct.bid(1)
    shared, scale2 = head // G, scale * LOG2E
    query = rows_of(q, head, i, TM, D)
    row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], ct.arange(TN, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    end = ct.cdiv((i + 1) * TM, TN)
    left = ct.minimum(ct.cdiv(ct.maximum((i + 1) * TM - window, 0), TN), end)
    right = ct.maximum(i * TM // TN, left)
    for j in range(ct.maximum(i * TM - window + 1, 0) // TN, left):
        s = in_window(logits(query, k, shared, j, TM, TN, D), row, column + j * TN, window)
        top, weight, total = absorb(s, scale2, rows_of(v, shared, j, TN, D), top, weight, total)
    for j in range(left, right):
        top, weight, total = absorb(logits(query, k, shared, j, TM, TN, D), scale2, rows_of(v, shared, j, TN, D), top,
                                    weight, total)
    for j in range(right, end):
        s = in_window(logits(query, k, shared, j, TM, TN, D), row, column + j * TN, window)
        top, weight, total = absorb(s, scale2, rows_of(v, shared, j, TN, D), top, weight, total)
    put(o, head, i, weight, total, TM, D)


@ct.kernel
def attention_capped(q, k, v, o, scale, cap, G: CI, D: CI, TM: CI, TN: CI):
    """Causal, logits bent by cap * tanh(x / cap)."""
    i, head = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1)
    shared, inner, outer = head // G, scale / cap, cap * LOG2E
    query = rows_of(q, head, i, TM, D)
    row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], ct.arange(TN, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    whole = i * TM // TN
    for j in range(whole):
        s = ct.tanh(logits(query, k, shared, j, TM, TN, D) * inner, rounding_mode=ct.RoundingMode.APPROX)
        top, weight, total = absorb(s, outer, rows_of(v, shared, j, TN, D), top, weight, total)
    for j in range(whole, ct.cdiv((i + 1) * TM, TN)):
        s = ct.tanh(logits(query, k, shared, j, TM, TN, D) * inner, rounding_mode=ct.RoundingMode.APPROX)
        s = ct.where(row >= column + j * TN, s, HIDDEN)
        top, weight, total = absorb(s, outer, rows_of(v, shared, j, TN, D), top, weight, total)
    put(o, head, i, weight, total, TM, D)


@ct.kernel
def attention_biased(q, k, v, bias, o, scale, D: CI, TM: CI, TN: CI):
    """bias is (heads of a batch, length, length). Batches run together, since they share it."""
    i, batches = ct.bid(0), q.shape[0] // bias.shape[0]
    of_bias = ct.bid(1) // batches
    head = ct.bid(1) % batches * bias.shape[0] + of_bias
    query = rows_of(q, head, i, TM, D)
    top, weight, total = start(TM, D)
    for j in range(k.shape[1] // TN):
        b = ct.reshape(ct.load(bias, (of_bias, i, j), (1, TM, TN)), (TM, TN))
        s = logits(query, k, head, j, TM, TN, D) * scale + ct.astype(b, ct.float32)
        top, weight, total = absorb(s, LOG2E, rows_of(v, head, j, TN, D), top, weight, total)
    put(o, head, i, weight, total, TM, D)


def latent_logits(query, turned, k, head, j, TM, TN, D, R):
    s = logits(query, k, head, j, TM, TN, D)
    keys = ct.reshape(ct.load(k, (head, j, D // R), (1, TN, R)), (TN, R))
    return ct.mma(turned, ct.transpose(keys), s)


@ct.kernel
def attention_latent(q, k, v, o, scale, D: CI, R: CI, TM: CI, TN: CI):
    """Causal. Queries and keys have D columns and R more, which tiles of their own take; values have D."""
    i, head = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1)
    scale2 = scale * LOG2E
    query = rows_of(q, head, i, TM, D)
    turned = ct.reshape(ct.load(q, (head, i, D // R), (1, TM, R)), (TM, R))
    row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], ct.arange(TN, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    whole = i * TM // TN
    for j in range(whole):
        s = latent_logits(query, turned, k, head, j, TM, TN, D, R)
        top, weight, total = absorb(s, scale2, rows_of(v, head, j, TN, D), top, weight, total)
    for j in range(whole, ct.cdiv((i + 1) * TM, TN)):
        s = ct.where(row >= column + j * TN, latent_logits(query, turned, k, head, j, TM, TN, D, R), HIDDEN)
        top, weight, total = absorb(s, scale2, rows_of(v, head, j, TN, D), top, weight, total)
    put(o, head, i, weight, total, TM, D)


@ct.kernel
def attention_packed(q, k, v, starts, o, scale, G: CI, D: CI, TM: CI, TN: CI):
    """Causal. Sequences behind each other, (tokens, heads * D); sequence b has the tokens from starts[b] to starts[b +
    1]. Grid (tiles of the longest, heads, sequences)."""
    i, head, b = ct.bid(0), ct.bid(1), ct.bid(2)
    shared, scale2 = head // G, scale * LOG2E
    first = ct.load(starts, (b,), shape=()).item()
    last = ct.load(starts, (b + 1,), shape=()).item()
    if i * TM < last - first:
        queries, results = q.slice(axis=0, start=first, stop=last), o.slice(axis=0, start=first, stop=last)
        ks, vs = k.slice(axis=0, start=first, stop=last), v.slice(axis=0, start=first, stop=last)
        query = ct.load(queries, (i, head), (TM, D), padding_mode=ZERO)
        row, column = (ct.arange(TM, dtype=ct.int32) + i * TM)[:, None], ct.arange(TN, dtype=ct.int32)[None, :]
        top, weight, total = start(TM, D)
        whole = i * TM // TN
        for j in range(whole):
            keys = ct.load(ks, (j, shared), (TN, D), padding_mode=ZERO)
            s = ct.mma(query, ct.transpose(keys), ct.zeros((TM, TN), ct.float32))
            top, weight, total = absorb(s, scale2, ct.load(vs, (j, shared), (TN, D), padding_mode=ZERO), top, weight,
                                        total)
        for j in range(whole, ct.minimum(ct.cdiv((i + 1) * TM, TN), ct.cdiv(last - first, TN))):
            keys = ct.load(ks, (j, shared), (TN, D), padding_mode=ZERO)
            s = ct.mma(query, ct.transpose(keys), ct.zeros((TM, TN), ct.float32))
            s = ct.where(row >= column + j * TN, s, HIDDEN)
            top, weight, total = absorb(s, scale2, ct.load(vs, (j, shared), (TN, D), padding_mode=ZERO), top, weight,
                                        total)
        ct.store(results, (i, head), ct.astype(total * (1.0 / weight), o.dtype))


@ct.kernel
def attention_paged(q, k, v, pages, lengths, o, scale, D: CI, TM: CI, PAGE: CI):
    """Decoding: q and o are (sequences * heads of keys, queries that share them, D), of which a tile has TM rows; k and
    v are (pages, PAGE, heads of keys, D). Grid (sequences * heads)."""
    n, heads = ct.bid(0), k.shape[2]
    sequence, head, scale2 = n // heads, n % heads, scale * LOG2E
    length = ct.load(lengths, (sequence,), shape=()).item()
    query = ct.reshape(ct.load(q, (n, 0, 0), (1, TM, D), padding_mode=ZERO), (TM, D))
    column = ct.arange(PAGE, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    for j in range(ct.cdiv(length, PAGE)):
        page = ct.load(pages, (sequence, j), shape=()).item()
        keys = ct.reshape(ct.load(k, (page, 0, head, 0), (1, PAGE, 1, D)), (PAGE, D))
        s = ct.mma(query, ct.transpose(keys), ct.zeros((TM, PAGE), ct.float32))
        s = ct.where(column + j * PAGE < length, s, HIDDEN)
        values = ct.reshape(ct.load(v, (page, 0, head, 0), (1, PAGE, 1, D)), (PAGE, D))
        top, weight, total = absorb(s, scale2, values, top, weight, total)
    put(o, n, 0, weight, total, TM, D)


@ct.kernel
def attention_split(q, k, v, part, sums, scale, D: CI, TM: CI, TN: CI):
    """Decoding as above, keys (heads, length, D) split over blocks. part is (heads, splits, queries, D), sums (heads,
    splits, queries), base-2 logarithms. Grid (heads, splits)."""
    head, z, scale2 = ct.bid(0), ct.bid(1), scale * LOG2E
    count = ct.cdiv(k.shape[1], TN)
    each = ct.cdiv(count, ct.num_blocks(1))
    query = ct.reshape(ct.load(q, (head, 0, 0), (1, TM, D), padding_mode=ZERO), (TM, D))
    column = ct.arange(TN, dtype=ct.int32)[None, :]
    top, weight, total = start(TM, D)
    for j in range(z * each, ct.minimum((z + 1) * each, count)):
        keys = ct.reshape(ct.load(k, (head, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
        s = ct.mma(query, ct.transpose(keys), ct.zeros((TM, TN), ct.float32))
        s = ct.where(column + j * TN < k.shape[1], s, HIDDEN)
        values = ct.reshape(ct.load(v, (head, j, 0), (1, TN, D), padding_mode=ZERO), (TN, D))
        top, weight, total = absorb(s, scale2, values, top, weight, total)
    ct.store(part, (head, z, 0, 0), ct.reshape(total * (1.0 / weight), (1, 1, TM, D)))
    ct.store(sums, (head, z, 0), ct.reshape(top + ct.log2(weight), (1, 1, TM)))


@ct.kernel
def attention_combine(part, sums, o, Z: CI, D: CI):
    """What Z splits have found, weighted by what each saw. Grid (heads, queries)."""
    head, row = ct.bid(0), ct.bid(1)
    seen = ct.reshape(ct.load(sums, (head, 0, row), (1, Z, 1)), (Z, 1))
    weight = ct.exp2(seen - ct.max(seen, 0, keepdims=True))
    found = ct.reshape(ct.load(part, (head, 0, row, 0), (1, Z, 1, D)), (Z, D))
    total = ct.sum(found * weight, 0, keepdims=True) / ct.sum(weight, 0, keepdims=True)
    ct.store(o, (head, row, 0), ct.astype(ct.reshape(total, (1, 1, D)), o.dtype))
