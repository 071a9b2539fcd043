/**
 * Values of JSON that a provider, or somebody else, sent. None of these throws, whatever the value
 * is.
 */
import { isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'

export type Fields = Readonly<Record<string, unknown>>

const NOTHING: Fields = {}

/** Undefined if it is no JSON object. */
export const objectOf = (body: Uint8Array | string): Fields | undefined => {
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
export const asObject = (value: unknown): Fields => (isObject(value) ? value : NOTHING)

/** The objects of a list, at most so many; empty if it is no list. */
export const objectsIn = (value: unknown, most: number): Fields[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : []

/** As it can be stored; undefined if it is no text, or empty. */
export const textOf = (value: unknown, most: number): string | undefined => {
  if (typeof value !== 'string') return undefined
  const text = beginning(storable(value), most)
  return text === '' ? undefined : text
}

/** A name that a provider gave something; undefined if it does not look like one. */
export const idOf = (value: unknown, form: RegExp): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined

/** A size in bytes; null if it is none. */
export const sizeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
