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

FOLD = r"""
extern "C" __global__ void fold(const double* __restrict__ part, int blocks, int size, double* out) {
  __shared__ double s[256];
  const int i = blockIdx.x, t = threadIdx.x; double a = 0;
  for (int b = t; b < blocks; b += 256) a += part[(long long)b * size + i];
  s[t] = a; __syncthreads();
  for (int w = 128; w; w >>= 1) { if (t < w) s[t] += s[t + w]; __syncthreads(); }
  if (t == 0) out[i] = s[0];
}
"""

# A pivot for every class and column: the mean over some rows, in a fixed order; that of all classes for one that
# they do not show. One block a class; 8 rows by 32 columns of threads.
PIVOTS = r"""
extern "C" __global__ void pivots(const XT* __restrict__ X, const CT* __restrict__ Y, long long step, int some,
                                  int width, XT* pivot, double* out) {
  __shared__ double s[4][8][32];
  const int k = blockIdx.x, x = threadIdx.x % 32, g = threadIdx.x / 32;
  for (int j = x; j - x < width; j += 32) {
    double own = 0, n = 0, every = 0, all = 0;
    if (j < width) {
      #pragma unroll 8
      for (int i = g; i < some; i += 8) {
        const long long r = i * step; const double v = (double)X[r * width + j]; const bool mine = (int)Y[r] == k;
        if (v - v == 0) { every += v; all += 1; if (mine) { own += v; n += 1; } }
      }
    }
    s[0][g][x] = own; s[1][g][x] = n; s[2][g][x] = every; s[3][g][x] = all; __syncthreads();
    if (g == 0 && j < width) {
      for (int h = 1; h < 8; h++) { own += s[0][h][x]; n += s[1][h][x]; every += s[2][h][x]; all += s[3][h][x]; }
      const XT p = (XT)(n > 0 ? own / n : all > 0 ? every / all : 0.0);
      pivot[k * width + j] = p; out[k * width + j] = (double)p;
    }
    __syncthreads();
  }
}
"""

# The places of the rows of a tile in the order of their classes: `order`, and where each class starts.
SORTED = r"""
#define NG (NR / 32)
#define RPT ((NR + NT - 1) / NT)
__device__ __forceinline__ void sort_tile(const CT* __restrict__ Y, long long r0, int m, unsigned short* order,
                                          int* start, int (*count)[NK + 1]) {
  const int t = threadIdx.x; int key[RPT], rank[RPT];
  for (int i = t; i < NG * (NK + 1); i += NT) (&count[0][0])[i] = 0;
  __syncthreads();
  #pragma unroll
  for (int q = 0; q < RPT; q++) {
    const int i = t + q * NT;
    if (i < NR) {
      key[q] = i < m ? (int)Y[r0 + i] : NK;
      const unsigned int peers = __match_any_sync(~0u, key[q]);
      rank[q] = __popc(peers & ((1u << (t & 31)) - 1u));
      if (rank[q] == 0) count[i / 32][key[q]] = __popc(peers);
    }
  }
  __syncthreads();
  for (int k = t; k < NK; k += NT) {
    int before = 0;
    for (int g = 0; g < NG; g++) { const int c = count[g][k]; count[g][k] = before; before += c; }
    start[NK + 1 + k] = before;
  }
  __syncthreads();
  for (int k = t; k <= NK; k += NT) { int a = 0; for (int j = 0; j < k; j++) a += start[NK + 1 + j]; start[k] = a; }
  __syncthreads();
  #pragma unroll
  for (int q = 0; q < RPT; q++) {
    const int i = t + q * NT;
    if (i < NR && key[q] < NK) order[start[key[q]] + count[i / 32][key[q]] + rank[q]] = (unsigned short)i;
  }
  __syncthreads();
}
"""

