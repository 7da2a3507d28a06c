// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

// Numbers that the program computes beside its tensors: sizes, mostly. All are known while importing.

TorchResults known(Number v) { return {{.number = v}}; }
bool real(const Number& v) { return std::holds_alternative<double>(v); }

TorchResults size(TorchNode& n) {
  const int v = n.tensor("self");
  if (!n.has("dim")) {
    TorchResults all;
    for (const int64_t d : n.shape(v)) all.push_back({.number = d});
    return all;
  }
  return known(n.shape(v)[static_cast<size_t>(n.axis(n.integer("dim", 0), n.rank(v)))]);
}
TorchResults stride(TorchNode& n) {
  const int v = n.tensor("self");
  const int64_t axis = n.axis(n.integer("dim", 0), n.rank(v));
  int64_t step = 1;
  for (int64_t d = n.rank(v); --d > axis;) step *= n.shape(v)[static_cast<size_t>(d)];
  return known(step);
}
TorchResults count(TorchNode& n) { return known(n.type(n.tensor("self")).num_elements()); }

using IntegerFormula = int64_t (*)(int64_t, int64_t);
using RealFormula = double (*)(double, double);

int64_t floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

template <IntegerFormula kIntegers, RealFormula kReals>
TorchResults arithmetic(TorchNode& n) {
  const TorchValue a = n.operand(0), b = n.operand(1);
  if (!a.number || !b.number) n.unsupported("tensors as operands of Python's own operator");
  if (real(*a.number) || real(*b.number)) return known(kReals(as_real(*a.number), as_real(*b.number)));
  return known(kIntegers(as_integer(*a.number), as_integer(*b.number)));
}
template <class Relation>
TorchResults relation(TorchNode& n) {
  return known(Relation{}(as_real(n.argument(0)), as_real(n.argument(1))));
}
template <double (*kFunction)(double)>
TorchResults real_function(TorchNode& n) {
  return known(kFunction(as_real(n.argument(0))));
}
template <double (*kFunction)(double)>
TorchResults whole_function(TorchNode& n) {
  return known(as_integer(Number(kFunction(as_real(n.argument(0))))));
}
TorchResults true_divide(TorchNode& n) { return known(as_real(n.argument(0)) / as_real(n.argument(1))); }
TorchResults negate(TorchNode& n) {
  const Number v = n.argument(0);
  return real(v) ? known(-as_real(v)) : known(-as_integer(v));
}
TorchResults negated(TorchNode& n) { return known(as_real(n.argument(0)) == 0); }
TorchResults both(TorchNode& n) { return known(as_real(n.argument(0)) != 0 && as_real(n.argument(1)) != 0); }
TorchResults either(TorchNode& n) { return known(as_real(n.argument(0)) != 0 || as_real(n.argument(1)) != 0); }
TorchResults to_real(TorchNode& n) { return known(as_real(n.argument(0))); }
TorchResults to_integer(TorchNode& n) { return known(as_integer(n.argument(0))); }
TorchResults pass(TorchNode& n) { return known(n.argument(0)); }
TorchResults choice(TorchNode& n) { return known(n.argument(as_integer(n.argument(0)) != 0 ? 1 : 2)); }

/// One of several results; the program names those already.
TorchResults item(TorchNode& n) { return known(n.number("self")); }
/// What is checked at run time holds in the example, and the shapes that it is about are checked here.
TorchResults nothing(TorchNode&) { return {}; }

/// Calls graphs that are parts of the program.
TorchResults called(TorchNode& n, size_t first, const char* graph_name) {
  const Json* arg = n.raw(graph_name) ? n.raw(graph_name) : nullptr;
  const Json* graph = arg ? optional_field(*arg, "as_graph") : nullptr;
  std::vector<TorchValue> inputs;
  for (size_t i = 0; i < n.arguments(); ++i) {
    const Json* a = n.raw(i);
    if (const Json* g = optional_field(*a, "as_graph")) {
      if (!graph) graph = g;
      continue;
    }
    if (i < first) continue;
    inputs.push_back(n.operand(i));
  }
  if (!graph) n.invalid("no graph to call");
  return n.importer().inline_graph(field(*graph, "graph", "a graph"), inputs);
}
TorchResults with_gradients(TorchNode& n) { return called(n, 2, "wrapped_func"); }   // (enabled, graph, operands...)
TorchResults with_autocast(TorchNode& n) { return called(n, 5, "wrapped_func"); }    // (device, type, enabled, cache, graph, operands...)

