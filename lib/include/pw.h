/* Predictions from C, and from any language that calls C: link with libpw (-lpw), which needs no
 * LibTorch.
 *
 *   pw_predictor* predictor = NULL;
 *   if (pw_predictor_create("H100", NULL, &predictor) != PW_OK) puts(pw_last_error());
 *
 * Every function that can fail returns a status and, when it fails, leaves its results untouched
 * and the reason, one sentence, in pw_last_error(). Nothing is printed and no exception leaves the
 * library.
 *
 * Threads: a predictor and a workload may be used by any number of threads at once; create and
 * destroy them while no other thread uses them. The library starts no threads.
 *
 * Strings are UTF-8 and end with a zero byte; those that are passed in need not outlive the call.
 * Zero or NULL in an options struct means the default. */
#ifndef PW_H
#define PW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PW_API __attribute__((visibility("default")))
#else
#define PW_API
#endif

typedef enum pw_status {
  PW_OK = 0,
  PW_INTERNAL_ERROR = 1, /* a defect, or no memory */
  PW_WRONG_USAGE = 2,    /* NULL where a value is needed, an unknown enumerator */
  PW_BAD_DATA = 3        /* a file, a name or a problem that cannot be used */
} pw_status;

PW_API const char* pw_version(void); /* "0.1.0" */
/* Why the last call of this thread that failed did so; until its next call that fails. */
PW_API const char* pw_last_error(void);

/* ---- Predictors: one GPU with its models ---- */

typedef struct pw_predictor pw_predictor;

typedef struct pw_predictor_options {
  /* Folder with hardware/, checkpoints/ and config/ in it. Default: $PW_HOME, the folder that was
   * installed with the library, the source tree that it was built from. */
  const char* data_folder;
  const char* checkpoint_folder; /* Default: checkpoints/ in the data folder. */
  const char* serving_engine;    /* "sglang" (default), "vllm", "none": counted in workloads */
  /* "auto" (default), "native", "torch": what evaluates the networks, see `pw-predict --help`. */
  const char* network_engine;
} pw_predictor_options;

/* `gpu`: a short or full name, "A100", "NVIDIA H100". Reads all checkpoints of the folder; an
 * operator without one can then not be predicted. `options` may be NULL. */
PW_API pw_status pw_predictor_create(const char* gpu, const pw_predictor_options* options,
                                     pw_predictor** predictor);
PW_API void pw_predictor_destroy(pw_predictor* predictor); /* NULL: nothing */

/* ---- Operators ---- */

typedef enum pw_operator_kind {
  PW_GEMM = 1,  /* bf16 */
  PW_GEMM_FP8,  /* operands of one byte */
  PW_ATTENTION, /* causal, bf16 */
  PW_RMSNORM,   /* bf16 */
  PW_SILU_MUL,  /* bf16 */
  PW_MOE        /* one pass of the fused kernel, bf16 */
} pw_operator_kind;

/* C[m,n] = A[m,k] B[k,n]; also of PW_GEMM_FP8. */
typedef struct pw_gemm {
  int64_t m, n, k;
} pw_gemm;

typedef enum pw_attention_kernel {
  PW_ATTENTION_AUTO = 0, /* FlashAttention-3 on Hopper, FlashAttention-2 on other GPUs */
  PW_ATTENTION_FA2,
  PW_ATTENTION_FA3
} pw_attention_kernel;

typedef enum pw_kv_layout {
  PW_KV_RAGGED = 0, /* prefill */
  PW_KV_PAGED       /* decode */
} pw_kv_layout;

/* Heads are those of one rank. */
typedef struct pw_attention {
  pw_attention_kernel kernel;
  pw_kv_layout layout;
  size_t requests;
  const int64_t* q_lengths;  /* new tokens of each request */
  const int64_t* kv_lengths; /* context of each request, the new tokens included */
  int64_t query_heads, kv_heads, head_dim;
  int cold_kv; /* 1: the context comes from DRAM although it would fit into L2, as in the decode
                  steps of a workload; 0: as a benchmark that repeats the call finds it */
} pw_attention;

typedef struct pw_rows { /* of PW_RMSNORM and PW_SILU_MUL */
  int64_t rows, width;
} pw_rows;

typedef enum pw_moe_pass { PW_MOE_W13 = 0, PW_MOE_W2 } pw_moe_pass;
typedef struct pw_moe {
  pw_moe_pass pass;
  int64_t tokens, experts, top_k, hidden, intermediate;
} pw_moe;

typedef struct pw_operator {
  pw_operator_kind kind;
  union {
    pw_gemm gemm;
    pw_attention attention;
    pw_rows rows;
    pw_moe moe;
  } as;
} pw_operator;

/* Where four of five measured times are to be expected (docs/method.md section 8), by errors of
 * the models on rows that their fits did not see. NaN: there are no such errors. */
typedef struct pw_band {
  double p10, p90;
} pw_band;

typedef struct pw_operator_prediction {
  double duration_us;
  /* Time at the model's reference over the predicted time, in most models the fraction of the
   * roofline; NaN for operators that are predicted by a formula. */
  double fraction_of_reference;
  int outside_training_range; /* 1: a feature lies outside of what the model was fitted on */
  pw_band duration_band_us;
} pw_operator_prediction;

/* `predictions`: one for each operator. Operators of one kind are evaluated together: one call for
 * many is faster than many calls. */
PW_API pw_status pw_predict_operators(const pw_predictor* predictor, const pw_operator* operators,
                                      size_t count, pw_operator_prediction* predictions);

/* ---- Workloads: a model and requests that start together ---- */

typedef struct pw_workload pw_workload;

typedef struct pw_request {
  int64_t prompt_tokens;
  int64_t output_tokens; /* the first one included */
} pw_request;

typedef struct pw_workload_options {
  int64_t tensor_parallel;   /* GPUs, default 1 */
  int64_t pipeline_parallel; /* stages, default 1 */
  const char* data_folder;   /* as above, for the models in its config/ */
} pw_workload_options;

/* `model`: a Hugging Face config.json, or the name of a shipped one, "Qwen2.5-14B". */
PW_API pw_status pw_workload_create(const char* model, const pw_request* requests, size_t count,
                                    const pw_workload_options* options, pw_workload** workload);
/* Reads a workload file of pw-workload or of the published format. */
PW_API pw_status pw_workload_read(const char* path, pw_workload** workload);
PW_API void pw_workload_destroy(pw_workload* workload); /* NULL: nothing */

typedef struct pw_workload_prediction {
  double prefill_us;
  double decode_step_us; /* mean over the decode steps, 0 without any */
  double decode_us;      /* all decode steps */
  double total_us;
  int64_t decode_steps;
  int64_t requests;
  int64_t prompt_tokens;
  int64_t output_tokens;
  int64_t weight_bytes;   /* per GPU */
  int64_t kv_cache_bytes; /* per GPU, at the end */
  int fits;               /* 0: the two exceed the GPU's memory */
  pw_band prefill_band_us, decode_step_band_us, total_band_us;
} pw_workload_prediction;

PW_API pw_status pw_predict_workload(const pw_predictor* predictor, const pw_workload* workload,
                                     pw_workload_prediction* prediction);

/* The same as the JSON of `pw-predict --json`, with every operator of every iteration and notes on
 * what the result rests on. Release it with pw_text_destroy. */
PW_API pw_status pw_predict_workload_json(const pw_predictor* predictor,
                                          const pw_workload* workload, char** json);
PW_API void pw_text_destroy(char* text); /* NULL: nothing */

#ifdef __cplusplus
}
#endif

#endif /* PW_H */
