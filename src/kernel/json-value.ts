/** Values that were parsed from JSON. */

/** Whether a value is an object with fields, and neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Whether objects and arrays are nested deeper than `most` levels. It uses no stack, which other
 * ways to walk such a value would exhaust.
 */
export const isDeeper = (value: unknown, most: number): boolean => {
  let level = [value]
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    )
    if (level.length === 0) return false
  }
  return true
}

interface TextAt {
  /** The names of the fields that lead to it. */
  path: string[]
  text: string
}

/**
 * Every text in a value, including the names of fields, each with the path of its field. The value
 * must have at most a hundred levels.
 */
export function* textsIn(value: unknown, path: string[] = []): Generator<TextAt> {
  if (typeof value === 'string') yield { path, text: value }
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    const at = [...path, name]
    if (!Array.isArray(value)) yield { path: at, text: name }
    yield* textsIn(one, at)
  }
}
