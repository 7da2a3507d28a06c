// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstring>

#include "engine/base/text.h"
#include "engine/frontends/frontend.h"
#include "engine/frontends/torch/program.h"
#include "tests/engine/frontends/torch/program_text.h"

using namespace tw;
using namespace tw::frontends;
using namespace program_test;

class ProgramTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string refusal(const std::string& bytes) const {
    const auto g = read_model(written(folder_, bytes));
    return g ? "read" : g.error().text();
  }
  static Json sum() { return Json::array({call("torch.ops.aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("p_w")}}, "y")}); }
  static TensorMeta described(const Dims& sizes, const Dims& strides, int64_t offset) {
    TensorMeta m{kFloat32, {}, {}, {offset}};
    for (const int64_t s : sizes) m.sizes.push_back({s});
    for (const int64_t s : strides) m.strides.push_back({s});
    return m;
  }

 private Q_SLOTS:
  void read() {
    const auto g = read_pt2(written(folder_, archive(program(sum()))));
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    QVERIFY(graph::verify(*g).has_value());
    QCOMPARE(g->inputs.size(), size_t{1});
    QCOMPARE(g->values[static_cast<size_t>(g->inputs[0])].name, std::string("x"));
    QCOMPARE(g->values[static_cast<size_t>(g->outputs[0])].name, std::string("y"));
  }

  void strides() {
    float numbers[12];
    for (int i = 0; i < 12; ++i) numbers[i] = static_cast<float>(i);
    const std::span<const std::byte> storage(reinterpret_cast<const std::byte*>(numbers), sizeof numbers);
    const auto transposed = strided_tensor(described({3, 2}, {1, 4}, 1), storage);
    QVERIFY(transposed.has_value());
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t c = 0; c < 2; ++c) QCOMPARE(transposed->get(r * 2 + c), static_cast<double>(1 + r + 4 * c));
    QCOMPARE(strided_tensor(described({2, 3}, {0, 1}, 9), storage)->get(5), 11.0);
    QCOMPARE(strided_tensor(described({0, 3}, {3, 1}, 0), storage)->num_elements(), int64_t{0});
    QCOMPARE(strided_tensor(described({3, 4}, {4, 1}, 1), storage).error().code, ErrorCode::corrupt);
    QCOMPARE(strided_tensor(described({2}, {1}, -1), storage).error().code, ErrorCode::corrupt);
    for (const auto& [sizes, strides] : {std::pair<Dims, Dims>{{3, 3}, {1, 1}}, {{2, 3}, {2, 1}}, {{2, 2, 2}, {3, 2, 1}}}) {
      const auto overlapping = strided_tensor(described(sizes, strides, 0), storage);
      QVERIFY(!overlapping);
      QVERIFY2(overlapping.error().message.find("apart, found " + shape_text(strides)) != std::string::npos, overlapping.error().text().c_str());
    }
    QCOMPARE(strided_tensor(described({1, 3, 2}, {1, 4, 1}, 0), storage)->get(5), 9.0);
    QCOMPARE(strided_tensor(described({2}, {-1}, 4), storage).error().code, ErrorCode::corrupt);
    QCOMPARE(strided_tensor(described({int64_t{1} << 20, int64_t{1} << 30}, {0, 0}, 0), storage).error().code, ErrorCode::resource_limit);
    QCOMPARE(strided_tensor(described({int64_t{1} << 30}, {0}, 0), storage).error().code, ErrorCode::resource_limit);
    QCOMPARE(strided_tensor(described({3}, {INT64_MAX}, 0), storage).error().code, ErrorCode::resource_limit);
  }

  /// Other archives are told apart, and say what to do.
  void other_archives() {
    using archive_test::zip;
    QVERIFY(refusal(zip({{"net/code/net.py", ""}, {"net/constants.pkl", ""}})).find("TorchScript") != std::string::npos);
    QVERIFY(refusal(zip({{"serialized_exported_program.json", "{}"}})).find("before 2.8") != std::string::npos);
    QVERIFY(refusal(zip({{"archive/data.pkl", ""}})).find("no graph") != std::string::npos);
    QVERIFY(refusal(zip({{"readme.txt", ""}})).find("without models/*.json") != std::string::npos);
  }

  void damaged() {
    Json newer = program(sum());
    newer["schema_version"]["major"] = 9;
    QVERIFY(refusal(archive(newer)).find("schema 8, found 9") != std::string::npos);
    Json less = program(sum());
    less["graph_module"].erase("signature");
    QVERIFY(refusal(archive(less)).find("Expected 'signature'") != std::string::npos);
    const std::string deep = std::string(10000, '[') + std::string(10000, ']');
    QVERIFY(refusal(archive_test::zip({{"m/models/model.json", deep}})).find("at most 64 deep") != std::string::npos);
    QVERIFY(refusal(archive_test::zip({{"m/models/a.json", "{}"}, {"m/models/b.json", "{}"}})).find("found several") != std::string::npos);
    QVERIFY(refusal(archive_test::zip({{"m/models/a.json", "{}"}, {"m/byteorder", "big"}})).find("lowest byte first") != std::string::npos);
    QVERIFY(refusal(archive(program(sum()), weights(meta({4})))).find("leaves") != std::string::npos);
    QVERIFY(refusal(archive(program(sum()), weights(meta({3}, 9)))).find("complex numbers") != std::string::npos);
    Json climbing = weights(meta({3}));
    climbing["config"]["w"]["path_name"] = "../../../etc/passwd";
    QVERIFY(refusal(archive(program(sum()), climbing)).find("Expected '") != std::string::npos);
    QVERIFY(refusal(archive(program(sum()), {{"config", Json::object()}})).find("tensor 'w'") != std::string::npos);
    Json wrong = program(sum(), {{"y", meta({4, 3})}});
    QVERIFY(refusal(archive(wrong)).find("that the program describes") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(ProgramTest)
#include "program_test.moc"
