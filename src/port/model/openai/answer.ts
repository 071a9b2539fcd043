import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** It gave what no text can be made of. */
export const UNUSABLE = 'model output was not valid; retry once, or use another model'

/** Room for a model that thinks before it writes. */
export const TOKENS_TO_THINK = 4_000

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const FENCE = '```'

/** Servers without structured output wrap their JSON in a code fence. No pattern, which a long answer could keep busy for hours. */
const unfenced = (text: string): string => {
  const trimmed = text.trim()
  const start = trimmed.indexOf('\n')
  const isFenced = trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE) && start > 0 && trimmed.length > start + FENCE.length
  return isFenced ? trimmed.slice(start, -FENCE.length) : text
}

/** The JSON that an answer is meant to be; undefined when it is none. */
export const jsonIn = (text: string): unknown => parsed(unfenced(text))

/** What is wrong with an answer by its schema, worded for the model. */
export const schemaFaults = (schema: TSchema, answer: unknown): string[] => {
  if (answer === undefined) return ['it is not JSON']
  const errors = [...Value.Errors(schema, answer)].slice(0, 8)
  return errors.map(({ path, message }) => `${path || 'the answer'}: ${message}`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const GARBLED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/

/** Half characters, replaced ones and control characters: bytes that were lost on the way, and what the database does not take. */
export const isGarbled = (texts: readonly string[]): boolean => texts.some((text) => !text.isWellFormed() || GARBLED.test(text))
