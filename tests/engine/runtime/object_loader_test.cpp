// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/object_loader.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/target/cpu_table.h"
#include "tests/engine/measure/fixtures.h"

using namespace tw;
using namespace tw::test;

/// The loader with objects of the code generator, whole and damaged. Kernels of all kinds run through it in the tests of codegen.
class ObjectLoaderTest : public QObject {
  Q_OBJECT

  static std::vector<std::byte> object() {
    const Parts p;
    const ir::Buffer z = ir::make_buffer("z", kFloat64, {kSize});
    // A call of the C library, constants, and a loop.
    const tir::Stmt body = Parts::loop(kSize, [&](const ir::Expr& i) { return tir::store(z, {i}, ir::call(ir::Intrinsic::tanh, {ir::load(z, {i})})); });
    return codegen::build_object({{"kernel", {z}, 1, body}}, host_target()).value();
  }

 private Q_SLOTS:
  void runs() {
    const auto module = runtime::load_object(object());
    QVERIFY2(module.has_value(), module ? "" : module.error().text().c_str());
    std::vector<double> z(kSize, 0.5);
    void* args[] = {z.data()};
    QCOMPARE((*(*module)->find("kernel"))(args, nullptr), 0);
    for (const double v : z) QVERIFY(std::abs(v - std::tanh(0.5)) < 1e-12);
    QVERIFY(!(*module)->find("other"));
  }

  /// Whatever is in the file, the answer is a module or an error.
  void damaged() {
    const std::vector<std::byte> whole = object();
    for (size_t size = 0; size < whole.size(); size += 7) static_cast<void>(runtime::load_object({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).has_value());
    QCOMPARE(runtime::load_object({}).error().code, ErrorCode::corrupt);
    Rng rng(5);
    for (int round = 0; round < 20000; ++round) {
      std::vector<std::byte> bad = whole;
      for (uint64_t n = rng.uniform(4) + 1; n > 0; --n) bad[rng.uniform(bad.size())] = static_cast<std::byte>(rng.next());
      static_cast<void>(runtime::load_object(bad).has_value());
    }
    std::vector<std::byte> other = whole;
    other[18] = std::byte{0xb7}, other[19] = std::byte{0};  // e_machine: AArch64
    if (target::own_arch() == target::Arch::x86_64) QCOMPARE(runtime::load_object(other).error().code, ErrorCode::unsupported);
  }
};

QTEST_APPLESS_MAIN(ObjectLoaderTest)
#include "object_loader_test.moc"
