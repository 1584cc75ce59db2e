// Verifiers of the matrix products of nv_tileas.
//
// Checked here: shapes, element types, that the instruction exists for them, and that the operands lie as the
// instruction takes them for the layout of the accumulator (see `operandLayout`).
// Not checked here: whether the target has the instruction.
#include "nv_tileas/NvTileAS.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nv_tileas;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }
static LayoutAttr layout(Value v) { return cast<LayoutAttr>(tensor(v).getEncoding()); }

// Invariants: scalar arithmetic has no shape; an instruction has M, N and K, powers of two.
LogicalResult MmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, MmaKind kind, ArrayRef<int64_t> shape) {
  if (kind == MmaKind::Fma)
    return shape.empty() ? success() : LogicalResult(emitError() << "fma has no shape");
  bool powers = shape.size() == 3 && llvm::all_of(shape, [](int64_t e) { return e > 0 && (e & (e - 1)) == 0; });
  return powers ? success() : LogicalResult(emitError() << "expected M, N and K, powers of two");
}

namespace {
// Extents of a product, and what an element index of the accumulator says about its row, column and batch.
struct Product {
  int64_t batch, m, n, k;

  int64_t row(int64_t index) const { return index / n % m; }
  int64_t column(int64_t index) const { return index % n; }
  // The index in A (B) of the first element that belongs to the row (column) and batch of an accumulator element.
  int64_t inLhs(int64_t index) const { return index / n * k; }
  int64_t inRhs(int64_t index) const { return index / (m * n) * (k * n) + column(index); }
};

// A set of indices closed under XOR.
class Span {
  SmallVector<int64_t> basis;

public:
  // Whether `v` was not in the span, which it now is.
  bool insert(int64_t v) {
    for (int64_t b : basis)
      v = std::min(v, v ^ b);
    if (v == 0)
      return false;
    basis.push_back(v);
    llvm::sort(basis, std::greater<>());
    return true;
  }
};

// A layout under construction.
struct Bases {
  SmallVector<int64_t> registers, lanes, warps, blocks;
  Span seen;

  // Registers that hold something that earlier ones do not.
  void add(int64_t basis) {
    if (seen.insert(basis))
      registers.push_back(basis);
  }
  LayoutAttr get(MLIRContext *context) { return LayoutAttr::get(context, registers, lanes, warps, blocks); }
};
} // namespace

// The layout of an operand of extent `k` along the reduction, whose elements lie `stride` apart along it. `project` maps
// an accumulator index to the operand. All of the reduction is in the registers of every thread.
static LayoutAttr projected(LayoutAttr acc, int64_t k, int64_t stride, function_ref<int64_t(int64_t)> project) {
  Bases bases;
  for (int64_t e = 1; e < k; e *= 2)
    bases.add(e * stride);
  for (int64_t b : acc.getRegisters())
    bases.add(project(b));
  auto map = [&](ArrayRef<int64_t> from, SmallVectorImpl<int64_t> &to) {
    to = llvm::map_to_vector(from, [&](int64_t b) { return project(b); });
  };
  map(acc.getLanes(), bases.lanes);
  map(acc.getWarps(), bases.warps);
  map(acc.getBlocks(), bases.blocks);
  return bases.get(acc.getContext());
}

// Parts of an accumulator layout that is made of fragments of `mma.sync`. Lanes 0 and 1 and the first register stand on
// columns, lanes 2 to 4 and the register after it on rows; the registers behind are copies of the fragment.
struct Fragment {
  int64_t columns[3], rows[4];
  ArrayRef<int64_t> copies;
};
static std::optional<Fragment> fragment(LayoutAttr acc, const Product &p, int64_t instructionM) {
  Fragment f = {};
  ArrayRef<int64_t> registers = acc.getRegisters(), lanes = acc.getLanes();
  auto take = [&] {
    int64_t basis = registers.empty() ? 0 : registers.front();
    registers = registers.drop_front(registers.empty() ? 0 : 1);
    return basis;
  };
  f.columns[0] = p.n > 1 ? take() : 0;
  f.rows[3] = p.m > 8 && instructionM > 8 ? take() : 0;
  f.columns[1] = lanes[0], f.columns[2] = lanes[1];
  for (int i = 0; i < 3; ++i)
    f.rows[i] = lanes[2 + i];
  f.copies = registers;
  // A coordinate that the tile has must be there, and each basis must be of its kind.
  for (auto [i, b] : llvm::enumerate(f.columns))
    if (b != p.column(b) || (b == 0) != (p.n <= (int64_t(1) << i)))
      return std::nullopt;
  for (auto [i, b] : llvm::enumerate(f.rows)) {
    bool wanted = p.m > (int64_t(1) << i) && (i < 3 || instructionM > 8);
    if (b != p.row(b) * p.n || (b != 0) != wanted)
      return std::nullopt;
  }
  return f;
}

