"""CUDA C of scores of rows and of what is made of them: posteriors, their logs, the best class, the softmax loss.

Tiles of rows come to shared memory ahead of the threads that work on them, and answers leave through it, so that
threads read and write what lies side by side. In a tile a row belongs to one thread.
"""

from posterior.engines.device.cuda.sources import AHEAD
from posterior.engines.device.cuda.tensor_sources import HALVES

# The exponential, quotients of numbers below 1e30, and vectors of four numbers.
ARITHMETIC = r"""
struct __align__(4 * sizeof(FT)) Four { FT v[4]; };
__device__ __forceinline__ float ex(float x) { return __expf(x); }
__device__ __forceinline__ double ex(double x) { return exp(x); }
__device__ __forceinline__ float quotient(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }
"""

# Whitened rows of two classes at a time, in tiles of 8 of their columns: OWN tiles of each class, and, where no more than 4
# columns are left, HALF a tile that they share. Column i has the factors of columns 0 … i, so a tile needs the EIGHTS of
# columns up to its own. Numbers: what each column is multiplied by (4 NB), then of each two classes what is added to the
# columns of a tile (8 each), and its factors as the threads of a warp take them: two numbers of two neighbours a thread,
# high and low parts, of every eight; those of two eights lie together.
WHITENED_LAYOUT = r"""
#define EIGHTS ((ND + 7) / 8)
#define HALF (ND % 8 != 0 && ND % 8 <= 4)
#define OWN (EIGHTS - HALF)
#define PAIRS ((NK + 1) / 2)
#define OF_PAIR (OWN * 16 + HALF * 8 + (OWN * (OWN + 1) + HALF * EIGHTS) * 64)
"""

WHITENED = r"""
    const int lane = t % 32, g = lane / 4, c = lane % 4; const float* base = (const float*)tile + t / 32 * 32 * DP;
    // Rows g and g + 8 of either 16 rows.
    Parts u[2][2][EIGHTS];
    #pragma unroll
    for (int h = 0; h < EIGHTS; h++) {
      #pragma unroll
      for (int i = 0; i < 4; i++) {
        float x[2];
        #pragma unroll
        for (int a = 0; a < 2; a++) {
          const int j = 8 * h + 2 * c + a, k = 4 * NB;
          x[a] = j < ND ? ((base[(g + 8 * i) * DP + j] - par[j]) - par[k + j]) * par[HEAD + j] : 0.0f;
        }
        u[i / 2][i % 2][h] = in_halves(x[0], x[1]);
      }
    }
    __syncthreads();
    if (r0 + step < n) fetch_rows<DP>(X, tile, r0 + step, (int)min((long long)NR, n - r0 - step));
    end_of_copies();
    #pragma unroll 1
    for (int p = 0; p < PAIRS; p++) {
      const float* off = par + HEAD + 4 * NB + p * OF_PAIR;
      const unsigned int* factor = (const unsigned int*)(off + OWN * 16 + HALF * 8);
      // Sums of squares of two classes; then a thread keeps one class, and then one 16 of the rows.
      float s[2][2][2] = {}, one[2][2];
      #pragma unroll
      for (int k = 0; k < 2 * OWN; k++) {
        float w[2][4];
        whiten(w, off + 8 * k + 2 * c, u, factor, k % (OWN > 0 ? OWN : 1) + 1, lane);
        #pragma unroll
        for (int a = 0; a < 8; a++) {
          float& to = s[k / (OWN > 0 ? OWN : 1)][a / 4][a % 4 / 2]; to = fmaf(w[a / 4][a % 4], w[a / 4][a % 4], to);
        }
      }
      #pragma unroll
      for (int a = 0; a < 4; a++) {
        const float give = c & 2 ? s[0][a / 2][a % 2] : s[1][a / 2][a % 2];
        one[a / 2][a % 2] = (c & 2 ? s[1][a / 2][a % 2] : s[0][a / 2][a % 2]) + __shfl_xor_sync(~0u, give, 2);
      }
#if HALF
      float w[2][4];
      whiten(w, off + 16 * OWN + 2 * c, u, factor, EIGHTS, lane);
      #pragma unroll
      for (int a = 0; a < 8; a++) { float& to = one[a / 4][a % 4 / 2]; to = fmaf(w[a / 4][a % 4], w[a / 4][a % 4], to); }
#endif
      const int k = 2 * p + c / 2;
      #pragma unroll
      for (int a = 0; a < 2; a++) {
        const float kept = (c & 1 ? one[1][a] : one[0][a]) + __shfl_xor_sync(~0u, c & 1 ? one[0][a] : one[1][a], 1);
        if (k < NK) score[(t / 32 * 32 + c % 2 * 16 + g + 8 * a) * SK + k] = par[8 * NB + k] - kept;
      }
    }
    __syncwarp();
"""

