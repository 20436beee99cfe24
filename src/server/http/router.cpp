#include "server/http/router.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// Allows lookup of a string by a view.
struct SegmentHash : std::hash<std::string_view> {
  using is_transparent = void;
};

}  // namespace

struct Router::Node {
  std::unordered_map<std::string, Node, SegmentHash, std::equal_to<>> literal;
  std::unique_ptr<Node> any;
  std::vector<const Route*> here;
  std::vector<const Route*> below;  ///< routes whose path ends in `*` at this node

  const std::vector<const Route*>* find(std::span<const std::string> segments) const {
    if (segments.empty()) return here.empty() ? nullptr : &here;
    if (const auto child = literal.find(segments.front()); child != literal.end()) {
      if (const auto* found = child->second.find(segments.subspan(1))) return found;
    }
    if (any && !segments.front().empty()) {
      if (const auto* found = any->find(segments.subspan(1))) return found;
    }
    return below.empty() ? nullptr : &below;
  }

  /// A record may have the same name as an action at its place (a proposal named `apply`); GET reads the record.
  void fall_back_to_names() {
    for (auto& [name, child] : literal) {
      if (const auto* reading = any ? any->reading() : nullptr; reading && !child.here.empty() && !child.reading()) {
        child.here.push_back(reading);
      }
      child.fall_back_to_names();
    }
    if (any) any->fall_back_to_names();
  }

private:
  const Route* reading() const {
    const auto found = std::ranges::find_if(here, [](const Route* r) { return r->method == Method::get; });
    return found == here.end() ? nullptr : *found;
  }
};

Router::Router(Routes routes) : routes_(std::move(routes)), root_(std::make_unique<Node>()) {
  for (const auto& route : routes_) add(route);
  root_->fall_back_to_names();
}

Router::~Router() = default;

void Router::add(const Route& route) {
  AGW_CHECK(route.path.starts_with('/'), "a route's path must begin with /: " + route.path);
  AGW_CHECK(route.method != Method::get || route.effect == Effect::read, "a GET must change nothing: " + route.path);
  Node* node = root_.get();
  std::string_view rest = route.path;
  bool open_ended = false;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    AGW_CHECK(!open_ended, "* must end a route's path: " + route.path);
    AGW_CHECK(segment != ":", "a parameter needs a name: " + route.path);
    if (segment.starts_with('*')) {
      open_ended = true;
    } else if (segment.starts_with(':')) {
      if (!node->any) node->any = std::make_unique<Node>();
      node = node->any.get();
    } else {
      node = &node->literal[std::string(segment)];
    }
  }
  auto& place = open_ended ? node->below : node->here;
  for (const auto* other : place) {
    AGW_CHECK(other->method != route.method, "declared twice: " + route.path);
  }
  place.push_back(&route);
}

Router::Match Router::find(std::string_view method, std::span<const std::string> segments) const {
  Match match;
  const auto* found = root_->find(segments);
  if (!found) return match;
  AGW_ASSERT(!found->empty());
  match.at_path = *found;
  const auto wanted = method == "HEAD" ? std::string_view("GET") : method;
  for (const auto* route : *found) {
    if (route->method == Method::any || to_text(route->method) == wanted) match.route = route;
  }
  return match;
}

std::string allowed_methods(std::span<const Route* const> routes) {
  std::string allowed;
  for (const auto* route : routes) {
    if (!allowed.empty()) allowed += ", ";
    allowed += to_text(route->method);
    if (route->method == Method::get) allowed += ", HEAD";
  }
  return allowed;
}

}  // namespace agw
