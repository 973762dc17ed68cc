// Model configs; a workload can be made of one that is taken, and it can be read back.
#include "fuzz_input.h"
#include "pw/workload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile input("Demo-7B.json");
  static const fuzz::InputFile output("workload.json");
  fuzz::takes([&] {
    const ModelConfig model = read_model_config(input.write(fuzz::as_text(data, size)));
    for (const LayerGroup& group : model.layers) {
      fuzz::require(group.attention.heads % group.attention.kv_heads == 0,
                    "query heads form whole groups");
    }
    fuzz::require(layer_count(model) >= 1, "a model has layers");
    WorkloadOptions options;
    options.tp_size = 2;
    const std::string text =
        workload_json(generate_workload(model, uniform_trace(2, 100, 3), options), false);
    std::string again;
    const bool readable =
        fuzz::takes([&] { again = workload_json(read_workload(output.write(text)), false); });
    fuzz::require(readable, "a generated workload can be read");
    fuzz::require(again == text, "a workload stays when it is written and read");
  });
  return 0;
}
