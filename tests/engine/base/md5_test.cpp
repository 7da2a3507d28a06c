// SPDX-License-Identifier: Apache-2.0
#include "engine/base/md5.h"

#include <QtTest>
#include <set>

using namespace tw;

class Md5Test : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The test suite of RFC 1321.
  void knownSums() {
    QCOMPARE(md5_hex(""), std::string("d41d8cd98f00b204e9800998ecf8427e"));
    QCOMPARE(md5_hex("abc"), std::string("900150983cd24fb0d6963f7d28e17f72"));
    QCOMPARE(md5_hex("abcdefghijklmnopqrstuvwxyz"), std::string("c3fcd3d76192e4007dfb496cca67e13b"));
    QCOMPARE(md5_hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"), std::string("57edf4a22be3c955ac49da2e2107b67a"));
  }
  /// Of every length up to three blocks, another.
  void lengthsCount() {
    std::set<std::string> sums;
    for (size_t n = 0; n < 192; ++n) sums.insert(md5_hex(std::string(n, 'x')));
    QCOMPARE(sums.size(), size_t{192});
  }
};

QTEST_APPLESS_MAIN(Md5Test)
#include "md5_test.moc"
