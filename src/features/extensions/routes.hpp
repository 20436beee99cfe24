#pragma once

#include "api/answer.hpp"
#include "api/route.hpp"

namespace agw {

class Extensions;

/// The endpoints of extensions and of the schemas of their definitions.
class ExtensionRoutes {
public:
  explicit ExtensionRoutes(Extensions& extensions) : extensions_(extensions) {}

  /// The table; the handlers in it live as long as this.
  Routes routes();

private:
  Answer list(const Request& request);
  Task<Answer> show(Request& request);
  Task<Answer> create(Request& request);
  Task<Answer> change(Request& request);
  Task<Answer> toggle(Request& request);
  Task<Answer> erase(Request& request);
  Answer list_schemas(const Request& request);
  Answer show_schema(const Request& request);

  Extensions& extensions_;
};

}  // namespace agw
