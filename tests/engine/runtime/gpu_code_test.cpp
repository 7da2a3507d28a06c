// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/json.h"
#include "engine/runtime/gpu_code.h"

using namespace tw;
using runtime::GpuFunction;

class GpuCodeTest : public QObject {
  Q_OBJECT

  static GpuFunction sample() {
    GpuFunction f;
    f.symbol = "k";
    f.arguments = 2;
    f.workspace_bytes = {4096};
    f.launches = {{"k_0", {7, 2, 1}, {32, 4, 1}, 0, {0, 2}}, {"k_1", {1, 1, 1}, {256, 1, 1}, 65536, {2, 1}}};
    f.loops = "loops";
    f.source = "source";
    return f;
  }

 private Q_SLOTS:
  void json_keeps_everything_but_images() {
    GpuFunction f = sample();
    f.images[80] = {std::byte{1}};
    const GpuFunction back = runtime::gpu_function_from_json(runtime::to_json(f)).value();
    f.images.clear();
    QVERIFY(back == f);
  }

  void bad_descriptions_are_refused() {
    const Json good = runtime::to_json(sample());
    const auto refused = [&](const char* key, const Json& value) {
      Json bad = good;
      bad[Json::json_pointer(key)] = value;
      const auto f = runtime::gpu_function_from_json(bad);
      return f ? std::string("taken") : f.error().message;
    };
    QCOMPARE(refused("/launches/0/params", Json::array({0, 3})), std::string("Expected one of 3 arrays as a parameter of GPU code, found number 3"));
    QCOMPARE(refused("/launches/0/block", Json::array({2048, 1, 1})),
             std::string("Expected sizes that a GPU can launch, found 7x2x1 blocks of 2048x1x1 threads"));
    QCOMPARE(refused("/launches/0/grid", Json::array({0, 1, 1})), std::string("Expected sizes that a GPU can launch, found 0x1x1 blocks of 32x4x1 threads"));
    QCOMPARE(refused("/launches/1/dynamic_shared_bytes", -1), std::string("Expected a number of bytes of shared memory in the description of GPU code"));
    QCOMPARE(refused("/source", 3), std::string("Expected text as \"source\" in the description of GPU code"));
    QCOMPARE(refused("/workspace_bytes/0", "x"), std::string("Expected sizes of workspaces in the description of GPU code"));
  }

  /// Binary compatibility: newer of the same generation runs older, never the other way, and Orin is alone.
  void images_by_capability() {
    GpuFunction f = sample();
    f.images[80] = {std::byte{80}};
    f.images[90] = {std::byte{90}};
    QVERIFY(!f.image_for(75));
    QCOMPARE(f.image_for(80)->at(0), std::byte{80});
    QCOMPARE(f.image_for(86)->at(0), std::byte{80});
    QVERIFY(!f.image_for(87));
    QCOMPARE(f.image_for(90)->at(0), std::byte{90});
    QVERIFY(!f.image_for(100));
    f.images.erase(80);
    f.images[87] = {std::byte{87}};
    QVERIFY(!f.image_for(89));
    QCOMPARE(f.image_for(87)->at(0), std::byte{87});
  }
};

QTEST_APPLESS_MAIN(GpuCodeTest)
#include "gpu_code_test.moc"
