// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"

#include <QtTest>
#include <set>

using namespace tw;

namespace {
std::string sum_of(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }
}  // namespace

class Sha256Test : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// FIPS 180's examples.
  void known_sums() {
    QCOMPARE(sum_of(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    QCOMPARE(sum_of("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    QCOMPARE(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), std::string("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    QCOMPARE(sum_of(std::string(1'000'000, 'a')), std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
  }
  void lengths_count() {
    std::set<std::string> sums;
    for (size_t n = 0; n < 192; ++n) sums.insert(sum_of(std::string(n, 'x')));
    QCOMPARE(sums.size(), size_t{192});
  }
};

QTEST_APPLESS_MAIN(Sha256Test)
#include "sha256_test.moc"
