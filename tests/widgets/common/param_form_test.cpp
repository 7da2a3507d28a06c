// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/param_form.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSlider>
#include <QToolButton>
#include <QtTest>

#include "engine/base/json.h"
#include "widgets/common/banner.h"
#include "widgets/common/duration_box.h"
#include "widgets/common/format.h"
#include "widgets/common/integer_box.h"
#include "widgets/tuning/knob_panel.h"

using namespace tw;
using namespace tw::widgets;

namespace {

ParamSchema schema() {
  return {{"pop_size", Param::Kind::integer, 100, "Candidates per generation", 1, 10000, {}},
          {"mutation", Param::Kind::real, 0.1, "Chance", 0, 1, {}},
          {"elite", Param::Kind::boolean, true, "Keep the best", 0, 0, {}},
          {"order", Param::Kind::choice, "up", "Order", 0, 0, {"up", "down"}},
          {"note", Param::Kind::text, "a", "Text", 0, 0, {}},
          {"limit_s", Param::Kind::duration, 10.0, "Limit; 0: none", 0, 0, {}},
          {"seed", Param::Kind::integer, 1, "Seed", 0, 9e18, {}},
          {"only", Param::Kind::text, "", "What alone is looked at; empty: all", 0, 0, {}}};
}

}  // namespace

class ParamFormTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void startsWithTheDefaults() {
    ParamForm form;
    form.setSchema(schema());
    const auto defaults = resolve_params(schema(), Json::object());
    QVERIFY(defaults.has_value());
    QCOMPARE(dump_json(form.values()), dump_json(*defaults));
  }

  void editedValuesPassTheSchema() {
    ParamForm form;
    form.setSchema(schema());
    QSignalSpy changed(&form, &ParamForm::changed);
    form.findChild<IntegerBox*>(QStringLiteral("edit.param.pop_size"))->setValue(999'999);  // beyond the range
    QCOMPARE(changed.count(), 1);
    QCOMPARE(form.values()["pop_size"].get<int>(), 10000);
    form.setValues({{"order", "down"}, {"unknown", 3}});
    QCOMPARE(form.values()["order"].get<std::string>(), std::string("down"));
    QVERIFY(resolve_params(schema(), form.values()).has_value());
  }

  void valuesOf64Bits() {
    ParamForm form;
    form.setSchema(schema());
    const int64_t seed = 8'000'000'000'000'000'003;  // not a double
    form.setValues({{"seed", seed}, {"limit_s", 2e-4}});
    QCOMPARE(form.values()["seed"].get<int64_t>(), seed);
    QCOMPARE(form.values()["limit_s"].get<double>(), 2e-4);
    auto* box = form.findChild<IntegerBox*>(QStringLiteral("edit.param.seed"));
    box->setRange(0, std::numeric_limits<qint64>::max());
    box->setValue(std::numeric_limits<qint64>::max() - 1);
    box->stepBy(10);
    QCOMPARE(box->value(), std::numeric_limits<qint64>::max());
  }

  void realsShowTheDecimalsThatTheyNeed() {
    ParamForm form;
    form.setSchema({{"decay", Param::Kind::real, 1e-6, "Weight", 0, 1, {}}, {"momentum", Param::Kind::real, 0.5, "Kept", 0, 0.999999, {}}});
    auto* decay = qobject_cast<QDoubleSpinBox*>(form.editor("decay"));
    auto* momentum = qobject_cast<QDoubleSpinBox*>(form.editor("momentum"));
    QCOMPARE(form.values()["decay"].get<double>(), 1e-6);
    QCOMPARE(decay->text(), QStringLiteral("0.000001"));
    QCOMPARE(momentum->text(), QStringLiteral("0.5"));
    momentum->setValue(2);
    QCOMPARE(form.values()["momentum"].get<double>(), 0.999999);
    form.setValues(Json{{"momentum", 0.12345678}});  // of a session that `tw tune` began
    QCOMPARE(form.values()["momentum"].get<double>(), 0.12345678);
  }

  void timesAreTypedWithTheirUnit() {
    ParamForm form;
    form.setSchema(schema());
    auto* time = form.findChild<DurationBox*>(QStringLiteral("edit.param.limit_s"));
    QCOMPARE(time->text(), QStringLiteral("10s"));
    const auto type = [&](const QString& text) {
      time->selectAll();
      QTest::keyClicks(time, text);
      QTest::keyClick(time, Qt::Key_Return);
    };
    type(QStringLiteral("1h30m"));
    QCOMPARE(time->value(), 5400.0);
    QCOMPARE(time->text(), QStringLiteral("90m"));
    type(QStringLiteral("soon"));
    QCOMPARE(time->value(), 5400.0);
    QCOMPARE(time->text(), QStringLiteral("90m"));
    type(QStringLiteral("0"));
    QCOMPARE(time->value(), 0.0);
    QCOMPARE(time->text(), QStringLiteral("none"));
    time->stepBy(3);
    QCOMPARE(form.values()["limit_s"].get<double>(), 3.0);
  }

  void numbersAreTyped() {
    IntegerBox box;
    box.setRange(0, 1'000'000);
    box.setZeroText(QStringLiteral("never"));
    QCOMPARE(box.text(), QStringLiteral("never"));
    QSignalSpy changed(&box, &IntegerBox::valueChanged);
    const auto type = [&](const QString& text) {
      box.selectAll();
      QTest::keyClicks(&box, text);
      QTest::keyClick(&box, Qt::Key_Return);
    };
    type(QStringLiteral("12345"));
    QCOMPARE(box.value(), 12345);
    QCOMPARE(changed.last()[0].toLongLong(), 12345);
    type(QStringLiteral("2000000"));  // beyond the range: 200000 was the last that fits
    QCOMPARE(box.value(), 200000);
    type(QStringLiteral("none"));
    QCOMPARE(box.value(), 200000);
    QTest::keyClick(&box, Qt::Key_Up);
    QCOMPARE(box.value(), 200001);
  }

  void advancedOnesOpen() {
    ParamForm form;
    form.setSchema(schema(), {"seed", "only"});
    form.show();
    auto* seed = form.editor("seed");
    auto* only = qobject_cast<QLineEdit*>(form.editor("only"));
    QVERIFY(seed && only && !form.editor("unknown"));
    QVERIFY(!seed->isVisible() && form.editor("order")->isVisible());
    form.findChild<QToolButton*>(QStringLiteral("button.param.advanced"))->click();
    QVERIFY(seed->isVisible() && form.isAdvancedShown());
    QCOMPARE(only->placeholderText(), QStringLiteral("all"));
    auto* below = new QLabel(QStringLiteral("below"));
    form.insertBelow("order", below);
    QTRY_VERIFY(below->isVisible() && below->y() > form.editor("order")->y());
    form.setSchema({});
    QVERIFY(!form.findChild<QToolButton*>(QStringLiteral("button.param.advanced"))->isVisible());
  }

  void everyEditorHasAName() {
    ParamForm form;
    form.setSchema(schema());
    for (const QWidget* w : form.findChildren<QWidget*>(QRegularExpression(QStringLiteral("^edit\\.param\\.")))) QVERIFY(!w->accessibleName().isEmpty());
  }

  void knobPanelMapsPositionsToIndices() {
    auto space = std::make_shared<space::ConfigSpace>();
    space->define_knob("a", {1, 2, 3});
    space->define_knob("b", {"x", "y"});
    KnobPanel panel;
    panel.setSpace(space, QStringLiteral("test"));
    QCOMPARE(panel.index(), 0);
    QSignalSpy edited(&panel, &KnobPanel::indexEdited);
    for (qint64 i = 0; i < space->size(); ++i) {
      panel.setIndex(i);
      QCOMPARE(panel.findChild<QComboBox*>(QStringLiteral("combo.knob.a"))->currentIndex(), space->knob_positions(i)[0]);
      QCOMPARE(panel.findChild<QSlider*>(QStringLiteral("slider.knob.b"))->value(), space->knob_positions(i)[1]);
    }
    QCOMPARE(edited.count(), 0);  // showing is not editing
    panel.setIndex(0);
    panel.findChild<QComboBox*>(QStringLiteral("combo.knob.b"))->setCurrentIndex(1);
    QCOMPARE(edited.count(), 1);
    QCOMPARE(edited[0][0].toLongLong(), space->index_of({0, 1}));
    panel.setReason(QStringLiteral("<b>no</b>"));
    QCOMPARE(panel.findChild<QLabel*>(QStringLiteral("label.space.reason"))->textFormat(), Qt::PlainText);
  }

  void anInputThatStandsElsewhereIsStillRead() {
    ParamForm form;
    form.setSchema({{.name = "count", .kind = Param::Kind::integer, .default_value = 3}, {.name = "fast", .kind = Param::Kind::boolean, .default_value = false}});
    QWidget elsewhere;
    QWidget* input = form.takeOut("count");
    QVERIFY(input);
    input->setParent(&elsewhere);
    QCOMPARE(form.findChildren<QLabel*>().size(), 1);  // that of the other row
    form.setValues(Json{{"count", 7}});
    QCOMPARE(form.values()["count"].get<int>(), 7);
    input->setParent(&form);
  }

  void bannersShowPlainText() {
    QWidget host;
    Banner banner(&host);
    banner.showMessage(Banner::Kind::error, QStringLiteral("<script>"), QStringLiteral("details"));
    QCOMPARE(banner.text(), QStringLiteral("<script>"));
    QCOMPARE(banner.findChild<QLabel*>(QStringLiteral("banner.text"))->textFormat(), Qt::PlainText);
    QVERIFY(!banner.isHidden());
    banner.findChild<QToolButton*>(QStringLiteral("banner.close"))->click();
    QVERIFY(banner.isHidden());
  }

  void numbersForPeople() {
    QLocale::setDefault(QLocale::c());
    QCOMPARE(numberText(1234.5678), QStringLiteral("1235"));
    QCOMPARE(numberText(0.012345), QStringLiteral("0.01235"));
    QCOMPARE(numberText(HUGE_VAL), QString(QChar(0x2014)));
    QCOMPARE(secondsText(0.00123), QStringLiteral("1.23 ms"));
    QCOMPARE(secondsText(4.5e-6), QStringLiteral("4.50 µs"));
    QCOMPARE(durationText(3725), QStringLiteral("1:02:05"));
    QCOMPARE(durationText(65), QStringLiteral("1:05"));
    QCOMPARE(gflopsText(2e9, 0.5), QStringLiteral("4.000"));
  }
};

QTEST_MAIN(ParamFormTest)
#include "param_form_test.moc"
