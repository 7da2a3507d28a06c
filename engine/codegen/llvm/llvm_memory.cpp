// SPDX-License-Identifier: Apache-2.0
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/base/floor_div.h"
#include "engine/base/text.h"
#include "engine/codegen/llvm/emitter.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using ir::Expr;
using llvm::Value;

namespace {

/// Widest alignment that arrays have.
constexpr int64_t kArrayAlign = 64;
/// Strides up to this are read as a stretch of whole vectors.
constexpr int64_t kMaxStretch = 4;
/// Turns of a loop within which a line that is read again counts as the same.
constexpr int64_t kNearTurns = 8;

/// Names the line of an array at a place that moves by `step` elements in each turn of a loop. Places that read it in the same turn or a few turns later have
/// the same name. Nothing where an atom reads memory.
std::optional<std::string> line_key(const ir::BufferNode* buffer, const LinearIndex& at, int64_t step) {
  const auto key = key_of(buffer, at);
  if (!key) return std::nullopt;
  const int64_t period = std::abs(step), turn = period == 0 ? 0 : floor_div_int(at.constant, period);
  return fmt::format("{}: {}, {}", *key, floor_div_int((at.constant - turn * period) * buffer->dtype.bytes(), kArrayAlign), floor_div_int(turn, kNearTurns));
}

/// Whether a register takes the vector, which is shorter, under a mask.
bool loads_part(const ModuleState& s, llvm::FixedVectorType* type) {
  const unsigned lanes = type->getNumElements(), whole = std::bit_ceil(lanes), bits = type->getScalarSizeInBits();
  if (lanes == whole || whole * bits > static_cast<unsigned>(s.target.vector_bits) || type->getElementType()->isHalfTy()) return false;
  return s.has(bits < 32 ? target::X86Feature::avx512bw : target::X86Feature::avx2);
}

}  // namespace

/// Tells LLVM what a load or store of an array does not overlap. Of its own stack it knows.
template <class Access>
Access* FuncEmitter::access(const Place& p, Access* made) {
  const auto facts = s_.told_apart.find(p.buffer.get());
  if (facts != s_.told_apart.end() && !llvm::isa<llvm::AllocaInst>(p.pointer)) made->setAAMetadata(facts->second);
  return made;
}

bool FuncEmitter::has_stride(const Place& p, int64_t stride) { return p.ramp && ir::is_int(p.ramp->stride, stride); }

FuncEmitter::Place FuncEmitter::place(const ir::Buffer& buffer, const std::vector<Expr>& indices) {
  Place p{.buffer = buffer, .index = flat_index(buffer, indices), .ramp = {}, .element = memory_type(s_.context(), buffer->dtype), .pointer = nullptr};
  p.ramp = as_ramp(p.index);
  const auto range = interval_of(p.index, ranges_);
  p.in_bounds = range && range->lo >= 0 && range->hi < buffer->num_elements();
  const auto it = buffers_.find(buffer.get());
  if (it != buffers_.end()) {
    p.pointer = it->second;
  } else {
    s_.fail(ErrorCode::internal, fmt::format("Expected a buffer in scope, found '{}'", buffer->name), "function " + function_->getName().str());
    p.pointer = llvm::PoisonValue::get(b_.getPtrTy());
  }
  return p;
}

llvm::Align FuncEmitter::align_of(const Place& p, const Expr& index, int lanes) const {
  const int64_t element = p.buffer->dtype.bytes();
  const int64_t divisor = std::gcd(known_divisor(index), kArrayAlign);
  const int64_t whole = int64_t{1} << (63 - __builtin_clzll(static_cast<uint64_t>(element * lanes)));
  return llvm::Align(
      static_cast<uint64_t>(std::max(element, std::min({divisor == 0 ? kArrayAlign : std::gcd(divisor * element, kArrayAlign), whole, kArrayAlign}))));
}

/// The innermost variable of e, by order of binding.
int FuncEmitter::depth_of(const Expr& e) const {
  int depth = -1;
  ir::walk(e, [&](const Expr& x) {
    const auto* v = ir::as<ir::VarNode>(x);
    if (v == nullptr) return;
    const auto it = depth_.find(v);
    if (it != depth_.end()) depth = std::max(depth, it->second);
  });
  return depth;
}

