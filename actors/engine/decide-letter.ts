/** One letter, decided and written in a transaction that it may share with others: its gate, its decision and its sequel. */

import type { Apart, LiveLanes } from '#decisions/deciding'
import { AppError, isUnavailable } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { isTransient, type Sql, type Transaction } from '#store/engine/db'
import { openGate } from '#store/engine/gate'
import { apply, type Consequences, type Effects, type Gate, type GateHook, merge, type Ownership, readingOnly } from '#store/engine/letter'
import { Fenced } from './deps.ts'
import type { Decision, Letter, SequelResult } from './letter.ts'

/** The result of a letter, with the time of its gate. `parts`: decided apart, before it. */
export type Result =
  | { decision: Decision<unknown>; now: Date; sequelResult?: SequelResult<unknown>; parts: Decision<unknown>[] }
  | { cause: unknown }

/** What a letter is decided with. */
export interface DecidingDeps {
  own: Ownership
  failpoints: Failpoints
  lanes: LiveLanes
  gate: GateHook
  consequences: Consequences
  /** Whether the tenant was given up: none of its letters may run. */
  isOver(): boolean
  /** Whether a control letter waits, before which nothing else may be begun. */
  isUrgent(): boolean
  /** Waits for a decision that nobody waits for, unless something urgent waits too long for it: then throws `GaveWay`. */
  yielding<T>(deciding: Promise<T>): Promise<T>
}

/** A letter's result, and whether it changed anything. */
interface Decided {
  result: Result
  changed: boolean
}

/** The letter's changes could not be written together with those of its sequel. Nothing of it happened. */
export class SequelFailed extends Error {
  override readonly name = 'SequelFailed'
}

const isRefusal = (cause: unknown): boolean => cause instanceof AppError && !isUnavailable(cause)

const isUnasked = ({ provenance: { surface } }: Letter<unknown>): boolean => surface === 'timer' || surface === 'lane'

const isExempt = (letter: Letter<unknown>): boolean => letter.exempt ?? isUnasked(letter)

/**
 * Decides a letter. Throws what invalidates the whole transaction. `commits` is asked before the letter's changes are written, and says
 * whether its transaction ends with them.
 */
export const decideLetter = async (
  deps: DecidingDeps,
  sql: Transaction,
  letter: Letter<unknown>,
  commits: () => boolean,
): Promise<Decided> => {
  const parts: Decision<unknown>[] = []
  try {
    const { principal: caller } = letter.provenance
    const load = { ...letter.load, ...letter.sequel?.load?.() }
    const question = { hook: deps.gate, caller, idempotencyKey: letter.claim?.key, load }
    const opened = await openGate(sql, deps.own, question)
    if (!opened) throw new Fenced()
    const { gate, loaded } = opened
    if (!isExempt(letter)) deps.gate.admit(gate)
    const reading = readingOnly(sql)
    const deciding = letter.decide(reading, gate, deps.lanes, loaded, apartOf(deps, sql, { letter, gate, parts }))
    const decision = await (isUnasked(letter) ? deps.yielding(deciding) : deciding)
    await deps.failpoints('letter.deciding')
    await deps.failpoints(`letter.deciding:${letter.name}`)
    const effects = await deps.consequences(reading, decision.effects ?? {}, { gate, tenantId: deps.own.tenantId })
    const hasSequel = letter.sequel?.isWanted(effects, gate.now) ?? false
    // What was written apart may have moved the time of waking.
    const wakeAt = parts.length > 0 ? null : gate.wakeAt
    const context = { now: gate.now, wakeAt, provenance: letter.provenance, keep: decision.keep }
    const ahead = hasSequel ? await sequelAhead(deps, reading, { letter, gate, loaded, effects }) : undefined
    const result: Result = { decision: { ...decision, effects }, now: gate.now, parts }
    if (ahead) {
      const changed = await applyTogether(sql, merge(effects, ahead.effects!), { ...context, commits })
      return { result: { ...result, sequelResult: { decision: ahead, isAhead: true } }, changed }
    }
    const isLast = !hasSequel && parts.length === 0
    const changed = (await apply(sql, effects, isLast ? { ...context, commits } : context)) || parts.length > 0
    if (letter.sequel) result.sequelResult = hasSequel ? await sequel(deps, sql, { letter, gate }) : 'not wanted'
    return { result, changed: changed || typeof result.sequelResult === 'object' }
  } catch (cause) {
    if (!isRefusal(cause) || parts.length > 0) throw cause
    return { result: { cause }, changed: false }
  }
}

interface Whole {
  letter: Letter<unknown>
  gate: Gate
  /** Gets what was decided. */
  parts: Decision<unknown>[]
}

const apartOf =
  (deps: DecidingDeps, sql: Transaction, { letter, gate, parts }: Whole): Apart =>
  async (decide) => {
    const part = await sql.savepoint(async () => {
      const decided = await decide()
      const effects = await deps.consequences(readingOnly(sql), decided.effects ?? {}, { gate, tenantId: deps.own.tenantId })
      await apply(sql, effects, { now: gate.now, wakeAt: null, provenance: letter.provenance })
      return { ...decided, effects }
    })
    await deps.failpoints('letter.apart')
    parts.push(part)
    return part.reply
  }

const isHeld = (deps: DecidingDeps): boolean => deps.isUrgent() || deps.isOver()

interface Deciding {
  letter: Letter<unknown>
  gate: Gate
  loaded: Record<string, unknown>
  effects: Effects
}

/** Undefined if the sequel must be decided after the letter's changes, or fails: it will fail there again. */
const sequelAhead = async (
  deps: DecidingDeps,
  reading: Sql,
  { letter, gate, loaded, effects }: Deciding,
): Promise<Decision<unknown> | undefined> => {
  if (isHeld(deps)) return undefined
  try {
    const decision = await letter.sequel!.ahead?.(gate, loaded, effects)
    if (!decision) return undefined
    return { ...decision, effects: await deps.consequences(reading, decision.effects ?? {}, { gate, tenantId: deps.own.tenantId }) }
  } catch {
    return undefined
  }
}

/** After a lost connection the commit may have happened: then the letter must not simply be decided again. */
const applyTogether = (...[sql, effects, context]: Parameters<typeof apply>): Promise<boolean> =>
  apply(sql, effects, context).catch((cause) => {
    throw isTransient(cause) ? cause : new SequelFailed('with its sequel', { cause })
  })

/** In a savepoint: a failure undoes the second decision alone, unless the transaction itself is lost. */
const sequel = async (
  deps: DecidingDeps,
  sql: Transaction,
  { letter, gate }: { letter: Letter<unknown>; gate: Gate },
): Promise<SequelResult<unknown>> => {
  if (isHeld(deps)) return 'not now'
  try {
    const decision = await sql.savepoint(async () => {
      const reading = readingOnly(sql)
      const decision = await deps.yielding(letter.sequel!.decide(reading, gate))
      const effects = await deps.consequences(reading, decision.effects ?? {}, { gate, tenantId: deps.own.tenantId })
      await apply(sql, effects, { now: gate.now, wakeAt: gate.wakeAt, provenance: letter.provenance, keep: decision.keep })
      return { ...decision, effects }
    })
    return { decision }
  } catch (cause) {
    return { cause }
  }
}
