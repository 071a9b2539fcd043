/**
 * Keeps answers to a length that a model can take. A page of a list that is too long is read again,
 * with fewer entries.
 */
import type { TObject, TSchema } from '@sinclair/typebox'
import type { Answer } from '#actors/engine/letter'
import type { Operation } from '#ops/engine/bind'
import type { McpContext } from '../context.ts'
import { MOST_TOKENS, shortForm, tokenSize, usualForm } from './short-form.ts'

type Fields = Record<string, unknown>

export interface Fitted {
  answer: Answer
  body: Fields
  text: string
}

interface Asked {
  operation: Operation
  input: unknown
  /** Whether a single record was requested by its id. */
  whole: boolean
  /** The character of its longest text to begin with. */
  from?: number | undefined
}

const MOST_READS = 3
/** Entries differ in length, so some room is kept. */
const MARGIN = 0.9

const isPaged = ({ kind, input }: Operation): boolean =>
  kind === 'query' && 'limit' in (input as TObject).properties

const listIn = (body: Fields): unknown[] => Object.values(body).find(Array.isArray) ?? []

const noteOf = (shown: number): string =>
  `The first ${shown}, which is as many as fit: pass next_cursor as cursor for more.`

export const fitAnswer = (
  answer: Answer,
  { schema, whole = false }: { schema: TSchema; whole?: boolean },
): Fitted => ({
  answer,
  ...shortForm(JSON.parse(answer.body), { schema, whole }),
})

/** Runs a query. Throws its errors. */
export const readFitting = async (
  context: McpContext,
  { operation, input, whole, from }: Asked,
): Promise<Fitted> => {
  const { id, output: schema } = operation
  let answer = await context.run(id, input)
  let note: string | undefined
  for (let reads = 1; reads < MOST_READS && isPaged(operation); reads++) {
    const body: Fields = JSON.parse(answer.body)
    const [size, count] = [tokenSize(usualForm(body, { schema, whole })), listIn(body).length]
    if (size <= MOST_TOKENS || count <= 1) break
    const limit = Math.max(1, Math.floor(((count * MOST_TOKENS) / size) * MARGIN))
    answer = await context.run(id, { ...(input as object), limit })
    note = noteOf(limit)
  }
  return { answer, ...shortForm(JSON.parse(answer.body), { schema, whole, from, note }) }
}
