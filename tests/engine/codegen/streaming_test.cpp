// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/streaming.h"

#include <QtTest>

#include "engine/target/cpu_table.h"
#include "engine/target/target.h"
#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;

/// What is stored past the caches, and reads of elements a constant distance apart.
class StreamingTest : public QObject {
  Q_OBJECT

  Target target_ = host_target();

 private Q_SLOTS:
  void only_large_outputs_that_nobody_reads();
  void what_is_read_once_is_fetched_ahead();
  void branches_read_one_of_two();
  void no_lines_are_left_open();
  void stores_past_the_caches_arrive();
  void rows_named_by_a_table_are_fetched_ahead();
  void strided_reads_data();
  void strided_reads();
};

namespace {

tir::Func copy_of(const ir::Buffer& a, const ir::Buffer& b, int lanes) {
  const ir::Var i = ir::make_var("i");
  const ir::Expr at = ir::ramp(ir::to_expr(i) * int64_t{lanes}, ir::index(1), lanes);
  return {"kernel",
          {a, b},
          1,
          tir::make_for(i, ir::index(0), ir::index(b->num_elements() / lanes), tir::ForKind::parallel, tir::store(b, {at}, ir::load(a, {at})))};
}

HostArray counted(const ir::Buffer& b) {
  HostArray a = HostArray::make(b->dtype, b->shape);
  for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(i % 113));
  return a;
}

}  // namespace

void StreamingTest::only_large_outputs_that_nobody_reads() {
  Target t;
  t.l3_bytes = 1 << 20;
  const ir::Buffer small = ir::make_buffer("small", kFloat32, {1 << 10}), large = ir::make_buffer("large", kFloat32, {1 << 18});
  const auto streamed = [&](const ir::Buffer& a, const ir::Buffer& b) { return codegen::streamed_outputs(copy_of(a, b, 16), t).contains(b.get()); };
  QVERIFY(streamed(large, ir::make_buffer("out", kFloat32, {1 << 18})));
  QVERIFY(!streamed(large, ir::make_buffer("out", kFloat32, {1 << 10})));
  QVERIFY(!streamed(small, ir::make_buffer("out", kFloat32, {1 << 17})));  // both fit the cache
  QVERIFY(codegen::inputs_ahead(copy_of(large, small, 16), {}, t).contains(large.get()));
  QVERIFY(!codegen::inputs_ahead(copy_of(small, large, 16), {}, t).contains(small.get()));
  tir::Func twice = copy_of(small, large, 16);
  twice.body = tir::seq({twice.body, twice.body});
  t.l2_bytes = small->bytes() / 2;
  QVERIFY(!codegen::inputs_ahead(twice, {}, t).contains(small.get()));
  QVERIFY(codegen::inputs_ahead(twice, {small.get()}, t).contains(small.get()));  // each time from beyond the cache
  t.l2_bytes = small->bytes();
  QVERIFY(!codegen::inputs_ahead(twice, {small.get()}, t).contains(small.get()));
  // An output that is added to is read back.
  const ir::Buffer out = ir::make_buffer("out", kFloat32, {1 << 18});
  tir::Func f = copy_of(large, out, 16);
  f.body = tir::seq({f.body, tir::store(out, {ir::index(0)}, ir::load(out, {ir::index(1)}))});
  QVERIFY(codegen::streamed_outputs(f, t).empty());
}

/// An array that is added up vector by vector: once or again from the beginning, by one statement or by several that share a vector.
void StreamingTest::what_is_read_once_is_fetched_ahead() {
  Target t;
  t.l3_bytes = int64_t{1} << 30;
  t.l2_bytes = 1 << 16;
  const int lanes = 16;
  const ir::Buffer large = ir::make_buffer("large", kFloat32, {1 << 15}), small = ir::make_buffer("small", kFloat32, {1 << 14});
  const auto ahead = [&](const ir::Buffer& in, int64_t turns, int copies) {
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
    const ir::Buffer out = ir::make_buffer("out", kFloat32, {lanes});
    const ir::Expr to = ir::ramp(ir::index(0), ir::index(1), lanes), from = ir::ramp(ir::to_expr(j) * int64_t{lanes}, ir::index(1), lanes);
    const std::vector<tir::Stmt> body(static_cast<size_t>(copies), tir::store(out, {to}, ir::load(out, {to}) + ir::load(in, {from})));
    const tir::Stmt inner = tir::make_for(j, ir::index(0), ir::index(in->num_elements() / lanes), tir::ForKind::serial, tir::seq(body));
    const tir::Func f{"kernel", {in, out}, 1, tir::make_for(i, ir::index(0), ir::index(turns), tir::ForKind::serial, inner)};
    const auto found = codegen::inputs_ahead(f, {}, t);
    return found.contains(in.get()) ? found.at(in.get()) : 0;
  };
  QVERIFY(ahead(large, 1, 1) > 0);
  QCOMPARE(ahead(large, 1, 4), ahead(large, 1, 1));  // four rows share what is read
  QCOMPARE(ahead(large, 2, 1), 0);                   // again from the beginning
  QCOMPARE(ahead(small, 1, 1), 0);                   // the cache holds it
  t.l3_bytes = 1 << 16;
  QVERIFY(ahead(large, 2, 1) > 0);  // but not the last one
}

