// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX file: an error with a sentence, or a graph that verifies and survives its own text form.
#include <map>

#include "engine/frontends/frontend.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tw;
  const auto g = frontends::read_onnx_bytes(fuzz::text_of(data, size), {});
  if (!g) {
    fuzz::require(!g.error().message.empty() && g.error().code != ErrorCode::internal, "An error of the user's file", g.error().text());
    return 0;
  }
  const auto ok = graph::verify(*g);
  fuzz::require(ok.has_value(), "An imported graph verifies", ok ? "" : ok.error().text());
  std::map<std::string, std::shared_ptr<const HostArray>> constants;
  for (const graph::Value& v : g->values)
    if (v.constant) constants[graph::constant_key(*v.constant)] = v.constant;
  const std::string text = graph::print(*g);
  const auto back = graph::parse(text, constants);
  fuzz::require(back.has_value(), "The text of a graph is read back", back ? "" : text + back.error().text());
  fuzz::require(graph::print(*back) == text, "Text read back prints the same", text);
  return 0;
}
