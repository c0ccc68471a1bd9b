"""CUDA C of the scatter of all classes about their means by tensor cores.

A warp has tiles of 32 rows, one after the other, and a thread one row of a tile. It leaves the cells of its row in shared memory
in two parts of half precision (see `tensor_sources`): 8 CB high parts, then as many low ones; column ND is 1. Products over the
rows are those of tensor cores. Sums of 32 rows are added by rounded additions, since tensor cores cut off what they add.
"""

from posterior.engines.device.cuda.sources import AHEAD
from posterior.engines.device.cuda.tensor_sources import HALVES, TURNED

# Weight and sum of every class, and products of columns of all classes together, about a pivot of each class; rows without weights.
# Cells are multiplied by 16 over a power of two of about their standard deviation. With H and L the high and low parts, the
# products are H'H + H'L + (H'L)', what is left out being 2^-22 of them; the sums of classes are products with rows that have a
# 1 at the place of their class. Sums are those of `SCATTER`.
SPLIT_SCATTER = (
    r"""
#define NB ((ND + 3) / 4)
#define CB (ND / 8 + 1)
#define ST (4 * (NB | 1))
#define WARPS (NT / 32)
#define ROW (16 * CB + 8)
#define ONE 0x3c00
"""
    + AHEAD
    + HALVES
    + r"""
// 32 rows, or m where fewer are left.
__device__ __forceinline__ void fetch(const XT* X, float* tile, int m, int lane) {
#if VEC
  if (ST == ND) {
    const float4* from = (const float4*)X + lane; float4* to = (float4*)tile + lane;
    if (m >= 32) {
      #pragma unroll
      for (int i = 0; i < NB; i++) copy_ahead<16>(to + 32 * i, from + 32 * i);
    } else {
      #pragma unroll
      for (int i = 0; i < NB; i++) if (lane + 32 * i < m * NB) copy_ahead<16>(to + 32 * i, from + 32 * i);
    }
    return;
  }
#endif
  fetch_rows<ST, 32>(X, tile, 0, min(m, 32), lane);
}
// Zeros for a row of so many bytes.
template <int BYTES> __device__ __forceinline__ void clear(void* row) {
  #pragma unroll
  for (int i = 0; i < BYTES / 16; i++) ((uint4*)row)[i] = make_uint4(0u, 0u, 0u, 0u);
}
// The first USED of N numbers in halves: N places of high parts, then N of low ones. What is not used stays as it is.
template <int N, int USED> __device__ __forceinline__ void leave(const float (&v)[N], unsigned short* to) {
  #pragma unroll
  for (int i = 0; i < (USED + 7) / 8; i++) {
    const int pairs = USED - 8 * i >= 7 ? 4 : (USED - 8 * i + 1) / 2; Parts p[4] = {};
    #pragma unroll
    for (int a = 0; a < 4; a++) if (a < pairs) p[a] = in_halves(v[8 * i + 2 * a], v[8 * i + 2 * a + 1]);
    unsigned short *high = to + 8 * i, *low = to + N + 8 * i;
    if (pairs == 4) {
      *(uint4*)high = make_uint4(p[0].high, p[1].high, p[2].high, p[3].high);
      *(uint4*)low = make_uint4(p[0].low, p[1].low, p[2].low, p[3].low);
    } else {
      if (pairs > 1) { *(uint2*)high = make_uint2(p[0].high, p[1].high); *(uint2*)low = make_uint2(p[0].low, p[1].low); }
      if (pairs == 3) { *(unsigned int*)(high + 4) = p[2].high; *(unsigned int*)(low + 4) = p[2].low; }
      if (pairs == 1) { *(unsigned int*)high = p[0].high; *(unsigned int*)low = p[0].low; }
    }
  }
}
"""
    + TURNED
    + r"""
__device__ __forceinline__ void add_sixteen(float (&c)[4], uint4 a, unsigned int b0, unsigned int b1) {
  add_sixteen(c, a.x, a.y, a.z, a.w, b0, b1);
}
// What the parts of rows have that no row writes: zeros, and the column of ones.
__device__ __forceinline__ void prepare(unsigned short* cells, int lane) {
  for (int i = lane; i < 32 * ROW; i += 32) cells[i] = i % ROW == ND ? ONE : 0;
}
#define MT ((CB + 1) / 2)
#define HOT 24
#define OF_WARP (32 * (ST * 4 + (ROW + HOT) * 2))
#define DW (8 * CB)
#define SIZE (ND * ND + 2 * NK * ND)
extern "C" __global__ void __launch_bounds__(NT, MB) split_scatter(
    const XT* __restrict__ X, const CT* __restrict__ Y, const XT* __restrict__ pivot, const XT* __restrict__ spread, double* part,
    long long n, int tiles) {
  extern __shared__ __align__(32) unsigned char room[];
  __shared__ __align__(16) float off[NK * ST], unit[ST];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, c = lane % 4;
  float* tile = (float*)(room + warp * OF_WARP);
  unsigned short *cells = (unsigned short*)(tile + 32 * ST), *hot = cells + 32 * ROW;
  const unsigned short* k_at = hot + (lane % 8 + lane / 16 * 8) * HOT + lane / 8 % 2 * 8;
  const unsigned short* x_at = cells + lane % 16 * ROW + lane / 16 * 8 * CB;
  const unsigned short* l_at = cells + (lane % 8 + lane / 16 * 8) * ROW + lane / 8 % 2 * 8;
  // H'H above the diagonal, H'L, and sums of classes; the last are of 16 by 8.
  float hh[MT][CB][4] = {}, hl[MT][CB][4] = {}, of_class[CB][4] = {};
  const long long from = min(n, ((long long)blockIdx.x * WARPS + warp) * tiles * 32);
  int left = (int)min(tiles * 32LL, n - from); const XT* x = X + from * ND; const CT* y = Y + from + lane;
  int next = 0, own = 0;
  if (left > 0) { fetch(x, tile, left, lane); if (lane < left) next = (int)*y; }
  end_of_copies();
  prepare(cells, lane);
  for (int i = lane; i < 32 * HOT; i += 32) hot[i] = 0;
  for (int j = threadIdx.x; j < ST; j += NT) {
    float most = 0; int e = 0;
    if (j < ND) for (int k = 0; k < NK; k++) most = fmaxf(most, spread[k * ND + j]);
    frexpf(most, &e);
    // Where nothing is known of a column its products are no numbers.
    unit[j] = j >= ND ? 0.0f : most > 0 ? ldexpf(16.0f, -e) : __int_as_float(0x7fffffff);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < NK * ST; i += NT) off[i] = i % ST < ND ? -pivot[i / ST * ND + i % ST] * unit[i % ST] : 0.0f;
  __syncthreads();
  float times[4 * NB];
  #pragma unroll
  for (int j = 0; j < 4 * NB; j++) times[j] = unit[j];
  for (; left > 0; left -= 32) {
    const int before = own; const bool there = lane < left;
    own = next;
    wait_for_copies<0>();
    __syncwarp();
    float row[4 * NB > 8 * CB ? 4 * NB : 8 * CB] = {};
    #pragma unroll
    for (int i = 0; i < NB; i++) {
      const float4 v = *((const float4*)(tile + lane * ST) + i), o = *((const float4*)(off + own * ST) + i);
      const float* f = times + 4 * i; row[4 * i] = fmaf(v.x, f[0], o.x);
      row[4 * i + 1] = fmaf(v.y, f[1], o.y); row[4 * i + 2] = fmaf(v.z, f[2], o.z); row[4 * i + 3] = fmaf(v.w, f[3], o.w);
    }
    // The row is in registers: the next one may come.
    __syncwarp();
    x += 32 * ND; y += 32;
    if (left > 32) { fetch(x, tile, left - 32, lane); if (lane < left - 32) next = (int)*y; }
    end_of_copies();
    float v[8 * CB];
    #pragma unroll
    for (int j = 0; j < 8 * CB; j++) v[j] = j < ND ? row[j < ND ? j : 0] : j == ND ? 1.0f : 0.0f;
    leave<8 * CB, ND>(v, cells + lane * ROW);
    hot[lane * HOT + before] = 0;
    if (there) hot[lane * HOT + own] = ONE; else clear<ROW * 2>(cells + lane * ROW);
    __syncwarp();
    uint4 right[2][CB], high[2][MT], classes[2];
    #pragma unroll
    for (int h = 0; h < 2; h++) {
      classes[h] = turned(k_at + 16 * h * HOT);
      #pragma unroll
      for (int j = 0; j < CB; j++) right[h][j] = turned(x_at + 16 * h * ROW + 8 * j);
      // Columns beyond the last are the zeros at the end of a row.
      #pragma unroll
      for (int i = 0; i < MT; i++) high[h][i] = turned(l_at + 16 * h * ROW + (2 * i + 1 < CB ? 16 * i : lane / 8 % 2 ? 16 * CB - 8 : 16 * i));
    }
    #pragma unroll
    for (int j = 0; j < CB; j++) {
      float sum[4] = {};
      #pragma unroll
      for (int h = 0; h < 2; h++) {
        add_sixteen(sum, classes[h], right[h][j].z, right[h][j].w);
        add_sixteen(sum, classes[h], right[h][j].x, right[h][j].y);
      }
      #pragma unroll
      for (int a = 0; a < 4; a++) of_class[j][a] += sum[a];
    }
    #pragma unroll
    for (int i = 0; i < MT; i++) {
      #pragma unroll
      for (int j = 0; j < CB; j++) {
        #pragma unroll
        for (int h = 0; h < 2; h++) add_sixteen(hl[i][j], high[h][i], right[h][j].z, right[h][j].w);
        if (j >= 2 * i) {
          float sum[4] = {};
          #pragma unroll
          for (int h = 0; h < 2; h++) add_sixteen(sum, high[h][i], right[h][j].x, right[h][j].y);
          #pragma unroll
          for (int a = 0; a < 4; a++) hh[i][j][a] += sum[a];
        }
      }
    }
    __syncwarp();
  }
  wait_for_copies<0>();
  // Sums of the warps, in their order.
  double *of_hh = (double*)room, *of_hl = of_hh + 16 * MT * DW, *of_all = of_hl + 16 * MT * DW;
  for (int w = 0; w < WARPS; w++) {
    __syncthreads();
    if (warp != w) continue;
    #pragma unroll
    for (int a = 0; a < MT * CB * 4; a++) {
      const int at = (a / 4 / CB * 16 + a % 4 / 2 * 8 + g) * DW + a / 4 % CB * 8 + 2 * c + a % 2;
      of_hh[at] = (w ? of_hh[at] : 0.0) + (double)hh[a / 4 / CB][a / 4 % CB][a % 4];
      of_hl[at] = (w ? of_hl[at] : 0.0) + (double)hl[a / 4 / CB][a / 4 % CB][a % 4];
    }
    #pragma unroll
    for (int a = 0; a < CB * 4; a++) {
      const int at = (a % 4 / 2 * 8 + g) * DW + a / 4 * 8 + 2 * c + a % 2;
      of_all[at] = (w ? of_all[at] : 0.0) + (double)of_class[a / 4][a % 4];
    }
  }
  __syncthreads();
  double* sums = part + (long long)blockIdx.x * SIZE;
  for (int t = threadIdx.x; t < SIZE; t += NT) {
    if (t < ND * ND) {
      const int i = t / ND, j = t % ND, low = min(i, j), high = max(i, j);
      sums[t] = (of_hh[low * DW + high] + of_hl[i * DW + j] + of_hl[j * DW + i]) / ((double)unit[i] * (double)unit[j]);
    } else {
      const int p = t - ND * ND, k = p / ND % NK, j = p % ND; const bool heavy = p >= NK * ND;
      sums[t] = heavy ? of_all[k * DW + ND] : of_all[k * DW + j] / (double)unit[j];
    }
  }
}
"""
)
