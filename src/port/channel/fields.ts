/**
 * Values of JSON that a provider, or somebody else, sent. None of these throws, whatever the value
 * is.
 */
import { isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'

export type JsonObject = Readonly<Record<string, unknown>>

const NOTHING: JsonObject = {}

/** Undefined if it is no JSON object. */
export const parseObject = (body: Uint8Array | string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(
      typeof body === 'string' ? body : new TextDecoder().decode(body),
    )
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Empty if it is no object. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING)

/** The objects of a list, at most so many; empty if it is no list. */
export const objectsIn = (value: unknown, most: number): JsonObject[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : []

/** As it can be stored; undefined if it is no text, or empty. */
export const storableText = (value: unknown, most: number): string | undefined => {
  if (typeof value !== 'string') return undefined
  const text = beginning(storable(value), most)
  return text === '' ? undefined : text
}

/** A name that a provider gave something; undefined if it does not look like one. */
export const readId = (value: unknown, form: RegExp): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined

/** A size in bytes; null if it is none. */
export const readSize = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
