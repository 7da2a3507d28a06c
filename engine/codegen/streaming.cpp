// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/streaming.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/ir/visit.h"
#include "engine/target/cpu_table.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

/// How far ahead of their use large inputs are fetched: longer than most rows, within the level-1 cache.
constexpr int64_t kFarBytes = 16384;

/// Lines filled in part, at most, between which stores past the caches may go back and forth: processors keep few apart, and write what they drop in pieces.
/// Transposing 16 MB in blocks of 8 half lines takes 5.0 ms so on a Xeon, 1.3 through the caches.
constexpr int64_t kMostOpenLines = 4;

/// Of the parameters [from, to), those that exceed half of the last-level cache, if all parameters together exceed it.
std::unordered_set<const ir::BufferNode*> beyond_cache(const tir::Func& f, size_t from, size_t to, const Target& target) {
  int64_t total = 0;
  for (const ir::Buffer& p : f.params) total += p->bytes();
  std::unordered_set<const ir::BufferNode*> out;
  for (size_t i = from; i < to; ++i)
    if (total > target.l3_bytes && 2 * f.params[i]->bytes() > target.l3_bytes) out.insert(f.params[i].get());
  return out;
}

int64_t bytes_read_in(const tir::Stmt& s, const ir::BufferNode* buffer, const PlaceName& name, std::set<std::string>& seen) {
  if (const auto* loop = tir::as<tir::ForNode>(s)) return bytes_read_in(loop->body, buffer, name, seen) * ir::as_int(loop->extent).value_or(1);
  if (const auto* choice = tir::as<tir::IfNode>(s); choice && choice->else_body) {  // one of them is taken
    std::set<std::string> seen_else = seen;
    const int64_t otherwise = bytes_read_in(*choice->else_body, buffer, name, seen_else), then = bytes_read_in(choice->then_body, buffer, name, seen);
    seen.merge(seen_else);
    return std::max(then, otherwise);
  }
  int64_t bytes = 0;
  const auto add = [&](const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l || l->buffer.get() != buffer) return;
      const ir::Expr index = flat_index(l->buffer, l->indices);
      const auto ramp = as_ramp(index);
      const auto stride = ramp ? ir::as_int(ramp->stride) : index->dtype.is_scalar() ? std::optional<int64_t>(1) : std::nullopt;
      const auto key = stride ? name(linear_index(ramp ? ramp->base : index), *stride) : std::nullopt;
      if (!key || seen.insert(*key).second) bytes += l->dtype.lanes * buffer->dtype.bytes();
    });
  };
  tir::map_children(
      s,
      [&](const tir::Stmt& c) {
        bytes += bytes_read_in(c, buffer, name, seen);
        return c;
      },
      [&](const ir::Expr& e) {
        add(e);
        return e;
      });
  return bytes;
}

/// The most lines of an array that a straight run of statements leaves filled in part: they stay open until the next run comes.
struct OpenLines {
  const ir::BufferNode* buffer;
  int64_t most = 0;

  void visit(const tir::Stmt& s) {
    std::map<std::string, std::map<int64_t, int64_t>> run;  // by what of their places varies: first elements, and those behind
    collect(s, run);
    int64_t open = 0;
    for (const auto& [key, pieces] : run) {
      int64_t begin = 0, end = -1;
      const auto close = [&] { open += end > begin && (end - begin) * buffer->dtype.bytes() % kCacheLine != 0 ? 1 : 0; };
      for (const auto& [from, to] : pieces) {
        if (from != end) close(), begin = from;
        end = to;
      }
      close();
    }
    most = std::max(most, open);
  }

 private:
  void collect(const tir::Stmt& s, std::map<std::string, std::map<int64_t, int64_t>>& run) {
    if (const auto* store = tir::as<tir::StoreNode>(s); store && store->buffer.get() == buffer) {
      const ir::Expr index = flat_index(store->buffer, store->indices);
      const auto ramp = as_ramp(index);
      const LinearIndex at = linear_index(ramp ? ramp->base : index);
      run[key_of(buffer, at).value_or("")][at.constant] = at.constant + index->dtype.lanes;
    }
    tir::map_children(
        s,
        [&](const tir::Stmt& c) {
          tir::as<tir::ForNode>(s) ? visit(c) : collect(c, run);
          return c;
        },
        [](const ir::Expr& e) { return e; });
  }
};

size_t inputs(const tir::Func& f) { return f.params.size() - static_cast<size_t>(f.num_outputs); }

}  // namespace

int64_t bytes_read(const tir::Stmt& s, const ir::BufferNode* buffer, const PlaceName& name) {
  std::set<std::string> seen;
  return bytes_read_in(s, buffer, name, seen);
}

std::unordered_map<const ir::BufferNode*, int64_t> inputs_ahead(const tir::Func& f, const std::unordered_set<const ir::BufferNode*>& wide,
                                                                const Target& target) {
  const int64_t near = target::pipes_of(target.cpu).bytes_ahead;  // of what is read from end to end, where a longer way only evicts more
  std::unordered_map<const ir::BufferNode*, int64_t> out;
  for (size_t i = 0; i < inputs(f); ++i) {
    const ir::BufferNode* in = f.params[i].get();
    if (in->bytes() <= target.l2_bytes) continue;
    // Nearly once: the last vector of a row may reach beyond it.
    const auto place = [&](const LinearIndex& at, int64_t) -> std::optional<std::string> {
      const auto key = key_of(in, at);
      return key ? std::optional(fmt::format("{} + {}", *key, at.constant)) : std::nullopt;
    };
    if (wide.contains(in) || 8 * bytes_read(f.body, in, place) <= 9 * in->bytes()) out.emplace(in, near);
  }
  for (const ir::BufferNode* in : beyond_cache(f, 0, inputs(f), target)) out.emplace(in, kFarBytes);
  return out;
}

std::unordered_set<const ir::BufferNode*> streamed_outputs(const tir::Func& f, const Target& target) {
  std::unordered_set<const ir::BufferNode*> out = beyond_cache(f, inputs(f), f.params.size(), target);
  std::erase_if(out, [&](const ir::BufferNode* b) {
    OpenLines lines{b};
    lines.visit(f.body);
    return lines.most > kMostOpenLines;
  });
  if (out.empty()) return out;
  tir::walk_exprs(f.body, [&](const ir::Expr& root) {
    ir::walk(root, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) out.erase(l->buffer.get());
    });
  });
  return out;
}

}  // namespace tw::codegen
