// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/print.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/ir/lexer.h"
#include "engine/te/dag.h"

namespace tw::te {

namespace {

/// One line an op, its body on a second:
///     W: float32[64, 32, 3, 3] = placeholder(constant)
///     conv: float32[1, 64, 8, 8] = sum(i, j, k, l, r0=32, r1=3, r2=3) "conv2d" {"strides": [1, 1]}
///         pad[i, r0, k + r1, l + r2] * W[j, r0, r1, r2]
///     outputs(conv)
/// A name that is no identifier follows the parentheses as @"...".
class Printer {
 public:
  Printer(const Dag& dag, bool canonical) : dag_(dag), canonical_(canonical) {
    for (size_t i = 0; i < dag.ops.size(); ++i) {
      const Op& op = dag.ops[i];
      if (canonical)
        buffers_.assign(op.output.get(), "t" + std::to_string(i));
      else if (ir::is_identifier(op.name))
        buffers_.assign(op.output.get(), op.name);
    }
    for (const Op& op : dag.ops) buffers_.of(op.output.get());
  }

  std::string run() {
    for (const Op& op : dag_.ops) {
      if (op.is_placeholder())
        placeholder(op);
      else
        compute(op);
    }
    out_ += "outputs(";
    for (size_t i = 0; i < dag_.outputs.size(); ++i) out_ += (i ? ", " : "") + buffers_.of(dag_.ops[static_cast<size_t>(dag_.outputs[i])].output.get());
    out_ += ")\n";
    return std::move(out_);
  }

 private:
  void placeholder(const Op& op) {
    head(op);
    out_ += op.role == Role::constant ? "placeholder(constant)" : "placeholder(activation)";
    tail(op, "placeholder");
    out_ += '\n';
  }

  void compute(const Op& op) {
    ir::Names names = buffers_;
    head(op);
    out_ += op.reducer == Reducer::none ? "compute(" : std::string(reducer_name(op.reducer)) + "(";
    bool first = true;
    const auto axes = [&](const std::vector<Axis>& list, char canonical_name, bool with_extent) {
      for (size_t d = 0; d < list.size(); ++d) {
        if (canonical_) names.assign(list[d].var.get(), canonical_name + std::to_string(d));
        if (!first) out_ += ", ";
        first = false;
        out_ += names.of(list[d].var.get());
        if (with_extent) out_ += "=" + std::to_string(list[d].extent);
      }
    };
    axes(op.axes, 'i', false);
    axes(op.reduce_axes, 'r', true);
    out_ += ')';
    tail(op, "");
    out_ += "\n    " + ir::print(*op.body, names) + "\n";
  }

  void head(const Op& op) { out_ += buffers_.of(op.output.get()) + ": " + op.output->dtype.name() + shape_text(op.output->shape) + " = "; }

  void tail(const Op& op, std::string_view default_tag) {
    if (!canonical_ && buffers_.of(op.output.get()) != op.name) out_ += " @" + ir::quote(op.name);
    if (op.tag != default_tag) out_ += " " + ir::quote(op.tag);
    if (op.attrs.empty()) return;
    const char* separator = " {";
    for (const auto& [key, values] : op.attrs) {
      out_ += separator + ir::quote(key) + ": " + shape_text(values);
      separator = ", ";
    }
    out_ += '}';
  }

  const Dag& dag_;
  const bool canonical_;
  ir::Names buffers_;
  std::string out_;
};

}  // namespace

std::string print(const Dag& dag) { return dag.source.empty() ? Printer(dag, false).run() : dag.source; }

std::string structural_key(const Dag& dag) {
  std::string text = Printer(dag, true).run();
  for (ir::Lexer words(dag.source); !words.at_end();) {
    text += words.take().text;
    text += ' ';
  }
  return content_key(text);
}

}  // namespace tw::te