// The layout of an operand fragment and its copies. `word` elements along the reduction share a register; the next two
// bits are lanes 0 and 1; `outer` are lanes 2 to 4, `eighth` the register that the rows of A have in addition. What one
// instruction of depth `step` takes comes first, then `together` copies, then the other steps along K.
static LayoutAttr operandFragment(LayoutAttr acc, ArrayRef<int64_t> copies, int64_t word, int64_t step, int64_t k,
                                  int64_t stride, int64_t together, ArrayRef<int64_t> outer, int64_t eighth,
                                  function_ref<int64_t(int64_t)> project) {
  Bases bases;
  auto along = [&](int64_t e) { return e < k ? e * stride : 0; };
  for (int64_t e = 1; e < word; e *= 2)
    bases.add(along(e));
  bases.add(project(eighth));
  for (int64_t e = 4 * word; e < step; e *= 2)
    bases.add(along(e));
  for (int64_t b : copies) {
    if (together > 0 && project(b) != 0) {
      bases.add(project(b));
      --together;
    }
  }
  for (int64_t e = step; e < k; e *= 2)
    bases.add(along(e));
  for (int64_t b : copies)
    bases.add(project(b));
  bases.lanes = {along(word), along(2 * word)};
  for (int64_t b : outer)
    bases.lanes.push_back(project(b));
  for (int64_t b : acc.getWarps())
    bases.warps.push_back(project(b));
  for (int64_t b : acc.getBlocks())
    bases.blocks.push_back(project(b));
  return bases.get(acc.getContext());
}

// Scales of `block_scale`: four bytes along the reduction share a register, which lane 4g (and for rows from eight up
// lane 4g + 1) supplies.
static LayoutAttr scaleFragment(LayoutAttr acc, ArrayRef<int64_t> copies, int64_t count, int64_t stride,
                                ArrayRef<int64_t> outer, int64_t eighth, function_ref<int64_t(int64_t)> project) {
  Bases bases;
  for (int64_t e = 1; e < count; e *= 2)
    bases.add(e * stride);
  for (int64_t b : copies)
    bases.add(project(b));
  bases.lanes = {project(eighth), 0};
  for (int64_t b : outer)
    bases.lanes.push_back(project(b));
  for (int64_t b : acc.getWarps())
    bases.warps.push_back(project(b));
  for (int64_t b : acc.getBlocks())
    bases.blocks.push_back(project(b));
  return bases.get(acc.getContext());
}

// One operand that lies elsewhere than it must.
static LogicalResult expect(Operation *op, StringRef what, LayoutAttr found, LayoutAttr wanted) {
  if (found == wanted)
    return success();
  return op->emitOpError("layout of ") << what << " does not belong to the accumulator's; expected " << wanted;
}

static bool exists(Type element, Type acc, MmaAttr instruction) {
  ArrayRef<int64_t> s = instruction.getShape();
  auto is = [&](int64_t m, int64_t n, int64_t k) { return s[0] == m && s[1] == n && s[2] == k; };
  bool f8 = isa<Float8E4M3FNType, Float8E5M2Type>(element);
  if (instruction.getKind() == MmaKind::BlockScale)
    return acc.isF32() && ((f8 && is(16, 8, 32)) || (isa<Float4E2M1FNType>(element) && is(16, 8, 64)));
  if (element.isF16())
    return (acc.isF16() || acc.isF32()) && (is(16, 8, 8) || is(16, 8, 16));
  if (element.isBF16())
    return acc.isF32() && (is(16, 8, 8) || is(16, 8, 16));
  if (isa<FloatTF32Type>(element))
    return acc.isF32() && (is(16, 8, 4) || is(16, 8, 8));
  if (element.isF64())
    return acc.isF64() && is(8, 8, 4);
  if (f8)
    return (acc.isF16() || acc.isF32()) && is(16, 8, 32);
  return element.isInteger(8) && acc.isInteger(32) && (is(16, 8, 16) || is(16, 8, 32));
}

// Elements that share a register of an operand.
static int64_t wordOf(Type element) {
  if (isa<FloatTF32Type>(element) || element.isF64())
    return 1;
  return 32 / element.getIntOrFloatBitWidth();
}

