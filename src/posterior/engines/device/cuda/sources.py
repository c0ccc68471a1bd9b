"""CUDA C of the kernels, compiled at run time for the numbers of columns and classes at hand.

Every sum has one order, whatever the number of blocks that run at once, so that a GPU gives the same bits
each time: rows are sorted by class within a tile by ranks, not by atomics, and the partial sums of blocks are
added by `fold` in the order of the blocks. Within a tile sums are in the precision of the cells, about a pivot near
the class mean; those of tiles are added in double precision.
"""

LABELS = r"""
extern "C" __global__ void min_max(const LT* __restrict__ y, long long n, long long* out) {
  long long lo = 9223372036854775807LL, hi = -9223372036854775807LL - 1;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const long long v = (long long)y[i]; lo = v < lo ? v : lo; hi = v > hi ? v : hi;
  }
  for (int s = 16; s; s >>= 1) {
    const long long a = __shfl_down_sync(~0u, lo, s), b = __shfl_down_sync(~0u, hi, s);
    lo = a < lo ? a : lo; hi = b > hi ? b : hi;
  }
  if ((threadIdx.x & 31) == 0) { atomicMin(out, lo); atomicMax(out + 1, hi); }
}
extern "C" __global__ void codes(const LT* __restrict__ y, long long n, long long lo, CT* __restrict__ out,
                                 unsigned long long* seen) {
  __shared__ unsigned int h[NV];
  for (int i = threadIdx.x; i < NV; i += blockDim.x) h[i] = 0;
  __syncthreads();
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const int v = (int)((long long)y[i] - lo); out[i] = (CT)v; atomicAdd(&h[v], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < NV; i += blockDim.x) if (h[i]) atomicAdd(&seen[i], (unsigned long long)h[i]);
}
"""

# Four neighbouring sums a block of threads: memory is read in pieces of 32 bytes.
FOLD = r"""
extern "C" __global__ void fold(const double* __restrict__ part, int blocks, int size, double* out) {
  __shared__ double s[256];
  const int t = threadIdx.x, i = 4 * blockIdx.x + t % 4; double a = 0;
  if (i < size) {
    #pragma unroll 8
    for (int b = t / 4; b < blocks; b += 64) a += part[(long long)b * size + i];
  }
  s[t] = a; __syncthreads();
  for (int w = 128; w >= 4; w >>= 1) { if (t < w) s[t] += s[t + w]; __syncthreads(); }
  if (t < 4 && i < size) out[i] = s[t];
}
"""

# Sums of parts that belong to several symmetric matrices, one after the other: matrix y has the parts first[y] …
# first[y + 1] too. Sum i goes to place[i] = row * d + column and to its mirror image, or nowhere (−1).
FOLD_MATRICES = r"""
extern "C" __global__ void fold_matrices(const double* __restrict__ part, const int* __restrict__ first,
                                         const int* __restrict__ place, int size, int d, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= size || place[i] < 0) return;
  double* matrix = out + (long long)blockIdx.y * d * d; double a = matrix[place[i]];
  #pragma unroll 8
  for (int b = first[blockIdx.y]; b < first[blockIdx.y + 1]; b++) a += part[(long long)b * size + i];
  matrix[place[i]] = a; matrix[place[i] % d * d + place[i] / d] = a;
}
"""

