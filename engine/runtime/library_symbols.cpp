// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/library_symbols.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "engine/base/text.h"

/// Functions of vectors that generated code calls, and how they mark their arguments: v is one vector.
#define TW_VECTOR_FUNCTIONS(X) X(v, sin) X(v, cos) X(v, tan) X(v, asin) X(v, acos) X(v, atan) X(v, sinh) X(v, cosh) X(v, asinh) X(v, acosh) X(v, atanh) X(vv, pow)

#if defined(__x86_64__) && defined(__GLIBC__)
// Only their addresses are used here.
#define TW_DECLARE(v, name)        \
  void _ZGVbN4##v##_##name##f();   \
  void _ZGVbN2##v##_##name();      \
  void _ZGVdN8##v##_##name##f();   \
  void _ZGVdN4##v##_##name();      \
  void _ZGVeN16##v##_##name##f();  \
  void _ZGVeN8##v##_##name();
extern "C" {
TW_VECTOR_FUNCTIONS(TW_DECLARE)
}
#undef TW_DECLARE
#endif

namespace tw::runtime {

void* library_symbol(std::string_view name) {
#define TW_BOTH(name) \
  {#name, reinterpret_cast<void*>(static_cast<double (*)(double)>(&::name))}, {#name "f", reinterpret_cast<void*>(static_cast<float (*)(float)>(&::name##f))}
#define TW_BOTH2(name)                                                                     \
  {#name, reinterpret_cast<void*>(static_cast<double (*)(double, double)>(&::name))},      \
      {#name "f", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&::name##f))}
#define TW_ONE(name) {#name, reinterpret_cast<void*>(&::name)}
#define TW_VECTORS(v, name)                                                                                                      \
  TW_ONE(_ZGVbN4##v##_##name##f), TW_ONE(_ZGVbN2##v##_##name), TW_ONE(_ZGVdN8##v##_##name##f), TW_ONE(_ZGVdN4##v##_##name), \
      TW_ONE(_ZGVeN16##v##_##name##f), TW_ONE(_ZGVeN8##v##_##name),
  static const std::map<std::string_view, void*> kSymbols = {
      TW_BOTH(exp),   TW_BOTH(log),  TW_BOTH(tanh), TW_BOTH(erf),   TW_BOTH(sin),   TW_BOTH(cos),   TW_BOTH(tan),  TW_BOTH(asin),
      TW_BOTH(acos),  TW_BOTH(atan), TW_BOTH(sinh), TW_BOTH(cosh),  TW_BOTH(asinh), TW_BOTH(acosh), TW_BOTH(atanh), TW_BOTH(floor),
      TW_BOTH(ceil),  TW_BOTH(trunc), TW_BOTH2(pow), TW_BOTH2(fmod),
      {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&::fma))},
      {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&::fmaf))},
      // Not in the headers of this language version; code generators know them.
      {"roundeven", reinterpret_cast<void*>(+[](double x) { return std::nearbyint(x); })},
      {"roundevenf", reinterpret_cast<void*>(+[](float x) { return std::nearbyint(x); })},
      TW_ONE(memcpy), TW_ONE(memmove), TW_ONE(memset),
#if defined(__x86_64__) && defined(__GLIBC__)
      TW_VECTOR_FUNCTIONS(TW_VECTORS)
#endif
  };
#undef TW_BOTH
#undef TW_BOTH2
#undef TW_ONE
#undef TW_VECTORS
  const auto found = kSymbols.find(name);
  return found == kSymbols.end() ? nullptr : found->second;
}

std::string vector_function(std::string_view function, int arguments, int bits, VectorAbi abi) {
#define TW_ROW(v, name) {#name, #v},
  static const std::map<std::string_view, std::string_view> kMarks = {TW_VECTOR_FUNCTIONS(TW_ROW)};
#undef TW_ROW
  const auto found = kMarks.find(function);
  if (found == kMarks.end() || found->second.size() != static_cast<size_t>(arguments) || (bits != 32 && bits != 64)) return {};
  return fmt::format("_ZGV{}N{}{}_{}{}", static_cast<char>(abi), vector_bits(abi) / bits, found->second, function, bits == 32 ? "f" : "");
}

}  // namespace tw::runtime