/// Of two branches that read the same rows at other places one is taken: each row is read once. As far ahead as the processor wants it.
void StreamingTest::branches_read_one_of_two() {
  Target t;
  t.l3_bytes = int64_t{1} << 30;
  t.l2_bytes = 1 << 16;
  const int lanes = 16;
  const ir::Buffer in = ir::make_buffer("in", kFloat32, {1 << 15}), out = ir::make_buffer("out", kFloat32, {lanes});
  const auto ahead = [&](bool both) {
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
    const ir::Expr to = ir::ramp(ir::index(0), ir::index(1), lanes);
    const auto read = [&](const ir::Expr& at) { return tir::store(out, {to}, ir::load(out, {to}) + ir::load(in, {ir::ramp(at, ir::index(1), lanes)})); };
    const ir::Expr row = ir::to_expr(i) * int64_t{1 << 10}, column = ir::to_expr(j) * int64_t{lanes};
    const tir::Stmt one = read(row + column), other = read(row + (ir::index((1 << 10) - lanes) - column));
    const tir::Stmt body = both ? tir::seq({one, other}) : tir::if_then(ir::to_expr(i) < ir::index(16), one, other);
    const tir::Stmt inner = tir::make_for(j, ir::index(0), ir::index((1 << 10) / lanes), tir::ForKind::serial, body);
    const tir::Func f{"kernel", {in, out}, 1, tir::make_for(i, ir::index(0), ir::index(32), tir::ForKind::serial, inner)};
    const auto found = codegen::inputs_ahead(f, {}, t);
    return found.contains(in.get()) ? found.at(in.get()) : 0;
  };
  QCOMPARE(ahead(true), 0);
  for (const char* cpu : {"graniterapids", "znver5"}) {
    t.cpu = cpu;
    QCOMPARE(ahead(false), target::pipes_of(cpu).bytes_ahead);
  }
}

/// Blocks of 8 rows, of half a line or of a whole one each, or of two halves at once.
void StreamingTest::no_lines_are_left_open() {
  Target t;
  t.l3_bytes = 1 << 20;
  const auto streamed = [&](int lanes, int pieces) {
    const int64_t width = 64, rows = 8, count = int64_t{1} << 18;
    const ir::Buffer in = ir::make_buffer("in", kFloat32, {count}), out = ir::make_buffer("out", kFloat32, {count});
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
    std::vector<tir::Stmt> statements;
    for (int64_t r = 0; r < rows; ++r)
      for (int p = 0; p < pieces; ++p) {
        const ir::Expr at =
            ir::ramp(ir::to_expr(i) * int64_t{rows * width} + ir::to_expr(j) * int64_t{pieces * lanes} + (r * width + p * lanes), ir::index(1), lanes);
        statements.push_back(tir::store(out, {at}, ir::load(in, {at})));
      }
    const tir::Stmt inner = tir::make_for(j, ir::index(0), ir::index(width / lanes / pieces), tir::ForKind::serial, tir::seq(statements));
    const tir::Func f{"kernel", {in, out}, 1, tir::make_for(i, ir::index(0), ir::index(count / rows / width), tir::ForKind::serial, inner)};
    return codegen::streamed_outputs(f, t).contains(out.get());
  };
  QVERIFY(!streamed(8, 1));
  QVERIFY(streamed(8, 2));
  QVERIFY(streamed(16, 1));
}

void StreamingTest::stores_past_the_caches_arrive() {
  Target t = target_;
  t.l3_bytes = 4096;
  const int lanes = t.lanes(kFloat32);
  const ir::Buffer a = ir::make_buffer("a", kFloat32, {1 << 14}), b = ir::make_buffer("b", kFloat32, {1 << 14});
  std::vector<HostArray> args{counted(a), HostArray::make(kFloat32, b->shape)};
  const auto done = codegen::testing::run(copy_of(a, b, lanes), args, t);
  QVERIFY2(done, done ? "" : done.error().text().c_str());
  QCOMPARE(args[1].data, args[0].data);
  const std::string assembly = codegen::build_listing(copy_of(a, b, lanes), t).value().assembly;
  QVERIFY(assembly.find("movntps") != std::string::npos);
  QVERIFY(assembly.find("sfence") != std::string::npos);
  QVERIFY(codegen::build_listing(copy_of(a, b, lanes), target_).value().assembly.find("movnt") == std::string::npos);
}