# Weight, sum and sum of squares about a pivot of every class and column; ND columns from blockIdx.y * ND on.
MOMENTS = (
    SORTED
    + r"""
extern "C" __global__ void __launch_bounds__(NT, MB) moments(
    const XT* __restrict__ X, const CT* __restrict__ Y, const double* __restrict__ W,
    const XT* __restrict__ pivot, double* part, long long n, int width) {
  __shared__ __align__(16) XT tile[NR * ND]; __shared__ unsigned short order[NR];
  __shared__ int start[2 * NK + 2], count[NG][NK + 1];
  __shared__ double add[NT];
  const int t = threadIdx.x, P = NK * ND, G = NT / P;
  const int col0 = blockIdx.y * ND, nd = min(ND, width - col0);
  const int g = t / P, p = t % P, k = p / ND, d = p % ND; const bool on = g < G && d < nd;
  double s = 0, q = 0, c = 0; const XT piv = on ? pivot[k * width + col0 + d] : (XT)0;
  const long long tiles = (n + NR - 1) / NR;
  for (long long b = blockIdx.x; b < tiles; b += gridDim.x) {
    const long long r0 = b * NR; const int m = (int)min((long long)NR, n - r0);
#if VEC
    const float4* src = (const float4*)(X + r0 * ND); float4* dst = (float4*)tile; const int all = m * ND / 4;
    for (int i = t; i < all; i += NT) dst[i] = __ldcs(src + i);
    for (int i = all * 4 + t; i < m * ND; i += NT) tile[i] = X[r0 * ND + i];
#else
    for (int i = t; i < m * nd; i += NT) {
      const int r = i / nd, j = i - r * nd; tile[r * ND + j] = X[(r0 + r) * width + col0 + j];
    }
#endif
    sort_tile(Y, r0, m, order, start, count);
    if (on) {
      XT fs = 0, fq = 0, fc = 0; const int e = start[k + 1];
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
    __syncthreads();
  }
  double* mine = part + (long long)blockIdx.x * 3 * NK * width;
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
  __shared__ unsigned short order[NR]; __shared__ int start[2 * NK + 2], count[NG][NK + 1];
  const int t = threadIdx.x;
  for (int i = t; i < NK * DP; i += NT) piv[i] = i % DP < ND ? pivot[i / DP * ND + i % DP] : (XT)0;
  if (DP > ND) for (int i = t; i < NR * DP; i += NT) tile[i] = 0;
  const int SETS = POOLED ? 1 : NK, G = NT / (SETS * NP), g = t / (SETS * NP), rest = t % (SETS * NP);
  const int k = rest / NP; int left = rest % NP, bi = 0; const bool on = g < G;
  while (left >= NB - bi) { left -= NB - bi; bi++; }
  const int bj = bi + left;
  const int P = NK * ND, H = NT / P > 0 ? NT / P : 1;
  XT f[16]; double s[SPT], c[SPT];
  #pragma unroll
  for (int a = 0; a < 16; a++) f[a] = 0;
  #pragma unroll
  for (int a = 0; a < SPT; a++) { s[a] = 0; c[a] = 0; }
  const long long all = (n + NR - 1) / NR, from = (long long)blockIdx.x * TILES;
  const long long to = min(all, from + TILES);
  __syncthreads();
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
    sort_tile(Y, r0, m, order, start, count);
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
      const int p = t + a * NT, h = p / P, kk = p % P / ND, d = p % ND;
      if (SPT > 1 ? p < P : h < H) {
        XT fs = 0, fc = 0; const int e = start[kk + 1];
        #pragma unroll 4
        for (int i = start[kk] + (SPT > 1 ? 0 : h); i < e; i += SPT > 1 ? 1 : H) {
          const int r = order[i];
#if WEIGHTED
          fs += heavy[r] * tile[r * DP + d]; fc += heavy[r];
#else
          fs += tile[r * DP + d]; fc += 1;
#endif
        }
        s[a] += fs; c[a] += fc;
      }
    }
    __syncthreads();
  }
  // Blocks of 4 by 4 of groups, then sums of classes of groups, each in the order of the groups.
  const int SIZE = SETS * ND * ND + 2 * P;
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
    for (int v = 0; v < 2; v++) {
      add[t] = v ? c[a] : s[a]; __syncthreads();
      const int p = t + a * NT;
      if (p < P) {
        double sum = 0; if (SPT > 1) sum = add[t]; else for (int h = 0; h < H; h++) sum += add[h * P + p];
        mine[SETS * ND * ND + v * P + p] = sum;
      }
      __syncthreads();
    }
  }
}
"""
)