// Invariants: one rank, two or three; one element type of the operands; equal batch extents; M, N and K agree; the
// instruction exists for the types; the operands lie as it takes them.
static FailureOr<Product> verifyProduct(Operation *op, Value a, Value b, Value c, MmaAttr instruction) {
  RankedTensorType lhs = tensor(a), rhs = tensor(b), acc = tensor(c);
  int64_t rank = acc.getRank(), m = rank - 2, n = rank - 1;
  if (lhs.getRank() != rank || rhs.getRank() != rank || (rank != 2 && rank != 3))
    return op->emitOpError("operands must have one rank, two or three");
  if (lhs.getElementType() != rhs.getElementType())
    return op->emitOpError("lhs and rhs must have one element type");
  bool batch = rank == 2 || (lhs.getDimSize(0) == acc.getDimSize(0) && rhs.getDimSize(0) == acc.getDimSize(0));
  if (!batch || lhs.getDimSize(m) != acc.getDimSize(m) || rhs.getDimSize(n) != acc.getDimSize(n) ||
      lhs.getDimSize(n) != rhs.getDimSize(m))
    return op->emitOpError("shapes of lhs, rhs and acc do not form a matrix product");
  Product p = {rank == 3 ? acc.getDimSize(0) : 1, acc.getDimSize(m), acc.getDimSize(n), lhs.getDimSize(n)};
  auto inLhs = [&](int64_t i) { return p.inLhs(i); };
  auto inRhs = [&](int64_t i) { return p.inRhs(i); };
  LayoutAttr wantLhs, wantRhs;
  if (instruction.getKind() == MmaKind::Fma) {
    wantLhs = projected(layout(c), p.k, 1, inLhs);
    wantRhs = projected(layout(c), p.k, p.n, inRhs);
  } else {
    if (!exists(lhs.getElementType(), acc.getElementType(), instruction))
      return op->emitOpError("no instruction ") << instruction << " multiplies " << lhs.getElementType() << " into "
                                                << acc.getElementType();
    std::optional<Fragment> f = fragment(layout(c), p, instruction.getShape()[0]);
    if (!f)
      return op->emitOpError("accumulator does not lie in fragments of ") << instruction;
    int64_t word = wordOf(lhs.getElementType()), step = instruction.getShape()[2];
    // An instruction takes 8x8 matrices of words: four of A, and of B two, or one where it is half as deep. What loads
    // four matrices of B at once goes on along N.
    int64_t together = step == 4 * word ? 2 : 1;
    wantLhs = operandFragment(layout(c), f->copies, word, step, p.k, 1, 0, ArrayRef(f->rows).take_front(3), f->rows[3],
                              inLhs);
    wantRhs = operandFragment(layout(c), f->copies, word, step, p.k, p.n, together, f->columns, 0, inRhs);
  }
  if (failed(expect(op, "lhs", layout(a), wantLhs)) || failed(expect(op, "rhs", layout(b), wantRhs)))
    return failure();
  return p;
}

LogicalResult DotOp::verify() {
  if (getInstruction().getKind() == MmaKind::BlockScale)
    return emitOpError("an instruction with scales needs scales");
  return verifyProduct(*this, getLhs(), getRhs(), getAcc(), getInstruction());
}

// Invariants: those of a product; scales agree with M and N, their extents along K are equal and divide K; they lie where
// the instruction takes them.
LogicalResult DotScaledOp::verify() {
  FailureOr<Product> product = verifyProduct(*this, getLhs(), getRhs(), getAcc(), getInstruction());
  if (failed(product))
    return failure();
  Product p = *product;
  RankedTensorType left = tensor(getLhsScale()), right = tensor(getRhsScale());
  int64_t rank = tensor(getLhs()).getRank();
  if (left.getRank() != rank || right.getRank() != rank || left.getElementType() != right.getElementType())
    return emitOpError("scales must have the rank of the operands and one element type");
  int64_t count = left.getDimSize(rank - 1);
  bool batch = rank == 2 || (left.getDimSize(0) == p.batch && right.getDimSize(0) == p.batch);
  if (!batch || left.getDimSize(rank - 2) != p.m || right.getDimSize(rank - 1) != p.n ||
      right.getDimSize(rank - 2) != count || p.k % count)
    return emitOpError("shapes of the scales do not fit the operands");
  p.k = count;
  auto inLhs = [&](int64_t i) { return p.inLhs(i); };
  auto inRhs = [&](int64_t i) { return p.inRhs(i); };
  LayoutAttr acc = layout(getAcc()), wantLeft, wantRight;
  if (getInstruction().getKind() == MmaKind::BlockScale) {
    std::optional<Fragment> f = fragment(acc, p, getInstruction().getShape()[0]);
    wantLeft = scaleFragment(acc, f->copies, count, 1, ArrayRef(f->rows).take_front(3), f->rows[3], inLhs);
    wantRight = scaleFragment(acc, f->copies, count, p.n, f->columns, 0, inRhs);
  } else {
    wantLeft = projected(acc, count, 1, inLhs);
    wantRight = projected(acc, count, p.n, inRhs);
  }
  if (failed(expect(*this, "the scales of lhs", layout(getLhsScale()), wantLeft)))
    return failure();
  return expect(*this, "the scales of rhs", layout(getRhsScale()), wantRight);
}
