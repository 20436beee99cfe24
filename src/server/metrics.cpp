#include "server/metrics.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace agw {

namespace {

constexpr std::string_view prometheus_text = "text/plain; version=0.0.4";

std::string_view to_text(Metrics::Kind kind) { return kind == Metrics::Kind::counter ? "counter" : "gauge"; }

void head(std::string& out, std::string_view name, Metrics::Kind kind, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, to_text(kind));
}

/// `method="GET",path="/threads/:id"`: as many as there are routes, whatever is asked.
std::string labels_of(const Route* route) {
  if (!route) return R"(method="",path="")";
  return fmt::format(R"(method="{}",path="{}")", agw::to_text(route->method), route->path);
}

}  // namespace

void Metrics::add(std::string name, Kind kind, std::string help, std::function<double()> read) {
  measures_.push_back({std::move(name), kind, std::move(help), std::move(read)});
}

void Metrics::count(const Route* route, int status, std::chrono::steady_clock::duration took) {
  auto& requests = requests_[route];
  ++requests.by_status[status];
  requests.took += took;
}

Routes Metrics::routes() { return {get("/metrics", "What the gateway counts, for Prometheus", this, &Metrics::show)}; }

Task<Answer> Metrics::show(Request&) { co_return Answer{.body = text(), .content_type = std::string(prometheus_text)}; }

std::string Metrics::text() const {
  std::map<std::string, const Requests*> by_labels;
  for (const auto& [route, requests] : requests_) by_labels.emplace(labels_of(route), &requests);

  std::string out;
  const auto end = std::back_inserter(out);
  head(out, "agw_requests_total", Kind::counter, "Requests answered, by route and status.");
  for (const auto& [labels, requests] : by_labels) {
    for (const auto& [status, count] : requests->by_status) {
      fmt::format_to(end, "agw_requests_total{{{},status=\"{}\"}} {}\n", labels, status, count);
    }
  }
  head(out, "agw_request_seconds_total", Kind::counter, "Time from a request's head to its answer.");
  for (const auto& [labels, requests] : by_labels) {
    const auto seconds = std::chrono::duration<double>(requests->took).count();
    fmt::format_to(end, "agw_request_seconds_total{{{}}} {}\n", labels, seconds);
  }
  for (const auto& measure : measures_) {
    head(out, measure.name, measure.kind, measure.help);
    fmt::format_to(end, "{} {}\n", measure.name, measure.read());
  }
  return out;
}

}  // namespace agw
