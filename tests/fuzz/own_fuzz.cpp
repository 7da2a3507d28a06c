// SPDX-License-Identifier: Apache-2.0
// Any text as a computation with a template: an error with a sentence, or a space whose points give schedules or say why not.
#include "engine/space/own/script.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tw;
  const std::string text(fuzz::text_of(data, size));
  const auto said = [&](const Error& e) { fuzz::require(!e.message.empty() && e.code != ErrorCode::internal, "An error of the text", e.text()); };
  const auto script = space::own::parse_script(text);
  if (!script) return said(script.error()), 0;
  const auto space = space::own::space_of(*script);
  if (!space) return said(space.error()), 0;
  if (const auto start = space::own::start_of(*script, *space); !start) said(start.error());
  for (const int64_t index : {int64_t{0}, space->size() / 2, space->size() - 1}) {
    const auto s = space::own::run_script(*script, script->source.dag, space->get(index).value());
    if (!s) said(s.error());
  }
  return 0;
}
