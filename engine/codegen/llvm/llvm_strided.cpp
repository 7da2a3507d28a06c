// SPDX-License-Identifier: Apache-2.0
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <unordered_set>

#include "engine/base/floor_div.h"
#include "engine/base/text.h"
#include "engine/codegen/llvm/emitter.h"
#include "engine/ir/equal.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

/// Vectors whose elements lie a constant distance apart, without gathering them one by one.
namespace tw::codegen {

using ir::Expr;
using llvm::Value;

namespace {

/// Vectors this long at most are transposed: so many rows fit the registers.
constexpr int kMaxBlock = 16;

/// Exchanges one bit of the row number with the same bit of the lane number, for every bit: the transposed block. Rows of a power of two.
/// Source: Eklundh, A fast computer method for matrix transposing, IEEE Trans. Computers 1972.
void transpose(Builder& b, std::vector<Value*>& rows) {
  const int n = static_cast<int>(rows.size());
  for (int s = n / 2; s >= 1; s /= 2)
    for (int i = 0; i < n; ++i) {
      if (i & s) continue;
      std::vector<int> low, high;
      for (int j = 0; j < n; ++j) {
        low.push_back(j & s ? n + j - s : j);
        high.push_back(j & s ? n + j : j + s);
      }
      Value *x = rows[static_cast<size_t>(i)], *y = rows[static_cast<size_t>(i + s)];
      rows[static_cast<size_t>(i)] = b.CreateShuffleVector(x, y, low);
      rows[static_cast<size_t>(i + s)] = b.CreateShuffleVector(x, y, high);
    }
}

/// Whole vectors that lanes are picked out of, at most: more are no faster than reading lane by lane.
constexpr size_t kMaxWindows = 4;

/// Strided loads of a run of statements that differ in their constant offset only.
struct Group {
  std::map<int64_t, std::vector<const ir::LoadNode*>> at;  ///< by offset
  bool guarded = false;                                    ///< lanes that a select does not take may lie outside the array
};

/// Calls f on every load, with whether a select may not take it.
void walk_loads(const Expr& e, bool guarded, const std::function<void(const ir::LoadNode&, bool)>& f) {
  if (const auto* l = ir::as<ir::LoadNode>(e)) f(*l, guarded);
  const auto* s = ir::as<ir::SelectNode>(e);
  ir::for_each_child(e, [&](const Expr& c) { walk_loads(c, guarded || (s && !c.same_as(s->cond)), f); });
}

/// Which lanes of a mask count; nothing where only a run tells.
std::vector<bool> known_lanes(const Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  std::vector<bool> lanes;
  for (unsigned k = 0; constant != nullptr && type != nullptr && k < type->getNumElements(); ++k) {
    const auto* lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(k));
    if (lane == nullptr) return {};
    lanes.push_back(!lane->isZero());
  }
  return lanes;
}

}  // namespace

/// The rows of the block whose first column is this load. Where a select may leave lanes out, a row that lies outside of the array is of those (nothing), and
/// there is no block if it is not known where a row lies.
std::optional<std::vector<std::optional<FuncEmitter::Place>>> FuncEmitter::rows_of_block(const ir::LoadNode& first, int columns, bool guarded) {
  const Place p = place(first.buffer, first.indices);
  const int64_t stride = *ir::as_int(p.ramp->stride), elements = p.buffer->num_elements();
  std::vector<std::optional<Place>> rows;
  for (int k = 0; k < first.dtype.lanes; ++k) {
    Place row = p;
    row.ramp->base = p.ramp->base + int64_t{k} * stride;
    rows.emplace_back(row);
    if (!guarded) continue;
    const auto range = interval_of(ir::ramp(row.ramp->base, ir::index(1), columns), ranges_);
    if (range && (range->hi < 0 || range->lo >= elements))
      rows.back().reset();
    else if (!range || range->lo < 0 || range->hi >= elements)
      return {};
  }
  return rows;
}

