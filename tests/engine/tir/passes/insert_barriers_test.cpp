// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/insert_barriers.h"

#include <QtTest>
#include <set>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/tir/interp.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"

using namespace tw;
using namespace tw::tir;

namespace {

/// constant + x cx + y cy + i ci, or the place of thread x + y X in rows of `row`, each `pitch` long.
struct Place {
  int64_t constant = 0, cx = 0, cy = 0, ci = 0;
  int64_t row = 0, pitch = 0;

  int64_t at(int64_t x, int64_t y, int64_t i, int64_t threads_x) const {
    if (row == 0) return constant + cx * x + cy * y + ci * i;
    const int64_t t = x + y * threads_x;
    return constant + t / row * pitch + t % row + ci * i;
  }
  std::string text(int64_t threads_x) const {
    if (row == 0) return fmt::format("x * {} + y * {} + i * {} + {}", cx, cy, ci, constant);
    return fmt::format("(y * {0} + x) // {1} * {2} + (y * {0} + x) % {1} + i * {3} + {4}", threads_x, row, pitch, ci, constant);
  }
};

/// One block of a few threads that store to and read from one shared array, at random affine places near the borders of what can be told apart: coefficients
/// as large as what the smaller ones can make up, or one more, or one less.
struct Program {
  struct Access {
    bool write = false;
    Place place;
    int64_t turns = 1;  ///< of its own loop over i
    int64_t guard = 0;  ///< of x; 0: all threads
    int64_t slot = 0;   ///< added to the turn of the loop around, modulo the slots
  };
  int64_t x = 1, y = 1, turns = 1, slots = 1, size = 0;
  std::vector<Access> accesses;

  std::string text() const {
    const int64_t threads = x * y, rounds = (size + threads - 1) / threads;
    std::string out = fmt::format(
        "@T.prim_func\ndef f(C: T.Buffer(({0},), \"float32\")):\n    T.func_attr({{\"num_outputs\": 1}})\n"
        "    s = T.alloc_buffer(({1}, {2}), \"float32\", scope=\"shared\")\n"
        "    for y in T.thread_binding({3}, thread=\"threadIdx.y\"):\n        for x in T.thread_binding({4}, thread=\"threadIdx.x\"):\n"
        "            C[y * {4} + x] = T.float32(0)\n            for i in T.serial({5}):\n",
        threads, slots, rounds * threads, y, x, rounds);
    for (int64_t k = 0; k < slots; ++k) out += fmt::format("                s[{}, i * {} + y * {} + x] = T.float32(1)\n", k, threads, x);
    out += "            T.tvm_storage_sync(\"shared\")\n";
    out += fmt::format("            for k in T.serial({}):\n", turns);
    for (const Access& a : accesses) {
      std::string indent(16, ' ');
      out += fmt::format("{}for i in T.serial({}):\n", indent, a.turns);
      indent += "    ";
      if (a.guard > 0) {
        out += fmt::format("{}if x < {}:\n", indent, a.guard);
        indent += "    ";
      }
      const std::string element = fmt::format("s[{}, {}]", slots == 1 ? "0" : fmt::format("(k + {}) % {}", a.slot, slots), a.place.text(x));
      const std::string own = fmt::format("C[y * {} + x]", x);
      out += indent + (a.write ? element + " = T.float32(2)" : own + " = " + own + " + " + element) + "\n";
    }
    return out;
  }
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed) {}

