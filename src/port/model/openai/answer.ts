import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The answer cannot be read as a text. */
export const UNUSABLE = 'model output was not valid; retry once, or use another model'

/** Room for a model that thinks before it writes. */
export const TOKENS_TO_THINK = 4_000

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const FENCE = '```'

/**
 * Removes the code fence that servers without structured output put around their JSON. It uses no
 * regular expression, which a long answer could keep busy for hours.
 */
const stripFence = (text: string): string => {
  const trimmed = text.trim()
  const start = trimmed.indexOf('\n')
  const isFenced =
    trimmed.startsWith(FENCE) &&
    trimmed.endsWith(FENCE) &&
    start > 0 &&
    trimmed.length > start + FENCE.length
  return isFenced ? trimmed.slice(start, -FENCE.length) : text
}

/** The JSON in an answer; undefined if there is none. */
export const jsonIn = (text: string): unknown => parseJson(stripFence(text))

/** How an answer breaks its schema, worded for the model. */
export const schemaFaults = (schema: TSchema, answer: unknown): string[] => {
  if (answer === undefined) return ['it is not JSON']
  const errors = [...Value.Errors(schema, answer)].slice(0, 8)
  return errors.map(({ path, message }) => `${path || 'the answer'}: ${message}`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const GARBLED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/

/**
 * Lone surrogates, replacement and control characters: signs of lost bytes, and refused by the
 * database.
 */
export const isGarbled = (texts: readonly string[]): boolean =>
  texts.some((text) => !text.isWellFormed() || GARBLED.test(text))