# Scores of rows by parameters in shared memory, and what is made of them; RPT rows a thread. KIND 0: standard
# scores of columns; 1: linear; 2: squared lengths of whitened rows. MODE 0: posteriors; 1: their logs; 2: the
# best class; 3: log joints; 4: log evidence. Rows and answers go through shared memory, so that threads read and
# write what lies side by side.
ANSWERS = r"""
#define NB ((ND + 3) / 4)
#define DP (4 * (NB + 1 - NB % 2))
#define NR (NT * RPT)
#if KIND == 0
#define SIZE (2 * 4 * NB)
#elif KIND == 1
#define SIZE (4 * NB)
#else
#define SIZE (2 * NB * (NB + 1) * 4 + 4 * NB)
#endif
struct __align__(4 * sizeof(FT)) Four { FT v[4]; };
__device__ __forceinline__ FT ex(FT x) {
#if SINGLE
  return __expf(x);
#else
  return exp(x);
#endif
}
// PAR: pivot, rest (4 NB each), start (NK), level (NK * 4 NB, KIND 0), then SIZE numbers of each class.
#define HEAD ((8 * NB + NK + 3) / 4 * 4)
#define LEVELS (KIND == 0 ? NK * 4 * NB : 0)
#define ALL (HEAD + LEVELS + NK * SIZE)
extern "C" __global__ void __launch_bounds__(NT, MB) answer(
    const XT* __restrict__ X, const FT* __restrict__ PAR, OT* __restrict__ O, long long n, int* odd) {
  extern __shared__ __align__(32) unsigned char room[];
  const int t = threadIdx.x;
  FT* par = (FT*)room; XT* tile = (XT*)(par + (ALL + 3) / 4 * 4);
  for (int i = t; i < ALL; i += NT) par[i] = PAR[i];
  FT* score = (FT*)tile;  // once the rows are in registers
  for (long long r0 = (long long)blockIdx.x * NR; r0 < n; r0 += (long long)gridDim.x * NR) {
  const int m = (int)min((long long)NR, n - r0);
#if VEC
  const float4* src = (const float4*)(X + r0 * ND);
  #pragma unroll 4
  for (int i = t; i < m * NB; i += NT) *(float4*)(tile + i / NB * DP + 4 * (i % NB)) = __ldcs(src + i);
#else
  for (int i = t; i < m * ND; i += NT) tile[i / ND * DP + i % ND] = X[r0 * ND + i];
#endif
  __syncthreads();
  FT u[RPT][4 * NB];
  #pragma unroll
  for (int q = 0; q < RPT; q++) {
    #pragma unroll
    for (int j = 0; j < 4 * NB; j++)
      u[q][j] = j < ND ? ((FT)tile[(t + q * NT) * DP + j] - par[j]) - par[4 * NB + j] : (FT)0;
  }
  __syncthreads();
  #pragma unroll 1
  for (int k = 0; k < NK; k++) {
    FT a[RPT]; const FT* own = par + HEAD + LEVELS + k * SIZE;
    #pragma unroll
    for (int q = 0; q < RPT; q++) a[q] = par[8 * NB + k];
#if KIND == 0
    #pragma unroll
    for (int b = 0; b < NB; b++) {
      const Four s = *(const Four*)(own + 8 * b), c = *(const Four*)(own + 8 * b + 4);
      #pragma unroll
      for (int e = 0; e < 4; e++) if (4 * b + e < ND) {
        #pragma unroll
        for (int q = 0; q < RPT; q++) { const FT w = fma(u[q][4 * b + e], s.v[e], c.v[e]); a[q] = fma(-w, w, a[q]); }
      }
    }
#elif KIND == 1
    #pragma unroll
    for (int b = 0; b < NB; b++) {
      const Four s = *(const Four*)(own + 4 * b);
      #pragma unroll
      for (int e = 0; e < 4; e++) if (4 * b + e < ND) {
        #pragma unroll
        for (int q = 0; q < RPT; q++) a[q] = fma(u[q][4 * b + e], s.v[e], a[q]);
      }
    }
#else
    const FT* white = own + 4 * NB;
    #pragma unroll
    for (int b = 0; b < NB; b++) {
      const Four mean = *(const Four*)(own + 4 * b);
      #pragma unroll
      for (int i = 0; i < 4; i++) if (4 * b + i < ND) {
        FT w[RPT];
        #pragma unroll
        for (int q = 0; q < RPT; q++) w[q] = -mean.v[i];
        #pragma unroll
        for (int h = 0; h <= b; h++) {
          const Four c = *(const Four*)(white + 8 * b * (b + 1) + 4 * (b + 1) * i + 4 * h);
          #pragma unroll
          for (int e = 0; e < 4; e++) if (4 * h + e <= 4 * b + i) {
            #pragma unroll
            for (int q = 0; q < RPT; q++) w[q] = fma(u[q][4 * h + e], c.v[e], w[q]);
          }
        }
        #pragma unroll
        for (int q = 0; q < RPT; q++) a[q] = fma(-w[q], w[q], a[q]);
      }
    }
#endif
    #pragma unroll
    for (int q = 0; q < RPT; q++) score[(t + q * NT) * SK + k] = a[q];
  }
  #pragma unroll 1
  for (int q = 0; q < RPT; q++) {
    const int r = t + q * NT; FT* z = score + r * SK; if (r >= m) break;
    bool fine = true; FT top = z[0]; int best = 0;
    for (int k = 0; k < NK; k++) { fine &= fabs(z[k]) < (FT)1e30; if (z[k] > top) { top = z[k]; best = k; } }
    if (!fine) {
#if KIND == 0
      // A cell is missing: the others tell.
      fine = true; best = 0;
      for (int k = 0; k < NK; k++) {
        FT a = par[8 * NB + k];
        for (int j = 0; j < ND; j++) {
          const FT v = ((FT)X[(r0 + r) * ND + j] - par[j]) - par[4 * NB + j]; const FT* own = par + HEAD + LEVELS + k * SIZE;
          if (v == v) { const FT w = fma(v, own[j / 4 * 8 + j % 4], own[j / 4 * 8 + 4 + j % 4]); a = fma(-w, w, a); }
          else a -= par[HEAD + k * 4 * NB + j];
        }
        z[k] = a; fine &= fabs(a) < (FT)1e30; if (k == 0 || a > top) { top = a; best = k; }
      }
#endif
      if (!fine) atomicOr(odd, 1);
    }
#if MODE == 2
    O[r0 + r] = (OT)best;
#elif MODE != 3
    FT sum = 0;
#if MODE == 0
    for (int k = 0; k < NK; k++) { const FT e = ex(z[k] - top); z[k] = e; sum += e; }
    const FT w = (FT)1 / sum;
    for (int k = 0; k < NK; k++) z[k] *= w;
#else
    for (int k = 0; k < NK; k++) if (k != best) sum += ex(z[k] - top);
    const FT l = log1p(sum);
#if MODE == 4
    O[r0 + r] = (OT)(top + l);
#else
    for (int k = 0; k < NK; k++) z[k] = z[k] - top - l;
#endif
#endif
#endif
  }
#if MODE == 0 || MODE == 1 || MODE == 3
  __syncthreads();
  OT* out = O + r0 * NK;
  for (int i = t; i < m * NK; i += NT) out[i] = (OT)score[i / NK * SK + i % NK];
#endif
  __syncthreads();
  }
}
"""