/// Strided loads of one block of an array, as many as a vector has lanes and one element apart, are rows of the block read the other way: those rows are loaded
/// as they lie and transposed in registers. Vectors of other lengths than powers of two are the beginnings of longer ones, as blocks of channels that are not
/// full. Returns how many of the statements these are: the next one reads, with a stride, what one of them writes.
size_t FuncEmitter::load_blocks(std::span<const tir::Stmt> run) {
  blocks_.clear();
  // Lanes are rows: under a mask that is known those that count are read whole, and no others.
  const std::vector<bool> counts = mask_ == nullptr ? std::vector<bool>{} : known_lanes(mask_);
  if (mask_ != nullptr && counts.empty()) return run.size();
  std::map<std::string, Group> groups;
  std::unordered_set<const ir::BufferNode*> written;
  size_t taken = 0;
  for (bool reads_written = false; taken < run.size(); ++taken) {
    const auto& store = static_cast<const tir::StoreNode&>(*run[taken]);
    struct Found {
      std::string group;
      int64_t offset;
      const ir::LoadNode* load;
      bool guarded;
    };
    std::vector<Found> found;
    walk_loads(store.value, false, [&](const ir::LoadNode& l, bool guarded) {
      if (l.dtype.lanes < 4 || l.dtype.lanes > kMaxBlock) return;
      const auto ramp = as_ramp(flat_index(l.buffer, l.indices));
      const auto stride = ramp ? ir::as_int(ramp->stride) : std::nullopt;
      if (!stride || *stride < 2) return;
      const LinearIndex base = linear_index(ramp->base);
      const auto key = key_of(l.buffer.get(), base);
      if (!key) return;
      reads_written = reads_written || written.contains(l.buffer.get());
      found.push_back({fmt::format("{} {} {}", *key, *stride, l.dtype.lanes), base.constant, &l, guarded});
    });
    if (reads_written) break;
    for (const Found& f : found) {
      Group& group = groups[f.group];
      group.at[f.offset].push_back(f.load);
      group.guarded = group.guarded || f.guarded;
    }
    written.insert(store.buffer.get());
  }
  for (auto& [key, group] : groups) {
    const ir::LoadNode& any = *group.at.begin()->second.front();
    const int lanes = any.dtype.lanes, width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)));
    for (auto it = group.at.begin(); it != group.at.end();) {
      // As many offsets in a row as the block has columns.
      auto last = it;
      int count = 1;
      while (count < width && std::next(last) != group.at.end() && std::next(last)->first == last->first + 1) ++last, ++count;
      auto rows = count == width && (counts.empty() || static_cast<int>(counts.size()) == lanes) ? rows_of_block(*it->second.front(), width, group.guarded)
                                                                                                 : std::nullopt;
      if (rows) {
        for (size_t k = 0; k < counts.size(); ++k)
          if (!counts[k]) (*rows)[k].reset();
        rows->resize(static_cast<size_t>(width));
        Value* const whole_mask = std::exchange(mask_, nullptr);
        std::vector<Value*> columns;
        for (const auto& row : *rows) {
          if (row) fetch_ahead(*row);
          columns.push_back(
              row ? load_vector(*row, width)
                  : llvm::Constant::getNullValue(llvm::FixedVectorType::get(memory_type(s_.context(), any.buffer->dtype), static_cast<unsigned>(width))));
        }
        mask_ = whole_mask;
        transpose(b_, columns);
        for (Value*& column : columns)
          if (lanes < width) column = b_.CreateShuffleVector(column, llvm::createSequentialMask(0, static_cast<unsigned>(lanes), 0));
        size_t column = 0;
        for (auto o = it; column < columns.size(); ++o, ++column)
          for (const ir::LoadNode* l : o->second) blocks_[l] = columns[column];
      }
      it = std::next(last);
    }
  }
  return taken;
}

