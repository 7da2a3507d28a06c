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

int usage() {
  std::fprintf(stderr, "Expected the name of a test, one of:\n");
  for (const auto& [name, entry] : entries()) std::fprintf(stderr, "  %s\n", name.c_str());
  return 2;
}

}  // namespace

TestEntry::TestEntry(const char* file, Application application, std::function<int(int, char**)> run) {
  std::string name = file;
  name = name.substr(name.rfind('/') + 1);
  name.resize(name.rfind('.'));
  if (!entries().try_emplace(name, Entry{application, std::move(run)}).second) qFatal("Two tests of one program are named %s", name.c_str());
}

}  // namespace tw::test_runner

int main(int argc, char** argv) {
  using namespace tw::test_runner;
  const auto entry = entries().find(argc > 1 ? argv[1] : "");
  if (entry == entries().end()) return usage();
  argv[1] = argv[0];
  int rest = argc - 1;
  const auto application = make_application(entry->second.application, rest, argv + 1);
  return entry->second.run(rest, argv + 1);
}
