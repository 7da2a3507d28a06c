// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// An equation such as `bij,bjk->bik` against its operands: extents by letter. Ellipses stand as letters beyond the alphabet, outermost first.
struct Equation {
  std::vector<std::u32string> terms;
  std::u32string output, summed;
  std::map<char32_t, int64_t> extents;
};

constexpr char32_t kEllipsis = 0x1000;  ///< kEllipsis + k is the k-th dimension counted from the end of the ellipsis

/// One term with its ellipsis spelled out for `rank` dimensions. Errors: other characters than letters, two ellipses, too few dimensions.
Expected<std::u32string> spell_out(const OpContext& c, std::string_view term, int64_t rank) {
  std::u32string out;
  const auto dots = term.find("...");
  const std::string_view head = term.substr(0, dots), tail = dots == std::string_view::npos ? std::string_view{} : term.substr(dots + 3);
  for (const char ch : std::string(head) + std::string(tail))
    if (!std::isalpha(static_cast<unsigned char>(ch)))
      return bad(c, fmt::format("expected letters and one '...' in a term, found '{}'", printable(term.substr(0, 64))));
  const int64_t hidden = rank - static_cast<int64_t>(head.size() + tail.size());
  if (hidden < 0 || (hidden > 0 && dots == std::string_view::npos))
    return bad(c, fmt::format("expected one letter a dimension in '{}', found an operand of rank {}", printable(term.substr(0, 64)), rank));
  out.append(head.begin(), head.end());
  for (int64_t k = hidden; k-- > 0;) out.push_back(kEllipsis + static_cast<char32_t>(k));
  out.append(tail.begin(), tail.end());
  return out;
}

Expected<void> add_term(const OpContext& c, Equation& e, std::string_view text, const Dims& shape) {
  TW_TRY(const std::u32string term, spell_out(c, text, static_cast<int64_t>(shape.size())));
  for (size_t d = 0; d < term.size(); ++d) {
    auto [it, fresh] = e.extents.emplace(term[d], shape[d]);
    if (fresh || it->second == shape[d]) continue;
    const bool broadcasts = term[d] >= kEllipsis && (shape[d] == 1 || it->second == 1);
    if (!broadcasts) return bad(c, fmt::format("expected extent {} as in an earlier operand, found dimension {} of {}", it->second, d, shape_text(shape)));
    it->second = std::max(it->second, shape[d]);
  }
  e.terms.push_back(term);
  return {};
}

/// Without an arrow the output holds the ellipsis and then every letter that occurs once, in alphabetical order.
std::u32string implied_output(const Equation& e) {
  std::map<char32_t, int> count;
  std::u32string out, letters;
  for (const auto& t : e.terms)
    for (const char32_t ch : t) ++count[ch];
  for (const auto& [ch, n] : count) {
    if (ch >= kEllipsis)
      out.insert(out.begin(), ch);
    else if (n == 1)
      letters.push_back(ch);
  }
  return out + letters;
}

Expected<Equation> parse_equation(const OpContext& c) {
  const std::string text = c.node->attrs.text("equation", "");
  const auto arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  Equation e;
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    const auto comma = left.find(',');
    if ((comma == std::string_view::npos) != (k + 1 == c.inputs.size()))
      return bad(c, fmt::format("expected {} terms in '{}'", c.inputs.size(), printable(text.substr(0, 256))));
    TW_CHECK(add_term(c, e, left.substr(0, comma), operand(c, k).shape));
    if (comma != std::string_view::npos) left.remove_prefix(comma + 1);
  }
  if (arrow == std::string::npos) {
    e.output = implied_output(e);
  } else {
    int64_t hidden = 0;
    for (const auto& [ch, extent] : e.extents) hidden += ch >= kEllipsis;
    const std::string_view right = std::string_view(text).substr(arrow + 2);
    const bool dots = right.find("...") != std::string_view::npos;
    TW_TRY(e.output, spell_out(c, right, static_cast<int64_t>(right.size()) + (dots ? hidden - 3 : 0)));
  }
  for (size_t k = 0; k < e.output.size(); ++k)
    if (!e.extents.count(e.output[k]) || e.output.find(e.output[k], k + 1) != std::u32string::npos)
      return bad(c, fmt::format("expected an output of letters that the operands have, each once, found '{}'", printable(text.substr(0, 256))));
  for (const auto& [ch, extent] : e.extents)
    if (e.output.find(ch) == std::u32string::npos) e.summed.push_back(ch);
  return e;
}

Dims extents_of(const Equation& e, const std::u32string& letters) {
  Dims out;
  for (const char32_t ch : letters) out.push_back(e.extents.at(ch));
  return out;
}

Types infer_einsum(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 64));
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    if (!c.inputs[k]) return bad(c, fmt::format("expected {} operands, found operand {} absent", c.inputs.size(), k));
    TW_CHECK(check_same_dtype(c, 0, k));
  }
  if (operand(c, 0).dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_TRY(const Equation e, parse_equation(c));
  return result(c, operand(c, 0).dtype, extents_of(e, e.output));
}

Tensors einsum_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const Equation e, parse_equation(c));
  const auto body = [&](const Indices& s, const Indices& r) {
    std::optional<Expr> out;
    for (size_t k = 0; k < in.size(); ++k) {
      Indices at;
      for (size_t d = 0; d < e.terms[k].size(); ++d) {
        const char32_t ch = e.terms[k][d];
        const size_t o = e.output.find(ch);
        const Expr i = o != std::u32string::npos ? s[o] : r[e.summed.find(ch)];
        at.push_back(in[k]->shape()[d] == 1 && e.extents.at(ch) != 1 ? ir::index(0) : i);
      }
      const Expr read = in[k]->at(std::move(at));
      out = out ? *out * read : read;
    }
    return *out;
  };
  const te::Reducer reducer = e.summed.empty() ? te::Reducer::none : te::Reducer::sum;
  return std::vector{b.reduce("einsum", c.outputs[0].shape, extents_of(e, e.summed), reducer, body, "einsum")};
}

}  // namespace

std::vector<OpDef> einsum() {
  return {{"einsum", FusionKind::out_elementwise_fusable, infer_einsum, einsum_to_te, kArithmetic,
           "Products of the operands summed over the letters that the output of the equation lacks"}};
}

}  // namespace tw::graph::ops
