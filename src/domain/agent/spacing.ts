/** Words of scripts that do not put spaces between them, set apart, since full text search finds words by the spaces around them. */

/** Around each word of a query in a text that was found: characters of a private use area, which are nobody's text. */
export const MARKS = ['\uE000', '\uE001'] as const

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}ー]*/gu

const words = new Intl.Segmenter('en', { granularity: 'word' })

/** The text with a space before and after each word of such scripts. Other text stays as it is. */
export const spacedWords = (text: string): string =>
  text.replace(UNSPACED, (run) => ` ${[...words.segment(run)].map(({ segment }) => segment).join(' ')} `)

/**
 * Places in `text` of what `marked` has between marks. `marked` is the text as `spacedWords` gives it, with marks. None, if something else was
 * changed on the way.
 */
export const placesOfMarks = (
  text: string,
  marked: string,
  [open, close]: readonly [string, string] = MARKS,
): { start: number; end: number }[] => {
  const places: { start: number; end: number }[] = []
  let [at, start] = [0, -1]
  for (const unit of marked.split('')) {
    if (unit === open) start = at
    else if (unit === close) {
      if (start >= 0 && at > start) places.push({ start, end: at })
      start = -1
    } else if (unit === text[at]) at++
    else if (unit !== ' ') return []
  }
  return at === text.length ? places : []
}

/** The text with the marks of `marked`. */
export const withMarks = (text: string, marked: string): string => {
  const [open, close] = MARKS
  const places = placesOfMarks(text, marked)
  const parts = places.map(
    ({ start, end }, index) => `${text.slice(places[index - 1]?.end ?? 0, start)}${open}${text.slice(start, end)}${close}`,
  )
  return `${parts.join('')}${text.slice(places.at(-1)?.end ?? 0)}`
}
