// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <QtTest>
#include <cmath>
#include <ctime>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/tir/interp.h"
#include "engine/tir/parse.h"
#include "engine/tir/verify.h"
#include "tests/engine/tir/example_funcs.h"

using namespace tw;
using namespace tw::tir;

namespace {

/// Arrays for the parameters: inputs filled by `value`, outputs with garbage.
template <class Fill>
std::vector<HostArray> arguments(const Func& f, Fill value) {
  std::vector<HostArray> out;
  for (size_t p = 0; p < f.params.size(); ++p) {
    HostArray a = HostArray::make(f.params[p]->dtype, f.params[p]->shape);
    const bool is_output = p + static_cast<size_t>(f.num_outputs) >= f.params.size();
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, is_output ? -77 : value(p, i));
    out.push_back(std::move(a));
  }
  return out;
}

std::string function(const std::string& params, const std::string& body, int outputs = 1) {
  std::string text = "@T.prim_func\ndef f(" + params + "):\n    T.func_attr({\"num_outputs\": " + std::to_string(outputs) + "})\n";
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    text += "    " + body.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

const ThreadOrder kOrders[] = {
    {ThreadOrder::Kind::forward, 0}, {ThreadOrder::Kind::reverse, 0}, {ThreadOrder::Kind::shuffled, 1}, {ThreadOrder::Kind::shuffled, 2}};

/// Runs a function on inputs 0, 1, 2, ... and gives its last argument.
Expected<std::vector<double>> run(const std::string& text, ThreadOrder order = {}) {
  TW_TRY(const Func f, parse_func(text));
  auto args = arguments(f, [](size_t, int64_t i) { return static_cast<double>(i); });
  TW_CHECK(interpret(f, args, {}, order));
  std::vector<double> out;
  for (int64_t i = 0; i < args.back().num_elements(); ++i) out.push_back(args.back().get(i));
  return out;
}

}  // namespace

class InterpTest : public QObject {
  Q_OBJECT

  static void fails(const std::string& text, ErrorCode code, const std::string& expected, ThreadOrder order = {}) {
    const auto r = run(text, order);
    QVERIFY2(!r, text.c_str());
    QCOMPARE(r.error().code, code);
    QCOMPARE(r.error().text(), expected);
  }
  static void gives(const std::string& text, const std::vector<double>& expected) {
    const auto r = run(text);
    QVERIFY2(r.has_value(), r ? "" : r.error().text().c_str());
    QCOMPARE(*r, expected);
  }

