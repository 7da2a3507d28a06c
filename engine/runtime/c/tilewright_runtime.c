/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs networks that Tilewright compiled, in programs that know nothing else of it: the order of the kernels, threads, scratch memory.
 * C99 with POSIX threads and the atomic builtins of GCC and Clang. Compile it once with any number of networks:
 *
 *     cc -std=c99 -O2 main.c tilewright_runtime.c NAME.o NAME_data.o -lpthread -lm
 */
#define _POSIX_C_SOURCE 200112L

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 64, TABLE_VERSION = 1, SPINS_BEFORE_SLEEP = 1 << 14, SPINS_BEFORE_YIELD = 1 << 10 };

/* What kernels call. */
struct tw_api {
  void* ctx;
  void (*parallel_for)(void* ctx, int64_t n, void (*body)(void* closure, int64_t begin, int64_t end), void* closure);
  void* (*alloc)(void* ctx, int64_t bytes);
  void (*free)(void* ctx, void* p);
};
typedef int32_t (*tw_kernel)(void* const* args, const struct tw_api* api);

/* Tables of a network, from NAME_data.o. An array is a constant, a part of the arena (offset >= 0), or an input or output (offset -1). */
struct tw_array {
  const void* constant;
  int64_t offset, bytes;
};
struct tw_call {
  tw_kernel kernel;
  const int32_t* arrays;
  int64_t count;
};
struct tw_network {
  int64_t version, arrays, calls, inputs, outputs, threads, arena_bytes;
  const struct tw_array* array;
  const struct tw_call* call;
  const int32_t* input; /* array number of each */
  const int32_t* output;
};

/* The last parallel loop that a worker finished, on a cache line of its own. */
struct tw_done {
  uint32_t sequence;
  char padding[ALIGNMENT - sizeof(uint32_t)];
};

struct tw_instance {
  const struct tw_network* network;
  struct tw_api api;
  void* arena;
  void** memory; /* per array, where it lies in this run */
  void** copies; /* per array, our own memory for an input or output that is not aligned */
  void** args;   /* of the call that runs */

  /* The pool: thread 0 is the caller. */
  int threads;
  pthread_t* workers; /* threads - 1 of them */
  struct tw_done* done;
  struct tw_worker* starts;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  uint32_t sequence; /* counts parallel loops */
  int sleepers, stopping, busy;
  int64_t n;
  void (*body)(void* closure, int64_t begin, int64_t end);
  void* closure;
};
struct tw_worker {
  struct tw_instance* instance;
  int number;
};

struct tw_instance* tw_create(const struct tw_network* network, int threads);
int tw_run(struct tw_instance* self, const void* const* inputs, void* const* outputs);
void tw_destroy(struct tw_instance* self);

static void* aligned_memory(int64_t bytes) {
  void* p = NULL;
  return posix_memalign(&p, ALIGNMENT, bytes > 0 ? (size_t)bytes : 1) == 0 ? p : NULL;
}

/* ---- Scratch memory of kernels: a stack in each thread, so that a kernel called again touches no allocator. ---- */

struct scratch {
  char* base;
  int64_t used, size;
};
static __thread struct scratch scratch;

/* Every block follows a header of ALIGNMENT bytes: how much was used before it, or -1 for a block of its own. */
static void* scratch_alloc(void* ctx, int64_t bytes) {
  const int64_t need = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
  int64_t before = scratch.used;
  char* block = NULL;
  (void)ctx;
  if (scratch.used == 0 && scratch.size < need) {
    free(scratch.base);
    scratch.size = need > 64 * 1024 ? need : 64 * 1024;
    scratch.base = aligned_memory(scratch.size);
    if (scratch.base == NULL) scratch.size = 0;
  }
  if (scratch.size - scratch.used >= need) {
    block = scratch.base + scratch.used;
    scratch.used += need;
  } else {
    before = -1;
    block = aligned_memory(need);
  }
  if (block == NULL) {
    fprintf(stderr, "Out of memory: a kernel asked for %lld bytes\n", (long long)bytes);
    abort();
  }
  memcpy(block, &before, sizeof before);
  return block + ALIGNMENT;
}

static void scratch_free(void* ctx, void* p) {
  char* block = (char*)p - ALIGNMENT;
  int64_t before;
  (void)ctx;
  memcpy(&before, block, sizeof before);
  if (before < 0) {
    free(block);
  } else {
    scratch.used = before;
  }
}

