/** Student's t distribution, as far as intervals need it. */

/** Stirling's series, from where it is exact to ten digits. */
const lnGamma = (x: number): number => {
  if (x < 12) return lnGamma(x + 1) - Math.log(x)
  const inverse = 1 / x
  const series = inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series
}

const MOST_TERMS = 300
const EXACT = 1e-13
const TINY = 1e-300

const notZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value)

/** The continued fraction of the incomplete beta function, evaluated by Lentz's method. */
const fraction = (x: number, a: number, b: number): number => {
  let c = 1
  let d = 1 / notZero(1 - ((a + b) * x) / (a + 1))
  let value = d
  for (let m = 1; m <= MOST_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    for (const term of [even, odd]) {
      d = 1 / notZero(1 + term * d)
      c = notZero(1 + term / c)
      value *= c * d
    }
    if (Math.abs(c * d - 1) < EXACT) return value
  }
  return value
}

/** The regularised incomplete beta function. */
const beta = (x: number, a: number, b: number): number => {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a)
  return (Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a) * fraction(x, a, b)
}

/** How likely chance alone brings a value at least this far from zero, on either side. */
export const chanceBeyond = (t: number, freedom: number): number => beta(freedom / (freedom + t * t), freedom / 2, 0.5)

/** The value that chance alone exceeds, on either side, with this probability. */
export const criticalValue = (chance: number, freedom: number): number => {
  let [low, high] = [0, 1]
  while (chanceBeyond(high, freedom) > chance && high < 1e6) high *= 2
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2
    if (chanceBeyond(middle, freedom) > chance) low = middle
    else high = middle
  }
  return (low + high) / 2
}
