// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/newer_fields.h"

#include <google/protobuf/unknown_field_set.h>

namespace tw::frontends {

namespace {

/// The byte strings of one field, in order.
template <class Message>
std::vector<const std::string*> texts_of(const Message& m, int number) {
  std::vector<const std::string*> out;
  const google::protobuf::UnknownFieldSet& fields = m.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& f = fields.field(i);
    if (f.number() == number && f.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) out.push_back(&f.length_delimited());
  }
  return out;
}

template <class Message>
std::string last_text(const Message& m, int number) {
  const auto all = texts_of(m, number);
  return all.empty() ? std::string() : *all.back();
}

}  // namespace

std::string overload_of(const onnx::NodeProto& n) { return last_text(n, 8); }
std::string overload_of(const onnx::FunctionProto& f) { return last_text(f, 13); }

std::vector<onnx::AttributeProto> attribute_defaults(const onnx::FunctionProto& f) {
  std::vector<onnx::AttributeProto> out;
  for (const std::string* bytes : texts_of(f, 11)) {
    onnx::AttributeProto a;
    if (a.ParseFromString(*bytes)) out.push_back(std::move(a));
  }
  return out;
}

std::map<std::string, std::string> metadata_of(const onnx::NodeProto& n) {
  std::map<std::string, std::string> out;
  for (const std::string* bytes : texts_of(n, 9)) {
    onnx::StringStringEntryProto e;
    if (e.ParseFromString(*bytes)) out.emplace(e.key(), e.value());
  }
  return out;
}

}  // namespace tw::frontends
