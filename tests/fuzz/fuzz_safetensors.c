/* fuzz_safetensors.c - any bytes as model.safetensors of a Gemma 1 with one layer; bytes that start with {" are the
 * index of its shards. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char CONFIG[] = "{\"model_type\":\"gemma\",\"vocab_size\":16,\"hidden_size\":8,\"intermediate_size\":16,"
                             "\"num_hidden_layers\":1,\"num_attention_heads\":2,"
                             "\"num_key_value_heads\":1,\"head_dim\":4,\"max_position_embeddings\":64}";
static const char SHARD[] =
    "H\0\0\0\0\0\0\0{\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}      ";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_index = size >= 2 && data[0] == '{' && data[1] == '"';
    fuzz_put("config.json", CONFIG, sizeof(CONFIG) - 1);
    fuzz_put("model.safetensors", is_index ? NULL : data, size);
    fuzz_put("model.safetensors.index.json", is_index ? data : NULL, size);
    fuzz_put("a.safetensors", is_index ? SHARD : NULL, sizeof(SHARD) - 1);
    bool has_data = fuzz_open("", MYTH_WEIGHTS_DATA, size + sizeof(CONFIG));
    if (has_data && !fuzz_open("", MYTH_WEIGHTS_HEADER, size + sizeof(CONFIG)))
        abort();
    return 0;
}
