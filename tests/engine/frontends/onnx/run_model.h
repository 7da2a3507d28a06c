// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <cmath>

#include "engine/frontends/frontend.h"
#include "engine/graph/evaluate.h"
#include "tests/engine/frontends/onnx/model_text.h"

/// Small models written by hand, run on numbers.
namespace onnx_test {

using tw::HostArray;
using tw::kFloat32;

inline HostArray array(const Dims& shape, const std::vector<double>& v) {
  HostArray a = HostArray::make(kFloat32, shape);
  for (size_t i = 0; i < v.size(); ++i) a.set(static_cast<int64_t>(i), v[i]);
  return a;
}
inline HostArray counting(const Dims& shape) {
  HostArray a = HostArray::make(kFloat32, shape);
  for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(i + 1));
  return a;
}
inline void text(onnx::NodeProto* n, const std::string& name, const std::string& v) {
  onnx::AttributeProto* a = n->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRING);
  a->set_s(v);
}
/// The value y of the model.
inline HostArray run(const onnx::ModelProto& m, const std::map<std::string, HostArray>& inputs) {
  const auto g = tw::frontends::read_onnx_bytes(bytes(m), {});
  if (!g) qWarning("%s", g.error().text().c_str());
  return tw::graph::evaluate(g.value(), inputs).value()[0];
}
inline void compare(const HostArray& got, const Dims& shape, const std::vector<double>& want) {
  QCOMPARE(got.shape, shape);
  for (size_t i = 0; i < want.size(); ++i)
    QVERIFY2(std::abs(got.get(static_cast<int64_t>(i)) - want[i]) < 1e-5,
             QByteArray::number(static_cast<int>(i)) + ": " + QByteArray::number(got.get(static_cast<int64_t>(i))));
}

}  // namespace onnx_test
