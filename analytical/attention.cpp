#include "pw/attention.h"

#include <algorithm>
#include <numeric>

#include "attention_schedule.h"
#include "pw/int_math.h"
#include "pw/operators.h"

namespace pw {
namespace {

struct TypeName {
  std::string_view text;
  AttentionKernel kernel;
  KvLayout layout;
};
constexpr TypeName kTypeNames[] = {
    {"fa2_ragged", AttentionKernel::fa2, KvLayout::ragged},
    {"fa2_paged", AttentionKernel::fa2, KvLayout::paged},
    {"fa3_ragged", AttentionKernel::fa3, KvLayout::ragged},
    {"fa3_paged", AttentionKernel::fa3, KvLayout::paged},
    {"cutlass_ragged", AttentionKernel::cutlass, KvLayout::ragged},
    {"cutlass_paged", AttentionKernel::cutlass, KvLayout::paged},
    {"ck_ragged", AttentionKernel::ck, KvLayout::ragged},
    {"ck_paged", AttentionKernel::ck, KvLayout::paged},
    {"auto_ragged", AttentionKernel::automatic, KvLayout::ragged},
    {"auto_paged", AttentionKernel::automatic, KvLayout::paged},
};

[[noreturn]] void refuse(const std::string& message) { throw DataError("attention: " + message); }

void check_lengths(const std::vector<std::int64_t>& lengths, const char* name) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1) {
      refuse(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(lengths[i]) +
             ", expected at least 1");
    }
  }
}

void check(const AttentionConfig& a) {
  if (a.q_lengths.empty()) {
    refuse("the batch is empty, expected at least one request");
  }
  if (a.q_lengths.size() != a.kv_lengths.size()) {
    refuse(std::to_string(a.q_lengths.size()) + " q_lengths for " +
           std::to_string(a.kv_lengths.size()) + " kv_lengths, expected as many of both");
  }
  check_lengths(a.q_lengths, "q_lengths");
  check_lengths(a.kv_lengths, "kv_lengths");
  if (a.head_dim < 1) {
    refuse("hd is " + std::to_string(a.head_dim) + ", expected at least 1");
  }
  if (a.kv_heads < 1 || a.query_heads < a.kv_heads || a.query_heads % a.kv_heads != 0) {
    refuse("nh is " + std::to_string(a.query_heads) + " and nkv is " + std::to_string(a.kv_heads) +
           ", expected nkv >= 1 that divides nh");
  }
}

// How one kernel spreads a batch over the SMs and what a task of it costs.
struct KernelRules {
  AttentionKernel kernel;
  AttentionSchedule (*schedule)(const AttentionConfig&, const HardwareSpec&, Fa2Schedule);
  AttentionCost *tensor, *xu, *bytes;
};

template <AttentionSchedule schedule(const AttentionConfig&, const HardwareSpec&)>
AttentionSchedule without_mode(const AttentionConfig& a, const HardwareSpec& hardware,
                               Fa2Schedule) {
  return schedule(a, hardware);
}

constexpr KernelRules kKernels[] = {
    {AttentionKernel::fa2, schedule_fa2, fa2_tensor_cost, fa2_xu_cost, attention_bytes},
    {AttentionKernel::fa3, without_mode<schedule_fa3>, fa3_tensor_cost, fa3_xu_cost,
     attention_bytes},
    {AttentionKernel::cutlass, without_mode<schedule_cutlass>, fa3_tensor_cost, fa3_xu_cost,
     attention_bytes},
    {AttentionKernel::ck, without_mode<schedule_ck>, fa3_tensor_cost, ck_xu_cost, ck_bytes},
};

const KernelRules& rules_of(AttentionKernel kernel, const HardwareSpec& hardware) {
  if (kernel == AttentionKernel::automatic) {
    kernel = automatic_kernel(hardware);
  }
  return *std::find_if(std::begin(kKernels), std::end(kKernels),
                       [&](const KernelRules& rules) { return rules.kernel == kernel; });
}

}  // namespace

AttentionKernel automatic_kernel(const HardwareSpec& hardware) {
  return hardware.architecture == Architecture::hopper ? AttentionKernel::fa3
                                                       : AttentionKernel::fa2;
}

bool runs_on(AttentionKernel kernel, const HardwareSpec& hardware) {
  // The data-center parts, compute capability 10, are the Blackwell GPUs with persistent GEMMs.
  const bool sm100 =
      hardware.architecture == Architecture::blackwell && hardware.gemm_rules == GemmRules::sm90;
  return kernel == AttentionKernel::automatic || kernel == automatic_kernel(hardware) ||
         (kernel == AttentionKernel::cutlass && sm100);
}