/// The loop around that is the first to know all of e and of what is bound before it; past the end where none does, or e reads memory.
size_t FuncEmitter::loop_of(const Expr& e) const {
  bool reads = false;
  ir::walk(e, [&](const Expr& x) { reads = reads || ir::as<ir::LoadNode>(x) != nullptr; });
  const int depth = depth_of(e);
  const auto loop = std::find_if(loops_.begin(), loops_.end(), [&](const Loop& l) { return depth_.at(l.var) >= depth; });
  return reads ? loops_.size() : static_cast<size_t>(loop - loops_.begin());
}

Value* FuncEmitter::add_term(Value* sum, const LinearIndex::Term& t) {
  Value* v = index(t.atom);
  if (t.coefficient != 1) v = b_.CreateMul(v, b_.getInt64(static_cast<uint64_t>(t.coefficient)), "", false, true);
  return sum == nullptr ? v : b_.CreateAdd(sum, v, "", false, true);
}

/// Terms of outer loops come first, and are added up where these loops begin: LLVM does not move all that does not change in a loop to the outside of it.
Value* FuncEmitter::linear_sum(LinearIndex& at) {
  std::stable_sort(at.terms.begin(), at.terms.end(), [&](const auto& a, const auto& b) { return depth_of(a.atom) < depth_of(b.atom); });
  Value* sum = nullptr;
  size_t loop = 0;
  for (const LinearIndex::Term& t : at.terms) {
    loop = std::max(loop, loop_of(t.atom));
    if (loop + 1 >= loops_.size()) {
      sum = add_term(sum, t);
      continue;
    }
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(loops_[loop].head);
    Loop& l = loops_[loop];
    std::swap(memo_, l.memo);
    std::swap(ranges_, l.ranges);
    sum = add_term(sum, t);
    std::swap(memo_, l.memo);
    std::swap(ranges_, l.ranges);
  }
  return sum == nullptr ? b_.getInt64(0) : sum;
}

/// The constant part is added last: unrolled statements differ in it alone, and the instruction holds it.
/// Without it the address may lie outside of the array, so nothing is said about bounds there.
Value* FuncEmitter::address(const Place& p, const Expr& at) {
  LinearIndex linear = linear_index(at);
  Value* sum = linear_sum(linear);
  if (linear.constant == 0 && mask_ == nullptr) return b_.CreateInBoundsGEP(p.element, p.pointer, sum);
  if (linear.terms.empty() && mask_ == nullptr) return b_.CreateConstInBoundsGEP1_64(p.element, p.pointer, static_cast<uint64_t>(linear.constant));
  Value* base = b_.CreateGEP(p.element, p.pointer, sum);
  return linear.constant == 0 ? base : b_.CreateConstGEP1_64(p.element, base, static_cast<uint64_t>(linear.constant));
}

/// One pointer per lane. A ramp keeps its scalar base in the address, so that the hardware adds constant offsets.
Value* FuncEmitter::low_half(const Expr& e) {
  if (const auto* cast = ir::as<ir::CastNode>(e); cast && cast->value->dtype.element() == kInt32) return index(cast->value);
  if (const auto* n = ir::as<ir::BinaryNode>(e)) {
    if (n->op == ir::BinaryOp::add) return b_.CreateAdd(low_half(n->a), low_half(n->b));
    if (n->op == ir::BinaryOp::sub) return b_.CreateSub(low_half(n->a), low_half(n->b));
    if (n->op == ir::BinaryOp::mul) return b_.CreateMul(low_half(n->a), low_half(n->b));
    const bool min = n->op == ir::BinaryOp::min;
    if ((min || n->op == ir::BinaryOp::max) && fits_half(n->a) && fits_half(n->b))
      return b_.CreateBinaryIntrinsic(min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, low_half(n->a), low_half(n->b));
  }
  if (const auto* s = ir::as<ir::SelectNode>(e))
    if (const auto* less = ir::as<ir::BinaryNode>(s->cond); less && less->op == ir::BinaryOp::lt && fits_half(less->a) && fits_half(less->b))
      return b_.CreateSelect(b_.CreateICmpSLT(low_half(less->a), low_half(less->b)), low_half(s->if_true), low_half(s->if_false));
  Value* whole = index(e);
  return b_.CreateTrunc(whole, whole->getType()->getWithNewBitWidth(32));
}