static void scratch_release(void) {
  if (scratch.used != 0) return;
  free(scratch.base);
  scratch.base = NULL;
  scratch.size = 0;
}

/* ---- Threads. ---- */

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Numbers below the smallest normal one are zero from here on in this thread: processors take many times as long for them. Returns what to set again. */
static uint64_t flush_denormals(void) {
  uint64_t before = 0;
#if defined(__x86_64__)
  before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr((uint32_t)before | 1u << 15 | 1u << 6);
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | (uint64_t)1 << 24));
#endif
  return before;
}

static void set_float_mode(uint64_t before) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((uint32_t)before);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(before));
#else
  (void)before;
#endif
}

static void work(struct tw_instance* self, int thread) {
  const int64_t begin = self->n * thread / self->threads, end = self->n * (thread + 1) / self->threads;
  if (begin < end) self->body(self->closure, begin, end);
}

static void await(struct tw_instance* self, uint32_t seen) {
  int i;
  for (i = 0; i < SPINS_BEFORE_SLEEP; ++i) {
    if (__atomic_load_n(&self->sequence, __ATOMIC_ACQUIRE) != seen) return;
    pause_briefly();
  }
  pthread_mutex_lock(&self->lock);
  __atomic_add_fetch(&self->sleepers, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&self->sequence, __ATOMIC_SEQ_CST) == seen) pthread_cond_wait(&self->wake, &self->lock);
  __atomic_sub_fetch(&self->sleepers, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&self->lock);
}

static void* worker_main(void* start) {
  struct tw_instance* self = ((struct tw_worker*)start)->instance;
  const int number = ((struct tw_worker*)start)->number;
  uint32_t seen = 0;
  flush_denormals();
  for (;;) {
    await(self, seen);
    seen = __atomic_load_n(&self->sequence, __ATOMIC_ACQUIRE);
    if (self->stopping) break;
    work(self, number);
    __atomic_store_n(&self->done[number].sequence, seen, __ATOMIC_RELEASE);
  }
  scratch_release();
  return NULL;
}

static void publish(struct tw_instance* self) {
  __atomic_add_fetch(&self->sequence, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&self->sleepers, __ATOMIC_SEQ_CST) == 0) return;
  pthread_mutex_lock(&self->lock);
  pthread_cond_broadcast(&self->wake);
  pthread_mutex_unlock(&self->lock);
}

/* A static split of [0, n). A loop inside a loop runs serially. */
static void parallel_for(void* ctx, int64_t n, void (*body)(void* closure, int64_t begin, int64_t end), void* closure) {
  struct tw_instance* self = ctx;
  uint32_t sequence;
  int t;
  if (n <= 0) return;
  if (self->threads == 1 || n == 1 || __atomic_exchange_n(&self->busy, 1, __ATOMIC_ACQUIRE)) {
    body(closure, 0, n);
    return;
  }
  self->n = n;
  self->body = body;
  self->closure = closure;
  publish(self);
  sequence = self->sequence;
  work(self, 0);
  for (t = 1; t < self->threads; ++t) {
    int i;
    for (i = 0; __atomic_load_n(&self->done[t].sequence, __ATOMIC_ACQUIRE) != sequence; ++i) {
      pause_briefly();
      if (i >= SPINS_BEFORE_YIELD) sched_yield();
    }
  }
  __atomic_store_n(&self->busy, 0, __ATOMIC_RELEASE);
}

/* Fewer threads than asked for if the system gives no more. */
static void start_workers(struct tw_instance* self, int threads) {
  int t;
  for (t = 1; t < threads; ++t) {
    self->starts[t].instance = self;
    self->starts[t].number = t;
    if (pthread_create(&self->workers[t], NULL, worker_main, &self->starts[t]) != 0) break;
  }
  self->threads = t;
}

/* ---- Networks. ---- */

