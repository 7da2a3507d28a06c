// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/origin.h"

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::frontends {

namespace {

constexpr size_t kLongest = 512;  ///< characters of a path that are kept

/// `L__self___layer1,layer1.0,torchvision...;...`: the second part of the last entry.
std::string innermost_module(const std::string& stack) {
  const size_t last = stack.rfind(';');
  const std::string entry = stack.substr(last == std::string::npos ? 0 : last + 1);
  const size_t from = entry.find(',');
  if (from == std::string::npos) return {};
  const size_t to = entry.find(',', from + 1);
  std::string path = entry.substr(from + 1, to == std::string::npos ? to : to - from - 1);
  if (path.find("empty_nn_module_stack") != std::string::npos) return {};
  return printable(path.substr(0, kLongest));
}

/// The last frame outside of PyTorch's own modules, as `file.py:12`.
std::string source_line(const std::string& trace) {
  std::string found, fallback;
  constexpr std::string_view kFile = "File \"";
  for (size_t at = trace.find(kFile); at != std::string::npos; at = trace.find(kFile, at + 1)) {
    const size_t from = at + kFile.size(), end = trace.find('"', from), line = trace.find(", line ", from);
    if (end == std::string::npos || line == std::string::npos || line < end) continue;
    const std::string path = trace.substr(from, end - from);
    size_t digits = line + 7;
    std::string number;
    while (digits < trace.size() && trace[digits] >= '0' && trace[digits] <= '9') number += trace[digits++];
    const std::string text = path.substr(path.rfind('/') + 1) + ":" + number;
    fallback = text;
    if (!path.starts_with("<") && path.find("torch/nn/") == std::string::npos && path.find("torch/fx/") == std::string::npos && path.find("torch/_") == std::string::npos) found = text;
  }
  return printable((found.empty() ? fallback : found).substr(0, kLongest));
}

}  // namespace

graph::Origin origin_of(const std::string& module_stack, const std::string& stack_trace) { return {innermost_module(module_stack), source_line(stack_trace)}; }

graph::Origin origin_of(const Json& metadata) {
  const auto text = [&](const char* name) {
    const auto it = metadata.is_object() ? metadata.find(name) : metadata.end();
    return metadata.is_object() && it != metadata.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  return origin_of(text("nn_module_stack"), text("stack_trace"));
}

}  // namespace tw::frontends
