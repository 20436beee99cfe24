#include "server/metrics.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"

namespace agw {

namespace {

constexpr std::string_view prometheus_text = "text/plain; version=0.0.4";

std::string_view to_text(Metrics::Kind kind) {
  switch (kind) {
    case Metrics::Kind::counter:
      return "counter";
    case Metrics::Kind::gauge:
      return "gauge";
    case Metrics::Kind::histogram:
      return "histogram";
  }
  return "untyped";
}

void head(std::string& out, std::string_view name, Metrics::Kind kind, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, to_text(kind));
}

/// `method="GET",path="/threads/:id"`: one value per route, whichever paths are requested.
std::string labels_of(const Route* route) {
  if (!route) return R"(method="",path="")";
  return fmt::format(R"(method="{}",path="{}")", agw::to_text(route->method), route->path);
}

Task<Response> show_metrics(const Metrics& metrics, Request&) {
  co_return Response{.body = metrics.text(), .content_type = prometheus_text};
}

}  // namespace

Routes metrics_routes(const Metrics& metrics) {
  return {get("/metrics", "What the gateway counts, for Prometheus", show_metrics, metrics)};
}

std::string metric_label(std::string_view name, std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '\n') escaped += '\\';
    escaped += c == '\n' ? 'n' : c;
  }
  return fmt::format("{}=\"{}\"", name, escaped);
}

void Metrics::add(std::string name, Kind kind, std::string help, std::function<double()> read) {
  add_family(std::move(name), kind, std::move(help),
             [read = std::move(read)] { return std::vector<Sample>{{.value = read()}}; });
}

void Metrics::add_family(std::string name, Kind kind, std::string help, std::function<std::vector<Sample>()> read) {
  AGW_ASSERT(read);
  AGW_CHECK(!contains(metrics_, name, &Metric::name), "added twice: " + name);
  metrics_.push_back({std::move(name), kind, std::move(help), std::move(read)});
}

void Metrics::count(const Route* route, int status, std::chrono::steady_clock::duration took) {
  static_assert(std::ranges::is_sorted(limits));
  auto& requests = requests_[route];
  ++requests.by_status[status];
  ++requests.count;
  const auto seconds = std::chrono::duration<double>(took).count();
  requests.seconds += seconds;
  const auto limit = std::ranges::lower_bound(limits, seconds);
  if (limit != limits.end()) ++requests.within[static_cast<std::size_t>(limit - limits.begin())];
}

void Metrics::append_counts(std::string& out, const RequestsByLabels& requests_by_labels) {
  head(out, "agw_requests_total", Kind::counter, "Requests answered, by route and status.");
  for (const auto& [labels, requests] : requests_by_labels) {
    for (const auto& [status, count] : requests->by_status) {
      fmt::format_to(std::back_inserter(out), "agw_requests_total{{{},status=\"{}\"}} {}\n", labels, status, count);
    }
  }
}

void Metrics::append_times(std::string& out, const RequestsByLabels& requests_by_labels) {
  const auto end = std::back_inserter(out);
  head(out, "agw_request_seconds", Kind::histogram, "Time from a request's head to its answer.");
  for (const auto& [labels, requests] : requests_by_labels) {
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < limits.size(); ++i) {
      so_far += requests->within[i];
      AGW_ASSERT(so_far <= requests->count);
      fmt::format_to(end, "agw_request_seconds_bucket{{{},le=\"{}\"}} {}\n", labels, limits[i], so_far);
    }
    fmt::format_to(end, "agw_request_seconds_bucket{{{},le=\"+Inf\"}} {}\n", labels, requests->count);
    fmt::format_to(end, "agw_request_seconds_sum{{{}}} {}\n", labels, requests->seconds);
    fmt::format_to(end, "agw_request_seconds_count{{{}}} {}\n", labels, requests->count);
  }
}

std::string Metrics::text() const {
  RequestsByLabels by_labels;
  for (const auto& [route, requests] : requests_) by_labels.emplace(labels_of(route), &requests);
  std::string out;
  append_counts(out, by_labels);
  append_times(out, by_labels);
  for (const auto& metric : metrics_) {
    head(out, metric.name, metric.kind, metric.help);
    for (const auto& [labels, value] : metric.read()) {
      const auto braces = labels.empty() ? "" : "{" + labels + "}";
      fmt::format_to(std::back_inserter(out), "{}{} {}\n", metric.name, braces, value);
    }
  }
  return out;
}

}  // namespace agw
