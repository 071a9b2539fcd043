/** Texts for a model, kept to a size: a context is small, and records may be large. */

/** Characters of one resource. */
export const MOST_CHARACTERS = 60_000

/** The beginning of a text, marked where it was cut; never half of a surrogate pair. */
export const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`)

/** A value whose lists keep their first entries only, and its texts their beginnings. */
const shortened = (value: unknown, entries: number): unknown => {
  if (typeof value === 'string') return cut(value, Math.max(1_000, entries * 1_000))
  if (Array.isArray(value)) return value.slice(0, entries).map((one) => shortened(one, entries))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, entries)]))
}

const MOST_ENTRIES = 64

/** A record as JSON. One that is too large loses the ends of its lists, then those of its texts, and says so in `shortened`. */
export const json = (value: object): string => {
  const whole = JSON.stringify(value)
  if (whole.length <= MOST_CHARACTERS) return whole
  for (let entries = MOST_ENTRIES; ; entries = Math.floor(entries / 2)) {
    const note = `Too large to show whole: lists keep their first ${entries} entries. The operations give everything.`
    const text = JSON.stringify({ shortened: note, ...(shortened(value, entries) as object) })
    if (text.length <= MOST_CHARACTERS || entries === 0) return text
  }
}
