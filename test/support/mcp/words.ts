/** Where strangers' words are in answers of tools, and how they are marked. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { entryPlace, fieldPlace, type SchemaPlace, wordsAt } from '#edge/mcp/answer/trust'

interface Found {
  path: string
  text: string
  /** Whether the contract marks the place. */
  marked: boolean
  /** How the answer shows that they are a stranger's words. */
  shown: ReturnType<typeof wordsAt>
}

/** Where a value contains a stranger's words. */
export const wordsIn = (
  words: string[],
  value: unknown,
  place: SchemaPlace,
  path = '',
): Found[] => {
  if (typeof value === 'string')
    return words.some((one) => value.includes(one))
      ? [{ path, text: value, marked: place.untrusted, shown: wordsAt(place, value) }]
      : []
  if (Array.isArray(value))
    return value.flatMap((one) => wordsIn(words, one, entryPlace(place), `${path}[]`))
  if (typeof value !== 'object' || value === null) return []
  const fields = Object.entries(value).filter(([name]) => !name.startsWith('untrusted_'))
  return fields.flatMap(([name, one]) =>
    wordsIn(words, one, fieldPlace(place, { ...value }, name), `${path}.${name}`),
  )
}

/** A text between its tags. */
export const MARKED = /^<(untrusted-[0-9a-f]{16})>([\s\S]*)<\/\1>$/

export const textsOf = ({ content }: CallToolResult): string[] =>
  content.flatMap((one) => (one.type === 'text' ? [one.text] : []))
