// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/merge_allocations.h"

#include <algorithm>
#include <unordered_map>

#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Local arrays above this never become registers.
constexpr int64_t kMaxRegisterBytes = 16 * 1024;

/// An array of a group that is allocated together: which statements of the body need it.
struct Lifetime {
  Buffer buffer;
  Origin origin;
  int first = -1, last = -1;
  bool only_constant_indices = true;
  bool flat = true;
};

using Lifetimes = std::unordered_map<const ir::BufferNode*, Lifetime*>;

void note(const Lifetimes& of, const Buffer& b, const std::vector<Expr>& indices, int at) {
  const auto it = of.find(b.get());
  if (it == of.end()) return;
  Lifetime& l = *it->second;
  if (l.first < 0) l.first = at;
  l.last = at;
  l.flat = l.flat && indices.size() == 1;
  for (const Expr& i : indices) {
    const auto* ramp = ir::as<ir::RampNode>(i);
    l.only_constant_indices = l.only_constant_indices && ir::as_int(ramp ? ramp->base : i).has_value();
  }
}

void note_uses(const Lifetimes& of, const Stmt& s, int at) {
  walk(s, [&](const Stmt& x) {
    if (const auto* st = as<StoreNode>(x)) note(of, st->buffer, st->indices, at);
  });
  walk_exprs(s, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) note(of, l->buffer, l->indices, at);
    });
  });
}

bool may_share(const Lifetime& l) {
  const bool in_registers = l.buffer->scope == ir::Scope::local && l.only_constant_indices && l.buffer->bytes() <= kMaxRegisterBytes;
  return l.first >= 0 && l.flat && !in_registers;
}

using Replacement = std::unordered_map<const ir::BufferNode*, Buffer>;

Expr replaced(const Expr& e, const Replacement& map) {
  const Expr x = ir::map_children(e, [&](const Expr& c) { return replaced(c, map); });
  const auto* l = ir::as<ir::LoadNode>(x);
  const auto it = l ? map.find(l->buffer.get()) : map.end();
  return it == map.end() ? x : ir::load(it->second, l->indices);
}

Stmt replaced(const Stmt& s, const Replacement& map) {
  const Stmt x = map_children(
      s, [&](const Stmt& c) { return replaced(c, map); }, [&](const Expr& e) { return replaced(e, map); });
  const auto* st = as<StoreNode>(x);
  const auto it = st ? map.find(st->buffer.get()) : map.end();
  return it == map.end() ? x : store(it->second, st->indices, st->value, st->origin);
}

/// One array of the result and the arrays of the source that live in it one after the other.
struct Slot {
  std::vector<const Lifetime*> members;
  int last;
  int64_t elements;
};

/// In order of first use, each into the free slot of its kind that grows least.
std::vector<Slot> assign(const std::vector<Lifetime>& lifetimes) {
  std::vector<const Lifetime*> order;
  for (const Lifetime& l : lifetimes) order.push_back(&l);
  std::stable_sort(order.begin(), order.end(), [](const Lifetime* a, const Lifetime* b) { return a->first < b->first; });
  std::vector<Slot> slots;
  for (const Lifetime* l : order) {
    Slot* best = nullptr;
    const int64_t n = l->buffer->num_elements();
    const auto growth = [&](const Slot& s) { return std::max(s.elements, n) - s.elements; };
    for (Slot& s : slots) {
      const Buffer& b = s.members.front()->buffer;
      const bool fits = may_share(*l) && may_share(*s.members.front()) && s.last < l->first && b->dtype == l->buffer->dtype && b->scope == l->buffer->scope;
      if (fits && (!best || growth(s) < growth(*best))) best = &s;
    }
    if (best) {
      best->members.push_back(l);
      best->elements = std::max(best->elements, n);
      best->last = l->last;
    } else {
      slots.push_back({{l}, l->last, n});
    }
  }
  return slots;
}

Stmt merge_in(const Stmt& s) {
  const Stmt x = map_children(s, merge_in, [](const Expr& e) { return e; });
  std::vector<Lifetime> lifetimes;
  Stmt body = x;
  while (const auto* n = as<AllocNode>(body)) {
    lifetimes.push_back({.buffer = n->buffer, .origin = n->origin});
    body = Stmt(n->body);
  }
  const auto* q = as<SeqNode>(body);
  if (lifetimes.size() < 2 || !q) return x;
  Lifetimes of;
  for (Lifetime& l : lifetimes) of.emplace(l.buffer.get(), &l);
  for (size_t i = 0; i < q->stmts.size(); ++i) note_uses(of, q->stmts[i], static_cast<int>(i));
  const std::vector<Slot> slots = assign(lifetimes);
  if (slots.size() == lifetimes.size()) return x;

  Replacement map;
  std::vector<std::pair<Buffer, Origin>> arrays;
  for (const Slot& slot : slots) {
    const Lifetime& first = *slot.members.front();
    Buffer b = first.buffer;
    if (slot.members.size() > 1) {
      std::string name;
      for (const Lifetime* l : slot.members) name += (name.empty() ? "" : "_or_") + l->buffer->name;
      b = ir::make_buffer(name, b->dtype, {slot.elements}, b->scope);
      for (const Lifetime* l : slot.members) map.emplace(l->buffer.get(), b);
    }
    arrays.emplace_back(b, first.origin);
  }
  Stmt out = replaced(body, map);
  for (size_t k = arrays.size(); k-- > 0;) out = alloc(arrays[k].first, out, arrays[k].second);
  return out;
}

}  // namespace

Func merge_allocations(const Func& f, const Target&) {
  Func out = f;
  out.body = merge_in(f.body);
  return out;
}

}  // namespace tw::tir
