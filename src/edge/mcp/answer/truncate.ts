/** Truncation of text and records for a model's context. */

/** The longest resource, in characters. */
export const MAX_CHARACTERS = 60_000

/**
 * The first `most` characters, ending in an ellipsis if text was cut. Never splits a surrogate
 * pair.
 */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`

/** Keeps the first entries of lists and the beginnings of texts. */
const shorten = (value: unknown, entries: number): unknown => {
  if (typeof value === 'string') return cut(value, Math.max(1_000, entries * 1_000))
  if (Array.isArray(value)) return value.slice(0, entries).map((one) => shorten(one, entries))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, shorten(one, entries)]),
  )
}

const MAX_ENTRIES = 64

/**
 * A record as JSON of at most `MAX_CHARACTERS`. If the record is larger, shortens its lists and
 * texts, and says so in `shortened`.
 */
export const json = (value: object): string => {
  const whole = JSON.stringify(value)
  if (whole.length <= MAX_CHARACTERS) return whole
  for (let entries = MAX_ENTRIES; ; entries = Math.floor(entries / 2)) {
    const note = `Too large to show in full: each list keeps its first ${entries} entries. The tools return everything.`
    const text = JSON.stringify({ shortened: note, ...(shorten(value, entries) as object) })
    if (text.length <= MAX_CHARACTERS || entries === 0) return text
  }
}
