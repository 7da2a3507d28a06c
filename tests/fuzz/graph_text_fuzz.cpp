// SPDX-License-Identifier: Apache-2.0
// Any text as a graph: an error with a sentence, or a graph that verifies, prints what reads back as the same, and goes through every pass.
#include "engine/graph/pass.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tw;
  const auto g = graph::parse(fuzz::text_of(data, size));
  if (!g) {
    fuzz::require(!g.error().message.empty() && g.error().code != ErrorCode::internal, "An error of the text", g.error().text());
    return 0;
  }
  const std::string text = graph::print(*g, INT32_MAX);
  const auto back = graph::parse(text);
  fuzz::require(back.has_value(), "The text of a graph is read back", back ? "" : text + back.error().text());
  fuzz::require(graph::print(*back, INT32_MAX) == text, "Text read back prints the same", text);
  int64_t elements = 0;
  for (const graph::Value& v : g->values) elements += std::min<int64_t>(v.type.num_elements(), 1 << 20);
  if (elements > 1 << 16) return 0;  // folding constants would take long
  const auto optimised = graph::run_passes(*g, Target{});
  fuzz::require(optimised.has_value() || optimised.error().code != ErrorCode::internal, "Passes keep a graph valid",
                optimised ? "" : text + optimised.error().text());
  return 0;
}
