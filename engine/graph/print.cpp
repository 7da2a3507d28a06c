// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cmath>
#include <cstring>

#include "engine/base/text.h"
#include "engine/graph/graph.h"

namespace tw::graph {

namespace {

bool is_plain(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name)
    if (c == '\0' || (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("_./-", c))) return false;
  return true;
}

/// In double quotes; quote, backslash and control characters escaped. Other bytes stay as they are.
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string value_name(const std::string& name) { return "%" + (is_plain(name) ? name : quote(name)); }

/// Always recognisable as a real number.
template <class T>
std::string real_text(T v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string s = fmt::format("{}", v);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

std::string attr_text(const AttrValue& value) {
  struct Print {
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return real_text(v); }
    std::string operator()(const std::string& v) const { return quote(v); }
    std::string operator()(const std::vector<int64_t>& v) const { return shape_text(v); }
    std::string operator()(const std::vector<double>& v) const {
      std::vector<std::string> parts;
      for (const double d : v) parts.push_back(real_text(d));
      return fmt::format("f[{}]", fmt::join(parts, ", "));
    }
    std::string operator()(const std::vector<std::string>& v) const {
      std::vector<std::string> parts;
      for (const std::string& s : v) parts.push_back(quote(s));
      return fmt::format("s[{}]", fmt::join(parts, ", "));
    }
  };
  return std::visit(Print{}, value);
}

std::string element_text(const HostArray& a, int64_t i) {
  if (!a.dtype.is_float()) return std::to_string(a.get_int(i));
  return a.dtype == kFloat64 ? real_text(a.get(i)) : real_text(static_cast<float>(a.get(i)));
}

std::string constant_text(const HostArray& a, int max_elements) {
  if (a.num_elements() > max_elements) return "key " + constant_key(a);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < a.num_elements(); ++i) parts.push_back(element_text(a, i));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string node_text(const Graph& g, const Node& n) {
  std::vector<std::string> outputs, inputs, attrs;
  for (const int v : n.outputs) {
    const Value& value = g.values[static_cast<size_t>(v)];
    outputs.push_back(value_name(value.name) + ": " + value.type.text());
  }
  for (const int v : n.inputs) inputs.push_back(v < 0 ? "_" : value_name(g.values[static_cast<size_t>(v)].name));
  for (const auto& [name, value] : n.attrs.values) attrs.push_back(name + " = " + attr_text(value));
  std::string out = fmt::format("  {} = {}({})", fmt::join(outputs, ", "), n.op, fmt::join(inputs, ", "));
  if (!attrs.empty()) out += fmt::format(" {{{}}}", fmt::join(attrs, ", "));
  out += " name " + quote(n.name);
  if (n.group >= 0) out += fmt::format(" group {}", n.group);
  if (n.origin != Origin{}) out += fmt::format(" from {} {}", quote(n.origin.module), quote(n.origin.source));
  return out + "\n";
}

}  // namespace

std::string print(const Graph& g, int max_elements) {
  std::string out = "graph " + quote(g.name) + " {\n";
  for (const int v : g.inputs) {
    const Value& value = g.values[static_cast<size_t>(v)];
    out += fmt::format("  input {}: {}\n", value_name(value.name), value.type.text());
  }
  for (const Value& value : g.values)
    if (value.constant) out += fmt::format("  constant {}: {} = {}\n", value_name(value.name), value.type.text(), constant_text(*value.constant, max_elements));
  for (const Node& n : g.nodes) out += node_text(g, n);
  std::vector<std::string> outputs;
  for (const int v : g.outputs) outputs.push_back(value_name(g.values[static_cast<size_t>(v)].name));
  if (!outputs.empty()) out += fmt::format("  output {}\n", fmt::join(outputs, ", "));
  return out + "}\n";
}

}  // namespace tw::graph
