/** The tables of one workspace in memory, and the transaction of a letter over them. The statements are in statements.ts. */

import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError, fail } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { Work } from '#store/engine/work'

export type Row = Work

/** One changed row; a statement that changes a row twice would change it once, so that is an error here. */
export interface Write {
  row: string
  change(memory: Memory): void
}

/** Which command of a person a letter carries. */
export interface Commanded {
  name: string
  id?: string
}

/** What a commit has changed: each row as it was and as it is. */
export interface Changes {
  items: [Item, Item][]
  engagements: [Engagement, Engagement][]
  attempts: [Attempt | undefined, Attempt][]
}

export interface Memory {
  items: Map<string, Item>
  engagements: Map<string, Engagement>
  attempts: Map<string, Attempt>
  works: Map<string, Row>
  connections: Map<string, Connection>
  owner: string
  epoch: number
  paused: boolean
  events: { type: string; data: Record<string, unknown> }[]
  now(): Date
  /** What goes wrong with the next letters, if anything: nothing of one happens, or all of it and its sender does not hear of it. */
  failures: ('before' | 'after' | 'no')[]
  command: Commanded | undefined
  changes: Changes
  /** The process whose transaction runs. */
  by: string
  /** The tables as they were before the running transaction changed any. */
  undo: Partial<Memory> | undefined
  turn: Promise<unknown>
  /** Called for every statement that changes something. */
  onChange(changes: Changes, command: Commanded | undefined): void
  /** Called for every failure that took place. */
  onFailure(failure: 'before' | 'after'): void
  /** Called with what the real database would have refused. */
  onBroken(words: string): void
}

export const newMemory = (now: () => Date): Memory => ({
  items: new Map(),
  engagements: new Map(),
  attempts: new Map(),
  works: new Map(),
  connections: new Map(),
  owner: '',
  epoch: 0,
  paused: false,
  events: [],
  now,
  failures: [],
  command: undefined,
  changes: { items: [], engagements: [], attempts: [] },
  by: '',
  undo: undefined,
  turn: Promise.resolve(),
  onChange: () => {},
  onFailure: () => {},
  onBroken: () => {},
})

export const isOpen = ({ state }: Attempt): boolean => state === 'open' || state === 'doubt' || state === 'review'

/** The unique indexes of the table. */
const collides = (one: Attempt, other: Attempt): boolean => {
  if (one.record_id === other.record_id && (one.number === other.number || (isOpen(one) && isOpen(other)))) return true
  if (one.connection_id !== other.connection_id || one.sendable !== 'post' || other.sendable !== 'post') return false
  if (one.external_id !== null && one.external_id === other.external_id) return true
  return one.body_sha === other.body_sha && isOpen(one) && isOpen(other)
}

const checkUnique = (memory: Memory): void => {
  for (const [, one] of memory.changes.attempts)
    for (const other of memory.attempts.values())
      if (other !== one && collides(one, other)) memory.onBroken(`two attempts that a unique index keeps apart: ${one.id} and ${other.id}`)
}

/** One statement: its changes are seen by what comes after it in the same transaction. */
export const write = (memory: Memory, staged: Write[]): void => {
  if (staged.length === 0) return
  if (memory.by !== memory.owner) memory.onBroken('a process that owns nothing any more has written')
  memory.undo ??= copyOf(memory)
  memory.changes = { items: [], engagements: [], attempts: [] }
  for (let at = 0; at < staged.length; at++) {
    const { row } = staged[at]!
    for (let earlier = 0; earlier < at; earlier++) if (staged[earlier]!.row === row) memory.onBroken(`one statement changes ${row} twice`)
  }
  for (const { change } of staged) change(memory)
  checkUnique(memory)
  memory.onChange(memory.changes, memory.command)
}

/** A table of records that are locked and saved whole. */
export const kept = <R extends { id: string }>(rows: (memory: Memory) => Map<string, R>, changes: (memory: Memory) => [R, R][]) => ({
  lock: async (memory: Memory, id: string) => rows(memory).get(id) ?? fail('not_found', 'no such record'),
  save: (record: R) => (): Write => ({
    row: record.id,
    change(memory) {
      changes(memory).push([rows(memory).get(record.id)!, record])
      rows(memory).set(record.id, record)
    },
  }),
})

const copyOf = ({ items, engagements, attempts, works, connections, events, paused }: Memory): Partial<Memory> => ({
  items: new Map(items),
  engagements: new Map(engagements),
  attempts: new Map(attempts),
  works: new Map(works),
  connections: new Map(connections),
  events: [...events],
  paused,
})

/** So many turns of the microtask queue, more than any chain of promises in the process takes. */
const ROUND_TRIP = 20

/** One transaction by a process, alone, as under the row lock of the workspace: of one letter, or of several. */
export const letter = <T>(memory: Memory, by: string, body: (sql: Sql) => Promise<T>): Promise<T> => {
  const run = async (): Promise<T> => {
    // A real one begins with a round trip: what the process has to do by itself is done before.
    for (let turn = 0; turn < ROUND_TRIP; turn++) await undefined
    memory.undo = undefined
    memory.by = by
    const failure = memory.failures.shift()
    if (failure && failure !== 'no') memory.onFailure(failure)
    if (failure === 'before') throw new AppError('unavailable', 'the database cannot be reached')
    try {
      const result = await body(memory as unknown as Sql)
      memory.undo = undefined
      return result
    } finally {
      if (memory.undo) Object.assign(memory, memory.undo)
      // biome-ignore lint/correctness/noUnsafeFinally: whatever became of it, its sender does not hear of it
      if (failure === 'after') throw new AppError('unavailable', 'the answer to the commit was lost')
    }
  }
  const running = memory.turn.then(run)
  memory.turn = running.catch(() => {})
  return running
}
