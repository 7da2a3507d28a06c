// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/print.h"

#include <charconv>
#include <cmath>

#include "engine/ir/lexer.h"
#include "engine/ir/precedence.h"
#include "engine/ir/visit.h"

namespace tw::ir {

const std::string& Names::get(const void* id, const std::string& hint) {
  const auto [it, fresh] = names_.try_emplace(id);
  if (!fresh) return it->second;
  const std::string base = to_identifier(hint);
  std::string candidate = base;
  while (!taken_.try_emplace(candidate, 0).second) candidate = base + "_" + std::to_string(++taken_[base]);
  return it->second = std::move(candidate);
}

namespace {

std::string real_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto r = std::to_chars(buffer, buffer + sizeof buffer, v);
  return {buffer, r.ptr};
}

class Printer {
 public:
  Printer(std::string& out, Names& names) : out_(out), names_(names) {}

  /// Parentheses where the expression binds less tightly than `context`.
  void print(const Expr& e, int context) {
    match(
        e, [&](const IntImmNode& n) { int_imm(n); }, [&](const FloatImmNode& n) { out_ += "T." + n.dtype.name() + "(" + real_text(n.value) + ")"; },
        [&](const VarNode& n) { out_ += names_.of(&n); },
        [&](const CastNode& n) {
          out_ += "T.cast(" + n.dtype.name() + ", ";
          print(n.value, kLowestPrecedence);
          out_ += ')';
        },
        [&](const NotNode& n) {
          const bool parentheses = context > kNotPrecedence;
          out_ += parentheses ? "(not " : "not ";
          print(n.value, kNotPrecedence);
          if (parentheses) out_ += ')';
        },
        [&](const BinaryNode& n) { binary(n, context); },
        [&](const SelectNode& n) {
          function("select", {n.cond, n.if_true, n.if_false});
        },
        [&](const LoadNode& n) {
          out_ += names_.of(n.buffer.get());
          list('[', n.indices, ']');
        },
        [&](const RampNode& n) {
          function("T.ramp", {n.base, n.stride, index(n.dtype.lanes)});
        },
        [&](const BroadcastNode& n) {
          function("T.broadcast", {n.value, index(n.dtype.lanes)});
        },
        [&](const CallNode& n) { function(intrinsic_name(n.function), n.args); });
  }

 private:
  void int_imm(const IntImmNode& n) {
    if (n.dtype.is_bool())
      out_ += n.value ? "True" : "False";
    else if (n.dtype == kIndex)
      out_ += std::to_string(n.value);
    else
      out_ += "T." + n.dtype.name() + "(" + (n.dtype == kUInt64 ? std::to_string(static_cast<uint64_t>(n.value)) : std::to_string(n.value)) + ")";
  }

  void binary(const BinaryNode& n, int context) {
    const int p = precedence(n.op);
    if (p == 0) return function(binary_op_name(n.op), {n.a, n.b});
    const bool parentheses = p < context;
    if (parentheses) out_ += '(';
    print(n.a, is_comparison(n.op) ? p + 1 : p);
    out_ += ' ';
    out_ += binary_op_name(n.op);
    out_ += ' ';
    print(n.b, p + 1);
    if (parentheses) out_ += ')';
  }

  void list(char open, const std::vector<Expr>& items, char close) {
    out_ += open;
    if (items.empty() && open == '[') out_ += "()";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ", ";
      print(items[i], kLowestPrecedence);
    }
    out_ += close;
  }

  void function(const char* name, const std::vector<Expr>& args) {
    out_ += name;
    list('(', args, ')');
  }

  std::string& out_;
  Names& names_;
};

}  // namespace

std::string print(const Expr& e, Names& names) {
  std::string out;
  Printer(out, names).print(e, kLowestPrecedence);
  return out;
}

std::string print(const Expr& e) {
  Names names;
  return print(e, names);
}

}  // namespace tw::ir
