#include "models/frames.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// Splits lines that end in CR, LF or CRLF, and removes the ends.
class Lines {
public:
  explicit Lines(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  template <class OnLine>
  bool feed(std::string_view bytes, OnLine on_line) {
    AGW_DEBUG_ASSERT(partial_.size() <= max_bytes_);  // nothing follows a frame that exceeds the limit
    if (std::exchange(after_carriage_return_, false) && bytes.starts_with('\n')) bytes.remove_prefix(1);
    for (;;) {
      const auto end = bytes.find_first_of("\r\n");
      if (end == std::string_view::npos) break;
      if (partial_.size() + end > max_bytes_) return false;
      if (partial_.empty()) {
        on_line(bytes.substr(0, end));
      } else {
        partial_.append(bytes, 0, end);
        on_line(std::string_view(std::exchange(partial_, {})));
      }
      const bool carriage_return = bytes[end] == '\r';
      bytes.remove_prefix(end + 1);
      if (!carriage_return) continue;
      after_carriage_return_ = bytes.empty();
      if (bytes.starts_with('\n')) bytes.remove_prefix(1);
    }
    partial_.append(bytes);
    return partial_.size() <= max_bytes_;
  }

  template <class OnLine>
  void finish(OnLine on_line) {
    if (!partial_.empty()) on_line(std::string_view(std::exchange(partial_, {})));
  }

private:
  std::size_t max_bytes_;
  std::string partial_;
  bool after_carriage_return_ = false;
};

class Events : public FrameSplitter {
public:
  Events(OnFrame on_frame, std::size_t max_bytes)
      : on_frame_(std::move(on_frame)), max_bytes_(max_bytes), lines_(max_bytes) {}

  bool feed(std::string_view bytes) override {
    const bool lines_fit = lines_.feed(bytes, [this](std::string_view line) { take(line); });
    return lines_fit && data_.size() <= max_bytes_;
  }

  void finish() override {
    lines_.finish([this](std::string_view line) { take(line); });
    dispatch();
  }

private:
  void take(std::string_view line) {
    if (std::exchange(at_start_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.empty()) return dispatch();
    const auto colon = line.find(':');
    const auto field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") event_ = value;
    if (field == "data") add_data(value);
    if (field == "id") id_ = value;
    if (field == "retry") retry_ = value;
  }

  void add_data(std::string_view value) {
    if (std::exchange(has_data_, true)) data_ += '\n';
    if (data_.size() <= max_bytes_) data_ += value;
  }

  void dispatch() {
    AGW_ASSERT(has_data_ || data_.empty());
    if (has_data_) on_frame_({event_, data_, id_, retry_});
    has_data_ = false;
    event_.clear();
    data_.clear();
  }

  OnFrame on_frame_;
  std::size_t max_bytes_;
  Lines lines_;
  std::string event_;
  std::string data_;
  std::string id_;
  std::string retry_;
  bool has_data_ = false;
  bool at_start_ = true;
};

class NonEmptyLines : public FrameSplitter {
public:
  NonEmptyLines(OnFrame on_frame, std::size_t max_bytes) : on_frame_(std::move(on_frame)), lines_(max_bytes) {}

  bool feed(std::string_view bytes) override {
    return lines_.feed(bytes, [this](std::string_view line) { take(line); });
  }

  void finish() override {
    lines_.finish([this](std::string_view line) { take(line); });
  }

private:
  void take(std::string_view line) {
    if (line.find_first_not_of(" \t") != std::string_view::npos) on_frame_({{}, line});
  }

  OnFrame on_frame_;
  Lines lines_;
};

class Whole : public FrameSplitter {
public:
  Whole(OnFrame on_frame, std::size_t max_bytes) : on_frame_(std::move(on_frame)), max_bytes_(max_bytes) {}

  bool feed(std::string_view bytes) override {
    AGW_ASSERT(body_.size() <= max_bytes_);
    if (body_.size() + bytes.size() > max_bytes_) return false;
    body_ += bytes;
    return true;
  }

  void finish() override {
    if (!body_.empty()) on_frame_({{}, body_});
  }

private:
  OnFrame on_frame_;
  std::size_t max_bytes_;
  std::string body_;
};

}  // namespace

std::unique_ptr<FrameSplitter> split_events(OnFrame on_frame, std::size_t max_bytes) {
  return std::make_unique<Events>(std::move(on_frame), max_bytes);
}

std::unique_ptr<FrameSplitter> split_lines(OnFrame on_frame, std::size_t max_bytes) {
  return std::make_unique<NonEmptyLines>(std::move(on_frame), max_bytes);
}

std::unique_ptr<FrameSplitter> whole_body(OnFrame on_frame, std::size_t max_bytes) {
  return std::make_unique<Whole>(std::move(on_frame), max_bytes);
}

}  // namespace agw
