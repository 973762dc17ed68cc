#include "pw/features.h"

namespace pw {
namespace {

using F = const PipelineFeatures&;

const FeatureTable kTensor = {
    {"tensor_all_ops", [](F f) { return f.tensor.all_ops; }},
    {"tensor_all_cycle", [](F f) { return f.tensor.all_cycles; }},
    {"tensor_sm_max_ops", [](F f) { return f.tensor.sm_max_ops; }},
    {"tensor_sm_max_cycle", [](F f) { return f.tensor.sm_max_cycles; }},
};

const FeatureTable kFma = {
    {"fma_all_ops", [](F f) { return f.fma.all_ops; }},
    {"fma_all_cycle", [](F f) { return f.fma.all_cycles; }},
    {"fma_sm_max_ops", [](F f) { return f.fma.sm_max_ops; }},
    {"fma_sm_max_cycle", [](F f) { return f.fma.sm_max_cycles; }},
};

const FeatureTable kXu = {
    {"xu_all_ops", [](F f) { return f.xu.all_ops; }},
    {"xu_all_cycle", [](F f) { return f.xu.all_cycles; }},
    {"xu_sm_max_ops", [](F f) { return f.xu.sm_max_ops; }},
    {"xu_sm_max_cycle", [](F f) { return f.xu.sm_max_cycles; }},
};

const FeatureTable kMemory = {
    {"global_in_flight", [](F f) { return f.memory.global_kib; }},
    {"global_cycle", [](F f) { return f.memory.global_cycles; }},
    {"local_cycle", [](F f) { return f.memory.local_cycles; }},
    {"sm_max_in_flight", [](F f) { return f.memory.sm_max_kib; }},
    {"sm_max_global_cycle", [](F f) { return f.memory.sm_max_global_cycles; }},
    {"sm_max_shared_cycle", [](F f) { return f.memory.sm_max_shared_cycles; }},
    {"sm_max_local_cycle", [](F f) { return f.memory.sm_max_local_cycles; }},
};

FeatureTable joined(std::initializer_list<const FeatureTable*> groups) {
  FeatureTable table;
  for (const FeatureTable* group : groups) {
    table.insert(table.end(), group->begin(), group->end());
  }
  return table;
}

}  // namespace

const FeatureTable& tensor_memory_features() {
  static const FeatureTable table = joined({&kTensor, &kMemory});
  return table;
}

const FeatureTable& tensor_xu_memory_features() {
  static const FeatureTable table = joined({&kTensor, &kXu, &kMemory});
  return table;
}

const FeatureTable& fma_xu_memory_features() {
  static const FeatureTable table = joined({&kFma, &kXu, &kMemory});
  return table;
}

}  // namespace pw
