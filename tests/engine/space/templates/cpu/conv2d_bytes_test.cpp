// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Convolutions of bytes with packed weights against the interpreter.
class Conv2dBytesTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  static int conv(Net& b, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t size, int64_t around = 0, int64_t groups = 1) {
    return b.op("conv2d_bytes", {b.input({1, in, size, size + 1}, kUInt8), b.weight({out, in / groups, kernel, kernel}, kInt8)},
                {{"pads", Dims{pad, pad, pad, pad}}, {"strides", Dims{stride, stride}}, {"pad_value", around}, {"groups", groups}});
  }
  static Make convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t size, int64_t around = 0, int64_t groups = 1) {
    return [=](Net& b) { return conv(b, in, out, kernel, stride, pad, size, around, groups); };
  }
  static std::vector<Case> cases() {
    return {
        {"1x1", convolution(32, 32, 1, 1, 0, 7)},
        {"3x3", convolution(16, 32, 3, 1, 1, 7)},
        {"3x3 by 2, zero is another byte", convolution(16, 16, 3, 2, 1, 9, 114)},
        {"four channels", convolution(4, 16, 5, 2, 2, 11, 3)},
        {"channels that fill no blocks", convolution(20, 24, 3, 1, 1, 6, 128)},
        {"few outputs", convolution(12, 8, 3, 1, 1, 6)},
        {"groups of whole vectors", convolution(32, 64, 3, 1, 1, 6, 7, 2)},
        {"groups of halves", convolution(72, 72, 3, 2, 1, 7, 7, 3)},
        {"groups of quarters", convolution(32, 32, 3, 1, 1, 6, 7, 8)},
        {"with what follows",
         [](Net& b) {
           const int y = conv(b, 16, 24, 3, 1, 1, 6, 9);
           const int number = b.op("cast", {b.op("add", {y, b.weight({24, 1, 1}, kInt32)})}, {{"to", std::string("float32")}});
           const int sum = b.op("add", {b.op("mul", {number, b.weight({24, 1, 1})}), b.op("cast", {b.input({1, 24, 6, 7}, kUInt8)}, {{"to", std::string("float32")}})});
           return b.op("cast", {b.op("clip", {b.op("round", {sum})}, {{"min", 0.0}, {"max", 255.0}})}, {{"to", std::string("uint8")}});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(template_named("conv2d_bytes.cpu"), cases(), 4);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  void addsFourProductsUpInOneInstruction_data() { add_rows(cases()); }
  void addsFourProductsUpInOneInstruction() {
    QFETCH(int, number);
    const te::DagPtr dag = dag_of(cases()[static_cast<size_t>(number)].make);
    for (const char* name : {"llvm -mcpu=znver4 -num-cores=1", "llvm -mcpu=cascadelake -num-cores=2", "llvm -mcpu=alderlake -num-cores=1"}) {
      const Target target = parse_target(name).value();
      const space::Template& t = template_named("conv2d_bytes.cpu");
      const auto s = t.apply(dag, target, t.fallback(*dag, target));
      const auto f = s ? lower::lower_and_optimize(*s, "kernel", target) : Expected<tir::Func>(s.error());
      const auto listing = f ? codegen::build_listing(*f, target) : Expected<codegen::Listing>(f.error());
      QVERIFY2(listing, listing ? "" : listing.error().text().c_str());
      QVERIFY2(listing->assembly.find("vpdpbusd") != std::string::npos && listing->assembly.find("vpmulld") == std::string::npos, name);
    }
  }
};

QTEST_APPLESS_MAIN(Conv2dBytesTest)
#include "engine/space/templates/cpu/conv2d_bytes_test.moc"