  Program program() {
    Program p;
    p.x = rng_.range(1, 5);
    p.y = rng_.range(1, 3);
    p.turns = rng_.range(1, 3);
    p.slots = rng_.uniform(4) == 0 ? rng_.range(2, 3) : 1;
    for (int64_t n = rng_.range(2, 4); n > 0; --n) p.accesses.push_back(access(p));
    p.accesses[0].write = true;
    while (!legal(p, p.accesses[0])) p.accesses[0] = access(p), p.accesses[0].write = true;
    if (rng_.uniform(2) == 0)  // the same place, or nearly: what a thread wrote it often reads itself
      for (Program::Access& a : p.accesses) {
        const Program::Access first = p.accesses[0];
        a.place = first.place;
        a.turns = first.turns;
        a.guard = first.guard;
        a.slot = first.slot;
        if (rng_.uniform(6) == 0) a.place.constant += 1;
      }
    for (const Program::Access& a : p.accesses)
      for (int64_t x = 0; x < p.x; ++x)
        for (int64_t y = 0; y < p.y; ++y)
          for (int64_t i = 0; i < a.turns; ++i) p.size = std::max(p.size, a.place.at(x, y, i, p.x) + 1);
    return p;
  }

 private:
  int64_t near(int64_t v) { return std::max<int64_t>(0, v + rng_.range(-1, 1)); }

  Program::Access access(const Program& p) {
    for (;;) {
      Program::Access a;
      a.write = rng_.uniform(2) == 0;
      a.turns = rng_.range(1, 4);
      a.guard = rng_.uniform(5) == 0 ? rng_.range(1, p.x) : 0;
      if (a.guard > 0) a.turns = 1;  // no barrier could stand between turns that only some threads take
      a.slot = rng_.range(0, 2);
      a.place.constant = rng_.range(0, 3);
      a.place.ci = rng_.uniform(3) == 0 ? rng_.range(0, 8) : 1;
      if (rng_.uniform(4) == 0) {
        a.place.row = rng_.range(1, 4);
        a.place.pitch = near(a.place.row + (a.turns - 1) * a.place.ci);
      } else {
        const int64_t inner = 1 + (a.turns - 1) * a.place.ci;
        a.place.cx = rng_.uniform(3) == 0 ? 1 : near(inner);
        a.place.cy = near(inner - 1 + a.place.cx * p.x);
        if (rng_.uniform(8) == 0) std::swap(a.place.cx, a.place.cy);
      }
      if (legal(p, a)) return a;
    }
  }

  /// In one turn no element is stored by two threads: no barrier helps against that.
  static bool legal(const Program& p, const Program::Access& a) {
    if (!a.write) return true;
    std::set<int64_t> places;
    for (int64_t x = 0; x < (a.guard > 0 ? a.guard : p.x); ++x)
      for (int64_t y = 0; y < p.y; ++y)
        if (!places.insert(a.place.at(x, y, 0, p.x)).second) return false;
    return true;
  }

  Rng rng_;
};

/// What running it says; empty if all is well.
std::string trouble(const Func& f) {
  std::vector<HostArray> arguments{HostArray::make(kFloat32, f.params[0]->shape)};
  const auto ran = interpret(f, arguments);
  return ran ? std::string() : ran.error().text();
}

size_t barriers(const Func& f) {
  const std::string text = print(f), word = "tvm_storage_sync";
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

}  // namespace

class InsertBarriersTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// The proof that two accesses never meet, against the interpreter, which knows nothing of it and finds every race: none is left in thousands of blocks, of
  /// which most race without barriers, and many are left without any.
  void noRaceIsLeft() {
    Generator generator(17);
    int racing = 0, spared = 0;
    constexpr int kPrograms = 4000;
    for (int n = 0; n < kPrograms; ++n) {
      const std::string text = generator.program().text();
      const auto f = parse_func(text);
      QVERIFY2(f.has_value(), (f ? "" : f.error().text() + "\n" + text).c_str());
      const Func with = insert_barriers(*f, Target());
      QVERIFY(verify(with));
      const std::string after = trouble(with);
      QVERIFY2(after.empty(), (after + "\n" + print(with)).c_str());
      const std::string before = trouble(*f);
      racing += !before.empty();
      spared += before.empty() && barriers(with) == 1;
    }
    QVERIFY2(racing > kPrograms / 4 && spared > kPrograms / 50, qPrintable(QString("%1 race, %2 need nothing and get nothing").arg(racing).arg(spared)));
  }
};

QTEST_APPLESS_MAIN(InsertBarriersTest)
#include "insert_barriers_test.moc"