/// A short stride: the whole stretch in vectors, and every stride-th element picked out of them. Under a mask, only the elements of lanes that count are read.
Value* FuncEmitter::load_stretch(const Place& p, int lanes, int64_t stride) {
  const int64_t span = (lanes - 1) * stride + 1;
  const auto first_of = [&](int64_t k) { return std::min(k * lanes, span - lanes); };
  Value* const whole_mask = mask_;
  Value* picked = nullptr;
  for (int64_t k = 0; k < stride; ++k) {
    Place piece = p;
    piece.ramp->base = p.ramp->base + first_of(k);
    if (whole_mask != nullptr) {
      std::vector<int> lane_of;
      for (int64_t e = first_of(k); e < first_of(k) + lanes; ++e) lane_of.push_back(static_cast<int>(e % stride == 0 ? e / stride : lanes));
      mask_ = b_.CreateShuffleVector(whole_mask, llvm::Constant::getNullValue(whole_mask->getType()), lane_of);
    } else {
      fetch_ahead(piece);
    }
    Value* v = load_vector(piece, lanes);
    std::vector<int> choice;
    for (int i = 0; i < lanes; ++i) {
      const int64_t element = i * stride, from = std::min(element / lanes, stride - 1);
      // Lanes of later pieces are filled in when their piece comes.
      choice.push_back(from == k ? static_cast<int>(element - first_of(k)) + (picked ? lanes : 0) : from < k ? i : llvm::PoisonMaskElem);
    }
    picked = picked ? b_.CreateShuffleVector(picked, v, choice) : b_.CreateShuffleVector(v, choice);
  }
  mask_ = whole_mask;
  return picked;
}

/// Calls piece(first lane, place) for every piece, the place's ramp being the piece and the mask its part.
template <class Piece>
void FuncEmitter::for_pieces(const Place& p, const LaneOffsets& at, int length, const Piece& piece) {
  Value* const whole_mask = mask_;
  for (int first = 0; first < static_cast<int>(at.offsets.size()); first += length) {
    const auto o = at.offsets.begin() + first;
    Place part = p;
    part.ramp = Ramp{at.base + o[0], ir::index(o[1] - o[0])};
    if (whole_mask != nullptr) {
      std::vector<int> lane_of(static_cast<size_t>(length));
      std::iota(lane_of.begin(), lane_of.end(), first);
      mask_ = b_.CreateShuffleVector(whole_mask, lane_of);
    }
    piece(first, part);
  }
  mask_ = whole_mask;
}

/// Lanes that a quotient of consecutive numbers names, of which a vector passes at most one multiple of the divisor, as channels of groups do: two elements are
/// read, and each lane takes the first or the second. Null for others.
Value* FuncEmitter::load_two(const Place& p, int lanes) {
  if (mask_ != nullptr && !p.in_bounds) return nullptr;
  std::optional<Expr> quotient;
  bool alone = true;
  ir::walk(p.index, [&](const Expr& e) {
    const auto* n = ir::as<ir::BinaryNode>(e);
    if (n == nullptr || n->op != ir::BinaryOp::floor_div || n->dtype.lanes == 1) return;
    alone = alone && (!quotient || structural_equal(*quotient, e));
    quotient = e;
  });
  if (!quotient || !alone) return nullptr;
  const auto* n = ir::as<ir::BinaryNode>(*quotient);
  const auto* numbers = ir::as<ir::RampNode>(n->a);
  const auto* by = ir::as<ir::BroadcastNode>(n->b);
  const auto step = numbers ? ir::as_int(numbers->stride) : std::nullopt, divisor = by ? ir::as_int(by->value) : std::nullopt;
  if (!step || !divisor || *step < 1 || *divisor / lanes < *step) return nullptr;
  // The index of a lane that has this quotient.
  const std::function<std::optional<Expr>(const Expr&, const Expr&)> of_lane = [&](const Expr& e, const Expr& q) -> std::optional<Expr> {
    if (e->dtype.lanes == 1) return e;
    if (structural_equal(e, *quotient)) return q;
    if (const auto* same = ir::as<ir::BroadcastNode>(e)) return same->value;
    const auto* both = ir::as<ir::BinaryNode>(e);
    const auto a = both ? of_lane(both->a, q) : std::nullopt, b = a ? of_lane(both->b, q) : std::nullopt;
    return b ? std::optional(ir::binary(both->op, *a, *b)) : std::nullopt;
  };
  const auto first = of_lane(p.index, ir::floor_div(numbers->base, by->value));
  const auto last = first ? of_lane(p.index, ir::floor_div(numbers->base + *step * (lanes - 1), by->value)) : std::nullopt;
  if (!last) return nullptr;
  llvm::Type* type = value_type(s_.context(), n->dtype);
  Value* rest = b_.CreateVectorSplat(lanes, expr(ir::floor_mod(numbers->base, by->value)));
  Value* steps = b_.CreateMul(b_.CreateStepVector(type), int_constant(type, *step));
  Value* behind = b_.CreateICmpSGE(b_.CreateAdd(rest, steps), int_constant(type, *divisor));
  const auto element = [&](const Expr& at) {
    return b_.CreateVectorSplat(lanes, access(p, b_.CreateAlignedLoad(p.element, address(p, at), llvm::Align(static_cast<uint64_t>(p.buffer->dtype.bytes())))));
  };
  Value* second = element(*last);
  return b_.CreateSelect(behind, second, element(*first));
}

