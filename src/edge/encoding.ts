/** Content negotiation by Accept-Encoding (RFC 9110, 12.5.3). */

/** The weight of each coding that an Accept-Encoding header names. */
const weightsOf = (header: string): Map<string, number> => {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    if (name === '') continue
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
    const weight = q === undefined ? 1 : Number(q.replace(/^q\s*=\s*/, ''))
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight >= 0 && weight <= 1 ? weight : 0)
  }
  return weights
}

/**
 * The best of `codings`, which are in order of preference. If none is acceptable, returns identity,
 * even if the client refuses that as well.
 */
export const encodingOf = <C extends string>(
  header: string | null,
  codings: readonly C[],
): C | 'identity' => {
  if (header === null) return 'identity'
  const weights = weightsOf(header)
  // Identity is acceptable by default, but comes after any coding that the header names.
  const weightOf = (coding: string): number =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? Number.MIN_VALUE : 0)
  let best: C | 'identity' = 'identity'
  let most = 0
  for (const coding of codings)
    if (weightOf(coding) > most) {
      best = coding
      most = weightOf(coding)
    }
  return best
}
