// SPDX-License-Identifier: Apache-2.0
#include "app/logs/campaign_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/logs/campaign_text.h"
#include "app/logs/curve_svg.h"
#include "app/logs/page.h"

namespace tw::logs {
namespace {

/// Speed over the values of a resource, with the knee of the mean as a line.
CurveChart effect_chart(const CampaignSeries& s, size_t resource) {
  const cost::Resource& r = s.table.resources[resource];
  const cost::ResourceEffect& e = s.effects.effects[resource];
  CurveChart chart{r.name, r.name, {}};
  chart.x_labels = r.labels, chart.y_text = campaign_rate;
  for (const auto& [name, curve] : {std::pair("mean", &e.partial), std::pair("slice", &e.slice), std::pair("best", &e.best)}) {
    QuartileBand band;
    for (size_t i = 0; i < r.values.size(); ++i)
      if (curve->middle[i] > 0) band.x.push_back(static_cast<double>(i)), band.low.push_back(curve->low[i]), band.middle.push_back(curve->middle[i]), band.high.push_back(curve->high[i]);
    chart.series.push_back({name, std::move(band)});
  }
  if (e.partial_knee) chart.mark = static_cast<double>(std::find(r.values.begin(), r.values.end(), e.partial_knee->at) - r.values.begin());
  return chart;
}

}  // namespace

std::string campaign_page(const Campaign& campaign) {
  const auto table = [](const std::vector<std::vector<std::string>>& rows) {
    std::string out = "<table class=\"numbers\">\n";
    for (size_t r = 0; r < rows.size(); ++r) {
      std::vector<std::string> cells;
      for (const std::string& cell : rows[r]) cells.push_back(markup_text(r == 0 && cell.starts_with('>') ? cell.substr(1) : cell));
      out += page_row(cells, r == 0 ? "th" : "td");
    }
    return out + "</table>\n";
  };
  std::string out = page_head("Campaign: " + campaign.name);
  for (const std::string& s : campaign_sentences(campaign)) out += fmt::format("<p>{}</p>\n", markup_text(s));
  for (const CampaignSeries& s : campaign.series) {
    out += fmt::format("<h2>{} on {}</h2>\n{}", markup_text(s.name), markup_text(s.device), table(importance_cells(s)));
    std::vector<CurveChart> charts;
    for (size_t i = 0; i < s.table.resources.size(); ++i) charts.push_back(effect_chart(s, i));
    out += curves_svg(charts) + "<details><summary>Tables</summary>\n";
    for (size_t i = 0; i < s.table.resources.size(); ++i) out += table(effect_cells(s, i));
    out += "</details>\n";
  }
  out += fmt::format("<p>{}</p>\n", markup_text(kCampaignNote));
  for (const CampaignStudy& s : campaign.studies)
    out += fmt::format("<h2>{}: what a cost model should be told</h2>\n<p>{}</p>\n{}{}<p>{}</p>\n", markup_text(s.name), markup_text(study_sentence(s)), table(worth_cells(s)), table(left_out_cells(s)), markup_text(kStudyNote));
  return out + page_end();
}

}  // namespace tw::logs
