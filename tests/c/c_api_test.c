/* pw.h as a C program uses it. Exits with 1 after the first expectation that does not hold. */

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pw.h"

static void expect(int condition, const char* text, int line) {
  if (!condition) {
    fprintf(stderr, "line %d: expected %s; last error: %s\n", line, text, pw_last_error());
    exit(1);
  }
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

static pw_operator gemm(int64_t m, int64_t n, int64_t k) {
  pw_operator op = {PW_GEMM, {{m, n, k}}};
  return op;
}

static double gemm_us(const pw_predictor* predictor, int64_t m) {
  const pw_operator op = gemm(m, 4096, 4096);
  pw_operator_prediction found;
  EXPECT(pw_predict_operators(predictor, &op, 1, &found) == PW_OK);
  EXPECT(isfinite(found.duration_us) && found.duration_us > 0);
  return found.duration_us;
}

static void operators(const pw_predictor* predictor) {
  const int64_t prompts[] = {2000, 3000}, ones[] = {1, 1}, contexts[] = {2001, 3001};
  pw_operator ops[6];
  pw_operator_prediction together[6], alone;
  int i;
  memset(ops, 0, sizeof ops);
  ops[0] = gemm(2048, 5120, 5120);
  ops[1].kind = PW_ATTENTION;
  ops[1].as.attention =
      (pw_attention){PW_ATTENTION_AUTO, PW_KV_RAGGED, 2, prompts, prompts, 40, 8, 128, 0};
  ops[2].kind = PW_ATTENTION;
  ops[2].as.attention =
      (pw_attention){PW_ATTENTION_FA2, PW_KV_PAGED, 2, ones, contexts, 40, 8, 128, 1};
  ops[3].kind = PW_RMSNORM;
  ops[3].as.rows = (pw_rows){2048, 5120};
  ops[4].kind = PW_SILU_MUL;
  ops[4].as.rows = (pw_rows){2048, 13824};
  ops[5].kind = PW_MOE;
  ops[5].as.moe = (pw_moe){PW_MOE_W13, 1024, 64, 4, 2048, 1408};
  EXPECT(pw_predict_operators(predictor, ops, 6, together) == PW_OK);
  for (i = 0; i < 6; ++i) {
    EXPECT(pw_predict_operators(predictor, &ops[i], 1, &alone) == PW_OK);
    EXPECT(alone.duration_us == together[i].duration_us); /* whatever stands beside it */
    EXPECT(alone.duration_us > 1 && alone.duration_us < 1e6);
  }
  EXPECT(together[0].fraction_of_reference > 0.1 && together[0].fraction_of_reference < 1.5);
  EXPECT(isnan(together[3].fraction_of_reference));
  EXPECT(together[0].duration_band_us.p10 < together[0].duration_us &&
         together[0].duration_us < together[0].duration_band_us.p90);
  EXPECT(isnan(together[3].duration_band_us.p10) && isnan(together[3].duration_band_us.p90));
  EXPECT(together[1].duration_us > together[2].duration_us);
  EXPECT(gemm_us(predictor, 8192) > 4 * gemm_us(predictor, 1024));

  ops[0] = gemm(1, 1, 100000000);
  EXPECT(pw_predict_operators(predictor, ops, 1, &alone) == PW_OK);
  EXPECT(alone.outside_training_range == 1);
  EXPECT(pw_predict_operators(predictor, NULL, 0, NULL) == PW_OK);
}

static pw_workload* make_workload(int64_t tensor_parallel) {
  const pw_request requests[] = {{2000, 16}, {3000, 16}, {1000, 8}};
  const pw_workload_options options = {tensor_parallel, 1, NULL};
  pw_workload* workload = NULL;
  EXPECT(pw_workload_create("Qwen2.5-14B", requests, 3, &options, &workload) == PW_OK);
  return workload;
}

static void workloads(const pw_predictor* predictor) {
  pw_workload* one = make_workload(1);
  pw_workload* four = make_workload(4);
  pw_workload_prediction a, b;
  char* json = NULL;
  EXPECT(pw_predict_workload(predictor, one, &a) == PW_OK);
  EXPECT(a.requests == 3 && a.prompt_tokens == 6000 && a.output_tokens == 40);
  EXPECT(a.decode_steps == 15 && a.fits == 1 && a.weight_bytes > 20000000000 &&
         a.kv_cache_bytes > 0);
  EXPECT(a.prefill_us > a.decode_step_us && a.decode_step_us > 1000);
  EXPECT(fabs(a.prefill_us + a.decode_us - a.total_us) < 1e-6 * a.total_us);
  EXPECT(fabs(a.decode_us / 15 - a.decode_step_us) < 1e-6 * a.decode_step_us);
  EXPECT(a.prefill_band_us.p10 < a.prefill_us && a.prefill_us < a.prefill_band_us.p90);
  EXPECT(a.decode_step_band_us.p10 < a.decode_step_us &&
         a.decode_step_us < a.decode_step_band_us.p90);
  EXPECT(a.total_band_us.p10 < a.total_us && a.total_us < a.total_band_us.p90);
  EXPECT(pw_predict_workload(predictor, four, &b) == PW_OK);
  EXPECT(b.total_us < a.total_us);
  EXPECT(pw_predict_workload_json(predictor, four, &json) == PW_OK);
  EXPECT(strstr(json, "\"all_reduce\"") != NULL && strstr(json, "total_duration_ms") != NULL);
  EXPECT(strstr(json, "gemm.pt sha256:") != NULL && strstr(json, "moe.pt") == NULL);
  pw_text_destroy(json);
  pw_workload_destroy(one);
  pw_workload_destroy(four);
}

/* The status, a part of the message, and untouched results. */
static void errors(const pw_predictor* predictor) {
  pw_predictor* none = NULL;
  pw_workload* workload = NULL;
  pw_operator op = gemm(8, 4096, 4096);
  pw_operator_prediction found = {-1, -1, -1, {-1, -1}};
  pw_workload_prediction sums;
  const pw_request request = {100, 2}, bad_request = {0, 2};
  pw_predictor_options options = {NULL, NULL, NULL, NULL};

  EXPECT(pw_predictor_create("H1000", NULL, &none) == PW_BAD_DATA && none == NULL);
  EXPECT(strstr(pw_last_error(), "A100") != NULL);
  EXPECT(pw_predictor_create(NULL, NULL, &none) == PW_WRONG_USAGE);
  EXPECT(strstr(pw_last_error(), "gpu is NULL") != NULL);
  options.data_folder = "/no/such/folder";
  EXPECT(pw_predictor_create("A100", &options, &none) == PW_BAD_DATA);
  EXPECT(strstr(pw_last_error(), "/no/such/folder") != NULL);
  options.data_folder = NULL;
  options.serving_engine = "trt";
  EXPECT(pw_predictor_create("A100", &options, &none) == PW_BAD_DATA);
  EXPECT(strstr(pw_last_error(), "sglang") != NULL);
  options.serving_engine = NULL;
  options.network_engine = "tf";
  EXPECT(pw_predictor_create("A100", &options, &none) == PW_BAD_DATA);

  op.as.gemm.m = 0;
  EXPECT(pw_predict_operators(predictor, &op, 1, &found) == PW_BAD_DATA);
  EXPECT(found.duration_us == -1);
  EXPECT(strcmp(pw_last_error(), "operators[0]: M is 0, expected an integer of at least 1") == 0);
  op.kind = (pw_operator_kind)99;
  EXPECT(pw_predict_operators(predictor, &op, 1, &found) == PW_WRONG_USAGE);
  EXPECT(pw_predict_operators(predictor, &op, 1, NULL) == PW_WRONG_USAGE);
  memset(&op, 0, sizeof op);
  op.kind = PW_ATTENTION;
  op.as.attention.requests = 1;
  EXPECT(pw_predict_operators(predictor, &op, 1, &found) == PW_WRONG_USAGE);

  EXPECT(pw_workload_create("NoSuchModel", &request, 1, NULL, &workload) == PW_BAD_DATA);
  EXPECT(strstr(pw_last_error(), "Qwen2.5-14B") != NULL);
  EXPECT(pw_workload_create("Qwen2.5-14B", &bad_request, 1, NULL, &workload) == PW_BAD_DATA);
  EXPECT(pw_workload_create("Qwen2.5-14B", &request, 0, NULL, &workload) == PW_BAD_DATA);
  EXPECT(pw_workload_read("/no/such/file.json", &workload) == PW_BAD_DATA && workload == NULL);
  EXPECT(pw_predict_workload(predictor, NULL, &sums) == PW_WRONG_USAGE);
  pw_predictor_destroy(NULL);
  pw_workload_destroy(NULL);
  pw_text_destroy(NULL);
}

struct shared {
  const pw_predictor* predictor;
  const pw_workload* workload;
  double total_us;
};

static void* predict_often(void* argument) {
  const struct shared* shared = argument;
  pw_workload_prediction found;
  int i;
  for (i = 0; i < 20; ++i) {
    EXPECT(pw_predict_workload(shared->predictor, shared->workload, &found) == PW_OK);
    EXPECT(found.total_us == shared->total_us);
    EXPECT(pw_predict_workload(shared->predictor, NULL, &found) == PW_WRONG_USAGE);
    EXPECT(strstr(pw_last_error(), "workload is NULL") != NULL);
  }
  return NULL;
}

/* A predictor that no call has warmed up yet. */
static void threads(void) {
  pthread_t thread[4];
  pw_predictor *predictor = NULL, *other = NULL;
  pw_workload* workload = make_workload(4);
  pw_workload_prediction found;
  struct shared shared;
  int i;
  EXPECT(pw_predictor_create("H100", NULL, &predictor) == PW_OK);
  EXPECT(pw_predictor_create("NVIDIA H100", NULL, &other) == PW_OK);
  EXPECT(pw_predict_workload(other, workload, &found) == PW_OK);
  shared.predictor = predictor;
  shared.workload = workload;
  shared.total_us = found.total_us;
  for (i = 0; i < 4; ++i) EXPECT(pthread_create(&thread[i], NULL, predict_often, &shared) == 0);
  for (i = 0; i < 4; ++i) EXPECT(pthread_join(thread[i], NULL) == 0);
  pw_predictor_destroy(predictor);
  pw_predictor_destroy(other);
  pw_workload_destroy(workload);
}

int main(void) {
  pw_predictor* predictor = NULL;
  EXPECT(strcmp(pw_version(), PW_TEST_VERSION) == 0);
  EXPECT(strcmp(pw_last_error(), "") == 0);
  EXPECT(pw_predictor_create("A100", NULL, &predictor) == PW_OK);
  operators(predictor);
  workloads(predictor);
  errors(predictor);
  pw_predictor_destroy(predictor);
  threads();
  puts("ok");
  return 0;
}
