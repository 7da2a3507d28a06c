// SPDX-License-Identifier: Apache-2.0
#include "tests/runner.h"

#include <QCoreApplication>
#ifdef TW_GUI_TESTS
#include <QApplication>
#endif
#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace tw::test_runner {
namespace {

struct Entry {
  Application application;
  std::function<int(int, char**)> run;
};

std::map<std::string, Entry>& entries() {
  static std::map<std::string, Entry> all;
  return all;
}

std::unique_ptr<QCoreApplication> make_application(Application which, int& argc, char** argv) {
#ifdef TW_GUI_TESTS
  if (which == Application::gui) return std::make_unique<QApplication>(argc, argv);
#endif
  return which == Application::none ? nullptr : std::make_unique<QCoreApplication>(argc, argv);
}

/// The test of that name, or the only one whose path ends with it.
const Entry* find_entry(const std::string& name) {
  const Entry* found = nullptr;
  for (const auto& [path, entry] : entries()) {
    if (path == name) return &entry;
    if (!path.ends_with("/" + name)) continue;
    if (found) return nullptr;
    found = &entry;
  }
  return found;
}

int usage() {
  std::fprintf(stderr, "Expected the name of a test, one of:\n");
  for (const auto& [name, entry] : entries()) std::fprintf(stderr, "  %s\n", name.c_str());
  return 2;
}

}  // namespace

TestEntry::TestEntry(const char* file, Application application, std::function<int(int, char**)> run) {
  std::string name = file;
  name = name.substr(name.rfind("/tests/") + 7);
  name.resize(name.rfind('.'));
  if (!entries().try_emplace(name, Entry{application, std::move(run)}).second) qFatal("Two tests of one program are named %s", name.c_str());
}

}  // namespace tw::test_runner

int main(int argc, char** argv) {
  using namespace tw::test_runner;
  const Entry* entry = argc > 1 ? find_entry(argv[1]) : nullptr;
  if (!entry) return usage();
  argv[1] = argv[0];
  int rest = argc - 1;
  const auto application = make_application(entry->application, rest, argv + 1);
  return entry->run(rest, argv + 1);
}
