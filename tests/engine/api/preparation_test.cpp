// SPDX-License-Identifier: Apache-2.0
#include "engine/api/preparation.h"

#include <QtTest>
#include <algorithm>

#include "engine/base/json.h"

using namespace tw;

class PreparationTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Every choice names passes of the table that are not run without it.
  void choicesArePasses() {
    QVERIFY(api::passes_for(Json()).value().enabled.empty());
    QVERIFY(api::passes_for(Json{{"layout", "nchw"}}).value().enabled.empty());
    const graph::PassHooks hooks = api::passes_for(Json{{"layout", "nhwc"}}).value();
    QCOMPARE(hooks.enabled, std::vector<std::string>{"channels_last"});
    for (const std::string& name : hooks.enabled)
      QVERIFY(std::any_of(graph::passes().begin(), graph::passes().end(), [&](const graph::Pass& p) { return name == p.name && p.optional; }));
  }
  void othersAreRefused() {
    const auto unknown = api::passes_for(Json{{"layout", "chwn"}});
    QVERIFY(!unknown && unknown.error().message.find("nhwc") != std::string::npos);
    QVERIFY(!api::passes_for(Json{{"order", "nhwc"}}));
  }
};

QTEST_APPLESS_MAIN(PreparationTest)
#include "preparation_test.moc"
