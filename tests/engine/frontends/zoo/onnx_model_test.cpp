// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_model.h"

#include <QtTest>
#include <cstring>

using namespace tw;
using frontends::OnnxModel;

class OnnxModelTest : public QObject {
  Q_OBJECT

  /// What one thread makes of it, number by number.
  static std::string drawn(const OnnxModel::Normal& array) {
    std::string bytes;
    Rng rng = array.rng;
    for (int64_t i = 0; i < array.elements; ++i) {
      const auto value = static_cast<float>(array.mean + array.deviation * rng.normal());
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return bytes;
  }

 private Q_SLOTS:
  /// Of several pieces of 16 MiB, with borders inside an array, inside a number and inside a text.
  void bytesAreThoseOfOneThread() {
    const OnnxModel::Normal large{(int64_t{9} << 20) + 77, 1, 0.5, Rng(3)}, small{5, -2, 1, Rng(4)};
    const std::string odd(3, 'o'), text(size_t{17} << 20, 't');
    OnnxModel model, inner;
    model.append(odd);
    model.append(small);
    inner.append(large);
    inner.append(text);
    model.append(std::move(inner));
    model.append(small);
    const std::string expected = odd + drawn(small) + drawn(large) + text + drawn(small);
    QCOMPARE(model.size(), static_cast<int64_t>(expected.size()));
    std::string written;
    size_t largest = 0, pieces = 0;
    QVERIFY(model.write([&](std::string_view piece) -> Expected<void> {
      written += piece, largest = std::max(largest, piece.size()), ++pieces;
      return {};
    }));
    QVERIFY(written == expected);
    QVERIFY(model.bytes() == expected);
    QVERIFY2(largest <= size_t{16} << 20 && pieces >= 4, QByteArray::number(static_cast<qulonglong>(largest)));
  }

  void anEmptyModelHasNoBytes() {
    QCOMPARE(OnnxModel().size(), int64_t{0});
    QVERIFY(OnnxModel().bytes().empty());
  }

  void aFullDiskEndsIt() {
    OnnxModel model;
    model.append(OnnxModel::Normal{int64_t{16} << 20, 0, 1, Rng(1)});
    int calls = 0;
    const auto done = model.write([&](std::string_view) -> Expected<void> {
      if (++calls == 2) return Error(ErrorCode::no_space, "The disk is full");
      return {};
    });
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::no_space);
    QCOMPARE(calls, 2);
  }
};

QTEST_APPLESS_MAIN(OnnxModelTest)
#include "onnx_model_test.moc"