# A tile of 8 whitened columns of 32 rows, from so many eights of columns.
WHITEN = r"""
__device__ __forceinline__ void whiten(float (&w)[2][4], const float* off, const Parts (&u)[2][2][EIGHTS],
                                       const unsigned int*& factor, int eights, int lane) {
  #pragma unroll
  for (int a = 0; a < 4; a++) w[0][a] = w[1][a] = off[a % 2];
  #pragma unroll
  for (int h = 0; h + 1 < eights; h += 2, factor += 128) {
    const uint4 f = ((const uint4*)factor)[lane];
    #pragma unroll
    for (int i = 0; i < 2; i++) {
      const Parts &a = u[i][0][h], &b = u[i][1][h], &c = u[i][0][h + 1], &d = u[i][1][h + 1];
      add_sixteen(w[i], a.low, b.low, c.low, d.low, f.x, f.z);
      add_sixteen(w[i], a.high, b.high, c.high, d.high, f.y, f.w);
      add_sixteen(w[i], a.high, b.high, c.high, d.high, f.x, f.z);
    }
  }
  if (eights % 2) {
    const uint2 f = ((const uint2*)factor)[lane]; factor += 64;
    #pragma unroll
    for (int i = 0; i < 2; i++) {
      const Parts &a = u[i][0][eights - 1], &b = u[i][1][eights - 1];
      add_eight(w[i], a.low, b.low, f.x); add_eight(w[i], a.high, b.high, f.y); add_eight(w[i], a.high, b.high, f.x);
    }
  }
}
"""

