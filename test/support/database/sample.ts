/** A row of a declared record with a value in each column that needs one. */
import type { TSchema } from '@sinclair/typebox'
import { type Declared, type Field, isNullable, type RowOf } from '#contract/records/record'
import { newId } from '#kernel/ids'

const sampleValue = ({ type, shown, of }: Field, mark: string): unknown => {
  const schema: TSchema | undefined = of ?? shown
  if (type === 'uuid') return newId()
  if (type === 'text') return schema?.enum?.[0] ?? mark
  if (type === 'integer' || type === 'bigint') return 1
  if (type === 'boolean') return false
  if (type === 'timestamp with time zone') return new Date()
  if (type === 'jsonb') return schema?.type === 'array' ? [] : {}
  if (type === 'bytea') return Buffer.from(mark)
  if (type === 'tsvector') return ''
  return [mark]
}

/**
 * `mark`: goes into every text that is not one of a list of words. `given`: the row's own values.
 */
export const sampleOf = <R extends Declared, const Given extends object>(
  { fields }: R,
  mark: string,
  given: Given,
) => {
  const needed = Object.entries<Field>(fields).filter(
    ([, field]) => field.type && field.from !== 'generated' && !isNullable(field),
  )
  return {
    ...Object.fromEntries(needed.map(([name, field]) => [name, sampleValue(field, mark)])),
    ...given,
  } as RowOf<R> & Given
}

/** What the rows of a workspace have in common. */
export interface RowsOf {
  /** The text with which every row shows its workspace. */
  mark: string
  person: string
  item: string
  batch: string
  now: Date
  /** For times that must not be reached during a test. */
  tomorrow: Date
}
