// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <set>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/tir/print.h"
#include "tests/engine/codegen/kernel_runner.h"
#include "tests/engine/codegen/micro_kernel.h"

using namespace tw;
using namespace tw::codegen::testing;

namespace {

/// What the block of the listing with the most multiply-adds holds: the k loop's body.
struct InnerBlock {
  int fmas = 0, zmm_fmas = 0, spills = 0, other_arithmetic = 0;
};

InnerBlock inner_block(const std::string& assembly) {
  InnerBlock best, current;
  for (const std::string_view line : split_lines(assembly)) {
    if (line.starts_with(".LBB")) current = {};
    if (line.find("vfmadd") != std::string_view::npos) {
      ++current.fmas;
      current.zmm_fmas += line.find("zmm") != std::string_view::npos;
    }
    current.spills += line.find("Spill") != std::string_view::npos || line.find("Reload") != std::string_view::npos;
    current.other_arithmetic += line.find("vmulps") != std::string_view::npos || line.find("vaddps") != std::string_view::npos;
    if (current.fmas >= best.fmas && current.fmas > 0) best = current;
  }
  return best;
}

Target znver5() { return *parse_target("llvm -mcpu=znver5 -num-cores=2"); }

}  // namespace

class GemmTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values() {
    const int64_t M = 56, N = 128, K = 33;
    HostArray a = HostArray::make(kFloat32, {M * K}), b = HostArray::make(kFloat32, {N * K});
    Rng rng(3);
    for (int64_t i = 0; i < M * K; ++i) a.set(i, rng.uniform_real() - 0.5);
    for (int64_t i = 0; i < N * K; ++i) b.set(i, rng.uniform_real() - 0.5);
    for (const Tile tile : {Tile{14, 2}, {8, 2}, {7, 4}, {1, 8}}) {
      for (const auto opt : {codegen::OptLevel::tuning, codegen::OptLevel::full}) {
        for (const auto outer : {tir::ForKind::serial, tir::ForKind::parallel}) {
          Target target = host_target();
          target.cores = 2;
          std::vector<HostArray> args = {a, b, HostArray::make(kFloat32, {M * N})};
          const auto done = run(micro_gemm(tile, M, N, K, outer), args, target, opt);
          QVERIFY2(done, done ? "" : done.error().text().c_str());
          const int64_t nr = 16 * tile.nv;
          for (int64_t m = 0; m < M; ++m)
            for (int64_t n = 0; n < N; ++n) {
              double want = 0;
              for (int64_t k = 0; k < K; ++k) want += a.get(m * K + k) * b.get((n / nr * K + k) * nr + n % nr);
              QVERIFY(std::abs(args[2].get(m * N + n) - want) < 1e-5);
            }
        }
      }
    }
  }

  /// Tiles within the register rule `mr nv + nv + (nv > 1) <= 32`: one FMA on a zmm register per accumulator, nothing spilled.
  void registers_data() {
    QTest::addColumn<int>("mr");
    QTest::addColumn<int>("nv");
    QTest::addColumn<bool>("fits");
    for (const auto& [mr, nv, fits] : {std::tuple{14, 2, true},
                                       {8, 2, true},
                                       {6, 4, true},
                                       {8, 3, true},
                                       {31, 1, true},
                                       {9, 3, true},
                                       {5, 5, true},
                                       {4, 6, true},
                                       {16, 2, false},
                                       {8, 4, false},
                                       {6, 5, false}})
      QTest::addRow("%dx%d", mr, nv) << mr << nv << fits;
  }
  void registers() {
    QFETCH(int, mr);
    QFETCH(int, nv);
    QFETCH(bool, fits);
    for (const auto outer : {tir::ForKind::serial, tir::ForKind::parallel}) {
      for (const auto opt : {codegen::OptLevel::tuning, codegen::OptLevel::full}) {
        const auto listing = codegen::build_listing(micro_gemm({mr, nv}, mr * 4, nv * 64, 256, outer), znver5(), {.opt = opt});
        QVERIFY2(listing, listing ? "" : listing.error().text().c_str());
        const InnerBlock block = inner_block(listing->assembly);
        QCOMPARE(block.fmas, mr * nv);
        QCOMPARE(block.zmm_fmas, mr * nv);
        QCOMPARE(block.other_arithmetic, 0);
        QVERIFY2((block.spills == 0) == fits, fmt::format("{} spills", block.spills).c_str());
      }
    }
  }

  /// Accumulators that registers have no room for lie on whole vectors' boundaries: never across two lines, let alone pages.
  void vectorsInMemoryAreAligned() {
    for (const char* cpu : {"znver5", "skylake-avx512", "haswell"}) {
      const auto listing = codegen::build_listing(micro_gemm({14, 3}, 14, 48, 64), *parse_target(std::string("llvm -mcpu=") + cpu), {});
      QVERIFY2(listing, listing ? "" : listing.error().text().c_str());
      int moved = 0;
      for (const std::string_view line : split_lines(listing->assembly)) {
        if (line.find("64-byte ") == std::string_view::npos && line.find("32-byte ") == std::string_view::npos) continue;
        ++moved;
        QVERIFY2(line.find("vmovups") == std::string_view::npos, std::string(line).c_str());
      }
      QVERIFY2(moved > 10, cpu);
    }
  }

  /// Every multiply-add of the assembly and of LLVM's text leads to the store in the k loop that it came from.
  void lines_lead_to_loops() {
    const tir::Func f = micro_gemm({4, 2}, 16, 64, 32, tir::ForKind::parallel);
    const auto listing = codegen::build_listing(f, znver5());
    QVERIFY(listing);
    const tir::Printed printed = tir::print_with_lines(f);
    const auto tir_lines = split_lines(printed.text);
    for (const auto& [text, lines, word] :
         {std::tuple{&listing->assembly, &listing->asm_line_to_tir_line, "vfmadd"}, {&listing->llvm_ir, &listing->ir_line_to_tir_line, "fmul contract"}}) {
      const auto shown = split_lines(*text);
      QVERIFY(shown.size() == lines->size() || (shown.size() == lines->size() + 1 && shown.back().empty()));
      std::set<int> found;
      for (size_t i = 0; i < lines->size(); ++i) {
        QVERIFY(shown[i].find("!dbg") == std::string_view::npos && shown[i].find(".loc") == std::string_view::npos);
        if (shown[i].find(word) == std::string_view::npos) continue;
        const int line = (*lines)[i];
        QVERIFY(line >= 0 && line < static_cast<int>(tir_lines.size()));
        QVERIFY2(tir_lines[line].find("acc[") != std::string_view::npos && tir_lines[line].find(" + ") != std::string_view::npos,
                 std::string(tir_lines[line]).c_str());
        found.insert(line);
      }
      QCOMPARE(found.size(), size_t{8});
    }
  }
};

QTEST_APPLESS_MAIN(GemmTest)
#include "gemm_test.moc"