# Posteriors by standard scores of few columns and classes (KIND 0, single precision): a row a thread, parameters
# in constant memory, everything written out. PAR as in ANSWERS; LEVEL is for rows with gaps.
FEW = r"""
#define NB (ND / 4)
__constant__ float PIVOT[ND], REST[ND], START[NK], SCALE[NK * ND], APART[NK * ND];
extern "C" __global__ void __launch_bounds__(NT) few(
    const float* __restrict__ X, const float* __restrict__ LEVEL, float* __restrict__ O, long long n, int* odd) {
  const long long i = (long long)blockIdx.x * NT + threadIdx.x; if (i >= n) return;
  float u[ND], z[NK]; const float4* r = (const float4*)(X + i * ND);
  #pragma unroll
  for (int j = 0; j < NB; j++) { const float4 v = __ldg(r + j); u[4*j] = v.x; u[4*j+1] = v.y; u[4*j+2] = v.z; u[4*j+3] = v.w; }
  #pragma unroll
  for (int j = 0; j < ND; j++) u[j] = (u[j] - PIVOT[j]) - REST[j];
  float top = -3e38f, sum = 0;
  #pragma unroll
  for (int k = 0; k < NK; k++) {
    float a = START[k];
    #pragma unroll
    for (int j = 0; j < ND; j++) { const float w = fmaf(u[j], SCALE[k * ND + j], -APART[k * ND + j]); a = fmaf(-w, w, a); }
    z[k] = a; top = fmaxf(top, a); sum += a;
  }
  if (!(fabsf(sum) < 1e30f)) {  // a cell is missing: the others tell
    top = -3e38f; sum = 0;
    #pragma unroll
    for (int k = 0; k < NK; k++) {
      float a = START[k];
      #pragma unroll 1
      for (int j = 0; j < ND; j++) {
        const float v = (X[i * ND + j] - PIVOT[j]) - REST[j];
        if (v == v) { const float w = fmaf(v, SCALE[k * ND + j], -APART[k * ND + j]); a = fmaf(-w, w, a); }
        else a -= LEVEL[k * ND + j];
      }
      z[k] = a; top = fmaxf(top, a); sum += a;
    }
    if (!(fabsf(sum) < 1e30f)) atomicOr(odd, 1);
  }
  sum = 0;
#if MODE == 0
  #pragma unroll
  for (int k = 0; k < NK; k++) { z[k] = __expf(z[k] - top); sum += z[k]; }
  const float w = 1.f / sum;
  #pragma unroll
  for (int k = 0; k < NK; k++) z[k] *= w;
#else
  bool first = true;
  #pragma unroll
  for (int k = 0; k < NK; k++) { const bool best = first && z[k] == top; first = first && !best; sum += best ? 0.f : __expf(z[k] - top); }
  const float l = log1pf(sum);
  #pragma unroll
  for (int k = 0; k < NK; k++) z[k] = (z[k] - top) - l;
#endif
#if NK % 2 == 0
  float2* o = (float2*)(O + i * NK);
  #pragma unroll
  for (int k = 0; k < NK / 2; k++) __stcs(o + k, make_float2(z[2 * k], z[2 * k + 1]));
#else
  #pragma unroll
  for (int k = 0; k < NK; k++) __stcs(O + i * NK + k, z[k]);
#endif
}
"""

