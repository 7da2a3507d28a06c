// SPDX-License-Identifier: Apache-2.0
// Any text as a function of loops: an error with a sentence, or one that prints what reads back as the same; verifying it never fails to end.
#include "engine/tir/equal.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tw;
  const auto f = tir::parse_func(fuzz::text_of(data, size));
  if (!f) {
    fuzz::require(!f.error().message.empty() && f.error().code != ErrorCode::internal, "An error of the text", f.error().text());
    return 0;
  }
  const bool valid = tir::verify(*f).has_value();
  const std::string text = tir::print(*f);
  const auto back = tir::parse_func(text);
  fuzz::require(back.has_value(), "The text of a function is read back", back ? "" : text + back.error().text());
  fuzz::require(tir::print(*back) == text, "Text read back prints the same", text);
  fuzz::require(tir::structural_equal(*f, *back), "A function read back is equal", text);
  fuzz::require(tir::verify(*back).has_value() == valid, "A function read back verifies as before", text);
  return 0;
}