/// Elements that a table places near each other, as those of a row that is resized: where all lanes lie within one vector from the first, which is found out as
/// they are read, that vector is read and its elements are put where they belong, else each lane by itself. Null where processors put none by places in a
/// register.
Value* FuncEmitter::load_near(const Place& p, int lanes) {
  const int whole = std::bit_ceil(static_cast<unsigned>(lanes));
  const bool permutes = whole == 16 ? s_.has(target::X86Feature::avx512f) : whole == 8 && s_.has(target::X86Feature::avx2);
  const int64_t elements = p.buffer->num_elements();
  if (!permutes || p.ramp || p.buffer->dtype.bits != 32 || (mask_ != nullptr && !p.in_bounds) || elements < whole || elements >= int64_t{1} << 31 ||
      !tir::reads_memory(p.index))
    return nullptr;
  std::vector<int> lane_of(static_cast<size_t>(whole), 0);
  std::iota(lane_of.begin(), lane_of.begin() + lanes, 0);
  Value* at = b_.CreateShuffleVector(low_half(p.index), lane_of);
  // The last elements of the array are read from as far before its end as a vector is long.
  Value* first =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateExtractElement(at, uint64_t{0}), b_.getInt32(static_cast<uint32_t>(elements - whole)));
  Value* offsets = b_.CreateSub(at, b_.CreateVectorSplat(static_cast<unsigned>(whole), first));
  Value* near = b_.CreateAndReduce(b_.CreateICmpULT(offsets, int_constant(offsets->getType(), whole)));
  const auto put = [&]() -> Value* {
    auto* type = llvm::FixedVectorType::get(b_.getFloatTy(), static_cast<unsigned>(whole));
    Value* row = access(p, b_.CreateAlignedLoad(type, b_.CreateGEP(p.element, p.pointer, b_.CreateSExt(first, b_.getInt64Ty())), llvm::Align(4)));
    Value* placed = b_.CreateIntrinsic(whole == 16 ? llvm::Intrinsic::x86_avx512_permvar_sf_512 : llvm::Intrinsic::x86_avx2_permps, {}, {row, offsets});
    lane_of.resize(static_cast<size_t>(lanes));
    return b_.CreateBitCast(lanes == whole ? placed : b_.CreateShuffleVector(placed, lane_of),
                            llvm::FixedVectorType::get(p.element, static_cast<unsigned>(lanes)));
  };
  return branch(near, put, [&] { return load_lanes(p, lanes); });
}