void parse_attention_type(const Fields& fields, std::string_view name, AttentionConfig& attention) {
  std::string text = fields.text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string known;
  for (const TypeName& type : kTypeNames) {
    if (text == type.text) {
      attention.kernel = type.kernel;
      attention.layout = type.layout;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(type.text);
  }
  throw DataError(fields.where(name) + " is \"" + text + "\", expected one of " + known);
}

std::string attention_type(AttentionKernel kernel, KvLayout layout) {
  for (const TypeName& type : kTypeNames) {
    if (type.kernel == kernel && type.layout == layout) {
      return std::string(type.text);
    }
  }
  return {};
}

AttentionConfig AttentionConfig::read(const Fields& fields) {
  AttentionConfig attention;
  parse_attention_type(fields, "attention_type", attention);
  attention.q_lengths = fields.integers("q_lengths");
  attention.kv_lengths = fields.integers("kv_lengths");
  const std::int64_t batch = integer_at_least(fields, "bs", 1);
  for (const auto& [name, lengths] : {std::pair{"q_lengths", &attention.q_lengths},
                                      std::pair{"kv_lengths", &attention.kv_lengths}}) {
    if (static_cast<std::int64_t>(lengths->size()) != batch) {
      throw DataError(fields.where(name) + " has " + std::to_string(lengths->size()) +
                      " entries, expected bs = " + std::to_string(batch));
    }
    for (std::size_t i = 0; i < lengths->size(); ++i) {
      if ((*lengths)[i] < 1) {
        throw DataError(fields.where(name) + "[" + std::to_string(i) + "] is " +
                        std::to_string((*lengths)[i]) + ", expected at least 1");
      }
    }
  }
  read_numbers(fields, attention);
  if (attention.query_heads % attention.kv_heads != 0) {
    throw DataError(fields.where("nkv") + " is " + std::to_string(attention.kv_heads) +
                    " with nh = " + std::to_string(attention.query_heads) +
                    ", expected a number of KV heads that divides nh");
  }
  if (fields.has("causal")) {
    attention.causal = fields.flag("causal");
  }
  attention.kv_copies = copies_or(attention.kv_copies, fields);
  return attention;
}

std::int64_t AttentionConfig::tokens() const {
  return std::accumulate(q_lengths.begin(), q_lengths.end(), std::int64_t{0});
}

std::string AttentionConfig::described() const {
  return " " + attention_type(kernel, layout) + " bs=" + std::to_string(q_lengths.size()) +
         described_numbers(*this);
}

std::vector<std::string> AttentionConfig::cells() const {
  const auto list = [](const std::vector<std::int64_t>& values) {
    std::string text = "[";
    for (const std::int64_t value : values) {
      text += (text.size() == 1 ? "" : ",") + std::to_string(value);
    }
    return text + "]";
  };
  std::vector<std::string> all{attention_type(kernel, layout), std::to_string(q_lengths.size()),
                               list(q_lengths), list(kv_lengths)};
  for (const Number<AttentionConfig>& number : kNumbers) {
    all.push_back(std::to_string(this->*number.value));
  }
  return all;
}

PipelineFeatures analyze(const AttentionConfig& attention, const HardwareSpec& hardware,
                         const AnalysisOptions& options) {
  check(attention);
  const KernelRules& rules = rules_of(attention.kernel, hardware);
  const AttentionSchedule schedule = rules.schedule(attention, hardware, options.fa2_schedule);
  const auto sum = [&](AttentionCost* cost) {
    return total_and_max(schedule.loads, cost(schedule.tile, attention.head_dim));
  };
  const TotalAndMax tensor = sum(rules.tensor);
  const TotalAndMax xu = sum(rules.xu);
  const TotalAndMax bytes = sum(rules.bytes);
  PipelineFeatures features;
  features.tensor =
      compute_pipe(static_cast<double>(tensor.total), static_cast<double>(tensor.sm_max),
                   hardware.tensor_bf16_ops_per_cycle_sm, hardware);
  features.xu = compute_pipe(static_cast<double>(xu.total), static_cast<double>(xu.sm_max),
                             hardware.xu_ops_per_cycle_sm, hardware);
  features.memory =
      memory_pipe(static_cast<double>(bytes.total), static_cast<double>(bytes.sm_max), hardware);
  return features;
}

}  // namespace pw
