// SPDX-License-Identifier: Apache-2.0
// Any text as a dag: an error with a sentence, or a dag that verifies and prints what reads back as the same.
#include "engine/te/dag.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tw;
  const auto dag = te::parse_dag(fuzz::text_of(data, size));
  if (!dag) {
    fuzz::require(!dag.error().message.empty() && dag.error().code != ErrorCode::internal, "An error of the text", dag.error().text());
    return 0;
  }
  const auto ok = te::verify(**dag);
  fuzz::require(ok.has_value(), "A dag that was read verifies", ok ? "" : ok.error().text());
  const std::string text = te::print(**dag);
  const auto back = te::parse_dag(text);
  fuzz::require(back.has_value(), "The text of a dag is read back", back ? "" : text + back.error().text());
  fuzz::require(te::print(**back) == text, "Text read back prints the same", text);
  fuzz::require(te::structural_key(**back) == te::structural_key(**dag), "A dag read back has the same key", text);
  (void)te::flops(**dag);
  (void)te::io_bytes(**dag);
  return 0;
}
