// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/print.h"

#include "engine/base/text.h"
#include "engine/ir/lexer.h"
#include "engine/ir/print.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// `(4, 8)`, `(4,)`, `()`
std::string tuple_text(const std::vector<int64_t>& shape) { return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : ""); }

class Printer {
 public:
  void function(const Func& f) {
    line(nullptr, 0, "@T.prim_func");
    std::string params;
    for (const Buffer& b : f.params)
      params += fmt::format("{}{}: T.Buffer({}, {})", params.empty() ? "" : ", ", names_.of(b.get()), tuple_text(b->shape), ir::quote(b->dtype.name()));
    const std::string name = ir::to_identifier(f.name);
    line(nullptr, 0, fmt::format("def {}({}):", name, params));
    const std::string symbol = name == f.name ? "" : "\"global_symbol\": " + ir::quote(f.name) + ", ";
    line(nullptr, 1, fmt::format("T.func_attr({{{}\"num_outputs\": {}}})", symbol, f.num_outputs));
    block(f.body, 1);
  }

  /// A statement where nothing follows in its block, so that allocations and lets need no block of their own.
  void block(const Stmt& s, int level) {
    const auto* q = as<SeqNode>(s);
    if (!q) return statement(s, level, true);
    if (q->stmts.empty()) line(s.get(), level, "pass");
    for (size_t i = 0; i < q->stmts.size(); ++i) statement(q->stmts[i], level, i + 1 == q->stmts.size());
  }

  Printed take() && { return std::move(out_); }

 private:
  void line(const StmtNode* s, int level, const std::string& text) {
    out_.text.append(static_cast<size_t>(level) * 4, ' ');
    out_.text += text;
    out_.text += '\n';
    out_.line_stmt.push_back(s);
    out_.line_origin.push_back(s ? s->origin : Origin{});
  }

  std::string text(const Expr& e) { return ir::print(e, names_); }

  /// Prints `body` as the rest of this block, or below `with HEAD as NAME:` where the block goes on after it.
  void scoped(const Stmt& s, const Stmt& body, int level, bool last, const std::string& plain, const std::string& head, const std::string& name) {
    line(s.get(), level, last ? plain : fmt::format("with {} as {}:", head, name));
    block(body, last ? level : level + 1);
  }

  void statement(const Stmt& s, int level, bool last) {
    match(
        s, [&](const ForNode& n) { loop(s, n, level); },
        [&](const StoreNode& n) { line(s.get(), level, text(ir::load(n.buffer, n.indices)) + " = " + text(n.value)); },
        [&](const AllocNode& n) {
          const std::string name = names_.of(n.buffer.get());
          const std::string head = fmt::format("T.alloc_buffer({}, {}, scope=\"{}\")", tuple_text(n.buffer->shape), ir::quote(n.buffer->dtype.name()),
                                               ir::scope_name(n.buffer->scope));
          scoped(s, n.body, level, last, name + " = " + head, head, name);
        },
        [&](const LetNode& n) {
          const std::string value = text(n.value), name = names_.of(n.var.get());
          scoped(s, n.body, level, last, fmt::format("{}: T.{} = {}", name, n.var->dtype.name(), value), "T.LetStmt(" + value + ")", name);
        },
        [&](const IfNode& n) {
          line(s.get(), level, "if " + text(n.cond) + ":");
          block(n.then_body, level + 1);
          if (!n.else_body) return;
          line(s.get(), level, "else:");
          block(*n.else_body, level + 1);
        },
        [&](const SeqNode&) { block(s, level); }, [&](const SyncNode&) { line(s.get(), level, "T.tvm_storage_sync(\"shared\")"); },
        [&](const AllReduceNode& n) {
          line(s.get(), level,
               fmt::format("T.all_reduce({}, \"{}\", thread=\"{}\")", text(ir::load(n.buffer, n.indices)), reduction_name(n.combine), thread_name(n.thread)));
        },
        [&](const AsyncNode& n) {
          line(s.get(), level, "with T.async_copies():");
          block(n.body, level + 1);
        },
        [&](const WaitNode& n) { line(s.get(), level, fmt::format("T.wait_copies({})", n.pending)); },
        [&](const MmaNode& n) {
          const auto operand = [&](const MmaOperand& o) { return fmt::format("{}, {}, \"{}\"", text(o.first), o.stride, o.by_depth ? "depth" : "row"); };
          line(s.get(), level, fmt::format("T.warp_mma({}, {}, {}, shape=({}, {}, {}))", text(n.sums), operand(n.a), operand(n.b), n.rows, n.columns, n.depth));
        });
  }

  void loop(const Stmt& s, const ForNode& n, int level) {
    const std::string range = ir::is_int(n.min, 0) ? text(n.extent) : text(n.min) + ", " + text(n.min + n.extent);
    const std::string thread = is_bound(n.for_kind) ? fmt::format(", thread=\"{}\"", thread_name(n.for_kind)) : "";
    const std::string unroll = n.auto_unroll >= 0 ? fmt::format(", auto_unroll={}", n.auto_unroll) : "";
    line(s.get(), level, fmt::format("for {} in T.{}({}{}{}):", names_.of(n.var.get()), for_kind_name(n.for_kind), range, thread, unroll));
    block(n.body, level + 1);
  }

  ir::Names names_;
  Printed out_;
};

}  // namespace

Printed print_with_lines(const Func& f) {
  Printer p;
  p.function(f);
  return std::move(p).take();
}

std::string print(const Func& f) { return print_with_lines(f).text; }

std::string print(const Stmt& s) {
  Printer p;
  p.block(s, 0);
  return std::move(p).take().text;
}

}  // namespace tw::tir
