// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_executor.h"

#include "engine/measure/network_run.h"

#include <QtTest>

#include "engine/base/text.h"
#include "engine/target/cpu_table.h"
#include "engine/target/host.h"
#include "tests/engine/api/tiny_network.h"

using namespace tw;
using namespace tw::measure;

class NetworkExecutorTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Code that may use what this machine lacks is refused by name before it runs, whatever its processor is called.
  void codeForRicherProcessorsIsRefused() {
    const Target host = host_target();
    const target::FeatureSet all = (target::bit(target::X86Feature::count)) - 1;
    const target::FeatureSet lacking = all & ~target::host_features();
    runtime::Executable e = api::compile(api::testing::tiny_network("mlp", host), host, nullptr).value();
    const auto executor = network_executor(std::make_shared<const runtime::Executable>(e), nullptr);
    QVERIFY2(executor.has_value(), executor ? "" : executor.error().text().c_str());
    QVERIFY((*executor)->set_inputs(random_inputs(e, 1)));
    QVERIFY((*executor)->run());
    if (lacking == 0) QSKIP("this processor has every instruction set that there is code for");
    std::vector<std::string> flags = host.features, names;
    for (int i = 0; i < static_cast<int>(target::X86Feature::count); ++i) {
      const auto f = static_cast<target::X86Feature>(i);
      if ((lacking & target::bit(f)) == 0) continue;
      names.emplace_back(target::feature_name(f));
      std::erase(flags, "-" + names.back());
      if (!(target::find_cpu(host.cpu)->features & target::bit(f))) flags.push_back("+" + names.back());
    }
    Target rich = host;
    rich.features = flags;
    e.target = rich.str();
    const auto refused = network_executor(std::make_shared<const runtime::Executable>(e), nullptr);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::unsupported);
    for (const std::string& name : names) QVERIFY2(refused.error().message.find(name) != std::string::npos, refused.error().message.c_str());
  }

  void randomInputsFollowTheSeed() {
    const Target host = host_target();
    const runtime::Executable e = api::compile(api::testing::tiny_network("mlp", host), host, nullptr).value();
    QCOMPARE(random_inputs(e, 3).begin()->second.data, random_inputs(e, 3).begin()->second.data);
    QVERIFY(random_inputs(e, 3).begin()->second.data != random_inputs(e, 4).begin()->second.data);
  }
};

QTEST_APPLESS_MAIN(NetworkExecutorTest)
#include "network_executor_test.moc"
