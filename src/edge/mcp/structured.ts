/** Structured content: the record, with strangers' words between marks. What programs compare or pass on stays as it is, and is named. */
import type { TSchema } from '@sinclair/typebox'
import { Quotation } from './quotation.ts'
import { isFields } from './text.ts'
import { entryPlace, fieldPlace, type Place, placeOf, wordsAt } from './trust.ts'

type Fields = Record<string, unknown>

interface Marking {
  quotation: Quotation
  /** Fields with what strangers chose, and which has no marks. */
  named: Set<string>
}

const marked = (value: unknown, place: Place, path: string, marking: Marking): unknown => {
  if (typeof value === 'string') {
    const words = wordsAt(place, value)
    if (words === 'named') marking.named.add(path)
    return words === 'free' ? marking.quotation.enclose(value) : value
  }
  if (Array.isArray(value)) {
    const entry = entryPlace(place)
    return value.map((one) => marked(one, entry, `${path}[]`, marking))
  }
  if (!isFields(value)) return value
  const fields = Object.entries(value).map(([name, one]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [name, marked(one, fieldPlace(place, value, name), at, marking)]
  })
  return Object.fromEntries(fields)
}

/** `untrusted_fields`: such as `signals[].post.author`. The note says what the marks are. Both only where there is something to say. */
export const structured = (body: Fields, schema: TSchema, quotation = new Quotation()): Fields => {
  const marking: Marking = { quotation, named: new Set() }
  const fields = marked(body, placeOf(schema), '', marking) as Fields
  return {
    ...fields,
    ...(marking.named.size > 0 ? { untrusted_fields: [...marking.named] } : {}),
    ...(quotation.note === undefined ? {} : { untrusted_note: quotation.note }),
  }
}
