export interface Mutant {
  name: string
  file: string
  /** Stands in the file once, on whatever lines. */
  from: string
  to: string
}

/** Mistakes in one file: each its name, and the text that another takes the place of. */
export const mutantsOf = (
  file: string,
  rows: readonly (readonly [name: string, from: string, to: string])[],
): Mutant[] => rows.map(([name, from, to]) => ({ name, file, from, to }))

const isWord = (token: string): boolean => /^[\w$]/.test(token)

/**
 * Finds a text wherever the formatter breaks its lines: white space counts only between words, and
 * a comma may come before a bracket.
 */
const patternOf = (text: string): RegExp => {
  const tokens = text.match(/[\w$]+|[^\s\w$]/g) ?? []
  const parts = tokens.map((token, index) => {
    const before = tokens[index - 1]
    const between =
      before === undefined
        ? ''
        : isWord(before) && isWord(token)
          ? '\\s+'
          : /[)\]}]/.test(token)
            ? '\\s*,?\\s*'
            : '\\s*'
    return between + RegExp.escape(token)
  })
  return new RegExp(parts.join('') + (text.endsWith('\n') ? '[^\\S\\n]*\\n' : ''), 'g')
}

/** The source with the mistake; undefined if its place is not there once. */
export const mistaken = (source: string, { from, to }: Mutant): string | undefined => {
  const places = [...source.matchAll(patternOf(from))]
  const [place] = places
  if (!place || places.length > 1) return undefined
  return source.slice(0, place.index) + to + source.slice(place.index + place[0].length)
}
