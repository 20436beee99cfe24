#pragma once

#include <optional>
#include <string>

#include "cli/client/client.hpp"
#include "cli/client/event_stream.hpp"
#include "cli/client/streamed_answer.hpp"

namespace agw::cli {

/// Prints the output of a job's run until it ends.
class JobFollower {
public:
  struct JobRunIds {
    std::string job;
    std::string run_id;
    std::string thread_id;
  };
  /// `printer` must outlive this object.
  JobFollower(FoundGateway gateway, std::optional<std::string> data_dir, JobRunIds ids, AnswerPrinter& printer);

  /// Returns the run's row once it has ended. Restores a broken connection.
  Task<json::object> follow();

private:
  Task<std::optional<json::object>> follow(EventStream& events);
  Task<std::optional<json::object>> poll();
  Task<> catch_up();
  Task<json::object> row() const;

  FoundGateway gateway_;
  Client client_{gateway_};
  std::optional<std::string> data_dir_;
  JobRunIds ids_;
  AnswerPrinter& printer_;
  StreamedAnswer answer_;
};

}  // namespace agw::cli
