/**
 * Cuts text that is too long for one message, where it hurts least. All lengths are in UTF-16 code
 * units.
 */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** How far to look past the place of a cut, to see whether a character continues there. */
const AHEAD = 64

/** Where to cut, best first: between paragraphs, lines, sentences, words. */
const SEAMS: readonly RegExp[] = [/\n\n+/g, /\n/g, /[.!?…。！？]["')\]]*\s/g, /\s/g]

/**
 * The end of the last seam in a text, if at least half of the text comes before it; otherwise 0.
 */
const lastSeam = (text: string, seam: RegExp): number => {
  let end = 0
  for (const match of text.matchAll(seam)) end = match.index + match[0].length
  return end * 2 >= text.length ? end : 0
}

const isLowSurrogate = (text: string, at: number): boolean =>
  /[\udc00-\udfff]/.test(text.charAt(at))

/**
 * The last place at or before `at` that does not split a character as people see it. A character
 * that is itself too long is cut between code points.
 */
const wholeCharacters = (text: string, at: number): number => {
  if (at >= text.length) return text.length
  const start = graphemes.segment(text.slice(0, at + AHEAD)).containing(at)?.index ?? at
  if (start > 0) return start
  return at > 1 && isLowSurrogate(text, at) ? at - 1 : at
}

/** Where to cut a text of which at most `limit` fits; more than 0. */
export const cutPoint = (text: string, limit: number): number => {
  const fits = text.slice(0, wholeCharacters(text, limit))
  for (const seam of SEAMS) {
    const end = lastSeam(fits, seam)
    if (end > 0) return end
  }
  return fits.length
}

/**
 * Pieces of at most `limit` (at least 2), without the white space at the cuts; none if the text is
 * blank.
 */
export const cutText = (text: string, limit: number): string[] => {
  const pieces: string[] = []
  let from = 0
  while (from < text.length) {
    // Look only at what could fit; otherwise a long text would be read over and over.
    const rest = text.slice(from, from + limit + AHEAD)
    const end = rest.length <= limit ? rest.length : cutPoint(rest, limit)
    const piece = rest.slice(0, end).trim()
    if (piece !== '') pieces.push(piece)
    from += end
  }
  return pieces
}
