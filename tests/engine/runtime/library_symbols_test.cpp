// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/library_symbols.h"

#include <QtTest>

#include <cmath>

using namespace tw;
using namespace tw::runtime;

class LibrarySymbolsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void mathematics_and_copies_only() {
    for (const char* name : {"exp", "expf", "tanhf", "pow", "powf", "fmod", "memcpy", "memset", "memmove", "fmaf", "roundevenf"}) QVERIFY2(library_symbol(name), name);
    for (const char* name : {"system", "execve", "open", "dlsym", "", "expl", "_ZGVbN4v_systemf"}) QVERIFY2(!library_symbol(name), name);
    const auto call = reinterpret_cast<float (*)(float)>(library_symbol("roundevenf"));
    QVERIFY(call(2.5F) == 2 && call(3.5F) == 4);
  }

  void names_of_vectors() {
    QCOMPARE(vector_function("sin", 1, 32, VectorAbi::avx512), std::string("_ZGVeN16v_sinf"));
    QCOMPARE(vector_function("pow", 2, 64, VectorAbi::sse), std::string("_ZGVbN2vv_pow"));
    for (const char* none : {"fmod", "erf", "floor", ""}) QVERIFY2(vector_function(none, 1, 32, VectorAbi::avx2).empty(), none);
    QVERIFY(vector_function("pow", 1, 32, VectorAbi::avx2).empty());
    QVERIFY(vector_function("sin", 1, 16, VectorAbi::avx2).empty());
  }

#ifdef __x86_64__
  void every_name_is_in_the_library() {
    for (const char* function : {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "pow"})
      for (const int bits : {32, 64})
        for (const VectorAbi abi : {VectorAbi::sse, VectorAbi::avx2, VectorAbi::avx512}) {
          const std::string name = vector_function(function, std::string_view(function) == "pow" ? 2 : 1, bits, abi);
          QVERIFY2(library_symbol(name), name.c_str());
        }
    using Floats __attribute__((vector_size(16))) = float;
    const auto sine = reinterpret_cast<Floats (*)(Floats)>(library_symbol("_ZGVbN4v_sinf"));
    const Floats y = sine(Floats{0, 1, -2, 1e6F});
    for (int i = 0; i < 4; ++i) QVERIFY(std::abs(y[i] - std::sin(Floats{0, 1, -2, 1e6F}[i])) < 1e-6F);
  }
#endif
};

QTEST_APPLESS_MAIN(LibrarySymbolsTest)
#include "library_symbols_test.moc"
