#pragma once

#include <memory>
#include <span>
#include <string>

#include "api/route.hpp"

namespace agw {

/// Finds the route of a request. Made once from all tables; checks them: a method and path declared twice, a path that
/// does not begin with `/`, or a read that changes throws std::logic_error at start.
class Router {
public:
  explicit Router(Routes routes);
  ~Router();

  struct Match {
    const Route* route = nullptr;           ///< null where none has this method
    std::span<const Route* const> at_path;  ///< all routes of the path; empty where the path is unknown
  };
  /// A literal segment goes before `:name`, and that before `*`; one that is only acted on can be read as a
  /// `:name`. HEAD finds the GET route.
  Match find(std::string_view method, std::span<const std::string> segments) const;

  const Routes& routes() const { return routes_; }

private:
  struct Node;
  void add(const Route& route);

  Routes routes_;
  std::unique_ptr<Node> root_;
};

/// `GET, HEAD, POST` for the Allow field.
std::string allowed_methods(std::span<const Route* const> routes);

}  // namespace agw
