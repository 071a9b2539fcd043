/**
 * Decides and writes one letter in a transaction that it may share with others: its gate, its
 * decision and its sequel.
 */

import type { Apart, LiveLanes } from '#decisions/deciding'
import { AppError, isUnavailable } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { apply } from '#store/engine/apply-effects'
import { isTransient, type Sql, type Transaction } from '#store/engine/db'
import { openGate } from '#store/engine/gate'
import {
  type Consequences,
  type Effects,
  type Gate,
  type GateHook,
  isUnasked,
  merge,
  type Ownership,
  type Provenance,
  readingOnly,
} from '#store/engine/letter'
import { NotShared } from '#store/engine/shared'
import { Fenced } from './deps.ts'
import type { Decision, Letter, SequelResult } from './letter.ts'

/** The result of a letter, and the time of its gate. `parts`: decisions made apart, before it. */
export type Result =
  | {
      decision: Decision<unknown>
      now: Date
      sequelResult?: SequelResult<unknown>
      parts: Decision<unknown>[]
    }
  | { cause: unknown }

/** What deciding a letter depends on. */
export interface DecidingDeps {
  own: Ownership
  failpoints: Failpoints
  lanes: LiveLanes
  gate: GateHook
  consequences: Consequences
  /** Whether the tenant was given up, so that none of its letters may run. */
  isOver(): boolean
  /** Whether a control letter is waiting; nothing else may begin before it. */
  isUrgent(): boolean
  /**
   * Awaits a decision that no caller waits for. Throws `GaveWay` if something urgent waits too long
   * for it.
   */
  yielding<T>(deciding: Promise<T>): Promise<T>
}

/** A letter's result, and whether it changed anything. */
interface Decided {
  result: Result
  changed: boolean
}

/**
 * The letter's changes could not be written together with those of its sequel. Nothing of the
 * letter happened.
 */
export class SequelFailed extends Error {
  override readonly name = 'SequelFailed'
}

const isRefusal = (cause: unknown): boolean => cause instanceof AppError && !isUnavailable(cause)

const isExempt = (letter: Letter<unknown>): boolean => letter.exempt ?? isUnasked(letter.provenance)

/** `provenance`: the letter's, with its span. */
interface Deciding {
  letter: Letter<unknown>
  provenance: Provenance
}

/**
 * Decides a letter. Throws what invalidates the whole transaction. `commits` is asked before the
 * letter's changes are written; it returns whether the transaction ends with them.
 */
export const decideLetter = async (
  deps: DecidingDeps,
  sql: Transaction,
  { letter, provenance }: Deciding,
  commits: () => boolean,
): Promise<Decided> => {
  const parts: Decision<unknown>[] = []
  try {
    const opened = await open(deps, sql, letter)
    const whole = { letter, provenance, parts, reading: readingOnly(sql), ...opened }
    const decision = await decide(deps, sql, whole)
    return await write(deps, sql, { ...whole, decision, commits })
  } catch (cause) {
    if (!isRefusal(cause) || parts.length > 0) throw cause
    return { result: { cause }, changed: false }
  }
}

/** A letter whose gate is open. */
interface Whole extends Deciding {
  /** For decisions, which themselves change nothing. */
  reading: Sql
  gate: Gate
  loaded: Record<string, unknown>
  /** Collects the decisions that are made apart. */
  parts: Decision<unknown>[]
}

/** Throws `Fenced`, or the product's refusal. */
const open = async (
  deps: DecidingDeps,
  sql: Transaction,
  letter: Letter<unknown>,
): Promise<Pick<Whole, 'gate' | 'loaded'>> => {
  const { principal: caller } = letter.provenance
  const load = { ...letter.load, ...letter.sequel?.load?.() }
  const question = { hook: deps.gate, caller, idempotencyKey: letter.claim?.key, load }
  const opened = await openGate(sql, deps.own, question)
  // In a transaction of its own, the gate says which of the two it is.
  if (!opened) throw sql.sharing ? new NotShared() : new Fenced()
  if (!isExempt(letter)) deps.gate.admit(opened.gate)
  return opened
}

type Complete<R = unknown> = Decision<R> & { effects: Effects }