# RPT rows a thread. KIND 0: standard scores of columns; 1: linear; 2: squared lengths of whitened rows; 3: the same by
# tensor cores. MODE 0: posteriors; 1: their logs; 2: the best class; 3: log joints; 4: log evidence. PAR: pivot, rest
# (4 NB each), start (NK), level (NK * 4 NB, KIND 0), then SIZE numbers of each class. Where they are FEW they are
# arguments of the kernel, which instructions take as they are; else they are in shared memory.
ANSWERS = (
    r"""
#define NB ((ND + 3) / 4)
#define DP (4 * (NB + 1 - NB % 2))
#define NR (NT * RPT)
#if KIND == 0
#define SIZE (2 * 4 * NB)
#elif KIND == 1
#define SIZE (4 * NB)
#elif KIND == 2
#define SIZE (2 * NB * (NB + 1) * 4 + 4 * NB)
#else
#define SIZE 0
#endif
#define HEAD ((8 * NB + NK + 3) / 4 * 4)
#define LEVELS (KIND == 0 ? NK * 4 * NB : 0)
#if KIND == 3
#define ALL (HEAD + 4 * NB + PAIRS * OF_PAIR)
#else
#define ALL (HEAD + LEVELS + NK * SIZE)
#endif
#define KEPT (NK <= 32)
constexpr int EACH = KEPT ? NK : 1, CLASSES = FEW ? NK : 1;
"""
    + WHITENED_LAYOUT
    + ARITHMETIC
    + AHEAD
    + HALVES
    + WHITEN
    + r"""
#if FEW
struct Numbers { FT v[ALL]; };
#define NUMBER(i) few.v[i]
__device__ __forceinline__ Four four(const FT* at) { Four f; f.v[0] = at[0]; f.v[1] = at[1]; f.v[2] = at[2]; f.v[3] = at[3]; return f; }
#else
struct Numbers { char none; };
#define NUMBER(i) par[i]
__device__ __forceinline__ Four four(const FT* at) { return *(const Four*)at; }
#endif
extern "C" __global__ void __launch_bounds__(NT, MB) answer(
    const XT* __restrict__ X, const FT* __restrict__ PAR, OT* __restrict__ O, long long n, int* odd,
    const __grid_constant__ Numbers few) {
  extern __shared__ __align__(32) unsigned char room[];
  const int t = threadIdx.x;
  FT* par = (FT*)room; XT* tile = (XT*)(par + (FEW ? 0 : (ALL + 3) / 4 * 4)); FT* score = (FT*)(tile + NR * DP);
  if (!FEW) for (int i = t; i < ALL; i += NT) par[i] = PAR[i];
  const long long step = (long long)gridDim.x * NR; long long r0 = (long long)blockIdx.x * NR;
  if (r0 < n) fetch_rows<DP>(X, tile, r0, (int)min((long long)NR, n - r0));
  end_of_copies();
  for (; r0 < n; r0 += step) {
    const int m = (int)min((long long)NR, n - r0);
    wait_for_copies<0>();
    __syncthreads();
#if KIND == 3
"""
    + WHITENED
    + r"""
#else
    FT u[RPT][4 * NB];
    #pragma unroll
    for (int q = 0; q < RPT; q++) {
      #pragma unroll
      for (int b = 0; b < NB; b++) {
        const XT* at = tile + (t + q * NT) * DP + 4 * b; XT x[4];
        if (sizeof(XT) == 4) *(float4*)x = *(const float4*)at;
        else { x[0] = at[0]; x[1] = at[1]; x[2] = at[2]; x[3] = at[3]; }
        #pragma unroll
        for (int e = 0; e < 4; e++) {
          const int j = 4 * b + e; u[q][j] = j < ND ? ((FT)x[e] - NUMBER(j)) - NUMBER(4 * NB + j) : (FT)0;
        }
      }
    }
    // The rows are in registers: the next ones may come while their scores are worked out.
    __syncthreads();
    if (r0 + step < n) fetch_rows<DP>(X, tile, r0 + step, (int)min((long long)NR, n - r0 - step));
    end_of_copies();
    #pragma unroll CLASSES
    for (int k = 0; k < NK; k++) {
      FT a[RPT]; const FT* own = &NUMBER(HEAD + LEVELS + k * SIZE);
      #pragma unroll
      for (int q = 0; q < RPT; q++) a[q] = NUMBER(8 * NB + k);
#if KIND == 0
      #pragma unroll
      for (int b = 0; b < NB; b++) {
        const Four s = four(own + 8 * b), c = four(own + 8 * b + 4);
        #pragma unroll
        for (int e = 0; e < 4; e++) if (4 * b + e < ND) {
          #pragma unroll
          for (int q = 0; q < RPT; q++) { const FT w = fma(u[q][4 * b + e], s.v[e], c.v[e]); a[q] = fma(-w, w, a[q]); }
        }
      }
#elif KIND == 1
      #pragma unroll
      for (int b = 0; b < NB; b++) {
        const Four s = four(own + 4 * b);
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
        const Four mean = four(own + 4 * b);
        #pragma unroll
        for (int i = 0; i < 4; i++) if (4 * b + i < ND) {
          FT w[RPT];
          #pragma unroll
          for (int q = 0; q < RPT; q++) w[q] = -mean.v[i];
          #pragma unroll
          for (int h = 0; h <= b; h++) {
            const Four c = four(white + 8 * b * (b + 1) + 4 * (b + 1) * i + 4 * h);
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
#endif
    #pragma unroll 1
    for (int q = 0; q < RPT; q++) {
      const int r = t + q * NT; if (r >= m) break;
      FT* own = score + r * SK;
#if KEPT
      FT z[NK];
      #pragma unroll
      for (int k = 0; k < NK; k++) z[k] = own[k];
#else
      FT* z = own;
#endif
      bool fine = true; FT top = z[0]; int best = 0;
      #pragma unroll EACH
      for (int k = 0; k < NK; k++) { fine &= fabs(z[k]) < (FT)1e30; if (z[k] > top) { top = z[k]; best = k; } }
      if (!fine) {
#if KIND == 0
        // A cell is missing: the others tell.
        fine = true; best = 0;
        #pragma unroll EACH
        for (int k = 0; k < NK; k++) {
          FT a = NUMBER(8 * NB + k);
          #pragma unroll 1
          for (int j = 0; j < ND; j++) {
            const FT v = ((FT)X[(r0 + r) * ND + j] - NUMBER(j)) - NUMBER(4 * NB + j);
            const FT* of = &NUMBER(HEAD + LEVELS + k * SIZE);
            if (v == v) { const FT w = fma(v, of[j / 4 * 8 + j % 4], of[j / 4 * 8 + 4 + j % 4]); a = fma(-w, w, a); }
            else a -= NUMBER(HEAD + k * 4 * NB + j);
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
      #pragma unroll EACH
      for (int k = 0; k < NK; k++) { const FT e = ex(z[k] - top); z[k] = e; sum += e; }
      const FT w = (FT)1 / sum;
      #pragma unroll EACH
      for (int k = 0; k < NK; k++) z[k] *= w;
#else
      #pragma unroll EACH
      for (int k = 0; k < NK; k++) sum += k == best ? (FT)0 : ex(z[k] - top);
      const FT l = log1p(sum);
#if MODE == 4
      O[r0 + r] = (OT)(top + l);
#else
      #pragma unroll EACH
      for (int k = 0; k < NK; k++) z[k] = z[k] - top - l;
#endif
#endif
#endif
#if KEPT && (MODE == 0 || MODE == 1 || KIND == 0 && MODE == 3)
      #pragma unroll
      for (int k = 0; k < NK; k++) own[k] = z[k];
#endif
    }
#if MODE == 0 || MODE == 1 || MODE == 3
    __syncthreads();
    OT* out = O + r0 * NK; int i = t;
    if (SK == NK && sizeof(OT) == 4 && sizeof(FT) == 4) {
      for (; i < m * NK / 4; i += NT) __stcs((float4*)out + i, ((const float4*)score)[i]);
      i = m * NK / 4 * 4 + t;
    }
    for (; i < m * NK; i += NT) out[i] = (OT)score[i / NK * SK + i % NK];
#else
    __syncthreads();
#endif
  }
}
"""
)

