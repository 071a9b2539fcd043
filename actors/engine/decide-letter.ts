/** One letter, decided and written in a transaction that it may share with others: its gate, its decision and its sequel. */

import type { LiveLanes } from '#decisions/deciding'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { Transaction } from '#store/engine/db'
import { apply, type Consequences, type Gate, type GateHook, type Ownership, openGate, readingOnly } from '#store/engine/letter'
import { Fenced } from './deps.ts'
import type { Decision, Letter, SequelResult } from './letter.ts'

/** The result of a letter, with the time of its gate. */
export type Result = { decision: Decision<unknown>; now: Date; sequelResult?: SequelResult<unknown> } | { cause: unknown }

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
}

/** A letter's result, and whether it changed anything. */
interface Decided {
  result: Result
  changed: boolean
}

const isRefusal = (cause: unknown): boolean => cause instanceof AppError && cause.code !== 'unavailable'

const isExempt = ({ exempt, provenance: { surface } }: Letter<unknown>): boolean => exempt ?? (surface === 'timer' || surface === 'lane')

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
  try {
    const { principal: caller } = letter.provenance
    const question = { hook: deps.gate, caller, idempotencyKey: letter.claim?.key, load: letter.load ?? {} }
    const opened = await openGate(sql, deps.own, question)
    if (!opened) throw new Fenced()
    const { gate, loaded } = opened
    if (!isExempt(letter)) deps.gate.admit(gate)
    const reading = readingOnly(sql)
    const decision = await letter.decide(reading, gate, deps.lanes, loaded)
    await deps.failpoints('letter.deciding')
    await deps.failpoints(`letter.deciding:${letter.name}`)
    const effects = await deps.consequences(reading, decision.effects ?? {}, { gate, tenantId: deps.own.tenantId })
    const hasSequel = letter.sequel?.isWanted(effects, gate.now) ?? false
    const context = { now: gate.now, provenance: letter.provenance, keep: decision.keep }
    const changed = await apply(sql, effects, hasSequel ? context : { ...context, commits })
    const result: Result = { decision: { ...decision, effects }, now: gate.now }
    if (letter.sequel) result.sequelResult = hasSequel ? await sequel(deps, sql, { letter, gate }) : 'not wanted'
    return { result, changed: changed || typeof result.sequelResult === 'object' }
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    return { result: { cause }, changed: false }
  }
}

/** In a savepoint: a failure undoes the second decision alone, unless the transaction itself is lost. */
const sequel = async (
  deps: DecidingDeps,
  sql: Transaction,
  { letter, gate }: { letter: Letter<unknown>; gate: Gate },
): Promise<SequelResult<unknown>> => {
  if (deps.isUrgent() || deps.isOver()) return 'not now'
  try {
    const decision = await sql.savepoint(async () => {
      const reading = readingOnly(sql)
      const decision = await letter.sequel!.decide(reading, gate)
      const effects = await deps.consequences(reading, decision.effects ?? {}, { gate, tenantId: deps.own.tenantId })
      await apply(sql, effects, { now: gate.now, provenance: letter.provenance, keep: decision.keep })
      return { ...decision, effects }
    })
    return { decision }
  } catch (cause) {
    return { cause }
  }
}
