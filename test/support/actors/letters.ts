/** Letters for tests of actors, and gates that hold them until a test opens them. */

import type { Decision, Letter } from '#actors/engine/letter'
import type { Priority } from '#actors/engine/mailbox'
import type { LiveLanes } from '#decisions/deciding'
import { newId } from '#kernel/ids'
import type { Query, Sql } from '#store/engine/db'
import type { Effects, Gate as LetterGate, NewWork, Provenance } from '#store/engine/letter'

export interface Gate {
  opened: Promise<void>
  open(): void
}

export const newGate = (): Gate => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: () => resolve() }
}

export const byTest: Provenance = { principal: { kind: 'system', id: 'test' }, surface: 'test' }

export interface Letters<R> {
  name?: string
  priority?: Priority
  late?: () => Promise<R>
}

export const letterOf = <R>(
  decide: (sql: Sql, gate: LetterGate, lanes: LiveLanes) => Promise<Decision<R>> | Decision<R>,
  { name = 'test', priority = 'interactive', late }: Letters<R> = {},
): Letter<R> => ({
  name,
  priority,
  provenance: byTest,
  decide: async (sql, gate, lanes) => decide(sql, gate, lanes),
  ...(late ? { late } : {}),
})

/** Adds one to the counter `key`, together with other effects. */
export const bump = (key: string, also: Effects = {}): Letter<void> =>
  letterOf(() => ({
    reply: undefined,
    effects: { ...also, spend: [{ key, period: 'test', amount: 1 }, ...(also.spend ?? [])] },
  }))

/**
 * An event with the times of the letter's gate and last statement; two of one tenant must not
 * overlap.
 */
const spanWrite =
  (id: string, start: string): Query =>
  (sql) =>
    sql`insert into outbox (id, type, data, created_at) values (${newId()}, 'span',
      jsonb_build_object('id', ${id}::text, 'start', ${start}::text, 'end',
        clock_timestamp()::text), now())`

/**
 * A letter that adds one to the counter `span` and leaves a row with the time of its transaction.
 */
export const span = (id: string, hold: () => Promise<void> = async () => {}): Letter<void> =>
  letterOf(async (sql) => {
    const [row] = await sql<{ at: string }>`select clock_timestamp()::text as at`
    await hold()
    return {
      reply: undefined,
      effects: {
        writes: [spanWrite(id, row!.at)],
        spend: [{ key: 'span', period: 'test', amount: 1 }],
      },
    }
  })

export const workOn = (
  refId: string,
  { kind = 'fake', ...more }: Partial<Omit<NewWork, 'kind'>> & { kind?: string } = {},
): NewWork => ({
  id: newId(),
  lane: 'sync',
  key: more.lane ?? 'sync',
  kind: kind as NewWork['kind'],
  second: 'refused',
  refId,
  origin: 'manual',
  runAt: new Date(Date.now() - 60_000),
  ...more,
})

/** Adds rows of work, by default due a minute ago. */
export const addWork = (...work: NewWork[]): Letter<void> =>
  letterOf(() => ({ reply: undefined, effects: { work } }))