Value* FuncEmitter::addresses(const Place& p, int lanes) {
  const auto stride = p.ramp ? ir::as_int(p.ramp->stride) : std::nullopt;
  // Of places in arrays of less than 2^31 elements the low half says all, and twice as many fit a vector.
  if (!stride) return b_.CreateGEP(p.element, p.pointer, p.buffer->num_elements() < (int64_t{1} << 31) ? low_half(p.index) : index(p.index));
  std::vector<llvm::Constant*> offsets;
  for (int i = 0; i < lanes; ++i) offsets.push_back(b_.getInt64(static_cast<uint64_t>(i * *stride)));
  return b_.CreateGEP(p.element, address(p, p.ramp->base), llvm::ConstantVector::get(offsets));
}

Value* FuncEmitter::any_lane() {
  TW_ASSERT(mask_->getType()->isVectorTy(), "mask of one lane");
  return b_.CreateOrReduce(mask_);
}

Value* FuncEmitter::load_scalar(const Place& p, const Expr& at) {
  Value* where = address(p, at);
  // Where no lane counts, the address may lie anywhere: the first element is always there.
  if (mask_ != nullptr && !p.in_bounds) where = b_.CreateSelect(any_lane(), where, p.pointer);
  Value* v = access(p, b_.CreateAlignedLoad(p.element, where, align_of(p, at, 1)));
  return from_memory(b_, p.buffer->dtype, v);
}

Value* FuncEmitter::load_vector(const Place& p, int lanes) {
  auto* type = llvm::FixedVectorType::get(p.element, static_cast<unsigned>(lanes));
  const llvm::Align align = align_of(p, p.ramp->base, lanes);
  Value* at = address(p, p.ramp->base);
  if (mask_ != nullptr && !p.in_bounds) return access(p, b_.CreateMaskedLoad(type, at, align, mask_, llvm::Constant::getNullValue(type)));
  if (p.buffer->scope != ir::Scope::local && loads_part(s_, type)) {  // local ones become registers
    // One instruction, where LLVM would read pieces of one, two, four lanes and put them together.
    const unsigned whole = std::bit_ceil(static_cast<unsigned>(lanes));
    auto* wide = llvm::FixedVectorType::get(p.element, whole);
    std::vector<llvm::Constant*> read;
    for (unsigned k = 0; k < whole; ++k) read.push_back(b_.getInt1(k < static_cast<unsigned>(lanes)));
    Value* v = access(p, b_.CreateMaskedLoad(wide, at, align, llvm::ConstantVector::get(read), llvm::PoisonValue::get(wide)));
    return b_.CreateShuffleVector(v, llvm::createSequentialMask(0, static_cast<unsigned>(lanes), 0));
  }
  return access(p, b_.CreateAlignedLoad(type, at, align));
}

