#include "features/client_api/compaction.hpp"

#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/json/json_values.hpp"
#include "features/client_api/pictures.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr std::string_view heading = "A summary of the conversation so far:\n\n";

/// The message as an output item, with all members that such items have.
json::object user_message(const json::object& item, const std::string& answer_id, std::size_t number) {
  json::object message{{"type", "message"},
                       {"id", fmt::format("msg_{}{}", answer_id, number)},
                       {"status", "completed"},
                       {"role", "user"},
                       {"content", item.at("content")}};
  if (auto* text = message["content"].if_string())
    message["content"] = json::array{json::object{{"type", "input_text"}, {"text", json::string(*text)}}};
  return message;
}

/// Does not encrypt the item, although its member is called so: programs only send it back.
class CompactionWriter : public AnswerWriter {
public:
  explicit CompactionWriter(json::array input) : input_(std::move(input)) {}

  std::string_view name_of(const CallFeature& feature) const override { return feature.responses; }

  std::string body(const ClientAnswer& answer) override {
    json::array output;
    for (const auto& item : input_) {
      const auto& object = item.as_object();
      if (string_or_empty(object, "role") == "user") output.push_back(user_message(object, answer.id, output.size()));
    }
    output.push_back(json::object{{"type", "compaction"},
                                  {"id", "cmp_" + answer.id},
                                  {"encrypted_content", base64(std::string(heading) + answer.text)}});
    const auto& used = answer.usage;
    const auto input = used.input_tokens + used.cache_read_tokens + used.cache_write_tokens;
    return to_json(json::object{
        {"id", "resp_" + answer.id},
        {"object", "response.compaction"},
        {"created_at", answer.created},
        {"output", std::move(output)},
        {"usage", json::object{{"input_tokens", input},
                               {"input_tokens_details", json::object{{"cached_tokens", used.cache_read_tokens},
                                                                     {"cache_write_tokens", used.cache_write_tokens}}},
                               {"output_tokens", used.output_tokens},
                               {"output_tokens_details", json::object{{"reasoning_tokens", used.reasoning_tokens}}},
                               {"total_tokens", input + used.output_tokens}}}});
  }

  std::string begin(const ClientAnswer& /*answer*/) override { return {}; }
  std::string delta(const ClientAnswer& /*answer*/, const Delta& /*delta*/) override { return {}; }
  std::string end(const ClientAnswer& /*answer*/) override { return {}; }
  std::string fail(const ClientAnswer& /*answer*/, const ApiError& /*error*/) override { return {}; }

private:
  const json::array input_;
};

}  // namespace

Message compaction_request() {
  return {
      .text =
          "Summarise our conversation so far for yourself, so that you can go on without it: what I asked for, what "
          "was done and found, files and names that matter, what is left to do. Answer with the summary only."};
}

std::unique_ptr<AnswerWriter> compaction_writer(json::array input) {
  return std::make_unique<CompactionWriter>(std::move(input));
}

std::string compacted_text(std::string_view encrypted_content, const std::string& param) {
  const auto text = from_base64(encrypted_content);
  if (!text || !text->starts_with(heading) || !is_utf8(*text)) throw bad_parameter(param, "is no compaction of here");
  return *text;
}

}  // namespace agw
