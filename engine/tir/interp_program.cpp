// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp_program.h"

#include <algorithm>

#include "engine/tir/visit.h"

namespace tw::tir::interp {

Program::Program(const Func& f) {
  for (const Buffer& b : f.params) compiler_.array(b);
  root_ = compile(f.body);
}

const Exec* Program::compile(const Stmt& s) {
  execs_.emplace_back();
  Exec* x = &execs_.back();
  x->stmt = s.get();
  x->kind = s->kind();
  match(
      s,
      [&](const ForNode& n) {
        x->a = compiler_.compile(n.min);
        x->b = compiler_.compile(n.extent);
        has_concurrent_ = has_concurrent_ || is_concurrent(n.for_kind);
        const auto min = ir::as_int(n.min), extent = ir::as_int(n.extent);
        x->slot = min && extent && *extent >= 1 ? compiler_.bind(n.var.get(), *min, *extent) : compiler_.bind(n.var.get());
        x->body.push_back(compile(n.body));
      },
      [&](const StoreNode& n) {
        x->shares = n.buffer->scope == ir::Scope::shared;
        x->array = compiler_.array(n.buffer);
        x->is_float = n.value->dtype.is_float();
        x->lanes = n.value->dtype.lanes;
        x->a = compiler_.compile_position(n.buffer, n.indices, "store to");
        x->b = compiler_.compile(n.value);
        lanes_ = std::max(lanes_, x->lanes);
      },
      [&](const AllocNode& n) {
        x->array = compiler_.array(n.buffer);
        bytes_ += std::min(n.buffer->bytes(), kMaxBytes + 1);
        x->body.push_back(compile(n.body));
      },
      [&](const LetNode& n) {
        x->is_float = n.value->dtype.is_float();
        x->lanes = n.value->dtype.lanes;
        x->a = compiler_.compile(n.value);
        x->slot = compiler_.bind(n.var.get());
        x->body.push_back(compile(n.body));
      },
      [&](const IfNode& n) {
        x->a = compiler_.compile(n.cond);
        x->lanes = n.cond->dtype.lanes;
        lanes_ = std::max(lanes_, x->lanes);
        x->body.push_back(compile(n.then_body));
        if (n.else_body) x->body.push_back(compile(*n.else_body));
      },
      [&](const SeqNode& n) {
        for (const Stmt& c : n.stmts) x->body.push_back(compile(c));
      },
      [&](const SyncNode&) { x->meets = true; },
      [&](const AllReduceNode& n) {
        x->meets = true;
        x->array = compiler_.array(n.buffer);
        x->is_float = n.buffer->dtype.is_float();
        x->a = compiler_.compile_position(n.buffer, n.indices, "reduction of");
        x->b = compiler_.compile(ir::load(n.buffer, n.indices));
      },
      [&](const AsyncNode& n) { x->body.push_back(compile(n.body)); }, [](const WaitNode&) {},
      [&](const MmaNode& n) {
        x->meets = true;
        const auto place = [&](const Expr& e, int& array) {
          const auto& l = *ir::as<ir::LoadNode>(e);
          array = compiler_.array(l.buffer);
          return compiler_.compile_position(l.buffer, l.indices, "product of");
        };
        x->a = place(n.sums, x->array);
        x->b = place(n.a.first, x->other);
        x->c = place(n.b.first, x->another);
      });
  for (const Exec* c : x->body) {
    x->meets = x->meets || c->meets;
    x->shares = x->shares || c->shares;
  }
  return x;
}

}  // namespace tw::tir::interp
