#pragma once

#include <cstddef>
#include <cstdint>

namespace agw::fuzzing {

/// Changes a JSON text into another one: a value is replaced, removed, repeated, moved or nested, a member renamed.
/// Bytes changed at random are seldom JSON, so that they do not get beyond the parser. One in four times, and where the
/// input is no JSON, the bytes are changed all the same. Returns the new size.
std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

/// The same for texts of lines, each of them JSON.
std::size_t mutate_json_lines(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

}  // namespace agw::fuzzing