/// Asks for what this read will want later, where its array is fetched ahead: as many turns of a loop around as read about so many bytes of it. Reads of one
/// turn that share a line, or read it in another turn, as those of a sliding window do, ask once.
void FuncEmitter::fetch_ahead(const Place& p) {
  const auto fetched = s_.bytes_ahead.find(p.buffer.get());
  if (fetched == s_.bytes_ahead.end()) return;
  const int64_t ahead = fetched->second;
  const LinearIndex at = linear_index(p.ramp->base);
  const Expr base = p.ramp->base;
  std::optional<Expr> later;
  int64_t elements = 0, step_ahead = 0;
  for (size_t k = loops_.size(); k-- > 0;) {
    const auto [var, body] = std::pair(loops_[k].var, loops_[k].body);
    const auto range = ranges_.find(var);
    if (range == ranges_.end()) break;
    int64_t step = 0;
    bool linear = true, indirect = false;
    for (const LinearIndex::Term& t : at.terms) {
      if (t.atom.get() == var) {
        step = t.coefficient;
      } else if (ir::uses_var(t.atom, var)) {
        linear = false;
        ir::walk(t.atom, [&](const Expr& e) { indirect = indirect || ir::as<ir::LoadNode>(e); });
      }
    }
    int64_t& bytes = bytes_read_[{var, p.buffer.get(), step}];
    if (bytes == 0) {
      // Vectors with longer strides lie in as many lines as they have lanes.
      const auto line = [&](const LinearIndex& place, int64_t stride) { return stride > kMaxStretch ? std::nullopt : line_key(p.buffer.get(), place, step); };
      bytes = std::max<int64_t>(1, bytes_read(*body, p.buffer.get(), line));
    }
    // Where turns jump, as from block to block of channels, the first ones of a loop are asked for by nobody: they stay few.
    constexpr int64_t kOfLoop = 8;
    const int64_t extent = range->second.hi - range->second.lo + 1, wanted = (ahead + bytes - 1) / bytes;
    const int64_t turns = indirect || step * p.buffer->dtype.bytes() == bytes ? wanted : std::min(wanted, std::max<int64_t>(1, extent / kOfLoop));
    if (indirect) {  // rows named by a table: the table is read ahead, within its bounds
      const Expr turn = ir::min(ir::to_expr(ir::Var(var)) + turns, ir::index(range->second.hi));
      later = ir::substitute(base, {{var, turn}});
    }
    if (!linear) break;
    if (step == 0) continue;
    elements = step * turns;
    step_ahead = step;
    if (bytes * extent >= 2 * ahead) break;
  }
  if (!later && elements == 0) return;
  if (const auto key = later ? std::nullopt : line_key(p.buffer.get(), at, step_ahead); key && !fetched_.insert(*key).second) return;
  Value* there = later ? address(p, *later) : b_.CreateGEP(p.element, address(p, base), b_.getInt64(static_cast<uint64_t>(elements)));
  // A read, to be kept in all caches, of data.
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {there, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
}

/// Asks for lines of the panels that come next, at the beginning of a turn of a loop.
void FuncEmitter::fetch_panels(const tir::StmtNode* body) {
  const auto here = s_.panels.find(body);
  if (here == s_.panels.end()) return;
  memo_.clear();
  for (const PanelFetch& fetch : here->second) {
    const Place p = place(fetch.buffer, {fetch.at});
    Value* first = b_.CreateGEP(p.element, p.pointer, index(p.index));
    for (int64_t k = 0; k < fetch.lines; ++k) {
      Value* line = k == 0 ? first : b_.CreateConstGEP1_64(b_.getInt8Ty(), first, static_cast<uint64_t>(k * kArrayAlign));
      // A read, to be kept in all caches, of data.
      b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {line, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
    }
  }
}

/// Loads that are not consecutive: a gather where the processor has one for this width, else lane by lane.
Value* FuncEmitter::load_lanes(const Place& p, int lanes) {
  auto* type = llvm::FixedVectorType::get(p.element, static_cast<unsigned>(lanes));
  const llvm::Align align(static_cast<uint64_t>(p.buffer->dtype.bytes()));
  const bool masked = mask_ != nullptr && !p.in_bounds;
  const bool gathers = p.buffer->dtype.bits >= 32 && s_.has(target::X86Feature::avx512f) && lanes >= 8;
  Value* pointers = addresses(p, lanes);
  if (masked || gathers) {
    Value* mask = masked ? mask_ : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(lanes)));
    return access(p, b_.CreateMaskedGather(type, pointers, align, mask, llvm::Constant::getNullValue(type)));
  }
  Value* v = llvm::PoisonValue::get(type);
  for (int i = 0; i < lanes; ++i) {
    Value* one = access(p, b_.CreateAlignedLoad(p.element, b_.CreateExtractElement(pointers, i), align));
    v = b_.CreateInsertElement(v, one, i);
  }
  return v;
}

Value* FuncEmitter::load(const ir::LoadNode& n) {
  const Place p = place(n.buffer, n.indices);
  const int lanes = n.dtype.lanes;
  if (lanes == 1) return load_scalar(p, p.index);
  if (const auto it = blocks_.find(&n); it != blocks_.end()) return from_memory(b_, n.dtype, it->second);
  if (has_stride(p, 0)) return b_.CreateVectorSplat(lanes, load_scalar(p, p.ramp->base));
  Value* v = nullptr;
  if (has_stride(p, 1)) {
    if (mask_ == nullptr) fetch_ahead(p);
    v = load_vector(p, lanes);
  } else if (has_stride(p, -1) && mask_ == nullptr) {
    Place first = p;
    first.ramp->base = p.ramp->base - int64_t{lanes - 1};
    v = b_.CreateVectorReverse(load_vector(first, lanes));
  } else if (const auto stride = p.ramp ? ir::as_int(p.ramp->stride) : std::nullopt; stride && *stride >= 2 && *stride <= kMaxStretch && lanes >= 4) {
    v = load_stretch(p, lanes, *stride);
  } else if (const auto at = p.ramp ? std::nullopt : lane_offsets(p.index)) {
    const int length = piece_length(at->offsets);
    if (4 * length <= lanes) v = load_windows(p, *at);  // rather than many pieces
    if (v == nullptr) v = length > 0 ? load_pieces(p, *at, length) : load_lanes(p, lanes);
  } else {
    if (p.ramp == std::nullopt) v = load_two(p, lanes);
    if (v == nullptr) v = load_near(p, lanes);
    if (v == nullptr) v = load_lanes(p, lanes);
  }
  return from_memory(b_, n.dtype, v);
}