# Value and slope of the softmax loss: the forces p − 1[class] of a tile of rows, then their products with the
# columns, and a column of ones, in blocks of 4 by 4. PAR: offset (4 NF), coefficients (NK, 4 NB). Scores and the
# loss are in double precision, or a line search could not tell rounding from a rise.
SLOPE = r"""
#define NB ((ND + 4) / 4)
#define NF ((NK + 3) / 4)
#define ST (4 * (NB | 1))
#define SF (4 * (NF | 1))
#define NR (NT * RPT)
#define PAIRS (NF * NB)
#define SZ (NK | 1)
#define ALL (4 * NF + NK * 4 * NB)
struct __align__(4 * sizeof(XT)) Four { XT v[4]; };
extern "C" __global__ void __launch_bounds__(NT, MB) slope(
    const XT* __restrict__ X, const CT* __restrict__ Y, const double* __restrict__ W,
    const XT* __restrict__ SHIFT, const double* __restrict__ PAR, double* part, long long n) {
  extern __shared__ __align__(32) unsigned char room[];
  double* par = (double*)room; XT* tile = (XT*)(par + ALL); XT* force = tile + NR * ST;
  double* scores = (double*)(force + NR * SF); __shared__ __align__(32) XT shift[4 * NB];
  const int t = threadIdx.x, G = NT / PAIRS, g = t / PAIRS, bi = t % PAIRS / NB, bj = t % NB; const bool on = g < G;
  for (int i = t; i < ALL; i += NT) par[i] = PAR[i];
  for (int i = t; i < 4 * NB; i += NT) shift[i] = i < ND ? SHIFT[i] : (XT)0;
  for (int i = t; i < NR * ST; i += NT) tile[i] = i % ST == ND ? (XT)1 : (XT)0;
  for (int i = t; i < NR * SF; i += NT) force[i] = 0;
  double acc[16], value = 0;
  #pragma unroll
  for (int a = 0; a < 16; a++) acc[a] = 0;
  const long long all = (n + NR - 1) / NR, from = (long long)blockIdx.x * TILES;
  const long long to = min(all, from + TILES);
  __syncthreads();
  for (long long b = from; b < to; b++) {
    const long long r0 = b * NR; const int m = (int)min((long long)NR, n - r0);
#if VEC
    const float4* src = (const float4*)(X + r0 * ND); const float4* off = (const float4*)shift;
    #pragma unroll 4
    for (int i = t; i < m * (ND / 4); i += NT) {
      const int r = i / (ND / 4), c = i % (ND / 4); float4 x = __ldcs(src + i); const float4 o = off[c];
      x.x -= o.x; x.y -= o.y; x.z -= o.z; x.w -= o.w; *(float4*)(tile + r * ST + 4 * c) = x;
    }
#else
    for (int i = t; i < m * ND; i += NT) { const int r = i / ND, j = i - r * ND; tile[r * ST + j] = X[r0 * ND + i] - shift[j]; }
#endif
    __syncthreads();
    #pragma unroll 1
    for (int q = 0; q < RPT; q++) {
      const int r = t + q * NT; double* z = scores + r * SZ; XT* own_force = force + r * SF;
      if (r >= m) { for (int k = 0; k < NK; k++) own_force[k] = 0; continue; }
      XT u[4 * NB];
      #pragma unroll
      for (int c = 0; c < NB; c++) {
        const Four x = *(const Four*)(tile + r * ST + 4 * c);
        #pragma unroll
        for (int e = 0; e < 4; e++) u[4 * c + e] = x.v[e];
      }
      const int own = (int)Y[r0 + r]; double top = 0, mine = 0;
      #pragma unroll 1
      for (int k = 0; k < NK; k++) {
        double a = par[k]; const double* coef = par + 4 * NF + k * 4 * NB;
        #pragma unroll
        for (int j = 0; j < ND; j++) a = fma((double)u[j], coef[j], a);
        z[k] = a; top = k == 0 || a > top ? a : top; if (k == own) mine = a;
      }
      double rest = 0; const double at = exp(mine - top);
      for (int k = 0; k < NK; k++) { const double e = k == own ? 0.0 : exp(z[k] - top); z[k] = e; rest += e; }
      // What the other classes have is summed by itself: 1 − p keeps its digits where p is almost 1.
      const double total = rest + at;
#if WEIGHTED
      const double w = W[r0 + r];
#else
      const double w = 1;
#endif
      value += w * (rest < at ? log1p(rest / at) : log(total) - (mine - top));
      const double scale = w / total;
      for (int k = 0; k < NK; k++) own_force[k] = (XT)(k == own ? -rest * scale : z[k] * scale);
    }
    __syncthreads();
    if (on) {
      XT f[16];
      #pragma unroll
      for (int a = 0; a < 16; a++) f[a] = 0;
      #pragma unroll 2
      for (int r = g; r < m; r += G) {
        const Four x = *(const Four*)(force + r * SF + 4 * bi), z = *(const Four*)(tile + r * ST + 4 * bj);
        #pragma unroll
        for (int a = 0; a < 4; a++) {
          #pragma unroll
          for (int e = 0; e < 4; e++) f[4 * a + e] += x.v[a] * z.v[e];
        }
      }
      #pragma unroll
      for (int a = 0; a < 16; a++) acc[a] += f[a];
    }
    __syncthreads();
  }
  double* mine = part + (long long)blockIdx.x * (NK * (ND + 1) + 1); double* add = (double*)room;
  #pragma unroll
  for (int a = 0; a < 16; a++) {
    add[t] = acc[a]; __syncthreads();
    if (on && g == 0) {
      double sum = 0; for (int h = 0; h < G; h++) sum += add[h * PAIRS + t];
      const int k = 4 * bi + a / 4, j = 4 * bj + a % 4;
      if (k < NK && j <= ND) mine[1 + k * (ND + 1) + j] = sum;
    }
    __syncthreads();
  }
  add[t] = value; __syncthreads();
  if (t == 0) { double sum = 0; for (int i = 0; i < NT; i++) sum += add[i]; mine[0] = sum; }
}
"""
