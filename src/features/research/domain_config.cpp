#include "features/research/domain_config.hpp"

#include <algorithm>
#include <array>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/text/ascii.hpp"
#include "io/files/resolve_path.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_domain_length = 200;

/// The parts of the data directory that define agents.
constexpr std::array<std::string_view, 7> improvable{"soul.md", "user-profile.md", "agents",    "jobs",
                                                     "skills",  "knowledge",       "extensions"};

void judge(const DomainConfig& config, Problems& problems) {
  if (!problems.empty()) return;
  if (config.domain.empty()) problems.push_back({"domain", "domain must not be empty"});
  if (config.domain.size() > max_domain_length) problems.push_back({"domain", "domain must have at most 200 bytes"});
  if (has_control(config.domain)) {
    problems.push_back({"domain", "domain must not hold control characters"});
  }
  if (!config.asset_path.starts_with('/')) problems.push_back({"asset_path", "asset_path must be absolute"});
}

void throw_if_any(const Problems& problems) {
  if (problems.empty()) return;
  json::array details;
  for (const auto& problem : problems) details.push_back({{"path", problem.path}, {"message", problem.message}});
  throw BadRequest("invalid domain config", {{"details", std::move(details)}});
}

BadRequest not_within_home(const std::string& path) {
  return BadRequest("path must be within home directory: " + path);
}

fs::path resolve(const std::string& path, const fs::path& home, const fs::path& data_directory) {
  if (!path.starts_with('/') || path.find('\0') != path.npos) {
    throw not_within_home(path);
  }
  const auto real = resolve_path(path);
  if (real == home || !is_within(real, home)) throw not_within_home(path);
  if (is_private_path(real)) throw permission_denied();
  if (is_within(real, data_directory)) {
    const auto relative = real.lexically_relative(data_directory);
    if (!contains(improvable, relative.begin()->string())) {
      throw permission_denied();
    }
  }
  return real;
}

}  // namespace

DomainConfig read_domain_config(const json::object& body) {
  DomainConfig config;
  Problems problems;
  read_described(body, describe(Tag<DomainConfig>{}), &config, "", problems);
  judge(config, problems);
  throw_if_any(problems);
  return config;
}

ResearchPlan read_research_plan(const json::object& settings) {
  ResearchPlan plan;
  Problems problems;
  read_described(settings, describe(Tag<ResearchPlan>{}), &plan, "", problems);
  throw_if_any(problems);
  return plan;
}

DomainConfig resolved(DomainConfig config, const fs::path& home, const fs::path& data_directory) {
  AGW_DEBUG_ASSERT(may_block());

  config.asset_path = resolve(config.asset_path, home, data_directory).string();
  for (auto* path : {&config.benchmark_path, &config.checks_path, &config.rubric_path}) {
    if (*path) *path = resolve(**path, home, data_directory).string();
  }
  return config;
}

}  // namespace agw