void FuncEmitter::store_scalar(const Place& p, const Expr& at, Value* value) {
  if (mask_ == nullptr) {
    access(p, b_.CreateAlignedStore(value, address(p, at), align_of(p, at, 1)));
    return;
  }
  auto* then = llvm::BasicBlock::Create(s_.context(), "", function_);
  auto* after = llvm::BasicBlock::Create(s_.context(), "", function_);
  b_.CreateCondBr(any_lane(), then, after);
  b_.SetInsertPoint(then);
  access(p, b_.CreateAlignedStore(value, address(p, at), align_of(p, at, 1)));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FuncEmitter::store_lanes(const Place& p, Value* value, int lanes) {
  const llvm::Align align(static_cast<uint64_t>(p.buffer->dtype.bytes()));
  Value* pointers = addresses(p, lanes);
  if (mask_ != nullptr) {
    access(p, b_.CreateMaskedScatter(value, pointers, align, mask_));
    return;
  }
  for (int i = 0; i < lanes; ++i) access(p, b_.CreateAlignedStore(b_.CreateExtractElement(value, i), b_.CreateExtractElement(pointers, i), align));
}

void FuncEmitter::store(const tir::StoreNode& n) {
  const Place p = place(n.buffer, n.indices);
  const int lanes = n.value->dtype.lanes;
  Value* value = to_memory(b_, n.value->dtype, expr(n.value));
  if (lanes == 1) return store_scalar(p, p.index, value);
  if (has_stride(p, 0) && mask_ == nullptr) return store_scalar(p, p.ramp->base, b_.CreateExtractElement(value, lanes - 1));
  if (has_stride(p, 1)) return store_vector(p, value, lanes);
  const auto at = p.ramp ? std::nullopt : lane_offsets(p.index);
  const int length = at ? piece_length(at->offsets) : 0;
  const auto neighbours = [&](size_t first) { return at->offsets[first + 1] == at->offsets[first] + 1; };
  bool stored = length > 0;
  for (size_t first = 0; stored && first < at->offsets.size(); first += static_cast<size_t>(length)) stored = neighbours(first);
  if (stored) return store_pieces(p, *at, length, value);
  store_lanes(p, value, lanes);
}

void FuncEmitter::store_vector(const Place& p, Value* value, int lanes) {
  const llvm::Align align = align_of(p, p.ramp->base, lanes);
  Value* at = address(p, p.ramp->base);
  if (mask_ != nullptr && p.in_bounds && p.buffer->scope == ir::Scope::local) {
    // Whole vectors of an array of our own, so that it may stay in registers.
    value = b_.CreateSelect(mask_, value, access(p, b_.CreateAlignedLoad(value->getType(), at, align)));
  } else if (mask_ != nullptr) {
    access(p, b_.CreateMaskedStore(value, at, align, mask_));
    return;
  }
  llvm::StoreInst* made = access(p, b_.CreateAlignedStore(value, at, align));
  // Only whole registers: pieces of a line that go to memory one by one cost more than a line fetched first.
  if (const int64_t bytes = lanes * p.buffer->dtype.bytes();
      s_.streamed.contains(p.buffer.get()) && bytes % (s_.target.vector_bits / 8) == 0 && align.value() * 8 >= static_cast<uint64_t>(s_.target.vector_bits)) {
    made->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(s_.context(), llvm::ConstantAsMetadata::get(b_.getInt32(1))));
    streams_ = true;
  }
}

}  // namespace tw::codegen
