// SPDX-License-Identifier: Apache-2.0
#include "engine/base/base64.h"

#include <QtTest>

#include "engine/base/rng.h"

using namespace tw;

class Base64Test : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// RFC 4648's examples, and its two alphabets.
  void known_texts() {
    QCOMPARE(to_base64url("foobar"), std::string("Zm9vYmFy"));
    QCOMPARE(to_base64url("fooba"), std::string("Zm9vYmE"));
    QCOMPARE(from_base64("Zm9vYg==").value(), std::string("foob"));
    QCOMPARE(from_base64("+/+/").value(), from_base64("-_-_").value());
    for (const char* bad : {"A", "Zm9v!", "Zm 9"}) QVERIFY2(!from_base64(bad), bad);
  }
  void round_trips() {
    Rng rng(1);
    for (size_t n = 0; n < 100; ++n) {
      std::string bytes;
      for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(rng.next());
      QCOMPARE(from_base64(to_base64url(bytes)).value(), bytes);
    }
  }
};

QTEST_APPLESS_MAIN(Base64Test)
#include "base64_test.moc"
