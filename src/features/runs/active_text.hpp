#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/text/long_text.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// Active runs as of their `add`, as a JSON array that is generated while it is read. Possible because the log of a run
/// only grows.
/// Example: src/features/runs/service_test.cpp: Runs.AreWrittenInPiecesWhileTheyGoOn
class ActiveText : public LongText {
public:
  void add(ActiveRunPointer run, const json::object& members);

  std::string next() override;

private:
  /// One run: the JSON before and after its text and reasoning.
  struct Part {
    ActiveRunPointer run;
    std::string head;
    std::string tail;
    std::size_t text;       ///< bytes
    std::size_t reasoning;  ///< bytes
  };
  enum class Place { head, text, between, reasoning, tail };

  std::string piece_of(std::string_view whole, Place next);

  std::deque<Part> left_;
  Place place_ = Place::head;
  std::size_t written_ = 0;  ///< bytes of the current text or reasoning
  bool opened_ = false;
  bool closed_ = false;
};

}  // namespace agw
