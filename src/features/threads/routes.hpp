#pragma once

#include "api/route.hpp"
#include "features/threads/service.hpp"

namespace agw {

/// `/threads` and `/turns`, but for what runs answer there.
class ThreadRoutes {
public:
  explicit ThreadRoutes(Threads& threads) : threads_(threads) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> create(Request& request);
  Task<Answer> read(Request& request);
  Task<Answer> change(Request& request);
  Task<Answer> remove_thread(Request& request);
  Task<Answer> turns(Request& request);
  Task<Answer> add_turn(Request& request);
  Task<Answer> fork(Request& request);
  Task<Answer> remove_turn(Request& request);
  Task<Answer> search(Request& request);

  Threads& threads_;
};

}  // namespace agw
