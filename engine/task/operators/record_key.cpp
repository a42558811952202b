#include "engine/task/operators/record_key.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "engine/network/big_endian.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/java_hash.hpp"

namespace tailrace::engine {

const KeySerializer& key_serializer_of(RecordType input) {
  return input == RecordType::kNumberedString ? long_key_serializer() : string_key_serializer();
}

void set_key_of(const Record& record, RecordType input, HeapKeyedStateBackend& backend) {
  if (input == RecordType::kNumberedString) {
    set_number_key(leading_number(record.text), backend);
  } else {
    backend.set_current_key(record.text);
  }
}

// As long_key does, without a string of its own.
void set_number_key(std::int64_t key, HeapKeyedStateBackend& backend) {
  std::array<std::byte, 8> bytes{};
  put_int64(bytes.data(), static_cast<std::uint64_t>(key));
  backend.set_current_key(
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      java_long_hash(key));
}

}  // namespace tailrace::engine