# A pivot for every class and column: the mean over some rows, in a fixed order; that of all classes for one that
# they do not show. `spread` is about the standard deviation within the class, 0 where nothing is known of it. One block a
# class; 8 rows by 32 columns of threads.
PIVOTS = r"""
extern "C" __global__ void pivots(const XT* __restrict__ X, const CT* __restrict__ Y, long long step, int some,
                                  int width, XT* pivot, double* out, XT* spread) {
  __shared__ double s[5][8][32];
  const int k = blockIdx.x, x = threadIdx.x % 32, g = threadIdx.x / 32;
  for (int j = x; j - x < width; j += 32) {
    double own = 0, n = 0, every = 0, all = 0, squares = 0;
    if (j < width) {
      #pragma unroll 8
      for (int i = g; i < some; i += 8) {
        const long long r = i * step; const double v = (double)X[r * width + j]; const bool mine = (int)Y[r] == k;
        if (v - v == 0) { every += v; all += 1; if (mine) { own += v; n += 1; squares += v * v; } }
      }
    }
    s[0][g][x] = own; s[1][g][x] = n; s[2][g][x] = every; s[3][g][x] = all; s[4][g][x] = squares; __syncthreads();
    if (g == 0 && j < width) {
      for (int h = 1; h < 8; h++) { own += s[0][h][x]; n += s[1][h][x]; every += s[2][h][x]; all += s[3][h][x]; squares += s[4][h][x]; }
      const XT p = (XT)(n > 0 ? own / n : all > 0 ? every / all : 0.0);
      pivot[k * width + j] = p; out[k * width + j] = (double)p;
      const double mean = n > 0 ? own / n : 0.0; spread[k * width + j] = n > 0 ? (XT)sqrt(fmax(squares / n - mean * mean, 0.0)) : (XT)0;
    }
    __syncthreads();
  }
}
"""

# Copies from global to shared memory that go on while threads work; plain ones before compute capability 8.
AHEAD = r"""
template <int BYTES> __device__ __forceinline__ void copy_ahead(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES));
#else
  if (BYTES == 16) *(float4*)to = *(const float4*)from;
  else if (BYTES == 8) *(double*)to = *(const double*)from;
  else *(float*)to = *(const float*)from;
#endif
}
__device__ __forceinline__ void end_of_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
// Waits until no more than LEFT of the groups of copies that this thread began are under way.
template <int LEFT> __device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}
// Rows of ND columns, m from r0 on, into a tile whose rows are STRIDE numbers apart, by STEP threads of which this is one.
template <int STRIDE, int STEP = NT>
__device__ __forceinline__ void fetch_rows(const XT* X, XT* tile, long long r0, int m, int one = threadIdx.x) {
  const XT* from = X + r0 * ND; const int PER = 16 / sizeof(XT);
#if VEC
  if (STRIDE == ND) {
    const int all = m * ND / PER;
    for (int i = one; i < all; i += STEP) copy_ahead<16>(tile + i * PER, from + i * PER);
    for (int i = all * PER + one; i < m * ND; i += STEP) copy_ahead<sizeof(XT)>(tile + i, from + i);
  } else {
    const int each = ND / PER > 0 ? ND / PER : 1;
    for (int i = one; i < m * each; i += STEP)
      copy_ahead<16>(tile + i / each * STRIDE + i % each * PER, from + i * PER);
  }
#else
  for (int i = one; i < m * ND; i += STEP) copy_ahead<sizeof(XT)>(tile + i / ND * STRIDE + i % ND, from + i);
#endif
}
"""

# The places of the rows of a tile in the order of their classes: `order`, and where each class starts. A warp owns
# the counts of its groups of 32 rows.
SORTED = r"""
#define NG (NR / 32)
#define RPT ((NR + NT - 1) / NT)
__device__ __forceinline__ void read_keys(const CT* __restrict__ Y, long long r0, int m, int (&key)[RPT]) {
  #pragma unroll
  for (int q = 0; q < RPT; q++) { const int i = threadIdx.x + q * NT; key[q] = i < m ? (int)Y[r0 + i] : NK; }
}
__device__ __forceinline__ void sort_tile(const int (&key)[RPT], unsigned short* order, int* start,
                                          int (*count)[NK + 1]) {
  const int t = threadIdx.x, lane = t & 31; int rank[RPT];
  #pragma unroll
  for (int q = 0; q < RPT; q++) {
    const int i = t + q * NT;
    if (i < NR) {
      for (int k = lane; k <= NK; k += 32) count[i / 32][k] = 0;
      __syncwarp();
      const unsigned int peers = __match_any_sync(~0u, key[q]);
      rank[q] = __popc(peers & ((1u << lane) - 1u));
      if (rank[q] == 0) count[i / 32][key[q]] = __popc(peers);
    }
  }
  __syncthreads();
  if (t < 32) {
    int before = 0;
    for (int k = lane; k - lane <= NK; k += 32) {
      int all = 0;
      if (k < NK) for (int g = 0; g < NG; g++) { const int c = count[g][k]; count[g][k] = all; all += c; }
      int sum = all;
      for (int s = 1; s < 32; s <<= 1) { const int v = __shfl_up_sync(~0u, sum, s); if (lane >= s) sum += v; }
      const int from = before + sum - all;
      if (k <= NK) start[k] = from;
      if (k < NK) for (int g = 0; g < NG; g++) count[g][k] += from;
      before += __shfl_sync(~0u, sum, 31);
    }
  }
  __syncthreads();
  #pragma unroll
  for (int q = 0; q < RPT; q++) {
    const int i = t + q * NT;
    if (i < NR && key[q] < NK) order[count[i / 32][key[q]] + rank[q]] = (unsigned short)i;
  }
  __syncthreads();
}
"""

