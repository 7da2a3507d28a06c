// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <numeric>

#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using namespace tw::codegen::testing;
using ir::Expr;
using tir::ForKind;

namespace {

constexpr int64_t kCopiedRows = 4, kRowVectors = 96;  // of 16 numbers: a row has 6 KB

/// C[i, j] = A[i, j] of rows with gaps: `to` and `from` are elements from one row to the next, `shift` where the first begins.
struct Copied {
  DType type = kFloat32;
  int64_t to = 16 * kRowVectors, from = 16 * kRowVectors, shift = 0, vectors = kRowVectors;
  std::optional<Expr> from_row = {};  ///< if another than the row that is written
  ir::Var i = ir::make_var("i"), j = ir::make_var("j");

  tir::Func function() const {
    const auto A = ir::make_buffer("A", type, {kCopiedRows * from + shift}), C = ir::make_buffer("C", type, {kCopiedRows * to});
    const auto lanes = [&](const Expr& row, int64_t stride, int64_t first) {
      return ir::ramp(row * stride + ir::to_expr(j) * int64_t{16} + first, ir::index(1), 16);
    };
    const Expr row = ir::to_expr(i);
    const tir::Stmt copy = tir::store(C, {lanes(row, to, 0)}, ir::load(A, {lanes(from_row ? *from_row : row, from, shift)}));
    return {"kernel",
            {A, C},
            1,
            tir::make_for(i, ir::index(0), ir::index(kCopiedRows), ForKind::serial, tir::make_for(j, ir::index(0), ir::index(vectors), ForKind::serial, copy))};
  }
  std::string assembly(const char* cpu) const {
    const auto listing = codegen::build_listing(function(), *parse_target(std::string("llvm -mcpu=") + cpu), {});
    return listing ? listing->assembly : listing.error().text();
  }
  /// What it becomes: "string", "memcpy" or "vectors".
  std::string form(const char* cpu = "znver4") const {
    const std::string text = assembly(cpu);
    return text.find("rep\tmovs") != std::string::npos || text.find("rep movs") != std::string::npos ? "string"
           : text.find("memcpy") != std::string::npos                                                ? "memcpy"
                                                                                                     : "vectors";
  }
  /// Whether the machine at hand copies what it should, and nothing else.
  bool right() const {
    std::vector<HostArray> args = {HostArray::make(type, {kCopiedRows * from + shift}), HostArray::make(type, {kCopiedRows * to})};
    for (int64_t k = 0; k < args[0].num_elements(); ++k) args[0].set(k, static_cast<double>(k % 113));
    if (!run(function(), args, host_target())) return false;
    for (int64_t row = 0; row < kCopiedRows; ++row)
      for (int64_t k = 0; k < to; ++k) {
        const int64_t source = from_row ? kCopiedRows - 1 - row : row;
        if (args[1].get(row * to + k) != (k < 16 * vectors ? args[0].get(source * from + shift + k) : 0)) return false;
      }
    return true;
  }
};

}  // namespace

class LlvmCopyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Rows that follow each other are one piece, others one each; of every size of elements.
  void rows() {
    for (const DType t : {kInt8, kFloat16, kFloat32, kFloat64}) {
      Copied whole{.type = t}, gaps{.type = t, .to = 16 * kRowVectors + 128, .from = 16 * kRowVectors + 64, .shift = 64};
      QVERIFY(whole.form() != "vectors");
      QVERIFY(whole.right());
      QCOMPARE(gaps.form() != "vectors", t.bytes() * 16 * kRowVectors >= 4096);
      QVERIFY(gaps.right());
    }
  }

  /// What a row is copied from may be known at run time only.
  void other_rows() {
    Copied back;
    back.from_row = ir::index(kCopiedRows - 1) - ir::to_expr(back.i);
    QVERIFY(back.form() != "vectors");
    QVERIFY(back.right());
  }

  /// Whole lines are moved by one instruction where that is fast; rows that begin or end inside lines by the C library.
  void lines() {
    QCOMPARE(Copied().form("sapphirerapids"), std::string("string"));
    QCOMPARE(Copied().form("skylake-avx512"), std::string("memcpy"));
    QCOMPARE(Copied().form("haswell"), std::string("memcpy"));
    Copied inside{.from = 16 * kRowVectors + 16, .shift = 8}, part{.type = kFloat16, .to = 16 * 256, .from = 16 * 258, .vectors = 255};
    for (const Copied* c : {&inside, &part}) {
      QCOMPARE(c->form(), std::string("memcpy"));
      QVERIFY(c->right());
    }
  }

  void short_rows() {
    const Copied few{.to = 1024, .from = 2048, .vectors = 63};
    QCOMPARE(few.form(), std::string("vectors"));
    QVERIFY(few.right());
  }
};

QTEST_APPLESS_MAIN(LlvmCopyTest)
#include "llvm_copy_test.moc"
