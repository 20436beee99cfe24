// Classifies failed requests to model services: whether a retry, a shorter request or another model may help, and which
// message people see. The status decides first. The words of the error matter only if services use one status for
// several causes. Messages never contain keys (`redact`).

#include "models/failures.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/contains_any.hpp"
#include "base/text/numbers.hpp"
#include "base/text/utf8.hpp"
#include "models/json_reader.hpp"
#include "models/utf8_decoder.hpp"

namespace agw {

namespace {

using std::chrono::milliseconds;
using Kind = ModelFailure::Kind;

constexpr std::size_t max_message_bytes = 600;

/// Returns one line of limited length, cut at a character boundary.
std::string tidy(std::string_view text) {
  std::string line = to_valid_utf8(text);
  std::ranges::replace_if(line, is_control, ' ');
  boost::trim(line);
  return shortened(line, max_message_bytes);
}

std::string title_of_page(std::string_view page) {
  const auto lower = boost::to_lower_copy(std::string(page));
  const auto begin = lower.find("<title>");
  const auto end = lower.find("</title>");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "a web page";
  return tidy(page.substr(begin + 7, end - begin - 7));
}

void add_word(ProviderError& provider_error, const json::object& error, std::string_view name) {
  const auto* value = error.if_contains(name);
  if (!value) return;
  if (value->is_int64()) provider_error.status = static_cast<int>(std::clamp<std::int64_t>(value->get_int64(), 0, 999));
  if (!value->is_string()) return;
  if (!provider_error.words.empty()) provider_error.words += ' ';
  provider_error.words += std::string_view(value->get_string());
}

std::optional<double> number(std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
  return std::min(*value, 1e12);
}

milliseconds from_seconds(double seconds) { return milliseconds(static_cast<std::int64_t>(seconds * 1000)); }

/// Google's details: which quotas are exhausted, and when to try again (`34.5s`).
void read_detail(const json::object& detail, ProviderError& provider_error) {
  auto delay = text_member(detail, "retryDelay");
  if (delay.ends_with('s')) delay.remove_suffix(1);
  if (const auto seconds = number(delay)) provider_error.retry_after = from_seconds(*seconds);
  const auto* violations = array_member(detail, "violations");
  for (const auto& each : violations ? *violations : json::array()) {
    if (each.is_object()) add_word(provider_error, each.get_object(), "quotaId");
  }
}

ProviderError read_object(const json::object& error) {
  ProviderError provider_error;
  for (const auto* name : {"message", "detail", "error_description", "msg", "status_msg"}) {
    if (provider_error.message.empty()) provider_error.message = tidy(text_member(error, name));
  }
  provider_error.has_message = !provider_error.message.empty();
  for (const auto* name : {"type", "code", "param"}) add_word(provider_error, error, name);
  provider_error.param = tidy(text_member(error, "param"));
  if (const auto* metadata = object_member(error, "metadata")) {
    add_word(provider_error, *metadata, "error_type");
    // OpenRouter: the error of the underlying service.
    if (const auto raw = text_or_json(*metadata, "raw"); !raw.empty())
      provider_error.message = tidy(fmt::format("{}: {}", provider_error.message, raw));
  }
  const auto* details = array_member(error, "details");
  for (const auto& detail : details ? *details : json::array()) {
    if (detail.is_object()) read_detail(detail.get_object(), provider_error);
  }
  // Mistral's message can be an object.
  const bool needs_all = provider_error.words.empty() || object_member(error, "message");
  if (provider_error.message.empty()) provider_error.message = tidy(needs_all ? to_json(error) : provider_error.words);
  return provider_error;
}

/// Gemini calls the limit of a minute a quota, too, and then says when to try again.
bool is_about_quota(const ProviderError& provider_error) {
  return contains_any(provider_error.words, {"insufficient_quota", "credit_balance_exhausted", "spend_limit_exceeded",
                                             "usage_limit_exceeded", "billing", "PerDay"}) ||
         (!provider_error.retry_after &&
          contains_any(provider_error.message, {"exceeded your current quota", "credit balance is too low",
                                                "spend limit", "API usage limits"}));
}

/// Services, routers and local servers report excessive length in their own words, without a specific status.
bool is_about_length(const ProviderError& provider_error) {
  const auto message = boost::to_lower_copy(provider_error.message);
  return contains_any(provider_error.words, {"context_length", "exceed_context_size", "tokens_limit_reached"}) ||
         contains_any(message, {"context length", "context limit", "context size", "context window",
                                "prompt is too long", "input is too long", "maximum prompt length", "token count",
                                "model token limit", "exceeds max length", "range of input length",
                                "reduce the length of the messages", "reduce your message size", "too many tokens",
                                "maximum model length", "max_seq_len", "exceeds the maximum length", "max_new_tokens"});
}

/// Services limit the number of tools: OpenAI to 128.
bool is_about_many_tools(const ProviderError& provider_error) {
  return provider_error.message.find("tools") != std::string::npos &&
         (contains_any(provider_error.words, {"array_above_max_length"}) ||
          contains_any(provider_error.message, {"array too long", "too many tools"}));
}

/// Groq sends 400 if the model has written a call that cannot be read: the next time it may not.
bool is_about_broken_call(const ProviderError& provider_error) {
  return contains_any(provider_error.words, {"tool_use_failed", "output_parse_failed"});
}

/// What to do about the error, if that is known.
std::string_view advice(int status, const ProviderError& provider_error) {
  if (status == 401) return " (check its API key)";
  if (is_about_many_tools(provider_error))
    return " (name the ones needed in the agent's tools or an integration's allowed_tools)";
  return {};
}

/// The same request would be rejected again, regardless of the status and the headers.
void mark_too_long(ModelFailure& failure, const ProviderError& provider_error) {
  if (failure.kind == Kind::rate_limited || !is_about_length(provider_error)) return;
  failure.kind = Kind::refused;
  failure.too_long = true;
}

Kind kind_of_status(int status, const ProviderError& provider_error) {
  if (status == 429) return is_about_quota(provider_error) ? Kind::refused : Kind::rate_limited;
  if (status == 408 || status == 409 || status >= 500 || is_about_broken_call(provider_error)) return Kind::unavailable;
  return Kind::refused;
}

Kind kind_of_words(const ProviderError& provider_error) {
  if (is_about_quota(provider_error)) return Kind::refused;
  if (is_about_broken_call(provider_error)) return Kind::unavailable;
  if (contains_any(provider_error.words, {"rate_limit", "slow_down"})) return Kind::rate_limited;
  if (contains_any(provider_error.words, {"invalid_request", "authentication", "permission", "not_found", "too_large",
                                          "context_length", "invalid_api_key", "invalid_prompt", "policy"})) {
    return Kind::refused;
  }
  return Kind::unavailable;
}

/// The status that the service would have sent before the stream; 0 if the error is not specific enough.
int status_of_words(const ProviderError& provider_error) {
  if (kind_of_words(provider_error) == Kind::rate_limited || is_about_quota(provider_error)) return 429;
  return contains_any(provider_error.words, {"overloaded"}) ? 529 : 0;
}

bool is_key_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '*' || c == '.'; }

/// Providers quote a key as `sk-ab***yz`, or by its first or last characters.
bool looks_like_key(std::string_view word, std::string_view key) {
  if (word.size() < 8) return false;
  if (boost::starts_with(word, "sk-") || word.find("***") != std::string_view::npos) return true;
  if (key.size() < 16) return false;
  return word.starts_with(key.substr(0, 4)) || word.ends_with(key.substr(key.size() - 4));
}

/// Parses an HTTP date (RFC 9110, section 5.6.7) in its current form.
std::optional<Timestamp> http_date(std::string_view text) {
  std::tm parts{};
  const std::string terminated(text);
  const char* end = strptime(terminated.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (!end || *end) return std::nullopt;
  return Timestamp(std::chrono::seconds(timegm(&parts)));
}

/// The target of a redirect, redacted; empty for other responses.
std::string moved_to(const HttpHead& head) {
  const auto location = head.status >= 300 && head.status < 400 ? head.header("location") : std::nullopt;
  return redacted_url(location.value_or(""));
}

}  // namespace

std::string redacted_url(std::string_view address) {
  const auto url = boost::urls::parse_uri_reference(address);
  if (!url) return {};
  boost::urls::url shown(*url);
  shown.remove_userinfo().remove_query().remove_fragment();
  return tidy(shown.buffer());
}

const json::value* error_in(const json::object& message) {
  const auto is_empty = [](const json::value& value) {
    return value.is_null() || value == json::value("") || value == json::value(false) || value == json::object();
  };
  const auto* error = message.if_contains("error");
  if (!error || is_empty(*error)) return nullptr;
  const auto* object = error->if_object();
  const bool has_content =
      !object || std::ranges::any_of(*object, [&](const auto& member) { return !is_empty(member.value()); });
  return has_content ? error : nullptr;
}

ProviderError read_provider_error(const json::value& error) {
  if (error.is_object()) return read_object(error.get_object());
  // Ollama quotes the JSON of its runner.
  if (error.is_string() && error.get_string().starts_with('{')) return parse_provider_error(error.get_string());
  if (error.is_string()) return {tidy(error.get_string()), {}, 0};
  return {tidy(to_json(error)), {}, 0};
}

ProviderError parse_provider_error(std::string_view body) {
  body.remove_prefix(std::min(body.find_first_not_of(white_space), body.size()));
  if (body.starts_with('<')) return {title_of_page(body), {}, 0};
  // Gemini's services wrap the object in an array.
  const bool is_array = body.starts_with('[') && body.find(']') != body.npos;
  const auto object = parse_object(is_array ? body.substr(1, body.rfind(']') - 1) : body);
  if (!object) return {tidy(body), {}, 0};
  const auto* error = error_in(*object);
  return error ? read_provider_error(*error) : read_object(*object);
}

bool ProviderError::mentions(std::initializer_list<std::string_view> texts) const {
  return contains_any(message, texts) || contains_any(words, texts);
}

bool is_without_tools(const ProviderError& provider_error) {
  auto message = ascii_lower_case(provider_error.message);
  std::erase_if(message, [](char c) { return c == '`' || c == '\'' || c == '"'; });
  return contains_any(message, {"not support tools", "not support tool use", "not support tool call",
                                "not support function call", "tools is not supported", "tools are not supported",
                                "tool use is not supported", "tool calling is not supported",
                                "function calling is not supported", "function calling is not enabled"});
}

std::string redact(std::string_view message, std::string_view key) {
  std::string whole(message);
  if (key.size() >= 6) boost::replace_all(whole, key, "[key]");
  std::string out;
  for (std::string_view text = whole; !text.empty();) {
    const auto word_end = std::ranges::find_if_not(text, is_key_character);
    const auto word = text.substr(0, static_cast<std::size_t>(word_end - text.begin()));
    const auto taken = word.empty() ? text.substr(0, 1) : word;
    out += looks_like_key(word, key) ? std::string_view("[key]") : taken;
    text.remove_prefix(taken.size());
  }
  return out;
}

std::string without_keys(std::string_view message, const ProviderSettings& settings) {
  auto text = redact(message, settings.api_key);
  for (const auto& header : settings.headers) {
    // `Bearer <key>`
    text = redact(text, std::string_view(header.value).substr(header.value.rfind(' ') + 1));
  }
  return text;
}

std::optional<milliseconds> retry_after(const HttpHead& head, Timestamp now) {
  if (const auto value = head.header("retry-after-ms")) {
    if (const auto count = number(*value)) return milliseconds(static_cast<std::int64_t>(*count));
  }
  const auto value = head.header("retry-after");
  if (!value) return std::nullopt;
  if (const auto seconds = number(*value)) return from_seconds(*seconds);
  if (const auto date = http_date(*value)) return std::max(milliseconds(0), *date - now);
  return std::nullopt;
}

ModelFailure response_failure(const HttpHead& head, const ProviderError& provider_error, Timestamp now) {
  ModelFailure failure;
  failure.kind = kind_of_status(head.status, provider_error);
  // Anthropic sends 400 if an account has no credit left.
  failure.status = is_about_quota(provider_error) ? 429 : head.status;
  failure.retry_after = retry_after(head, now);
  if (!failure.retry_after) failure.retry_after = provider_error.retry_after;
  if (head.header("x-should-retry") == "false") failure.kind = Kind::refused;
  if (head.header("x-should-retry") == "true" && failure.kind == Kind::refused) failure.kind = Kind::unavailable;
  mark_too_long(failure, provider_error);
  failure.message = fmt::format("answered {}", head.status);
  if (const auto place = moved_to(head); !place.empty()) {
    failure.message += fmt::format(": it moved to {}; check base_url", place);
  } else if (!provider_error.message.empty()) {
    failure.message += ": " + provider_error.message;
  }
  failure.message += advice(head.status, provider_error);
  return failure;
}

ModelFailure stream_failure(const ProviderError& provider_error) {
  ModelFailure failure;
  failure.kind = provider_error.status >= 400 ? kind_of_status(provider_error.status, provider_error)
                                              : kind_of_words(provider_error);
  failure.status = provider_error.status != 0 ? provider_error.status : status_of_words(provider_error);
  failure.retry_after = provider_error.retry_after;
  mark_too_long(failure, provider_error);
  failure.message = "broke off its answer: " + provider_error.message;
  return failure;
}

}  // namespace agw
