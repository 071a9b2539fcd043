/**
 * The tables of one workspace in memory, and the transaction of a letter over them. The statements
 * are in statements.ts and beside it.
 */

import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError, fail } from '#kernel/errors'
import { codeOf, type Transaction } from '#store/engine/db'
import type { Work } from '#store/engine/work'

export type Row = Work

/**
 * One changed row. A real statement that names a row twice would change it only once, so that is an
 * error here.
 */
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
  /** Ids of deleted items, which are kept in the form in which they would be restored. */
  deleted: Set<string>
  engagements: Map<string, Engagement>
  attempts: Map<string, Attempt>
  works: Map<string, Row>
  connections: Map<string, Connection>
  owner: string
  epoch: number
  paused: boolean
  events: { type: string; data: Record<string, unknown> }[]
  now(): Date
  /**
   * What goes wrong with the next letters, if anything: nothing of one happens; or all of it and
   * its sender does not hear of it; or what it does in a savepoint fails, or the statement of an
   * outcome and the next claim.
   */
  failures: ('before' | 'after' | 'beside' | 'no')[]
  /** State of the running transaction. */
  beside: 'fails' | 'failed' | undefined
  /** The answer to the commit of the running transaction is lost. */
  losesAnswer: boolean
  /** Set while what is written can be undone alone: whether a pause was waiting when that began. */
  inSavepoint: { pauseWaited: boolean } | undefined
  /** Happens in the middle of the next transaction that changes something. */
  meanwhile: (() => void) | undefined
  /** Since the middle of the running transaction a pause waits. */
  pauseWaits: boolean
  command: Commanded | undefined
  changes: Changes
  /** The process whose transaction is running. */
  by: string
  /** The tables as they were before the running transaction. */
  undo: Partial<Memory> | undefined
  turn: Promise<unknown>
  /** Called for every statement that changes something. */
  onChange(changes: Changes, command: Commanded | undefined): void
  /** Called for every failure that took place. */
  onFailure(failure: 'before' | 'after' | 'beside'): void
  /** Called with anything that the real database would have refused. */
  onBroken(words: string): void
}

export const newMemory = (now: () => Date): Memory => ({
  items: new Map(),
  deleted: new Set(),
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
  beside: undefined,
  losesAnswer: false,
  meanwhile: undefined,
  pauseWaits: false,
  inSavepoint: undefined,
  command: undefined,
  changes: { items: [], engagements: [], attempts: [] },
  by: '',
  undo: undefined,
  turn: Promise.resolve(),
  onChange: () => {},
  onFailure: () => {},
  onBroken: () => {},
})

export const isOpen = ({ state }: Attempt): boolean =>
  state === 'open' || state === 'doubt' || state === 'review'

/** The unique indexes of the table. */
const collides = (one: Attempt, other: Attempt): boolean => {
  if (
    one.record_id === other.record_id &&
    (one.number === other.number || (isOpen(one) && isOpen(other)))
  )
    return true
  if (
    one.connection_id !== other.connection_id ||
    one.sendable !== 'post' ||
    other.sendable !== 'post'
  )
    return false
  if (one.external_id !== null && one.external_id === other.external_id) return true
  return one.body_sha === other.body_sha && isOpen(one) && isOpen(other)
}

const checkUnique = (memory: Memory): void => {
  for (const [, one] of memory.changes.attempts)
    for (const other of memory.attempts.values())
      if (other !== one && collides(one, other))
        memory.onBroken(`two attempts that a unique index keeps apart: ${one.id} and ${other.id}`)
}

/** One statement: its changes are visible to what follows in the same transaction. */
export const write = (memory: Memory, staged: Write[]): void => {
  if (staged.length === 0) return
  if (memory.by !== memory.owner)
    memory.onBroken('a process that owns nothing any more has written')
  if (memory.inSavepoint && memory.beside === 'fails') {
    memory.onFailure('beside')
    throw new AppError('unavailable', 'the database gave up a statement')
  }
  memory.undo ??= copyOf(memory)
  memory.changes = { items: [], engagements: [], attempts: [] }
  for (let at = 0; at < staged.length; at++) {
    const { row } = staged[at]!
    for (let earlier = 0; earlier < at; earlier++)
      if (staged[earlier]!.row === row) memory.onBroken(`one statement changes ${row} twice`)
  }
  for (const { change } of staged) change(memory)
  checkUnique(memory)
  const isClaim = memory.changes.attempts.some(([before]) => before === undefined)
  const isAhead = isClaim && memory.changes.attempts.length > 1
  if (isAhead && memory.beside === 'fails') {
    memory.onFailure('beside')
    throw new Error('the statement of an outcome and a claim has failed')
  }
  // A claim that was in the mailbox before the pause may share the transaction.
  if (isClaim && (memory.inSavepoint?.pauseWaited || (isAhead && memory.pauseWaits)))
    memory.onBroken('a send is claimed while a pause waits')
  memory.onChange(memory.changes, memory.command)
  const { meanwhile } = memory
  memory.meanwhile = undefined
  meanwhile?.()
}

