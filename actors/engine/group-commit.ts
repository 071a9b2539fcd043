/**
 * Group commit: a letter and those waiting behind it in its mailbox, in one transaction. Each passes its own gate and sees the changes of
 * those before it. A refused letter does not affect the others.
 */

import type { LiveLanes } from '#decisions/deciding'
import type { Clock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { Demand } from '#kernel/fair-limit'
import type { Db, Sql } from '#store/engine/db'
import { apply, type Consequences, type GateHook, gate, KeyTaken, type Ownership, readingOnly } from '#store/engine/letter'
import { Fenced } from './deps.ts'
import type { Decision, Letter } from './letter.ts'
import type { Posted } from './mailbox.ts'

/** The result of a letter. */
export type Result = { decision: Decision<unknown> } | { cause: unknown }

/** A letter in the mailbox, with a callback for its result. */
export interface Envelope extends Posted {
  letter: Letter<unknown>
  /** Whether a caller is waiting for it. */
  demand: Demand
  /** Whether its caller has given up. A letter that has not begun by then never does. */
  isGone(): boolean
  /** Called once, in the tick of the commit: no later letter of the tenant has run. */
  settle(result: Result): void
}

interface GroupCommit {
  own: Ownership
  db: Db
  clock: Clock
  failpoints: Failpoints
  lanes: LiveLanes
  gate: GateHook
  consequences: Consequences
  /** Whether the tenant was given up: none of its letters may run. */
  isOver(): boolean
}

/** How many letters can share a commit, and how long others can join: the first one waits for the last. */
const MOST_TOGETHER = 16
const JOIN_WITHIN_MS = 25

/** Rolls back a transaction that changed nothing: committing its lock would wait for the disk. */
class Unchanged extends Error {
  override readonly name = 'Unchanged'
}

/** The result of a letter whose caller gave up before it was decided. None of it happened. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone'
}

interface GroupMember {
  envelope: Envelope
  result?: Result
}

/** Never rejects: every envelope gets its letter's result. */
export const commitTogether = async (group: GroupCommit, first: Envelope, more: () => Envelope | undefined): Promise<void> => {
  const members: GroupMember[] = [{ envelope: first }]
  const failure = await failureOf(group, members, more)
  if (!failure) for (const { envelope, result } of members) envelope.settle(result!)
  else if (members.length > 1 && wasRolledBack(failure.cause))
    for (const { envelope } of members) await commitTogether(group, envelope, nobody)
  else if (failure.cause instanceof KeyTaken) first.settle(await retry(group, first))
  else for (const { envelope } of members) envelope.settle(failure)
}

const nobody = (): undefined => undefined

/** Another letter stored an answer under the same Idempotency-Key: runs this one again from its gate, which replays that answer. */
const retry = async (group: GroupCommit, envelope: Envelope): Promise<Result> => {
  const members: GroupMember[] = [{ envelope }]
  return (await failureOf(group, members, nobody)) ?? members[0]!.result!
}

/** Whether a statement or a rule failed within the transaction. If the database merely fell silent, it may have committed. */
const wasRolledBack = (cause: unknown): boolean => !(cause instanceof Fenced || (cause instanceof AppError && cause.code === 'unavailable'))

const isRefusal = (cause: unknown): boolean => cause instanceof AppError && cause.code !== 'unavailable'

/** Undefined once all letters have results and their changes are committed. */
const failureOf = async (
  group: GroupCommit,
  members: GroupMember[],
  more: () => Envelope | undefined,
): Promise<{ cause: unknown } | undefined> => {
  let [ended, until] = [false, Number.POSITIVE_INFINITY]
  const next = () => (!ended && members.length < MOST_TOGETHER && group.clock.monotonic() < until ? more() : undefined)
  const decideAll = async (sql: Sql): Promise<void> => {
    // From the moment there is a connection: sharing one helps most while they are scarce.
    until = group.clock.monotonic() + JOIN_WITHIN_MS
    let changed = false
    for (let one: GroupMember | undefined = members[0]; one; one = join(members, next()))
      changed = (await decide(group, sql, one)) || changed
    if (!changed) throw new Unchanged()
  }
  try {
    await group.db.letter(group.own.tenantId, decideAll, members[0]!.envelope.demand)
  } catch (cause) {
    if (!(cause instanceof Unchanged)) return { cause }
  } finally {
    // A body whose time ran out must take no further letter, since nobody would receive its result.
    ended = true
  }
  return undefined
}

const join = (members: GroupMember[], envelope: Envelope | undefined): GroupMember | undefined => {
  if (!envelope) return undefined
  const one: GroupMember = { envelope }
  members.push(one)
  return one
}

const isExempt = ({ exempt, provenance: { surface } }: Letter<unknown>): boolean => exempt ?? (surface === 'timer' || surface === 'lane')

/** Whether the letter changed anything. Throws errors that invalidate the whole transaction. */
const decide = async (group: GroupCommit, sql: Sql, one: GroupMember): Promise<boolean> => {
  const { letter } = one.envelope
  if (group.isOver()) throw new Fenced()
  if (one.envelope.isGone()) {
    one.result = { cause: new CallerGone() }
    return false
  }
  try {
    const { principal: caller } = letter.provenance
    const open = await gate(sql, group.own, { hook: group.gate, caller, idempotencyKey: letter.claim?.key })
    if (!open) throw new Fenced()
    if (!isExempt(letter)) group.gate.admit(open)
    const reading = readingOnly(sql)
    const decision = await letter.decide(reading, open, group.lanes)
    await group.failpoints('letter.deciding')
    await group.failpoints(`letter.deciding:${letter.name}`)
    const effects = await group.consequences(reading, decision.effects ?? {}, { gate: open, tenantId: group.own.tenantId })
    const changed = await apply(sql, effects, { now: open.now, provenance: letter.provenance, keep: decision.keep })
    one.result = { decision: { ...decision, effects } }
    return changed
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    one.result = { cause }
    return false
  }
}
