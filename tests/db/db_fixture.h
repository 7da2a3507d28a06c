// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.h"
#include "engine/base/json.h"
#include "engine/records/task.h"

/// Small tasks and records for tests of the workspace.
namespace tw::db::fixture {

inline records::Task task(const std::string& name = "tiny", int64_t extent = 4) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {extent}, kFloat32);
  return records::make_task(name, std::move(b).finish({b.compute("y", {extent}, [&](const te::Indices& i) { return x.at(i) + x.at(i); })}), parse_target("llvm -mcpu=x86-64 -num-cores=1").value());
}

inline records::Record trial(const records::Task& task, int64_t index, double seconds = 1e-3, records::Status status = records::Status::ok) {
  records::Record r;
  r.task_key = task.key;
  r.candidate.space = index < 0 ? "default" : "space";
  r.candidate.index = index;
  r.candidate.config = index < 0 ? "" : R"([["tile_x","sp",[-1,4]]])";
  r.candidate.steps = {schedule::SplitStep{1, 0, 4, {2}}};
  r.result.status = status;
  r.result.timestamp_s = 1700000000.25;
  r.result.build_s = 0.5;
  if (status == records::Status::ok) {
    r.result.samples_s = {seconds, seconds * 2, seconds * 1.5};
    r.result.sample_flags = {false, true, false};
    r.result.flagged = 1;
    r.result.inner = 7;
    r.result.verified = true;
    r.result.max_rel_error = 1e-7;
  } else {
    r.result.message = "It broke";
  }
  return r;
}

/// A workspace with one model, its task and a session.
struct Workspace {
  std::shared_ptr<Database> db;
  records::Task task = fixture::task();
  ModelId model;
  TaskId task_id;
  SessionId session;

  Expected<void> fill() {
    TW_TRY(model, db->put_model("net", "net.onnx", "key", Json{{"operators", 3}}));
    TW_TRY(task_id, db->put_task(task));
    TW_CHECK(db->link_task(model, task_id, 2, records::Weights::unknown));
    TW_TRY(session, db->begin_session(model, "random", task.target.str(), Json{{"seed", 1}}, Json{{"cores", 2}}));
    return {};
  }
};

}  // namespace tw::db::fixture
