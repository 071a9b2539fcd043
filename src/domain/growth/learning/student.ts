/** Means and variances of samples, and quantiles of Student's t. */

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** The sample variance (divided by n - 1). Needs two values. */
export const variance = (values: readonly number[]): number => {
  const middle = mean(values)
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
}

/** Lanczos' approximation with g = 7, accurate to 15 digits for positive numbers. */
const LANCZOS = [
  0.999_999_999_999_809_9, 676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_1,
  -176.615_029_162_140_6, 12.507_343_278_686_905, -0.138_571_095_265_720_12,
  9.984_369_578_019_572e-6, 1.505_632_735_149_311_6e-7,
]

const logGamma = (x: number): number => {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const sum = LANCZOS.reduce(
    (total, factor, index) => (index === 0 ? factor : total + factor / (x - 1 + index)),
    0,
  )
  const t = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum)
}

const TINY = 1e-300
const MOST_TERMS = 500

const awayFromZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value)

/** The continued fraction of the incomplete beta function, by Lentz's method. */
const betaFraction = (x: number, a: number, b: number): number => {
  let c = 1
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= MOST_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / awayFromZero(1 + even * d)
    c = awayFromZero(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / awayFromZero(1 + odd * d)
    c = awayFromZero(1 + odd / c)
    result *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return result
}

/** The regularised incomplete beta function. */
const beta = (x: number, a: number, b: number): number => {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x),
  )
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** P(T ≤ t) for Student's t with `freedom` degrees of freedom. */
export const studentCdf = (t: number, freedom: number): number => {
  const tail = 0.5 * beta(freedom / (freedom + t * t), freedom / 2, 0.5)
  return t >= 0 ? 1 - tail : tail
}

/** The quantile of Student's t, for `p` from 0.5 to 0.9999 and at least one degree of freedom. */
export const studentQuantile = (p: number, freedom: number): number => {
  let [low, high] = [0, 1]
  while (studentCdf(high, freedom) < p) high *= 2
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2
    if (studentCdf(middle, freedom) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