const LOST = 'CONNECTION_CLOSED'
const answerLost = (): Error =>
  Object.assign(new Error('the answer to the commit was lost'), { code: LOST })

/**
 * The commit that travels with a statement: its answer may be lost, together with the statement's.
 */
export const committed = (memory: Memory): void => {
  if (!memory.losesAnswer) return
  memory.undo = undefined
  throw answerLost()
}

/** A table of records that are locked and saved whole. */
export const kept = <R extends { id: string }>(
  rows: (memory: Memory) => Map<string, R>,
  changes: (memory: Memory) => [R, R][],
) => ({
  lock: async (memory: Memory, id: string) =>
    rows(memory).get(id) ?? fail('not_found', 'no such record'),
  save: (record: R) => (): Write => ({
    row: record.id,
    change(memory) {
      changes(memory).push([rows(memory).get(record.id)!, record])
      rows(memory).set(record.id, record)
    },
  }),
})

const copyOf = ({
  items,
  deleted,
  engagements,
  attempts,
  works,
  connections,
  events,
  paused,
}: Memory): Partial<Memory> => ({
  items: new Map(items),
  deleted: new Set(deleted),
  engagements: new Map(engagements),
  attempts: new Map(attempts),
  works: new Map(works),
  connections: new Map(connections),
  events: [...events],
  paused,
})

/** A part of a transaction that can be undone alone. */
const savepoint = async <T>(memory: Memory, body: () => Promise<T>): Promise<T> => {
  const before = copyOf(memory)
  memory.inSavepoint = { pauseWaited: memory.pauseWaits }
  try {
    return await body()
  } catch (cause) {
    memory.beside = 'failed'
    Object.assign(memory, before)
    throw cause
  } finally {
    memory.inSavepoint = undefined
  }
}

const hasFailedBeside = ({ beside }: Memory): boolean => beside === 'failed'

/** More turns of the microtask queue than any chain of promises in the process takes. */
const ROUND_TRIP = 20

/**
 * One transaction by a process, alone, as under the row lock of the workspace: of one letter, or of
 * several.
 */
export const letter = <T>(
  memory: Memory,
  by: string,
  body: (sql: Transaction) => Promise<T>,
): Promise<T> => {
  const run = async (): Promise<T> => {
    // A real transaction begins with a round trip, so what the process must do by itself is done
    // first.
    for (let turn = 0; turn < ROUND_TRIP; turn++) await undefined
    memory.undo = undefined
    memory.by = by
    memory.pauseWaits = false
    const failure = memory.failures.shift()
    memory.beside = failure === 'beside' ? 'fails' : undefined
    memory.losesAnswer = failure === 'after'
    if (failure === 'before' || failure === 'after') memory.onFailure(failure)
    if (failure === 'before') throw new AppError('unavailable', 'the database cannot be reached')
    try {
      const savepointOf: Pick<Transaction, 'savepoint'> = {
        savepoint: (inner) => savepoint(memory, inner),
      }
      const result = await body(Object.assign(memory, savepointOf) as unknown as Transaction)
      memory.undo = undefined
      if (memory.losesAnswer) throw answerLost()
      return result
    } catch (cause) {
      if (hasFailedBeside(memory))
        memory.onBroken('a transaction is lost with what failed in its savepoint')
      throw codeOf(cause) === LOST
        ? new AppError('unavailable', 'the answer to the commit was lost')
        : cause
    } finally {
      if (memory.undo) Object.assign(memory, memory.undo)
    }
  }
  const running = memory.turn.then(run)
  memory.turn = running.catch(() => {})
  return running
}
