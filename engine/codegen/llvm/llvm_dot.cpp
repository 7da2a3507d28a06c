// SPDX-License-Identifier: Apache-2.0
// Four products of bytes in one term: one instruction adds them up in every lane.
#include <llvm/IR/IntrinsicsX86.h>

#include "engine/codegen/llvm/emitter.h"

namespace tw::codegen {

using ir::BinaryOp;
using ir::Expr;
using llvm::Value;

namespace {

using target::kBytesTogether;

/// The load behind conversions to int32 and repetitions for each lane, if it is of this type.
const ir::LoadNode* byte_behind(const Expr& e, DType type) {
  const Expr* at = &e;
  for (;;) {
    if (const auto* c = ir::as<ir::CastNode>(*at); c && c->dtype.element() == kInt32)
      at = &c->value;
    else if (const auto* r = ir::as<ir::BroadcastNode>(*at))
      at = &r->value;
    else
      break;
  }
  const auto* load = ir::as<ir::LoadNode>(*at);
  return load && load->buffer->dtype == type ? load : nullptr;
}

struct Product {
  const ir::LoadNode *data, *weight;
};

/// What a sum in int32 adds up: products of bytes, and one other term or none.
struct Terms {
  std::vector<Product> products = {};
  std::optional<Expr> rest = {};
};
bool add_terms(const Expr& e, Terms& out) {
  const auto* n = ir::as<ir::BinaryNode>(e);
  if (n && n->op == BinaryOp::add) return add_terms(n->a, out) && add_terms(n->b, out);
  if (n && n->op == BinaryOp::mul)
    for (const auto& [a, b] : {std::pair(&n->a, &n->b), std::pair(&n->b, &n->a)}) {
      const Product p{byte_behind(*a, kUInt8), byte_behind(*b, kInt8)};
      if (!p.data || !p.weight) continue;
      out.products.push_back(p);
      return out.products.size() <= kBytesTogether;
    }
  if (out.rest) return false;
  out.rest = e;
  return true;
}

}  // namespace

/// Data: the same four bytes for all lanes; weights: four bytes for each lane, which lie together. Null if the sum is none of those, or the processor lacks the instruction.
Value* FuncEmitter::byte_dot(const ir::BinaryNode& n) {
  const int lanes = n.dtype.lanes;
  if (n.op != BinaryOp::add || n.dtype.element() != kInt32 || mask_ != nullptr || !target::has_byte_dots(s_.features)) return nullptr;
  if (lanes != 4 && lanes != 8 && lanes != 16) return nullptr;
  Terms terms;
  if (!add_terms(n.a, terms) || !add_terms(n.b, terms) || terms.products.size() != kBytesTogether) return nullptr;
  std::vector<Place> data, weights;
  std::vector<Expr> data_at, weights_at;  // of the first lane
  for (const Product& p : terms.products) {
    const Place& d = data.emplace_back(place(p.data->buffer, p.data->indices));
    const Place& w = weights.emplace_back(place(p.weight->buffer, p.weight->indices));
    if (!d.in_bounds || !w.in_bounds || !has_stride(w, kBytesTogether)) return nullptr;
    const auto same = p.data->dtype.lanes > 1 ? lane_offsets(d.index) : LaneOffsets{d.index, {0}};
    if (!same || std::any_of(same->offsets.begin(), same->offsets.end(), [](int64_t o) { return o != 0; })) return nullptr;
    data_at.push_back(same->base);
    weights_at.push_back(w.ramp->base);
  }
  for (const auto& [places, at] : {std::pair(&data, &data_at), std::pair(&weights, &weights_at)}) {
    const LinearIndex first = linear_index(at->front());
    const auto key = key_of(places->front().buffer.get(), first);
    for (size_t j = 1; j < places->size(); ++j) {
      const LinearIndex next = linear_index((*at)[j]);
      if (!key || key_of((*places)[j].buffer.get(), next) != key || next.constant != first.constant + static_cast<int64_t>(j)) return nullptr;
    }
  }
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(lanes));
  Value* sum = terms.rest ? expr(*terms.rest) : llvm::Constant::getNullValue(type);
  Value* four = access(data[0], b_.CreateAlignedLoad(b_.getInt32Ty(), address(data[0], data_at[0]), align_of(data[0], data_at[0], kBytesTogether)));
  Value* weight = access(weights[0], b_.CreateAlignedLoad(type, address(weights[0], weights_at[0]), align_of(weights[0], weights_at[0], kBytesTogether * lanes)));
  const auto id = lanes == 16 ? llvm::Intrinsic::x86_avx512_vpdpbusd_512 : lanes == 8 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256 : llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  return b_.CreateIntrinsic(id, {}, {sum, b_.CreateVectorSplat(static_cast<unsigned>(lanes), four), weight});
}

}  // namespace tw::codegen