# Weight, sum and sum of squares about a pivot of every class and column; ND columns from blockIdx.y * ND on.
MOMENTS = (
    AHEAD
    + SORTED
    + r"""
__device__ __forceinline__ void fetch_tile(const XT* __restrict__ X, XT* tile, long long r0, int m, int width,
                                           int col0, int nd) {
#if VEC
  fetch_rows<ND>(X, tile, r0, m);
#else
  for (int i = threadIdx.x; i < m * nd; i += NT) {
    const int r = i / nd, j = i - r * nd;
    copy_ahead<sizeof(XT)>(tile + r * ND + j, X + (r0 + r) * width + col0 + j);
  }
#endif
  end_of_copies();
}
extern "C" __global__ void __launch_bounds__(NT, MB) moments(
    const XT* __restrict__ X, const CT* __restrict__ Y, const double* __restrict__ W,
    const XT* __restrict__ pivot, double* part, long long n, int width) {
  extern __shared__ __align__(32) unsigned char room[];
  XT* tiles = (XT*)room; __shared__ unsigned short order[NR]; __shared__ int start[NK + 1], count[NG][NK + 1];
  const int t = threadIdx.x, P = NK * ND, G = NT / P;
  const int col0 = blockIdx.y * ND, nd = min(ND, width - col0);
  const int g = t / P, p = t % P, k = p / ND, d = p % ND; const bool on = g < G && d < nd;
  double s = 0, q = 0, c = 0; const XT piv = on ? pivot[k * width + col0 + d] : (XT)0;
  const long long end = (n + NR - 1) / NR * NR, step = (long long)gridDim.x * NR; long long r0 = (long long)blockIdx.x * NR;
  int key[RPT], next[RPT], turn = 0;
  if (r0 < end) {
    const int m = (int)min((long long)NR, n - r0); fetch_tile(X, tiles, r0, m, width, col0, nd); read_keys(Y, r0, m, key);
  }
  for (; r0 < end; r0 += step, turn ^= 1) {
    // The next tile is under way while this one is summed up.
    const int ahead = r0 + step < end ? (int)min((long long)NR, n - r0 - step) : 0;
    fetch_tile(X, tiles + (turn ^ 1) * NR * ND, r0 + step, ahead, width, col0, nd);
    read_keys(Y, r0 + step, ahead, next);
    sort_tile(key, order, start, count);
    wait_for_copies<1>();
    __syncthreads();
    if (on) {
      const XT* tile = tiles + turn * NR * ND; XT fs = 0, fq = 0, fc = 0; const int e = start[k + 1];
      #pragma unroll 4
      for (int i = start[k] + g; i < e; i += G) {
        const int r = order[i]; const XT v = tile[r * ND + d] - piv;
#if WEIGHTED
        const XT w = (XT)W[r0 + r];
#else
        const XT w = 1;
#endif
#if GAPS
        if (v == v) { fs += w * v; fq += w * v * v; fc += w; }
#else
        fs += w * v; fq += w * v * v;
#if WEIGHTED
        fc += w;
#endif
#endif
      }
      s += fs; q += fq;
#if GAPS || WEIGHTED
      c += fc;
#else
      if (g == 0) c += e - start[k];
#endif
    }
    #pragma unroll
    for (int a = 0; a < RPT; a++) key[a] = next[a];
    __syncthreads();
  }
  wait_for_copies<0>();
  __syncthreads();
  double* mine = part + (long long)blockIdx.x * 3 * NK * width; double* add = (double*)room;
  double v[3] = {c, s, q};
  for (int a = 0; a < 3; a++) {
    add[t] = v[a]; __syncthreads();
    if (on && g == 0) {
      double sum = 0; for (int h = 0; h < G; h++) sum += add[h * P + p];
      mine[(a * NK + k) * width + col0 + d] = sum;
    }
    __syncthreads();
  }
}
"""
)