/** The decision, with everything that the product adds to the same commit. */
const complete = async <R>(
  deps: DecidingDeps,
  { reading, gate }: Whole,
  decision: Decision<R>,
): Promise<Complete<R>> => {
  const effects = await deps.consequences(reading, decision.effects ?? {}, {
    gate,
    tenantId: deps.own.tenantId,
  })
  return { ...decision, effects }
}

const decide = async (deps: DecidingDeps, sql: Transaction, whole: Whole): Promise<Complete> => {
  const { letter, reading, gate, loaded } = whole
  const deciding = letter.decide(reading, gate, deps.lanes, loaded, apartOf(deps, sql, whole))
  const decision = await (isUnasked(whole.provenance) ? deps.yielding(deciding) : deciding)
  await deps.failpoints('letter.deciding')
  await deps.failpoints(`letter.deciding:${letter.name}`)
  return complete(deps, whole, decision)
}

const apartOf =
  (deps: DecidingDeps, sql: Transaction, whole: Whole): Apart =>
  async (decide) => {
    const { provenance, gate, parts } = whole
    const part = await sql.savepoint(async () => {
      const decided = await complete(deps, whole, await decide())
      await apply(sql, decided.effects, { now: gate.now, wakeAt: null, provenance })
      return decided
    })
    await deps.failpoints('letter.apart')
    parts.push(part)
    return part.reply
  }

interface Writing extends Whole {
  decision: Complete
  commits(): boolean
}

/** Writes the decision, in one statement with its sequel's changes, or before them. */
const write = async (
  deps: DecidingDeps,
  sql: Transaction,
  { decision, commits, ...whole }: Writing,
): Promise<Decided> => {
  const { letter, provenance, gate, parts } = whole
  const { effects } = decision
  const hasSequel = letter.sequel?.isWanted(effects, gate.now) ?? false
  // Changes that were written apart may have moved the time to wake.
  const wakeAt = parts.length > 0 ? null : gate.wakeAt
  const context = { now: gate.now, wakeAt, provenance, keep: decision.keep }
  const result: Result = { decision, now: gate.now, parts }
  const ahead = hasSequel ? await sequelAhead(deps, whole, effects) : undefined
  if (ahead) {
    const changed = await applyTogether(sql, merge(effects, ahead.effects), { ...context, commits })
    return { result: { ...result, sequelResult: { decision: ahead, isAhead: true } }, changed }
  }
  const isLast = !hasSequel && parts.length === 0
  const changed =
    (await apply(sql, effects, isLast ? { ...context, commits } : context)) || parts.length > 0
  if (letter.sequel) result.sequelResult = hasSequel ? await sequel(deps, sql, whole) : 'not wanted'
  return { result, changed: changed || typeof result.sequelResult === 'object' }
}

const isHeld = (deps: DecidingDeps): boolean => deps.isUrgent() || deps.isOver()

/**
 * Undefined if the sequel must be decided after the letter's changes, or if it fails: then it will
 * fail there again.
 */
const sequelAhead = async (
  deps: DecidingDeps,
  whole: Whole,
  effects: Effects,
): Promise<Complete | undefined> => {
  if (isHeld(deps)) return undefined
  try {
    const decision = await whole.letter.sequel!.ahead?.(whole.gate, whole.loaded, effects)
    return decision && (await complete(deps, whole, decision))
  } catch {
    return undefined
  }
}

/**
 * If the connection was lost, the commit may have happened, so the letter must not simply be
 * decided again.
 */
const applyTogether = (...[sql, effects, context]: Parameters<typeof apply>): Promise<boolean> =>
  apply(sql, effects, context).catch((cause) => {
    throw isTransient(cause) ? cause : new SequelFailed('with its sequel', { cause })
  })

/**
 * Runs in a savepoint: a failure undoes only the second decision, unless the transaction itself is
 * lost.
 */
const sequel = async (
  deps: DecidingDeps,
  sql: Transaction,
  whole: Whole,
): Promise<SequelResult<unknown>> => {
  if (isHeld(deps)) return 'not now'
  const { letter, provenance, reading, gate } = whole
  try {
    const decision = await sql.savepoint(async () => {
      const decided = await complete(
        deps,
        whole,
        await deps.yielding(letter.sequel!.decide(reading, gate)),
      )
      await apply(sql, decided.effects, {
        now: gate.now,
        wakeAt: gate.wakeAt,
        provenance,
        keep: decided.keep,
      })
      return decided
    })
    return { decision }
  } catch (cause) {
    return { cause }
  }
}