/// out[i, :] = in[table[i], :], where the last rows have no later ones to fetch.
void StreamingTest::rows_named_by_a_table_are_fetched_ahead() {
  Target t = target_;
  t.l3_bytes = 4096;
  const int lanes = t.lanes(kFloat32);
  const int64_t rows = 40, width = 4 * lanes, turns = 50;
  const ir::Buffer in = ir::make_buffer("in", kFloat32, {rows * width}), table = ir::make_buffer("table", kInt64, {turns});
  const ir::Buffer out = ir::make_buffer("out", kFloat32, {turns * width});
  const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
  const ir::Expr column = ir::to_expr(j) * int64_t{lanes}, row = ir::load(table, {ir::to_expr(i)});
  const auto vector = [&](const ir::Expr& first) { return ir::ramp(first, ir::index(1), lanes); };
  const tir::Stmt copy = tir::store(out, {vector(ir::to_expr(i) * width + column)}, ir::load(in, {vector(row * width + column)}));
  const tir::Func f{"kernel",
                    {in, table, out},
                    1,
                    tir::make_for(i, ir::index(0), ir::index(turns), tir::ForKind::parallel,
                                  tir::make_for(j, ir::index(0), ir::index(width / lanes), tir::ForKind::serial, copy))};
  std::vector<HostArray> args{counted(in), HostArray::make(kInt64, table->shape), HostArray::make(kFloat32, out->shape)};
  for (int64_t k = 0; k < turns; ++k) args[1].set(k, static_cast<double>((k * 7) % rows));
  QVERIFY(codegen::build_listing(f, t).value().assembly.find("prefetch") != std::string::npos);
  const std::vector<HostArray> inputs = args;
  const auto done = codegen::testing::run(f, args, t);
  QVERIFY2(done, done ? "" : done.error().text().c_str());
  for (int64_t k = 0; k < turns; ++k)
    for (int64_t c = 0; c < width; ++c) QCOMPARE(args[2].get(k * width + c), inputs[0].get((k * 7) % rows * width + c));
}

void StreamingTest::strided_reads_data() {
  QTest::addColumn<int>("stride");
  QTest::addColumn<int>("lanes");
  QTest::addColumn<int>("rows");
  QTest::addColumn<QString>("type");
  for (const char* type : {"float32", "float64", "int8", "float16"})
    for (const int lanes : {4, 8, 16})
      for (const auto& [stride, rows] : {std::pair(1, 1), {2, 1}, {3, 1}, {4, 2}, {5, 1}, {16, 16}, {40, 8}, {33, 21}, {24, 4}})
        QTest::addRow("%s, %d lanes %d apart, %d statements", type, lanes, stride, rows) << stride << lanes << rows << type;
}

/// out[r, l] = in[i + l * stride + r] for two values of i: with as many statements as lanes, a transposed block.
void StreamingTest::strided_reads() {
  QFETCH(int, stride);
  QFETCH(int, lanes);
  QFETCH(int, rows);
  QFETCH(QString, type);
  const DType t = parse_dtype(type.toStdString()).value();
  const int64_t step = 7, turns = 2;
  const ir::Buffer in = ir::make_buffer("in", t, {(turns - 1) * step + (lanes - 1) * stride + rows}), out = ir::make_buffer("out", t, {turns * rows * lanes});
  const ir::Var i = ir::make_var("i");
  std::vector<tir::Stmt> statements;
  for (int r = 0; r < rows; ++r) {
    const ir::Expr from = ir::ramp(ir::to_expr(i) * step + int64_t{r}, ir::index(stride), lanes);
    const ir::Expr to = ir::ramp(ir::to_expr(i) * int64_t{rows * lanes} + int64_t{r * lanes}, ir::index(1), lanes);
    statements.push_back(tir::store(out, {to}, ir::load(in, {from})));
  }
  const tir::Func f{"kernel", {in, out}, 1, tir::make_for(i, ir::index(0), ir::index(turns), tir::ForKind::serial, tir::seq(statements))};
  std::vector<HostArray> args{counted(in), HostArray::make(t, out->shape)};
  const HostArray source = args[0];
  const auto done = codegen::testing::run(f, args, target_);
  QVERIFY2(done, done ? "" : done.error().text().c_str());
  for (int64_t k = 0; k < turns; ++k)
    for (int r = 0; r < rows; ++r)
      for (int l = 0; l < lanes; ++l) QCOMPARE(args[1].get((k * rows + r) * lanes + l), source.get(k * step + l * stride + r));
}

QTEST_APPLESS_MAIN(StreamingTest)
#include "streaming_test.moc"