# Weight, sum and products of columns about a pivot of every class: one matrix of all classes, or one each.
# A block adds up at most TILES tiles, so that its sums of products may stay in the precision of the cells.
SCATTER = (
    SORTED
    + r"""
#define NB ((ND + 3) / 4)
#define DP (4 * NB)
#define NP (NB * (NB + 1) / 2)
struct __align__(4 * sizeof(XT)) Four { XT v[4]; };
extern "C" __global__ void __launch_bounds__(NT, MB) scatter(
    const XT* __restrict__ X, const CT* __restrict__ Y, const double* __restrict__ W,
    const XT* __restrict__ pivot, double* part, long long n) {
  extern __shared__ __align__(32) unsigned char room[];
  XT* tile = (XT*)room; XT* piv = tile + NR * DP; XT* heavy = piv + NK * DP;
  __shared__ unsigned short order[NR]; __shared__ int start[NK + 1], count[NG][NK + 1];
  const int t = threadIdx.x;
  for (int i = t; i < NK * DP; i += NT) piv[i] = i % DP < ND ? pivot[i / DP * ND + i % DP] : (XT)0;
  if (DP > ND) for (int i = t; i < NR * DP; i += NT) tile[i] = 0;
  const int SETS = POOLED ? 1 : NK, G = NT / (SETS * NP), g = t / (SETS * NP), rest = t % (SETS * NP);
  const int k = rest / NP; int left = rest % NP, bi = 0; const bool on = g < G;
  while (left >= NB - bi) { left -= NB - bi; bi++; }
  const int bj = bi + left;
  // Sums by class of four columns a thread; H threads share the rows of a class.
  const int Q = NK * NB, H = NT / Q > 0 ? NT / Q : 1;
  XT f[16]; double s[SPT][4], c[SPT];
  #pragma unroll
  for (int a = 0; a < 16; a++) f[a] = 0;
  #pragma unroll
  for (int a = 0; a < SPT; a++) { s[a][0] = s[a][1] = s[a][2] = s[a][3] = c[a] = 0; }
  const long long all = (n + NR - 1) / NR, from = (long long)blockIdx.x * TILES;
  const long long to = min(all, from + TILES);
  __syncthreads();
  int key[RPT];
  for (long long b = from; b < to; b++) {
    const long long r0 = b * NR; const int m = (int)min((long long)NR, n - r0);
#if VEC
    const float4* src = (const float4*)(X + r0 * ND); float4* dst = (float4*)tile; const float4* pv = (const float4*)piv;
    #pragma unroll 4
    for (int i = t; i < m * NB; i += NT) {
      const int r = i / NB; float4 x = __ldcs(src + i); const float4 o = pv[(int)Y[r0 + r] * NB + i - r * NB];
      x.x -= o.x; x.y -= o.y; x.z -= o.z; x.w -= o.w; dst[i] = x;
    }
#else
    for (int i = t; i < m * ND; i += NT) {
      const int r = i / ND, j = i - r * ND; tile[r * DP + j] = X[r0 * ND + i] - piv[(int)Y[r0 + r] * DP + j];
    }
#endif
#if WEIGHTED
    for (int i = t; i < m; i += NT) heavy[i] = (XT)W[r0 + i];
#endif
    read_keys(Y, r0, m, key);
    sort_tile(key, order, start, count);
    if (on) {
      const int first = POOLED ? 0 : start[k], end = POOLED ? m : start[k + 1];
      #pragma unroll 2
      for (int i = first + g; i < end; i += G) {
        const int r = POOLED ? i : order[i];
        Four x = *(const Four*)(tile + r * DP + 4 * bi); const Four z = *(const Four*)(tile + r * DP + 4 * bj);
#if WEIGHTED
        #pragma unroll
        for (int a = 0; a < 4; a++) x.v[a] *= heavy[r];
#endif
        #pragma unroll
        for (int a = 0; a < 4; a++) {
          #pragma unroll
          for (int e = 0; e < 4; e++) f[4 * a + e] += x.v[a] * z.v[e];
        }
      }
    }
    #pragma unroll
    for (int a = 0; a < SPT; a++) {
      const int p = t + a * NT, h = p / Q, kk = p % Q / NB, at = p % NB * 4;
      if (SPT > 1 ? p < Q : h < H) {
        Four fs = {}; XT fc = 0; const int e = start[kk + 1];
        #pragma unroll 4
        for (int i = start[kk] + (SPT > 1 ? 0 : h); i < e; i += SPT > 1 ? 1 : H) {
          const int r = order[i]; const Four v = *(const Four*)(tile + r * DP + at);
#if WEIGHTED
          const XT w = heavy[r];
#else
          const XT w = 1;
#endif
          #pragma unroll
          for (int l = 0; l < 4; l++) fs.v[l] += w * v.v[l];
          fc += w;
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) s[a][l] += fs.v[l];
        c[a] += fc;
      }
    }
    __syncthreads();
  }
  // Blocks of 4 by 4 of groups, then sums of classes of groups, each in the order of the groups.
  const int P = NK * ND, SIZE = SETS * ND * ND + 2 * P;
  double* mine = part + (long long)blockIdx.x * SIZE; double* add = (double*)room;
  for (int a = 0; a < 16; a++) {
    add[t] = f[a]; __syncthreads();
    if (on && g == 0) {
      double sum = 0; for (int h = 0; h < G; h++) sum += add[h * SETS * NP + rest];
      const int i = 4 * bi + a / 4, j = 4 * bj + a % 4;
      if (i < ND && j < ND) { mine[(k * ND + i) * ND + j] = sum; mine[(k * ND + j) * ND + i] = sum; }
    }
    __syncthreads();
  }
  #pragma unroll
  for (int a = 0; a < SPT; a++) {
    #pragma unroll
    for (int l = 0; l < 5; l++) {
      add[t] = l < 4 ? s[a][l < 4 ? l : 0] : c[a]; __syncthreads();
      const int p = t + a * NT, kk = p / NB, d = p % NB * 4 + l;
      if (p < Q) {
        double sum = 0; if (SPT > 1) sum = add[t]; else for (int h = 0; h < H; h++) sum += add[h * Q + p];
        if (l < 4 && d < ND) mine[SETS * ND * ND + kk * ND + d] = sum;
        if (l == 4 && p % NB == 0) for (int j = 0; j < ND; j++) mine[SETS * ND * ND + P + kk * ND + j] = sum;
      }
      __syncthreads();
    }
  }
}
"""
)

