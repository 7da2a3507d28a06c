// SPDX-License-Identifier: Apache-2.0
#include "app/logs/why_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "app/logs/page.h"
#include "engine/api/explain.h"
#include "engine/base/text.h"

namespace tw::logs {
namespace {

std::string facts_table(const std::vector<api::FactDifference>& facts, const WhySide& first, const WhySide& second) {
  std::string rows = page_row({"What differs", markup_text(first.name), markup_text(second.name)}, "th");
  for (const api::FactDifference& f : facts) rows += page_row({markup_text(f.name), fact_text(f.first), fact_text(f.second)});
  return "<table class=\"numbers\">\n" + rows + "</table>\n";
}

/// Lines that the other text does not have are marked.
std::string column(const std::string& name, const std::string& text, const std::string& other) {
  const auto lines_of_other = split_lines(other);
  const std::set<std::string_view> known(lines_of_other.begin(), lines_of_other.end());
  std::string out;
  for (const std::string_view line : split_lines(text))
    out += (known.contains(line) ? markup_text(line) : "<mark>" + markup_text(line) + "</mark>") + "\n";
  return fmt::format("<div style=\"min-width:0\"><p>{}</p><pre>{}</pre></div>", markup_text(name), out);
}

std::string beside(const char* title, const std::string& a, const std::string& b, const WhySide& first, const WhySide& second, bool open = false) {
  if (a.empty() && b.empty()) return "";
  if (a == b) return fmt::format("<details><summary>{}: the same</summary><pre>{}</pre></details>\n", title, markup_text(a));
  return fmt::format("<details{}><summary>{}</summary><div style=\"display:grid;grid-template-columns:1fr 1fr;gap:1em\">{}{}</div></details>\n", open ? " open" : "", title,
                     column(first.name, a, b), column(second.name, b, a));
}

std::string choices_part(const WhySide& first, const WhySide& second, const api::WhyFaster& why) {
  if (!why.undivided.empty()) return fmt::format("<p>The difference cannot be shared among choices: {}</p>\n", markup_text(why.undivided));
  std::string rows = page_row({"Choice", "In " + markup_text(first.name), "In " + markup_text(second.name), "Faster by", "At least", "At most", "Explains"}, "th");
  for (const api::ChoiceDifference& c : why.choices)
    rows += page_row({markup_text(c.name), markup_text(c.first), markup_text(c.second), ratio_text(c.share.factor), ratio_text(c.share.least), ratio_text(c.share.most), explained_text(why, c)});
  std::string out = "<table class=\"numbers\">\n" + rows + "</table>\n";
  out += fmt::format("<p>Changed one at a time, the mean over {:.0f} of {:.0f} orders; at least and at most: among the other changes that were made before.</p>\n", why.orders,
                     why.all_orders);
  if (why.missing.empty()) return out;
  out += fmt::format("<details><summary>{} points on the way have no time</summary><ul>\n", why.missing.size());
  for (const auto& [changed, reason] : why.missing)
    out += fmt::format("<li>With {} changed: {}</li>\n", markup_text(fmt::format("{}", fmt::join(changed, ", "))), markup_text(reason));
  return out + "</ul></details>\n";
}

}  // namespace

std::string fact_text(double value) {
  const bool whole = std::abs(value) < 1e15 && (value == std::floor(value) || std::abs(value) >= 1e4);  // of large numbers no fraction tells anything
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string explained_text(const api::WhyFaster& why, const api::ChoiceDifference& choice) {
  const double all = std::log(why.first_s / why.second_s);
  return all == 0 ? "-" : fmt::format("{:.0f} %", 100 * std::log(choice.share.factor) / all);
}

std::string why_page(const records::Task& task, const WhySide& first, const WhySide& second, const api::WhyFaster& why, const std::string& times) {
  const bool gpu = task.target.gpu.has_value();
  std::string page = page_head(fmt::format("{} against {}", first.name, second.name)) + "<table>\n";
  page += page_row({"Task", fmt::format("{} <small>{}</small>", markup_text(task.name), markup_text(task.key))}) + page_row({"Target", markup_text(task.target.str())});
  page += page_row({"Times", markup_text(times)}) + page_row({markup_text(first.name), page_time(why.first_s)}) + page_row({markup_text(second.name), page_time(why.second_s)});
  page += page_row({"The second is faster by", ratio_text(why.first_s / why.second_s)}) + "</table>\n<h2>Choices</h2>\n" + choices_part(first, second, why);
  if (!why.facts.empty()) page += "<h2>Loops, caches and code in numbers</h2>\n" + facts_table(why.facts, first, second);
  if (!why.counts.empty()) page += "<h2>Counted by the processor</h2>\n" + facts_table(why.counts, first, second);
  if (!why.uncounted.empty()) page += fmt::format("<p>{}</p>\n", markup_text(why.uncounted));
  if (!why.features.empty())
    page += fmt::format("<h2>What cost models see</h2>\n<p>{} of Ansor's numbers of the store with most arithmetic differ; most are logarithms, log2(1 + x).</p>\n<details><summary>All of them</summary>{}</details>\n",
                        why.features.size(), facts_table(why.features, first, second));
  const api::Explanation a = api::explain(task, first.candidate.steps), b = api::explain(task, second.candidate.steps);
  page += "<h2>Beside each other</h2>\n";
  for (const api::Explanation* x : {&a, &b})
    if (x->error) page += fmt::format("<p>{}: {}</p>\n", markup_text((x == &a ? first : second).name), markup_text(x->error->text()));
  page += beside("Steps", a.steps, b.steps, first, second, true) + beside("Loops", a.loops, b.loops, first, second, true);
  page += beside("TIR after all passes", a.tir, b.tir, first, second) + beside(gpu ? "CUDA C++" : "LLVM IR", a.llvm_ir, b.llvm_ir, first, second);
  page += beside(gpu ? "PTX" : "Assembly", a.assembly, b.assembly, first, second) + beside("SASS", a.sass, b.sass, first, second);
  return page + page_end();
}

}  // namespace tw::logs
