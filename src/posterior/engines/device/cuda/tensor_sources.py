"""CUDA C of products on tensor cores in nearly single precision: slopes of softmax regression, whitened rows.

A tensor core multiplies numbers of 11 bits and adds in single precision. A number is the sum of two such, `high` and
`low`, to 22 bits, and a product of two numbers three of theirs; what is left out is 2^-22 of it. Products are of 16 by
8 by 8 or 16 numbers. Of the 32 threads of a warp, thread 4 g + c holds of the product rows g and g + 8 of columns 2 c and
2 c + 1; of a left factor rows g and g + 8, of a right one column g. Of what is summed over it has places c and c + 4
of 8, or, where two numbers lie in a register, 2 c and 2 c + 1 (and these + 8, of 16).
"""

from posterior.engines.device.cuda.sources import AHEAD

# Numbers between 1e-4 and 6e4 in two parts of half precision; two neighbours are one register.
HALVES = r"""
struct Parts { unsigned int high, low; };
__device__ __forceinline__ unsigned int as_halves(float first, float second) {
  unsigned int h; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(second), "f"(first)); return h;
}
__device__ __forceinline__ Parts in_halves(float first, float second) {
  Parts p; float a, b; p.high = as_halves(first, second);
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}" : "=f"(a), "=f"(b) : "r"(p.high));
  p.low = as_halves(first - a, second - b); return p;
}
__device__ __forceinline__ void add_eight(float (&c)[4], unsigned int a0, unsigned int a1, unsigned int b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ void add_sixteen(float (&c)[4], unsigned int a0, unsigned int a1, unsigned int a2, unsigned int a3,
                                            unsigned int b0, unsigned int b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
"""

# From shared memory to the registers that tensor cores read.
TURNED = r"""
// Four tiles of 8 by 8 halves, each thread giving where a row of them begins, columns becoming rows.
__device__ __forceinline__ uint4 turned(const unsigned short* row) {
  uint4 f; const unsigned int at = (unsigned int)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.x), "=r"(f.y), "=r"(f.z), "=r"(f.w) : "r"(at) : "memory");
  return f;
}
"""

