#pragma once

#include <memory>
#include <span>
#include <string>

#include "api/route.hpp"

namespace agw {

/// Finds the route of a request. Built once from all tables. Throws InternalError for a duplicate method and path, a
/// path without a leading `/`, with a nameless parameter or with more after `*`, or a GET that is declared to change
/// something.
/// Example: src/server/http/router_test.cpp: Router.FindsRoutesByMethodAndPath
class Router {
public:
  explicit Router(Routes routes);
  ~Router();

  struct Match {
    const Route* route = nullptr;           ///< null if no route has this method
    std::span<const Route* const> at_path;  ///< all routes of the path; empty if the path is unknown
  };
  /// A literal segment takes precedence over `:name`, and that over `*`; if the literal's routes lack the method, GET
  /// falls back to `:name`. HEAD finds the GET route.
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
