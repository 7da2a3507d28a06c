// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/json.h"
#include "engine/frontends/torch/origin.h"

using namespace tw;
using frontends::origin_of;

class OriginTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void modules_and_lines() {
    const Json call = {{"nn_module_stack", "L__self__,,models.resnet.ResNet;L__self___layer1,layer1,torch.nn.Sequential;L__self___layer1_0,layer1.0,models.resnet.Block"},
                       {"stack_trace", "  File \"/home/me/models/resnet.py\", line 285, in forward\n    x = self.layer1(x)\n"
                                       "  File \"/usr/lib/python3/site-packages/torch/nn/modules/conv.py\", line 553, in forward\n    return f(x)\n"}};
    const graph::Origin o = origin_of(call);
    QCOMPARE(o.module, std::string("layer1.0"));
    QCOMPARE(o.source, std::string("resnet.py:285"));
  }
  void what_is_not_there() {
    for (const Json& j : {Json(), Json::array(), Json::object(), Json{{"nn_module_stack", 3}}, Json{{"stack_trace", "no frame"}, {"nn_module_stack", "no comma"}}})
      QVERIFY(origin_of(j) == graph::Origin{});
    QCOMPARE(origin_of("", "File \"/x/torch/nn/functional.py\", line 12, in relu").source, std::string("functional.py:12"));
    QVERIFY(origin_of("a,layer\x01,T", "").module.find('\x01') == std::string::npos);
    QVERIFY(origin_of("a," + std::string(100000, 'x') + ",T", "").module.size() <= 512);
  }
};

QTEST_APPLESS_MAIN(OriginTest)
#include "origin_test.moc"
