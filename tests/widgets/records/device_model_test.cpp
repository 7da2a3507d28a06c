// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/device_model.h"

#include <QAbstractItemModelTester>
#include <QPersistentModelIndex>
#include <QSignalSpy>
#include <QtTest>

#include "widgets/common/format.h"

using namespace tw::widgets;

class DeviceModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void devicesChangeInPlace() {
    DeviceModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    DeviceRow a;
    a.device = QStringLiteral("pi-1"), a.kind = QStringLiteral("rpi4"), a.state = QStringLiteral("in quarantine: too <hot>");
    a.perSecond = 4.25, a.measured = 1200, a.temperature = 61, a.clock = 1.5e9, a.arithmetic = {5e9, 4e9}, a.memory = {2e9, 2.5e9};
    model.setDevices({a, {}});
    const auto shown = [&](int row, int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(shown(0, DeviceModel::Rate), QStringLiteral("4.25"));
    QCOMPARE(shown(0, DeviceModel::Measured), countText(1200));
    QCOMPARE(shown(0, DeviceModel::Clock), QStringLiteral("1.50"));
    QCOMPARE(shown(0, DeviceModel::Arithmetic), QStringLiteral("4.00"));  // what it reaches now
    QCOMPARE(model.index(0, DeviceModel::Memory).data(DeviceModel::SeriesRole).value<QList<double>>(), QList<double>({2e9, 2.5e9}));
    QCOMPARE(model.index(0, DeviceModel::State).data(Qt::ToolTipRole).toString(), QStringLiteral("in quarantine: too &lt;hot&gt;"));
    // What a device does not know is no number.
    for (const int column : {DeviceModel::Trial, DeviceModel::Rate, DeviceModel::Failures, DeviceModel::Arithmetic, DeviceModel::Temperature, DeviceModel::Clock})
      QCOMPARE(shown(1, column), dashText());
    // News of the same devices keep what is selected; other devices are another table.
    const QPersistentModelIndex selected(model.index(0, DeviceModel::Device));
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged), reset(&model, &QAbstractItemModel::modelReset);
    a.measured = 1300;
    model.setDevices({a, {}});
    QVERIFY(selected.isValid() && changed.count() == 1 && reset.count() == 0);
    QCOMPARE(shown(0, DeviceModel::Measured), countText(1300));
    model.setDevices({a});
    QCOMPARE(reset.count(), 1);
    QCOMPARE(model.rowCount(), 1);
  }

  void everyColumnExplainsItself() {
    const DeviceModel model;
    for (int c = 0; c < DeviceModel::ColumnCount; ++c) {
      QVERIFY(!model.headerData(c, Qt::Horizontal).toString().isEmpty());
      QVERIFY(!model.headerData(c, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    }
  }
};

QTEST_MAIN(DeviceModelTest)
#include "device_model_test.moc"
