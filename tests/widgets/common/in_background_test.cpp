// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/in_background.h"

#include <QSemaphore>
#include <QSignalSpy>
#include <QThreadPool>
#include <QtTest>

using namespace tw::widgets;

class InBackgroundTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsFoundArrivesOnTheContextsThread() {
    QObject context;
    int found = 0;
    QThread *worker = nullptr, *here = nullptr;
    inBackground(
        &context,
        [&] {
          worker = QThread::currentThread();
          return 7;
        },
        [&](int n) {
          found = n;
          here = QThread::currentThread();
        });
    QTRY_COMPARE(found, 7);
    QVERIFY(worker != thread());
    QCOMPARE(here, thread());
    QTRY_VERIFY(context.children().isEmpty());
  }

  void aContextThatGoesMeanwhileIsNotAsked() {
    auto* context = new QObject;
    QSemaphore started, goOn;
    bool asked = false;
    inBackground(
        context,
        [&] {
          started.release();
          goOn.acquire();
          return 7;
        },
        [&](int) { asked = true; });
    started.acquire();
    delete context;
    goOn.release();
    QVERIFY(QThreadPool::globalInstance()->waitForDone(10'000));
    QCoreApplication::processEvents();
    QVERIFY(!asked);
  }
};

QTEST_GUILESS_MAIN(InBackgroundTest)
#include "in_background_test.moc"