/// cond(condition, graph, graph, operands): the branch that is known, or both and a choice.
TorchResults cond(TorchNode& n) {
  std::vector<const Json*> branches;
  std::vector<TorchValue> inputs;
  for (size_t i = 1; i < n.arguments(); ++i) {
    const Json* a = n.raw(i);
    if (const Json* g = optional_field(*a, "as_graph")) {
      branches.push_back(&field(*g, "graph", "a graph"));
      continue;
    }
    const auto [kind, value] = union_of(*a, "an argument");
    if (kind == "as_tensors") {
      for (const Json& t : *value) {
        const TorchValue* found = n.importer().find(text_of(field(t, "name", "an argument"), "an argument"));
        if (!found) n.invalid("an operand that is not defined before");
        inputs.push_back(*found);
      }
    } else {
      inputs.push_back(n.operand(i));
    }
  }
  if (branches.size() != 2) n.invalid(fmt::format("expected two branches, found {}", branches.size()));
  const TorchValue condition = n.operand(0);
  if (condition.number) return n.importer().inline_graph(*branches[as_integer(*condition.number) != 0 ? 0 : 1], inputs);
  if (condition.tensor < 0) n.invalid("a condition that is neither a number nor a tensor");
  const int which = n.reshape(n.cast(n.importer().read(condition.tensor), kBool), {});
  const TorchResults yes = n.importer().inline_graph(*branches[0], inputs), no = n.importer().inline_graph(*branches[1], inputs);
  if (yes.size() != no.size()) n.invalid(fmt::format("branches of {} and {} results", yes.size(), no.size()));
  TorchResults out;
  for (size_t k = 0; k < yes.size(); ++k) {
    if (yes[k].of < 0 || no[k].of < 0) n.unsupported("branches that give no tensors under a condition that is computed at run time");
    const int a = n.importer().read(yes[k].of), b = n.importer().read(no[k].of);
    if (n.type(a) != n.type(b))
      n.unsupported(fmt::format("branches that give {} and {} under a condition that is computed at run time", n.type(a).text(), n.type(b).text()));
    out.push_back({.value = n.choose(which, a, b)});
  }
  return out;
}

constexpr AtenOp kAtenSymbolic[] = {
    {"_operator.add", arithmetic<[](int64_t a, int64_t b) { return a + b; }, [](double a, double b) { return a + b; }>},
    {"_operator.and_", both},
    {"_operator.eq", relation<std::equal_to<>>},
    {"_operator.floordiv", arithmetic<floor_div, [](double a, double b) { return std::floor(a / b); }>},
    {"_operator.ge", relation<std::greater_equal<>>},
    {"_operator.gt", relation<std::greater<>>},
    {"_operator.le", relation<std::less_equal<>>},
    {"_operator.lt", relation<std::less<>>},
    {"_operator.mod", arithmetic<[](int64_t a, int64_t b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }, [](double a, double b) { return a - std::floor(a / b) * b; }>},
    {"_operator.mul", arithmetic<[](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }, [](double a, double b) { return a * b; }>},
    {"_operator.ne", relation<std::not_equal_to<>>},
    {"_operator.neg", negate},
    {"_operator.not_", negated},
    {"_operator.or_", either},
    {"_operator.pos", pass},
    {"_operator.pow", arithmetic<[](int64_t a, int64_t b) { return as_integer(Number(std::pow(static_cast<double>(a), static_cast<double>(b)))); }, [](double a, double b) { return std::pow(a, b); }>},
    {"_operator.sub", arithmetic<[](int64_t a, int64_t b) { return a - b; }, [](double a, double b) { return a - b; }>},
    {"_operator.truediv", true_divide},
    {"aten._assert_async", nothing},
    {"aten._assert_scalar", nothing},
    {"aten._assert_tensor_metadata", nothing},
    {"aten._local_scalar_dense", item},
    {"aten.item", item},
    {"aten.sym_constrain_range", nothing},
    {"aten.sym_constrain_range_for_size", nothing},
    {"aten.sym_numel", count},
    {"aten.sym_size", size},
    {"aten.sym_stride", stride},
    {"higher_order.cond", cond},
    {"higher_order.wrap_with_autocast", with_autocast},
    {"higher_order.wrap_with_set_grad_enabled", with_gradients},
    {"math.ceil", whole_function<std::ceil>},
    {"math.floor", whole_function<std::floor>},
    {"math.sqrt", real_function<std::sqrt>},
    {"math.trunc", whole_function<std::trunc>},
    {"torch._check", nothing},
    {"torch._sym_sqrt", real_function<std::sqrt>},
    {"torch.sym_float", to_real},
    {"torch.sym_int", to_integer},
    {"torch.sym_ite", choice},
    {"torch.sym_max", arithmetic<[](int64_t a, int64_t b) { return std::max(a, b); }, [](double a, double b) { return std::max(a, b); }>},
    {"torch.sym_min", arithmetic<[](int64_t a, int64_t b) { return std::min(a, b); }, [](double a, double b) { return std::min(a, b); }>},
    {"torch.sym_not", negated},
};

}  // namespace

std::span<const AtenOp> aten_symbolic() { return kAtenSymbolic; }

}  // namespace tw::frontends