# Value and slope of the softmax loss: the forces p − 1[class] of a tile of rows, then their products with the
# columns in blocks of 4 by 4. PAR: offset (4 NF), coefficients (NK, 4 NB), shift (4 NB). Scores, exponentials and forces are in the
# precision of the cells, as are sums over the TILES tiles of a block; losses, and the sums of blocks, are added in
# double precision. A loss that is summed up over many rows is right to far more digits than that of a row.
SLOPE = (
    r"""
#define NB ((ND + 3) / 4)
#define NF ((NK + 3) / 4)
#define ST (4 * (NB | 1))
#define SF (4 * (NF | 1))
#define NR NT
#define PAIRS (NF * NB)
#define ALL (4 * NF + (NK + 1) * 4 * NB)
"""
    + ARITHMETIC
    + AHEAD
    + r"""
#if FEW
struct Numbers { FT v[ALL]; };
#define NUMBER(i) few.v[i]
#else
struct Numbers { char none; };
#define NUMBER(i) par[i]
#endif
// The loss of a row of weight w from its scores; its forces go to shared memory and are added to the levels.
__device__ __forceinline__ FT forces(FT (&z)[NK], int own, FT w, XT* force, FT (&level)[NK]) {
  FT top = z[0], at_own = z[0], rest = 0;
  #pragma unroll
  for (int k = 1; k < NK; k++) { top = max(top, z[k]); at_own = k == own ? z[k] : at_own; }
  const FT at = ex(at_own - top);
  #pragma unroll
  for (int k = 0; k < NK; k++) { const FT e = k == own ? (FT)0 : ex(z[k] - top); z[k] = e; rest += e; }
  // What the other classes have is summed by itself: 1 − p keeps its digits where p is almost 1.
  const FT total = rest + at, scale = quotient(w, total);
  #pragma unroll
  for (int k = 0; k < NK; k++) {
    const FT f = k == own ? -rest * scale : z[k] * scale; force[k] = f; level[k] += f;
  }
  return w * (at > (FT)1e-30 ? log1p(quotient(rest, at)) : log(total) - (at_own - top));
}
extern "C" __global__ void __launch_bounds__(NT, MB) slope(
    const XT* __restrict__ X, const CT* __restrict__ Y, const double* __restrict__ W, const FT* __restrict__ PAR,
    double* part, long long n, const __grid_constant__ Numbers few) {
  extern __shared__ __align__(32) unsigned char room[];
  FT* par = (FT*)room; XT* tiles = (XT*)(par + (FEW ? 0 : ALL)); XT* force = tiles + 2 * NR * ST;
  const int t = threadIdx.x, G = NT / PAIRS, g = t / PAIRS, bi = t % PAIRS / NB, bj = t % NB; const bool on = g < G;
  if (!FEW) for (int i = t; i < ALL; i += NT) par[i] = PAR[i];
  for (int i = t; i < 2 * NR * ST; i += NT) tiles[i] = 0;
  for (int i = t; i < NR * SF; i += NT) force[i] = 0;
  FT acc[16], level[NK]; double value = 0;
  #pragma unroll
  for (int a = 0; a < 16; a++) acc[a] = 0;
  #pragma unroll
  for (int k = 0; k < NK; k++) level[k] = 0;
  const long long all = (n + NR - 1) / NR, from = (long long)blockIdx.x * TILES;
  const long long to = min(all, from + TILES);
  __syncthreads();
  fetch_rows<ST>(X, tiles, from * NR, (int)min((long long)NR, n - from * NR));
  end_of_copies();
  int mine = from * NR + t < n ? (int)Y[from * NR + t] : -1;
  for (long long b = from; b < to; b++) {
    const long long r0 = b * NR; const int m = (int)min((long long)NR, n - r0);
    XT* tile = tiles + (b - from & 1) * NR * ST; const int own = mine;
    if (b + 1 < to) fetch_rows<ST>(X, tiles + (b - from + 1 & 1) * NR * ST, r0 + NR, (int)min((long long)NR, n - r0 - NR));
    end_of_copies();
    mine = b + 1 < to && r0 + NR + t < n ? (int)Y[r0 + NR + t] : -1;
    wait_for_copies<1>();
    __syncthreads();
    if (t < m) {
      FT u[4 * NB], z[NK];
      #pragma unroll
      for (int c = 0; c < NB; c++) {
        Four* at = (Four*)(tile + t * ST + 4 * c); Four x = *at;
        #pragma unroll
        for (int e = 0; e < 4; e++) { x.v[e] -= NUMBER(4 * NF + NK * 4 * NB + 4 * c + e); u[4 * c + e] = x.v[e]; }
        *at = x;
      }
      #pragma unroll
      for (int k = 0; k < NK; k++) {
        FT a = NUMBER(k);
        #pragma unroll
        for (int j = 0; j < ND; j++) a = fma(u[j], NUMBER(4 * NF + k * 4 * NB + j), a);
        z[k] = a;
      }
#if WEIGHTED
      value += (double)forces(z, own, (FT)W[r0 + t], force + t * SF, level);
#else
      value += (double)forces(z, own, (FT)1, force + t * SF, level);
#endif
    }
    __syncthreads();
    if (on) {
      #pragma unroll 4
      for (int r = g; r < m; r += G) {
        const Four x = *(const Four*)(force + r * SF + 4 * bi), z = *(const Four*)(tile + r * ST + 4 * bj);
        #pragma unroll
        for (int a = 0; a < 4; a++) {
          #pragma unroll
          for (int e = 0; e < 4; e++) acc[4 * a + e] += x.v[a] * z.v[e];
        }
      }
    }
    __syncthreads();
  }
  wait_for_copies<0>();
  __syncthreads();
  double* sums = part + (long long)blockIdx.x * (NK * (ND + 1) + 1); double* add = (double*)room;
  #pragma unroll
  for (int a = 0; a < 16; a++) {
    add[t] = (double)acc[a]; __syncthreads();
    if (on && g == 0) {
      double sum = 0; for (int h = 0; h < G; h++) sum += add[h * PAIRS + t];
      const int k = 4 * bi + a / 4, j = 4 * bj + a % 4;
      if (k < NK && j < ND) sums[1 + k * (ND + 1) + j] = sum;
    }
    __syncthreads();
  }
  #pragma unroll
  for (int k = 0; k <= NK; k++) {
    add[t] = k < NK ? (double)level[k < NK ? k : 0] : value; __syncthreads();
    for (int w = NT / 2; w; w >>= 1) { if (t < w) add[t] += add[t + w]; __syncthreads(); }
    if (t == 0) { if (k < NK) sums[1 + k * (ND + 1) + ND] = add[0]; else sums[0] = add[0]; }
    __syncthreads();
  }
}
"""
)
