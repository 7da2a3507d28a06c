// SPDX-License-Identifier: Apache-2.0
#include "engine/base/array_bytes.h"

#include <QtTest>
#include <atomic>
#include <thread>

using namespace tw;

class ArrayBytesTest : public QObject {
  Q_OBJECT

  static std::vector<std::byte> numbers(size_t count) {
    std::vector<std::byte> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(i);
    return out;
  }

 private Q_SLOTS:
  void copiesShareUntilOneIsWritten() {
    ArrayBytes a = numbers(5);
    ArrayBytes b = a;
    QCOMPARE(std::as_const(a).data(), std::as_const(b).data());
    QVERIFY(a == b);
    b[2] = std::byte{9};
    QVERIFY(std::as_const(a).data() != std::as_const(b).data());
    QVERIFY(!(a == b));
    QCOMPARE(std::as_const(a)[2], std::byte{2});
    QCOMPARE(std::as_const(b)[2], std::byte{9});
    const std::byte* own = std::as_const(b).data();
    b[3] = std::byte{7};  // nobody else has it
    QCOMPARE(std::as_const(b).data(), own);
  }

  void sizes() {
    ArrayBytes none, some = {std::byte{1}, std::byte{2}};
    QVERIFY(none.empty() && none.begin() == none.end());
    QVERIFY(none == ArrayBytes(std::vector<std::byte>()));
    some.resize(4);
    QVERIFY((some == ArrayBytes{std::byte{1}, std::byte{2}, std::byte{0}, std::byte{0}}));
    none.resize(1);
    QCOMPARE(none.size(), size_t{1});
    const std::vector<std::byte> list = numbers(3);
    none.assign(list.begin() + 1, list.end());
    QVERIFY((none == ArrayBytes{std::byte{1}, std::byte{2}}));
  }

  void whatSomebodyKeepsStaysWhereItIs() {
    auto keeper = std::make_shared<const std::vector<std::byte>>(numbers(4));
    const std::weak_ptr<const void> gone = keeper;
    ArrayBytes a = ArrayBytes::kept(*keeper, keeper, "known");
    QCOMPARE(std::as_const(a).data(), keeper->data());
    QCOMPARE(a.digest(), std::string("known"));
    QVERIFY(a.keeper() == keeper.get());
    ArrayBytes b = a;
    b[0] = std::byte{5};
    QCOMPARE((*keeper)[0], std::byte{0});
    QVERIFY(b.keeper() == nullptr && b.digest() != "known");
    keeper.reset();
    QVERIFY(!gone.expired());
    a = {};
    QVERIFY(gone.expired());
  }

  void lateBytesAreMadeOnce() {
    std::atomic<int> made = 0;
    const auto make = [&] {
      ++made;
      return numbers(100);
    };
    const ArrayBytes a = ArrayBytes::late(100, make, "how", std::string("recipe"));
    const ArrayBytes b = a;
    QCOMPARE(a.size(), size_t{100});
    QCOMPARE(a.digest(), std::string("how"));
    QCOMPARE(std::any_cast<std::string>(b.recipe()), std::string("recipe"));
    QCOMPARE(made, 0);
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) readers.emplace_back([&] { QVERIFY(a[99] == std::byte{99}); });
    for (std::thread& t : readers) t.join();
    QVERIFY(b == ArrayBytes(numbers(100)));
    QCOMPARE(made, 1);
    ArrayBytes c = ArrayBytes::late(100, make, "how", {});
    c[0] = std::byte{8};
    QVERIFY(c[99] == std::byte{99} && c.digest() != "how");
  }

  void digestsTellBytes() {
    const ArrayBytes a = numbers(9), b = numbers(9), c = numbers(8);
    QCOMPARE(a.digest(), b.digest());
    QVERIFY(a.digest() != c.digest());
    QVERIFY(ArrayBytes().digest() != c.digest());
  }

  void copiesGoWhereThereIsRoom() {
    const std::vector<std::byte> list = numbers(6);
    size_t asked = 0;
    auto memory = std::make_shared<std::vector<std::byte>>(6);
    const auto room = [&](size_t bytes) -> ArrayPlace {
      asked = bytes;
      return {*memory, memory};
    };
    const ArrayBytes a = ArrayBytes::copied(list, room), b = ArrayBytes::copied(list, {}), c = ArrayBytes::copied(list, [](size_t) { return ArrayPlace{}; });
    QCOMPARE(asked, size_t{6});
    QCOMPARE(a.data(), memory->data());
    QVERIFY(a == b && b == c && b.keeper() == nullptr);
  }
};

QTEST_APPLESS_MAIN(ArrayBytesTest)
#include "array_bytes_test.moc"
