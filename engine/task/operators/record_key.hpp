// Which key a keyed operator takes from a record.
#pragma once

#include "engine/record.hpp"
#include "engine/state/key_serializer.hpp"

namespace tailrace::engine {

class HeapKeyedStateBackend;

// Longs for records whose number is their key, strings for all others.
[[nodiscard]] const KeySerializer& key_serializer_of(RecordType input);

// Makes the record's key the current one. Requires: the backend has the serializer of that type.
// Cost: no allocation.
void set_key_of(const Record& record, RecordType input, HeapKeyedStateBackend& backend);
void set_number_key(std::int64_t key, HeapKeyedStateBackend& backend);

}  // namespace tailrace::engine