# Value and slope of the softmax loss of rows without weights. A warp has TILES tiles of 64 rows, one after the other. A
# thread has the scores of two rows. Of each it leaves the cells, a one and the forces p − 1[class] in halves, whose products
# over rows are those of tensor cores. Numbers: offset (4 NF), coefficients (NK, 4 NB), both times log2 e, what cells are
# multiplied by and what is added then (4 NB each). Forces are times FORCE, which half precision has room for.
SPLIT_SLOPE = (
    r"""
#define NB ((ND + 3) / 4)
#define NF ((NK + 3) / 4)
#define CB (ND / 8 + 1)
#define ST (4 * (NB | 1))
#define ALL (4 * NF + (NK + 2) * 4 * NB)
#define WARPS (NT / 32)
#define SIZE (NK * (ND + 1) + 1)
#define ROW (16 * CB + 8)
#define FORCES 40
#define OF_WARP (64 * ST * 4 + 32 * (ROW + FORCES) * 2)
"""
    + AHEAD
    + HALVES
    + r"""
struct Numbers { float v[ALL]; };
__device__ __forceinline__ float ex2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// Exponentials of scores less `level`, 0 for the row's own class; returns their sum.
__device__ __forceinline__ float exponentials(const float (&z)[NK], int own, float level, float (&e)[16]) {
  float rest = 0;
  #pragma unroll
  for (int k = 0; k < NK; k++) { e[k] = own == k ? 0.0f : ex2(z[k] - level); rest += e[k]; }
  return rest;
}
// 64 rows from r0 on, or m where fewer are left.
__device__ __forceinline__ void fetch(const XT* X, float* tile, long long r0, int m, int lane) {
#if VEC
  if (ST == ND && m == 64) {
    const XT* from = X + r0 * ND + 4 * lane;
    #pragma unroll
    for (int i = 0; i < ND / 2; i++) copy_ahead<16>(tile + 4 * lane + 128 * i, from + 128 * i);
    return;
  }
#endif
  fetch_rows<ST, 32>(X, tile, r0, m, lane);
}
// Numbers in halves: N high parts, then N low ones.
template <int N> __device__ __forceinline__ void leave(const float (&v)[N], unsigned short* to) {
  #pragma unroll
  for (int i = 0; i < N / 8; i++) {
    Parts p[4];
    #pragma unroll
    for (int a = 0; a < 4; a++) p[a] = in_halves(v[8 * i + 2 * a], v[8 * i + 2 * a + 1]);
    ((uint4*)to)[i] = make_uint4(p[0].high, p[1].high, p[2].high, p[3].high);
    ((uint4*)to)[N / 8 + i] = make_uint4(p[0].low, p[1].low, p[2].low, p[3].low);
  }
}
"""
    + TURNED
    + r"""
extern "C" __global__ void __launch_bounds__(NT, MB) split_slope(
    const XT* __restrict__ X, const CT* __restrict__ Y, double* part, long long n, const __grid_constant__ Numbers few) {
  extern __shared__ __align__(32) unsigned char room[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, c = lane % 4;
  float* tile = (float*)(room + warp * OF_WARP);
  unsigned short *cells = (unsigned short*)(tile + 64 * ST), *forces = cells + 32 * ROW;
  const float *coef = few.v + 4 * NF, *unit = coef + NK * 4 * NB, *added = unit + 4 * NB;
  const unsigned short* f_at = forces + (lane % 8 + lane / 16 * 8) * FORCES + lane / 8 % 2 * 8;
  const unsigned short* x_at = cells + lane % 16 * ROW + lane / 16 * 8;
  float total[CB][4] = {}, above = 0; double value = 0;
  const long long all = (n + 63) / 64, from = min(all, ((long long)blockIdx.x * WARPS + warp) * TILES);
  const long long to = min(all, from + TILES);
  int next[2] = {0, 0};
  if (from < to) {
    const long long r = from * 64; fetch(X, tile, r, (int)min(64LL, n - r), lane);
    for (int q = 0; q < 2; q++) if (r + lane + 32 * q < n) next[q] = (int)Y[r + lane + 32 * q];
  }
  end_of_copies();
  for (long long b = from; b < to; b++) {
    const long long r0 = b * 64; const int m = (int)min(64LL, n - r0), own[2] = {next[0], next[1]};
    wait_for_copies<0>();
    __syncwarp();
    if (m < 64) { for (int i = m * ST + lane; i < 64 * ST; i += 32) tile[i] = 0; __syncwarp(); }
    // Tensor cores cut off what they add: what every other sum loses by it is of the other sign, and few are added so.
    float u[2][4 * NB], z[2][NK]; const float sign = b % 2 ? -1.0f : 1.0f;
    #pragma unroll
    for (int q = 0; q < 2; q++) {
      #pragma unroll
      for (int i = 0; i < NB; i++) {
        const float4 x = *((const float4*)(tile + (lane + 32 * q) * ST) + i); const float v[4] = {x.x, x.y, x.z, x.w};
        #pragma unroll
        for (int a = 0; a < 4; a++) u[q][4 * i + a] = fmaf(v[a], unit[4 * i + a], added[4 * i + a]);
      }
    }
    // The rows are in registers: the next ones may come.
    __syncwarp();
    if (b + 1 < to) {
      const long long r = r0 + 64; fetch(X, tile, r, (int)min(64LL, n - r), lane);
      #pragma unroll
      for (int q = 0; q < 2; q++) next[q] = r + lane + 32 * q < n ? (int)Y[r + lane + 32 * q] : 0;
    }
    end_of_copies();
    #pragma unroll
    for (int k = 0; k < NK; k++) {
      #pragma unroll
      for (int q = 0; q < 2; q++) z[q][k] = few.v[k];
      #pragma unroll
      for (int j = 0; j < ND; j++) {
        #pragma unroll
        for (int q = 0; q < 2; q++) z[q][k] = fmaf(u[q][j], coef[k * 4 * NB + j], z[q][k]);
      }
    }
    #pragma unroll
    for (int q = 0; q < 2; q++) {
      const bool there = lane + 32 * q < m; float level = 0, at = 1, e[16], row[8 * CB];
      #pragma unroll
      for (int k = 0; k < NK; k++) level = own[q] == k ? z[q][k] : level;
      // Relative to the row's own class: what other classes have keeps its digits where it is little.
      float rest = exponentials(z[q], own[q], level, e);
      if (!(rest < 1e8f)) {
        float top = z[q][0];
        #pragma unroll
        for (int k = 1; k < NK; k++) top = fmaxf(top, z[q][k]);
        at = ex2(level - top); rest = exponentials(z[q], own[q], top, e);
        if (there) value += (double)(logf(rest + at) + 0.6931471805599453f * (top - level));
      } else {
        // log(1 + a) + log(1 + b) is log(1 + (a + b + a b)).
        const float r = there ? rest : 0.0f; above = fmaf(above, r, above) + r;
      }
      const float scale = there ? __fdividef(sign * FORCE, rest + at) : 0.0f;
      #pragma unroll
      for (int k = 0; k < 16; k++) e[k] = k >= NK ? 0.0f : own[q] == k ? -rest * scale : e[k] * scale;
      #pragma unroll
      for (int j = 0; j < 8 * CB; j++) row[j] = j == ND ? 1.0f : j > ND ? 0.0f : u[q][j < ND ? j : 0];
      leave(e, forces + lane * FORCES);
      leave(row, cells + lane * ROW);
      __syncwarp();
      float sum[CB][4] = {};
      #pragma unroll
      for (int h = 0; h < 2; h++) {
        const uint4 f = turned(f_at + 16 * h * FORCES), f_low = turned(f_at + 16 * h * FORCES + 16);
        #pragma unroll
        for (int j = 0; j < CB; j += 2) {
          const unsigned short* at_x = x_at + 16 * h * ROW + 8 * j; const uint4 x = turned(at_x), x_low = turned(at_x + 8 * CB);
          add_sixteen(sum[j], f_low.x, f_low.y, f_low.z, f_low.w, x.x, x.y);
          add_sixteen(sum[j], f.x, f.y, f.z, f.w, x_low.x, x_low.y);
          add_sixteen(sum[j], f.x, f.y, f.z, f.w, x.x, x.y);
          if (j + 1 < CB) {
            const int o = j + 1 < CB ? j + 1 : 0;
            add_sixteen(sum[o], f_low.x, f_low.y, f_low.z, f_low.w, x.z, x.w);
            add_sixteen(sum[o], f.x, f.y, f.z, f.w, x_low.z, x_low.w);
            add_sixteen(sum[o], f.x, f.y, f.z, f.w, x.z, x.w);
          }
        }
      }
      #pragma unroll
      for (int i = 0; i < CB * 4; i++) total[i / 4][i % 4] += sign * sum[i / 4][i % 4];
      __syncwarp();
    }
    if (above > 1e20f || (b - from) % 4 == 3) { value += (double)log1pf(above); above = 0; }
  }
  value += (double)log1pf(above);
  wait_for_copies<0>();
  __syncthreads();
  double* sums = (double*)room + warp * SIZE;
  #pragma unroll
  for (int s = 16; s; s >>= 1) value += __shfl_down_sync(~0u, value, s);
  if (lane == 0) sums[0] = value;
  #pragma unroll
  for (int i = 0; i < CB * 4; i++) {
    const int k = g + i % 4 / 2 * 8, j = i / 4 * 8 + 2 * c + i % 2;
    if (k < NK && j <= ND) sums[1 + k * (ND + 1) + j] = (double)total[i / 4][i % 4];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIZE; i += NT) {
    double every = 0; for (int w = 0; w < WARPS; w++) every += ((double*)room)[w * SIZE + i];
    part[(long long)blockIdx.x * SIZE + i] = every;
  }
}
"""
)
