/**
 * Reading JSON values that a provider, or somebody else, sent. None of these functions throws,
 * whatever the value is.
 */
import { isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'

export type JsonObject = Readonly<Record<string, unknown>>

const NOTHING: JsonObject = {}

/** Undefined if the body is not a JSON object. */
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

/** An empty object if the value is not an object. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING)

/** Up to `most` objects of a list. Empty if the value is not a list. */
export const objectsIn = (value: unknown, most: number): JsonObject[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : []

/** The text in storable form. Undefined if it is empty or not a text. */
export const storableText = (value: unknown, most: number): string | undefined => {
  if (typeof value !== 'string') return undefined
  const text = beginning(storable(value), most)
  return text === '' ? undefined : text
}

/** A name that a provider gave to something. Undefined if it does not have the expected form. */
export const readId = (value: unknown, form: RegExp): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined

/** A size in bytes; null if the value is not a size. */
export const readSize = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
