/**
 * One decision on many items, as a tool. It does not approve, because each text must have been read
 * for that. An answer with every item in full would be too long for a model and cannot be read
 * again in pages, so the tool returns a line for each.
 */
import { type Static, Type as T } from '@sinclair/typebox'
import { bulkActions } from '#contract/growth/item-bulk'
import { tags } from '#contract/growth/item-texts'
import { Id, nullable, oneOf, record, timeOrSlot } from '#contract/shapes'
import type { Operation } from '#ops/engine/bind'
import { validate } from '#ops/engine/validate'
import { cut } from './answer/truncate.ts'

const BULK = 'growth.items.bulk'
/**
 * The longest error of an item, in characters. With it, an answer that refuses the most items
 * allowed stays below what a model can take.
 */
const LONGEST_ERROR = 130

const Entry = record({
  id: Id,
  post_at: T.Optional(timeOrSlot('To schedule: a timestamp, or next_slot.')),
  on_missed: T.Optional(oneOf(['post', 'skip'])),
  reason: T.Optional(T.String({ maxLength: 2_000, description: 'For reject.' })),
  tags: T.Optional(tags),
})

const inputOf = (most: number) =>
  T.Object(
    {
      action: oneOf(
        bulkActions.filter((action) => !['approve', 'post', 'mark_posted'].includes(action)),
      ),
      items: T.Array(Entry, { minItems: 1, maxItems: most }),
    },
    { additionalProperties: false },
  )

const Line = record({
  id: Id,
  status: nullable(T.String()),
  post_at: nullable(T.String()),
  error: nullable(T.String()),
})
const output = record({ results: T.Array(Line) })

interface Result {
  id: string
  item: { status: string; post_at: string | null } | null
  error: { code: string; message: string } | null
}

const lineOf = ({ id, item, error }: Result): Static<typeof Line> => ({
  id,
  status: item?.status ?? null,
  post_at: item?.post_at ?? null,
  error: error && cut(`${error.code}: ${error.message}`, LONGEST_ERROR),
})

const toolOf = (o: Operation): Operation => {
  const input = inputOf(o.input.properties.items.maxItems)
  const run: Operation['run'] = async (read, call) => {
    const checked = async () => {
      const given = await read()
      validate(input, given)
      return given
    }
    const answer = await o.run(checked, call)
    const { results } = JSON.parse(answer.body) as { results: Result[] }
    return { ...answer, body: JSON.stringify({ results: results.map(lineOf) }) }
  }
  const tool = {
    tool: 'growth_bulk_items',
    toolset: 'content',
    agent: 'never',
    destructive: true,
    outside: true,
    input,
    output,
    run,
    summary:
      'Do one thing with many items. Each succeeds or fails for itself; results are in the order of the items.',
  }
  return { ...o, ...tool } as unknown as Operation
}

/** The operations, with a tool added for many items. */
export const withBulk = (all: readonly Operation[]): Operation[] =>
  all.map((o) => (o.id === BULK ? toolOf(o) : o))
