// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/session_form.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QtTest>

#include "engine/base/json.h"
#include "engine/base/rng.h"
#include "engine/tune/scheduler.h"
#include "widgets/common/duration_box.h"
#include "widgets/common/integer_box.h"
#include "widgets/common/param_form.h"

using namespace tw;
using namespace tw::app;

namespace {

/// Any value that a parameter may have.
Json anyValue(const Param& p, Rng& rng) {
  switch (p.kind) {
    case Param::Kind::integer: {
      const auto low = static_cast<int64_t>(p.min), high = p.max > p.min ? static_cast<int64_t>(p.max) : int64_t{1} << 40;
      return rng.range(low, high);
    }
    case Param::Kind::real:
      return std::max(p.min, std::round((p.min + (p.max > p.min ? p.max - p.min : 10) * rng.uniform_real()) * 1e3) / 1e3);
    case Param::Kind::duration:
      return std::round(rng.uniform_real() * 7200 * 1e6) / 1e6;
    case Param::Kind::boolean:
      return rng.uniform(2) == 1;
    case Param::Kind::choice:
      return p.choices[rng.uniform(p.choices.size())];
    case Param::Kind::text:
      break;
  }
  return "text " + std::to_string(rng.uniform(1000));
}

}  // namespace

/// Command line, stored options and form are one schema.
class SessionFormTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void everyOptionHasAField() {
    SessionForm form(tune::strategies(), QStringLiteral("tune"));
    for (const Param& p : tune::session_schema()) {
      auto* field = form.findChild<QWidget*>(QStringLiteral("edit.tune.") + QString::fromStdString(p.name));
      QVERIFY2(field, p.name.c_str());
      QVERIFY2(!field->toolTip().isEmpty() && !field->accessibleName().isEmpty(), p.name.c_str());
    }
    QCOMPARE(dump_json(tune::to_json(form.options())), dump_json(tune::to_json(*tune::session_options(tune::to_json(tune::SessionOptions())))));
  }

  void valuesSurvive() {
    SessionForm form(tune::strategies(), QStringLiteral("tune"));
    Rng rng(11);
    for (int i = 0; i < 60; ++i) {
      Json json = Json::object();
      for (const Param& p : tune::session_schema()) json[p.name] = anyValue(p, rng);
      const auto& tuner = tune::strategies()[rng.uniform(tune::strategies().size())];
      json["tuner"] = tuner.name;
      for (const Param& p : tuner.params) json["tuner_params"][p.name] = anyValue(p, rng);
      for (const Param& p : tune::find_scheduler(json["scheduler"].get<std::string>())->params) json["scheduler_params"][p.name] = anyValue(p, rng);
      const auto options = tune::session_options(json);
      QVERIFY2(options, options ? "" : options.error().text().c_str());
      form.setOptions(*options);
      QCOMPARE(dump_json(tune::to_json(form.options())), dump_json(tune::to_json(*options)));
    }
  }

  /// What is typed means what it means after `tw tune`.
  void whatIsTypedIsMeant() {
    SessionForm form(tune::strategies(), QStringLiteral("tune"));
    auto* time = form.findChild<widgets::DurationBox*>(QStringLiteral("edit.tune.time_s"));
    time->selectAll();
    QTest::keyClicks(time, QStringLiteral("1h30m"));
    QTest::keyClick(time, Qt::Key_Return);
    form.findChild<QComboBox*>(QStringLiteral("edit.tune.scheduler"))->setCurrentText(QStringLiteral("gradient"));
    QCOMPARE(form.options().time_s, 5400.0);
    QCOMPARE(form.options().scheduler, std::string("gradient"));
    for (const Param& p : tune::find_scheduler("gradient")->params)
      QVERIFY2(form.findChild<QWidget*>(QStringLiteral("edit.tune.scheduler.") + QString::fromStdString(p.name)), p.name.c_str());
    QCOMPARE(form.findChild<widgets::IntegerBox*>(QStringLiteral("edit.tune.early_stopping"))->text(), QStringLiteral("never"));
  }

  /// Tuners get what `tw tune` gives them, also where that is a millionth, and the bounds of a number can be chosen.
  void smallNumbersAreHeld() {
    SessionForm form(tune::strategies(), QStringLiteral("tune"));
    for (const auto& tuner : tune::strategies()) {
      form.findChild<QComboBox*>(QStringLiteral("edit.tune.tuner"))->setCurrentText(QLatin1String(tuner.name));
      const Json given = tune::session_options(Json{{"tuner", tuner.name}})->tuner_params;
      QVERIFY2(form.options().tuner_params == given, dump_json(form.options().tuner_params).c_str());
      for (const Param& p : tuner.params) {
        auto* real = form.findChild<QDoubleSpinBox*>(QStringLiteral("edit.tune.tuner.") + QString::fromStdString(p.name));
        if (p.kind != Param::Kind::real || p.max <= p.min) continue;
        for (const double bound : {p.min, p.max}) {
          real->setValue(bound < p.max ? bound - 1 : bound + 1);
          QCOMPARE(form.options().tuner_params[p.name].get<double>(), bound);
        }
      }
    }
  }

  void namesOfAutoTvmAreUnderstood() {
    SessionForm form(tune::strategies(), QStringLiteral("tune"));
    tune::SessionOptions options;
    options.tuner = "ga";
    form.setOptions(options);
    QCOMPARE(form.options().tuner, std::string("genetic"));
    QCOMPARE(std::string(form.tuner()->name), std::string("genetic"));
  }

  void withoutTunersTheirOptionsStay() {
    SessionForm form({}, QStringLiteral("race"));
    QVERIFY(!form.findChild<QWidget*>(QStringLiteral("edit.race.tuner")) && !form.tuner());
    tune::SessionOptions options;
    options.tuner = "genetic", options.tuner_params = {{"population", 32}}, options.finalists = 3;
    form.setOptions(options);
    QCOMPARE(form.options().tuner, std::string("genetic"));
    QCOMPARE(form.options().tuner_params["population"].get<int>(), 32);
    QCOMPARE(form.options().finalists, 3);
  }
};

QTEST_MAIN(SessionFormTest)
#include "session_form_test.moc"