static int place_arrays(struct tw_instance* self) {
  const struct tw_network* network = self->network;
  int64_t i, most_args = 1;
  for (i = 0; i < network->calls; ++i)
    if (network->call[i].count > most_args) most_args = network->call[i].count;
  self->arena = aligned_memory(network->arena_bytes);
  self->memory = calloc((size_t)network->arrays + 1, sizeof *self->memory);
  self->copies = calloc((size_t)network->arrays + 1, sizeof *self->copies);
  self->args = calloc((size_t)most_args, sizeof *self->args);
  if (self->arena == NULL || self->memory == NULL || self->copies == NULL || self->args == NULL) return 0;
  memset(self->arena, 0, (size_t)network->arena_bytes);
  for (i = 0; i < network->arrays; ++i) {
    const struct tw_array* array = &network->array[i];
    if (array->constant != NULL) self->memory[i] = (void*)(uintptr_t)array->constant; /* kernels only read it */
    if (array->constant == NULL && array->offset >= 0) self->memory[i] = (char*)self->arena + array->offset;
  }
  return 1;
}

struct tw_instance* tw_create(const struct tw_network* network, int threads) {
  struct tw_instance* self = NULL;
  if (network->version != TABLE_VERSION) {
    fprintf(stderr, "Expected tables of version %d, found %lld: this runtime belongs to another network\n", TABLE_VERSION, (long long)network->version);
    return NULL;
  }
  self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  if (threads <= 0) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    threads = (int)network->threads;
    if (processors > 0 && processors < threads) threads = (int)processors; /* more would spin where others want to run */
  }
  self->network = network;
  self->threads = 1;
  self->api.ctx = self;
  self->api.parallel_for = parallel_for;
  self->api.alloc = scratch_alloc;
  self->api.free = scratch_free;
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->wake, NULL);
  self->workers = calloc((size_t)threads, sizeof *self->workers);
  self->starts = calloc((size_t)threads, sizeof *self->starts);
  self->done = aligned_memory(threads * (int64_t)sizeof *self->done);
  if (self->workers == NULL || self->starts == NULL || self->done == NULL || !place_arrays(self)) {
    tw_destroy(self);
    return NULL;
  }
  memset(self->done, 0, (size_t)threads * sizeof *self->done);
  start_workers(self, threads);
  return self;
}

/* Memory for an array that the caller's pointer does not serve. */
static void* own_copy(struct tw_instance* self, int32_t array) {
  if (self->copies[array] == NULL) self->copies[array] = aligned_memory(self->network->array[array].bytes);
  return self->copies[array];
}
static int is_aligned(const void* p) { return (uintptr_t)p % ALIGNMENT == 0; }

int tw_run(struct tw_instance* self, const void* const* inputs, void* const* outputs) {
  const struct tw_network* network = self->network;
  int64_t i, k;
  uint64_t float_mode;
  int32_t status = 0;
  for (i = 0; i < network->inputs; ++i) {
    const int32_t array = network->input[i];
    self->memory[array] = (void*)(uintptr_t)inputs[i]; /* kernels only read it */
    if (is_aligned(inputs[i])) continue;
    self->memory[array] = own_copy(self, array);
    if (self->memory[array] == NULL) return -1;
    memcpy(self->memory[array], inputs[i], (size_t)network->array[array].bytes);
  }
  for (i = 0; i < network->outputs; ++i) {
    const int32_t array = network->output[i];
    self->memory[array] = is_aligned(outputs[i]) ? outputs[i] : own_copy(self, array);
    if (self->memory[array] == NULL) return -1;
  }
  float_mode = flush_denormals();
  for (i = 0; i < network->calls && status == 0; ++i) {
    const struct tw_call* call = &network->call[i];
    for (k = 0; k < call->count; ++k) self->args[k] = self->memory[call->arrays[k]];
    status = call->kernel(self->args, &self->api);
  }
  set_float_mode(float_mode);
  if (status != 0) return status;
  for (i = 0; i < network->outputs; ++i) {
    const int32_t array = network->output[i];
    if (self->memory[array] != outputs[i]) memcpy(outputs[i], self->memory[array], (size_t)network->array[array].bytes);
  }
  return 0;
}

void tw_destroy(struct tw_instance* self) {
  int64_t i;
  int t;
  if (self == NULL) return;
  self->stopping = 1;
  publish(self);
  for (t = 1; t < self->threads; ++t) pthread_join(self->workers[t], NULL);
  pthread_cond_destroy(&self->wake);
  pthread_mutex_destroy(&self->lock);
  if (self->copies != NULL)
    for (i = 0; i < self->network->arrays; ++i) free(self->copies[i]);
  free(self->arena);
  free(self->memory);
  free(self->copies);
  free(self->args);
  free(self->workers);
  free(self->starts);
  free(self->done);
  free(self);
  scratch_release();
}
