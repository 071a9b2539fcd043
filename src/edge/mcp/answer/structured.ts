/**
 * Structured content: the record, with strangers' words between tags. Values that programs compare
 * or pass on stay unchanged, and are named instead.
 */
import type { TSchema } from '@sinclair/typebox'
import { Quotation } from './quotation.ts'
import { isFields } from './text.ts'
import { entryPlace, fieldPlace, type SchemaPlace, schemaPlace, wordsAt } from './trust.ts'

type Fields = Record<string, unknown>

interface Tagging {
  quotation: Quotation
  /** Fields with values that strangers chose and that have no tags. */
  named: Set<string>
}

const tagTexts = (value: unknown, place: SchemaPlace, path: string, tagging: Tagging): unknown => {
  if (typeof value === 'string') {
    const words = wordsAt(place, value)
    if (words === 'named') tagging.named.add(path)
    return words === 'free' ? tagging.quotation.enclose(value) : value
  }
  if (Array.isArray(value)) {
    const entry = entryPlace(place)
    return value.map((one) => tagTexts(one, entry, `${path}[]`, tagging))
  }
  if (!isFields(value)) return value
  const fields = Object.entries(value).map(([name, one]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [name, tagTexts(one, fieldPlace(place, value, name), at, tagging)]
  })
  return Object.fromEntries(fields)
}

/**
 * Adds `untrusted_fields`, such as `signals[].post.author`, and a note that explains the tags. Each
 * is added only if there is something to say.
 */
export const structureAnswer = (
  body: Fields,
  schema: TSchema,
  quotation = new Quotation(),
): Fields => {
  const tagging: Tagging = { quotation, named: new Set() }
  const fields = tagTexts(body, schemaPlace(schema), '', tagging) as Fields
  return {
    ...fields,
    ...(tagging.named.size > 0 ? { untrusted_fields: [...tagging.named] } : {}),
    ...(quotation.note === undefined ? {} : { untrusted_note: quotation.note }),
  }
}