/// A vector of pieces, such as the channels of neighbouring pixels: each is read once, repeated over all lanes and put where it belongs. A processor reads and
/// repeats in one instruction.
Value* FuncEmitter::load_pieces(const Place& p, const LaneOffsets& at, int length) {
  const int lanes = static_cast<int>(at.offsets.size());
  std::map<std::pair<int64_t, bool>, Value*> known;
  Value* whole = nullptr;
  for_pieces(p, at, length, [&](int first, const Place& piece) {
    const int64_t offset = at.offsets[static_cast<size_t>(first)];
    const bool one = has_stride(piece, 0);
    Value*& v = known[{offset, one}];
    if (v == nullptr || mask_ != nullptr) {
      std::vector<int> again;
      for (int i = 0; i < lanes; ++i) again.push_back(one ? 0 : i % length);
      v = one ? b_.CreateVectorSplat(lanes, load_scalar(piece, piece.ramp->base)) : b_.CreateShuffleVector(load_vector(piece, length), again);
    }
    std::vector<int> choice;
    for (int i = 0; i < lanes; ++i) choice.push_back(i >= first && i < first + length ? lanes + i : i);
    whole = whole == nullptr || whole == v ? v : b_.CreateShuffleVector(whole, v, choice);
  });
  return whole;
}

/// Lanes out of a few whole vectors of the array, such as channels that were moved by less than a block: those vectors are read as they lie, and the lanes
/// picked out of them. Null where they lie farther apart, or where it is not known which lanes count.
Value* FuncEmitter::load_windows(const Place& p, const LaneOffsets& at) {
  const auto lanes = static_cast<int64_t>(at.offsets.size());
  // A vector that begins at a multiple of its length and holds one element of the array holds nothing else. What is constant of where the lanes begin counts
  // with them.
  const LinearIndex begin = linear_index(at.base);
  int64_t divisor = 0;
  for (const LinearIndex::Term& t : begin.terms) divisor = std::gcd(divisor, t.coefficient * known_divisor(t.atom));
  if (divisor % lanes != 0 || p.buffer->num_elements() % lanes != 0) return nullptr;
  const int64_t within = begin.constant - floor_div_int(begin.constant, lanes) * lanes;
  const std::vector<bool> counts = mask_ == nullptr ? std::vector<bool>{} : known_lanes(mask_);
  if (mask_ != nullptr && counts.empty()) return nullptr;
  std::map<int64_t, std::vector<int64_t>> windows;  // lanes by the first element
  for (int64_t i = 0; i < lanes; ++i) {
    if (counts.empty() || counts[static_cast<size_t>(i)]) windows[floor_div_int(within + at.offsets[static_cast<size_t>(i)], lanes) * lanes].push_back(i);
  }
  if (windows.size() > kMaxWindows) return nullptr;
  Value* const whole_mask = mask_;
  mask_ = nullptr;
  Value* picked = llvm::Constant::getNullValue(llvm::FixedVectorType::get(p.element, static_cast<unsigned>(lanes)));
  for (const auto& [first, members] : windows) {
    Place window = p;
    window.ramp = Ramp{at.base + (first - within), ir::index(1)};
    std::vector<int> choice;
    for (int i = 0; i < static_cast<int>(lanes); ++i) choice.push_back(i);
    for (const int64_t i : members) choice[static_cast<size_t>(i)] = static_cast<int>(lanes + within + at.offsets[static_cast<size_t>(i)] - first);
    picked = b_.CreateShuffleVector(picked, load_vector(window, static_cast<int>(lanes)), choice);
  }
  mask_ = whole_mask;
  return picked;
}

void FuncEmitter::store_pieces(const Place& p, const LaneOffsets& at, int length, Value* value) {
  for_pieces(p, at, length, [&](int first, const Place& piece) {
    std::vector<int> lane_of(static_cast<size_t>(length));
    std::iota(lane_of.begin(), lane_of.end(), first);
    store_vector(piece, b_.CreateShuffleVector(value, lane_of), length);
  });
}

}  // namespace tw::codegen
