/**
 * Cuts text that is longer than a message may be, where it hurts least. All lengths are in UTF-16
 * code units.
 */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Beyond the place of a cut, to see whether a character goes on there. */
const AHEAD = 64

/** What a reader would rather see cut, the best first: paragraphs, lines, sentences, words. */
const SEAMS: readonly RegExp[] = [/\n\n+/g, /\n/g, /[.!?…。！？]["')\]]*\s/g, /\s/g]

/** The end of the last seam in a text, if it leaves at least half of it; else 0. */
const lastSeam = (text: string, seam: RegExp): number => {
  let end = 0
  for (const match of text.matchAll(seam)) end = match.index + match[0].length
  return end * 2 >= text.length ? end : 0
}

const isLowSurrogate = (text: string, at: number): boolean =>
  /[\udc00-\udfff]/.test(text.charAt(at))

/**
 * The last place at or before `at` between two characters as people see them. One that is itself
 * longer is cut between code points.
 */
const wholeCharacters = (text: string, at: number): number => {
  if (at >= text.length) return text.length
  const start = graphemes.segment(text.slice(0, at + AHEAD)).containing(at)?.index ?? at
  if (start > 0) return start
  return at > 1 && isLowSurrogate(text, at) ? at - 1 : at
}

/** Where to cut a longer text, of which at most `limit` fit; more than 0. */
export const cutPoint = (text: string, limit: number): number => {
  const fits = text.slice(0, wholeCharacters(text, limit))
  for (const seam of SEAMS) {
    const end = lastSeam(fits, seam)
    if (end > 0) return end
  }
  return fits.length
}

/**
 * Pieces of at most `limit` (at least 2), without the white space at the cuts; none if there is no
 * text.
 */
export const cutText = (text: string, limit: number): string[] => {
  const pieces: string[] = []
  let from = 0
  while (from < text.length) {
    // No more of the rest is looked at than could fit, or a long text would be read over and over.
    const rest = text.slice(from, from + limit + AHEAD)
    const end = rest.length <= limit ? rest.length : cutPoint(rest, limit)
    const piece = rest.slice(0, end).trim()
    if (piece !== '') pieces.push(piece)
    from += end
  }
  return pieces
}
