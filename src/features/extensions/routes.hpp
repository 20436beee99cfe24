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
  Task<Answer> list(Request& request);
  Task<Answer> show(Request& request);
  Task<Answer> create(Request& request);
  Task<Answer> change(Request& request);
  Task<Answer> toggle(Request& request);
  Task<Answer> erase(Request& request);
  Task<Answer> list_schemas(Request& request);
  Task<Answer> show_schema(Request& request);

  Extensions& extensions_;
};

}  // namespace agw
