// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// A pure rewriting of one function. Same input, same output, byte for byte.
using PassFn = Func (*)(const Func&, const Target&);

struct Pass {
  const char* name;  ///< equal to the file and function name
  PassFn run;
  const char* summary;                                           ///< one paragraph for the workbench
  const char* source;                                            ///< paper or system it goes back to
  enum class On : uint8_t { all, host, launches } on = On::all;  ///< functions without loops bound to blocks or threads, or with them
  const char* needed = "";                                       ///< why it must run; empty: it may be left out, and the results stay what they are
};

/// The passes in the order they run.
std::span<const Pass> passes();
/// Whether the pass is for functions such as this one.
bool applies(const Pass& pass, const Func& f);

/// Debug builds verify after every pass; tests ask for it in every build.
#ifdef TW_VERIFY_PASSES
inline constexpr bool kVerifyPasses = true;
#else
inline constexpr bool kVerifyPasses = false;
#endif

/// Hooks around each pass. Any may be empty.
struct PassHooks {
  std::function<void(const Pass&, const Func& before, const Func& after, double seconds, bool changed)> after;
  std::vector<std::string> disabled;  ///< names of passes to skip, none of them needed; a pass that stands twice is skipped twice
  bool verify = kVerifyPasses;        ///< run the verifier after every pass; a failure is an Error that names the pass
};

/// Runs all passes that apply on a lowered function. Errors: the verifier's; invalid_argument for names that are no pass or a needed one.
Expected<Func> run_passes(Func f, const Target& target, const PassHooks& hooks = {});

}  // namespace tw::tir