 private Q_SLOTS:
  void threads_meet_at_barriers() {
    for (const ThreadOrder order : kOrders) {
      const auto c = run(kThreads, order);
      QVERIFY2(c, c ? "" : c.error().text().c_str());
      // The maximum over y of A[b, 7 - y * 4 - x, 0].
      for (int b = 0; b < 4; ++b)
        for (int i = 0; i < 8; ++i)
          for (int v = 0; v < 2; ++v) QCOMPARE((*c)[static_cast<size_t>((b * 8 + i) * 2 + v)], (b * 8 + 7 - i % 4) * 2.0);
    }
  }
  void reductions_by_threads() {
    const std::string io = "A: T.Buffer((4, 3), \"int32\"), C: T.Buffer((4, 3), \"int32\")";
    const auto body = [](const char* op, const char* thread) {
      return fmt::format(
          "for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n    for x in T.thread_binding(3, thread=\"threadIdx.x\"):\n"
          "        s = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n        s[0] = A[y, x] + T.int32(1)\n"
          "        T.all_reduce(s[0], \"{}\", thread=\"threadIdx.{}\")\n        C[y, x] = s[0]",
          op, thread);
    };
    gives(function(io, body("add", "x")), {6, 6, 6, 15, 15, 15, 24, 24, 24, 33, 33, 33});
    gives(function(io, body("mul", "y")), {1 * 4 * 7 * 10, 2 * 5 * 8 * 11, 3 * 6 * 9 * 12, 280, 880, 1944, 280, 880, 1944, 280, 880, 1944});
    gives(function(io, body("min", "x")), {1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10});
    gives(function(io, body("max", "z")), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});  // no other thread in that direction
  }
  void missing_barriers() {
    const std::string io = "A: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"float32\")";
    const std::string head = "t = T.alloc_buffer((4,), \"float32\", scope=\"shared\")\nfor x in T.thread_binding(4, thread=\"threadIdx.x\"):\n";
    const auto shared = [&](const std::string& body) { return function(io, head + body); };
    const std::string expected = "Expected threads to touch elements of their own between two barriers, found element ";
    fails(shared("    t[x] = A[x]\n    C[x] = t[3 - x]"), ErrorCode::wrong_result,
          expected +
              "3 of 't' read after another thread wrote it (at load 't[3 - x]')\n  in statement 'C[x] = t[3 - x]'\n  at x = 0\n"
              "  first touched in statement 't[x] = A[x]' by x = 3",
          {ThreadOrder::Kind::forward, 0});
    // Two threads have read the element before the first of them writes it.
    fails(shared("    t[x] = A[x]\n    T.tvm_storage_sync(\"shared\")\n    C[x] = t[0]\n    t[x] = A[x + 4]\n    C[x + 4] = t[x]"), ErrorCode::wrong_result,
          expected +
              "0 of 't' written after another thread read it\n  in statement 't[x] = A[x + 4]'\n  at x = 0\n"
              "  first touched in statement 'C[x] = t[0]' by x = 3",
          {ThreadOrder::Kind::forward, 0});
    // From one iteration to the next.
    const std::string loop =
        "    for k in T.serial(2):\n        t[x] = A[x + k * 4]\n        T.tvm_storage_sync(\"shared\")\n        C[x + k * 4] = t[3 - x]\n";
    for (const ThreadOrder order : kOrders) {
      const auto r = run(shared(loop), order);
      QVERIFY2(!r && r.error().message.find("of 't' written after another thread read it") != std::string::npos, r ? "" : r.error().text().c_str());
    }
    QVERIFY(run(shared(loop + "        T.tvm_storage_sync(\"shared\")")).has_value());
    // Every thread must write the element that all of them read.
    fails(shared("    if x < 3:\n        t[x] = A[x]\n    T.tvm_storage_sync(\"shared\")\n    C[x] = t[3 - x]\n    C[x + 4] = A[x]"), ErrorCode::wrong_result,
          "Expected element 3 of 't' to be written before it is read (at load 't[3 - x]')\n  in statement 'C[x] = t[3 - x]'\n  at x = 0",
          {ThreadOrder::Kind::forward, 0});
  }
  void divergence() {
    const std::string io = "A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")";
    const std::string head = "for x in T.thread_binding(4, thread=\"threadIdx.x\"):\n    C[x] = A[x]\n";
    fails(function(io, head + "    if x < 2:\n        T.tvm_storage_sync(\"shared\")"), ErrorCode::wrong_result,
          "Expected all threads of a block to meet at a barrier, found the condition of a branch with a barrier inside to be 1 in x = 0 and 0 in x = 2\n"
          "  in statement 'if x < 2:'\n  at x = 2");
    const auto loop = run(function(io, head + "    for k in T.serial(x, x + 1):\n        T.tvm_storage_sync(\"shared\")"));
    QVERIFY(!loop &&
            loop.error().message.find("found the first iteration of a loop with a barrier inside to be 0 in x = 0 and 1 in x = 1") != std::string::npos);
    const auto length = run(function(io, head + "    for k in T.serial(x):\n        T.tvm_storage_sync(\"shared\")"));
    QVERIFY(!length && length.error().message.find("found the length of a loop with a barrier inside to be 0 in x = 0 and 1 in x = 1") != std::string::npos);
    QVERIFY(run(function(io, head + "    for k in T.serial(3):\n        if k < 2:\n            T.tvm_storage_sync(\"shared\")")).has_value());
  }
  void blocks_share_nothing() {
    const std::string io = "A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")";
    const std::string expected = "Expected threads to touch elements of their own between two barriers, found element 0 of 'C' written by two blocks";
    const auto r = run(function(io, "for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n    C[0] = A[b]"));
    QVERIFY(!r && r.error().code == ErrorCode::wrong_result);
    QCOMPARE(r.error().message, expected);
    // A barrier orders the threads of one block only.
    const auto ordered = run(function(
        io, "for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n    T.tvm_storage_sync(\"shared\")\n    C[0] = A[b]\n    T.tvm_storage_sync(\"shared\")"));
    QVERIFY(!ordered);
    QCOMPARE(ordered.error().message, expected);
  }
  void matmul() {
    const Func f = parse_func(kMatmul).value();
    Rng rng(1);
    auto args = arguments(f, [&](size_t, int64_t) { return rng.normal(); });
    QVERIFY(interpret(f, args).has_value());
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        float sum = 0;
        for (int k = 0; k < 16; ++k) sum = static_cast<float>(sum + args[0].get(i * 16 + k) * args[1].get(k * 8 + j));
        QCOMPARE(args[2].get(i * 8 + j), static_cast<double>(sum));
      }
  }
  void flat_vectors() {
    const Func f = parse_func(kFlatVector).value();
    auto args = arguments(f, [](size_t, int64_t i) { return static_cast<double>(i) - 40; });
    QVERIFY(interpret(f, args).has_value());
    for (int i = 0; i < 128; ++i) QCOMPARE(args[1].get(i), std::max(i - 40.0, 0.0) + (i / 16 * 16 - 40.0));
  }
  void scopes() {
    const Func f = parse_func(kScopes).value();
    auto args = arguments(f, [](size_t p, int64_t i) { return p == 1 ? 4.0 : static_cast<double>(i); });
    const auto r = interpret(f, args);
    QVERIFY2(r.has_value(), r ? "" : r.error().text().c_str());
    const std::vector<double> expected{0, 1, 4, 6, -1, -1, -1, -1, -1, -1};
    for (int i = 0; i < 10; ++i) QCOMPARE(args[2].get(i), expected[static_cast<size_t>(i)]);
    QCOMPARE(args[3].get(0), 4.0);
  }
  void statements() {
    gives(function("C: T.Buffer((4,), \"int64\")", "for i in T.serial(4):\n    if i < 2:\n        C[i] = i * 10\n    else:\n        C[i] = i"), {0, 10, 2, 3});
    gives(function("A: T.Buffer((4,), \"int64\"), C: T.Buffer((4,), \"float32\")", "for i in T.parallel(4):\n    C[i] = T.cast(float32, A[3 - A[i]])"),
          {3, 2, 1, 0});
    gives(function("C: T.Buffer((2, 2), \"int64\")", "for i in T.serial(4):\n    C[i] = i"), {0, 1, 2, 3});
    gives(function("C: T.Buffer((4,), \"int8\")", "for i in T.serial(4):\n    x: T.int8 = T.cast(int8, i * 100)\n    C[i] = x + x"), {0, -56, -112, 88});
    gives(function("C: T.Buffer((4,), \"float16\")", "for i in T.serial(4):\n    C[i] = T.cast(float16, i) / T.float16(3)"),
          {0, 0.333251953125, 0.66650390625, 1});
  }
  void vectors() {
    const std::string io = "A: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"float32\")";
    gives(function(io, "C[T.ramp(0, 2, 4)] = A[T.ramp(3, -1, 4)]\nC[T.ramp(1, 2, 4)] = T.float32(5)"), {3, 5, 2, 5, 1, 5, 0, 5});
    gives(function(io, "C[T.ramp(0, 1, 8)] = select(T.ramp(0, 1, 8) < T.broadcast(4, 8), A[T.ramp(4, 1, 8)], T.broadcast(T.float32(9), 8))"),
          {4, 5, 6, 7, 9, 9, 9, 9});
    gives(function(io, "C[T.ramp(0, 1, 8)] = A[T.ramp(0, 1, 8)]\nC[T.ramp(0, 1, 7)] = C[T.ramp(1, 1, 7)]"), {1, 2, 3, 4, 5, 6, 7, 7});
    gives(function(io, "v: T.int64x8 = T.ramp(7, -1, 8)\nw: T.float32x8 = A[v] * T.broadcast(T.float32(2), 8)\nC[v] = w - A[T.broadcast(1, 8)]"),
          {-1, 1, 3, 5, 7, 9, 11, 13});
    gives(function("C: T.Buffer((2, 4), \"int64\")", "for i in T.serial(2):\n    C[i, T.ramp(0, 1, 4)] = T.ramp(i, i, 4)"), {0, 0, 0, 0, 1, 2, 3, 4});
  }
  void accesses_outside() {
    const std::string io = "A: T.Buffer((2, 3), \"float32\"), C: T.Buffer((4,), \"float32\")";
    fails(function(io, "for i in T.serial(4):\n    for j in T.serial(1):\n        C[i] = A[i, j]"), ErrorCode::wrong_result,
          "Expected an index below 2 in dimension 0 of 'A', found 2 (at load 'A[i, j]')\n  in statement 'C[i] = A[i, j]'\n  at i = 2, j = 0");
    fails(function(io, "for i in T.serial(5):\n    C[i - 1] = T.float32(0)"), ErrorCode::wrong_result,
          "Expected an index below 4 in dimension 0 of 'C', found -1 (at store to 'C[i - 1]')\n  in statement 'C[i - 1] = T.float32(0)'\n  at i = 0");
    fails(function(io, "C[T.ramp(1, 1, 4)] = T.float32(0)"), ErrorCode::wrong_result,
          "Expected an index below 4 in dimension 0 of 'C', found 4 (at store to 'C[T.ramp(1, 1, 4)]')\n  in statement 'C[T.ramp(1, 1, 4)] = "
          "T.broadcast(T.float32(0), 4)'");
    fails(function(io, "if A[7] < T.float32(0):\n    pass"), ErrorCode::wrong_result,
          "Expected an index below 6 in dimension 0 of 'A', found 7 (at load 'A[7]')\n  in statement 'if A[7] < T.float32(0):'");
    gives(function(io, "for i in T.serial(4):\n    C[i] = select(i < 2, A[i, 0], T.float32(0))"), {0, 3, 0, 0});
    fails(function(io, "for i in T.serial(4):\n    if i < 4 and A[i, 0] < T.float32(9):\n        C[i] = T.float32(1)"), ErrorCode::wrong_result,
          "Expected an index below 2 in dimension 0 of 'A', found 2 (at load 'A[i, 0]')\n  in statement 'if i < 4 and A[i, 0] < T.float32(9):'\n  at i = 2");
  }
  void reads_of_nothing() {
    const std::string io = "C: T.Buffer((2,), \"float32\")";
    fails(function(io, "t = T.alloc_buffer((2,), \"float32\", scope=\"local\")\nt[0] = T.float32(1)\nfor i in T.serial(2):\n    C[i] = t[i]"),
          ErrorCode::wrong_result, "Expected element 1 of 't' to be written before it is read (at load 't[i]')\n  in statement 'C[i] = t[i]'\n  at i = 1");
    fails(function(io, "C[0] = C[1]"), ErrorCode::wrong_result,
          "Expected element 1 of 'C' to be written before it is read (at load 'C[1]')\n  in statement 'C[0] = C[1]'");
    fails(function(
              io,
              "for i in T.serial(2):\n    t = T.alloc_buffer((1,), \"float32\", scope=\"local\")\n    if i < 1:\n        t[0] = T.float32(1)\n    C[i] = t[0]"),
          ErrorCode::wrong_result, "Expected element 0 of 't' to be written before it is read (at load 't[0]')\n  in statement 'C[i] = t[0]'\n  at i = 1");
    gives(function(io, "C[0] = T.float32(0)"), {0, -77});
  }
  void races_of_parallel_loops() {
    const std::string io = "A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")";
    const std::string start = "for z in T.parallel(4):\n    C[z] = T.float32(0)\n";
    fails(
        function(io, start + "for i in T.parallel(4):\n    C[0] = C[0] + A[i]"), ErrorCode::wrong_result,
        "Expected iterations of a parallel loop to touch elements of their own, found element 0 of 'C' read after another iteration wrote it (at load 'C[0]')\n"
        "  in statement 'C[0] = C[0] + A[i]'\n  at i = 1");
    fails(function(io, start + "for i in T.parallel(4):\n    C[i // 2] = A[i]"), ErrorCode::wrong_result,
          "Expected iterations of a parallel loop to touch elements of their own, found element 0 of 'C' written by two iterations\n"
          "  in statement 'C[i // 2] = A[i]'\n  at i = 1");
    fails(function(io, start + "for i in T.parallel(2):\n    C[i + 1] = C[i + 2]"), ErrorCode::wrong_result,
          "Expected iterations of a parallel loop to touch elements of their own, found element 2 of 'C' written after another iteration read it\n"
          "  in statement 'C[i + 1] = C[i + 2]'\n  at i = 1");
    fails(function(io, "t = T.alloc_buffer((1,), \"float32\", scope=\"global\")\nfor i in T.parallel(4):\n    t[0] = A[i]\n    C[i] = t[0]"),
          ErrorCode::wrong_result,
          "Expected iterations of a parallel loop to touch elements of their own, found element 0 of 't' written by two iterations\n"
          "  in statement 't[0] = A[i]'\n  at i = 1");
    fails(function(io, start + "for i in T.parallel(2):\n    C[T.ramp(i, 1, 3)] = T.float32(1)"), ErrorCode::wrong_result,
          "Expected iterations of a parallel loop to touch elements of their own, found element 1 of 'C' written by two iterations\n"
          "  in statement 'C[T.ramp(i, 1, 3)] = T.broadcast(T.float32(1), 3)'\n  at i = 1");
    gives(
        function(io,
                 start + "for i in T.parallel(4):\n    t = T.alloc_buffer((1,), \"float32\", scope=\"local\")\n    t[0] = A[i]\n    C[i] = C[i] + t[0] + t[0]"),
        {0, 2, 4, 6});
    gives(function(io, start + "for i in T.serial(4):\n    for j in T.parallel(2):\n        C[j] = C[j] + A[i]"), {6, 6, 0, 0});
  }
  void other_errors() {
    fails(function("A: T.Buffer((2,), \"int32\"), C: T.Buffer((2,), \"int32\")", "for i in T.serial(2):\n    C[i] = T.int32(6) // A[i]"),
          ErrorCode::invalid_argument,
          "Expected a divisor other than 0, found 0 (at integer division)\n  in statement 'C[i] = T.int32(6) // A[i]'\n  at i = 0");
    QCOMPARE(run(function("C: T.Buffer((1,), \"int32\")", "t = T.alloc_buffer((9999999999,), \"int32\", scope=\"global\")\nC[0] = T.int32(0)")).error().code,
             ErrorCode::resource_limit);
    const auto stored = run(function("A: T.Buffer((2,), \"int32\"), C: T.Buffer((2,), \"int32\")", "A[0] = T.int32(0)"));
    QCOMPARE(stored.error().code, ErrorCode::invalid_argument);
    const Func f = parse_func(kMatmul).value();
    auto args = arguments(f, [](size_t, int64_t) { return 0.0; });
    args[1].shape = {8, 16};
    QCOMPARE(interpret(f, args).error().message,
             std::string("Expected float32 of shape [16, 8] for parameter 'B', found float32 of shape [8, 16] in 512 bytes"));
    args.pop_back();
    QCOMPARE(interpret(f, args).error().message, std::string("Expected 3 arguments, found 2"));
  }
  void stops_when_asked() {
    const Func f = parse_func(function("C: T.Buffer((1,), \"int32\")", "for i in T.serial(100000):\n    C[0] = T.int32(0)")).value();
    auto args = arguments(f, [](size_t, int64_t) { return 0.0; });
    StopSource source;
    source.request_stop();
    QCOMPARE(interpret(f, args, source.get_token()).error().code, ErrorCode::cancelled);
  }
  void is_fast_enough() {
    const std::string text = function("A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64, 64), \"float32\"), C: T.Buffer((64, 64), \"float32\")",
                                      "for i in T.serial(64):\n    for j in T.serial(64):\n        C[i, j] = T.float32(0)\n        for k in T.serial(64):\n"
                                      "            C[i, j] = C[i, j] + A[i, k] * B[k, j]");
    const std::clock_t begin = std::clock();
    QVERIFY(run(text).has_value());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    qInfo("%.1f million operations per second, loads, stores and indices not counted", 2 * 64 * 64 * 64 / seconds * 1e-6);
    QVERIFY(seconds < 10);
  }
};

QTEST_APPLESS_MAIN(InterpTest)
#include "interp_test.moc"