# Products of many columns about a pivot of every class: rows FROM … TO of a block, of all classes or of one, in `order`.
# The columns of a thread are two fours on either side, the same four of both halves: neighbours read neighbours. Sums
# are (64, NP): 8 by 8 products of each pair of eights.
WIDE_SCATTER = (
    AHEAD
    + r"""
#define NO ((ND + 7) / 8)
#define DP (8 * NO)
#define NP (NO * (NO + 1) / 2)
#define PER (VEC ? 16 / (int)sizeof(XT) : 1)
struct __align__(4 * sizeof(XT)) Four { XT v[4]; };
// Rows r0 … of all rows, or those at some places.
__device__ __forceinline__ void fetch_places(const XT* __restrict__ X, const long long* places, XT* tile, long long r0, int m) {
  for (int i = threadIdx.x; i < m * (ND / PER); i += NT) {
    const int r = i / (ND / PER), j = i % (ND / PER) * PER;
    copy_ahead<PER * sizeof(XT)>(tile + r * DP + j, X + (POOLED ? r0 + r : places[r]) * ND + j);
  }
  end_of_copies();
}
extern "C" __global__ void __launch_bounds__(NT, 1) wide_scatter(
    const XT* __restrict__ X, const CT* __restrict__ Y, const double* __restrict__ W, const XT* __restrict__ pivot,
    const long long* __restrict__ order, const long long* __restrict__ parts, double* part) {
  extern __shared__ __align__(32) unsigned char room[];
  XT* tiles = (XT*)room; __shared__ XT heavy[NR]; __shared__ long long places[2][NR];
  const int t = threadIdx.x, G = NT / NP, g = t / NP; const bool on = g < G;
  int left = t % NP, bi = 0; while (left >= NO - bi) { left -= NO - bi; bi++; }
  const int bj = bi + left, own = (int)parts[3 * blockIdx.x]; const long long to = parts[3 * blockIdx.x + 2];
  for (int i = t; i < 2 * NR * DP; i += NT) tiles[i] = 0;
  XT f[64];
  #pragma unroll
  for (int a = 0; a < 64; a++) f[a] = 0;
  long long r0 = parts[3 * blockIdx.x + 1]; int turn = 0;
  if (!POOLED) for (int i = t; i < 2 * NR; i += NT) places[i / NR][i % NR] = r0 + i < to ? order[r0 + i] : 0;
  __syncthreads();
  fetch_places(X, places[0], tiles, r0, (int)min((long long)NR, to - r0));
  for (; r0 < to; r0 += NR, turn ^= 1) {
    const int m = (int)min((long long)NR, to - r0); XT* tile = tiles + turn * NR * DP;
    const int ahead = r0 + NR < to ? (int)min((long long)NR, to - r0 - NR) : 0;
    fetch_places(X, places[turn ^ 1], tiles + (turn ^ 1) * NR * DP, r0 + NR, ahead);
    // Where the tile after the next lies is asked now and kept when this one is done.
    const long long later = !POOLED && t < NR && r0 + 2 * NR + t < to ? order[r0 + 2 * NR + t] : 0;
    wait_for_copies<1>();
    // A thread takes the pivot off what it has fetched itself.
    for (int i = t; i < m * (ND / PER); i += NT) {
      const int r = i / (ND / PER), j = i % (ND / PER) * PER;
      const int k = POOLED ? (int)Y[r0 + r] : own;
      #pragma unroll
      for (int e = 0; e < PER; e++) tile[r * DP + j + e] -= pivot[k * ND + j + e];
    }
#if WEIGHTED
    for (int i = t; i < m; i += NT) heavy[i] = (XT)W[POOLED ? r0 + i : places[turn][i]];
#endif
    __syncthreads();
    if (!POOLED && t < NR) places[turn][t] = later;
    if (on) {
      #pragma unroll 2
      for (int r = g; r < m; r += G) {
        const XT* row = tile + r * DP; Four x[2], z[2];
        x[0] = *(const Four*)(row + 4 * bi); x[1] = *(const Four*)(row + 4 * (bi + NO));
        z[0] = *(const Four*)(row + 4 * bj); z[1] = *(const Four*)(row + 4 * (bj + NO));
#if WEIGHTED
        #pragma unroll
        for (int a = 0; a < 8; a++) x[a / 4].v[a % 4] *= heavy[r];
#endif
        #pragma unroll
        for (int a = 0; a < 8; a++) {
          #pragma unroll
          for (int e = 0; e < 8; e++) f[8 * a + e] += x[a / 4].v[a % 4] * z[e / 4].v[e % 4];
        }
      }
    }
    __syncthreads();
  }
  wait_for_copies<0>();
  __syncthreads();
  double* mine = part + (long long)blockIdx.x * 64 * NP; double* add = (double*)room;
  #pragma unroll
  for (int a = 0; a < 64; a++) {
    add[t] = (double)f[a]; __syncthreads();
    if (on && g == 0) { double sum = 0; for (int h = 0; h < G; h++) sum += add[h * NP + t]; mine[a * NP + t] = sum; }
    __syncthreads();
  }
}
"""
)
