#pragma once

#include "api/route.hpp"

namespace agw {

/// The documents generated from the route table: `/openapi.json`, `/asyncapi.json` and `/utcp`.
class DocumentRoutes {
public:
  Routes routes();
  /// Sets the complete table, including these routes. Called before the first request; `table` must outlive this.
  void describe_table(const Routes& table) { table_ = &table; }

private:
  Response openapi(const Request& request);
  Response asyncapi(const Request& request);
  Response utcp(const Request& request);
  const Routes* table_ = nullptr;
};

}  // namespace agw
