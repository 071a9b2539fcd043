/** A command as a letter: replay, decision, output check and the answer to keep, for every operation alike. */

import { createHash } from 'node:crypto'
import type { Answer, Decision, Letter } from '#actors/engine/letter'
import { capKeys, quotaKeys } from '#contract/limits'
import { isExempt, type NamedOp, type Op } from '#contract/op'
import type { LiveLanes } from '#decisions/deciding'
import { allowancesOf } from '#domain/app/allowance'
import type { Allowance } from '#kernel/allowance'
import { AppError, fail } from '#kernel/errors'
import type { Spend } from '#kernel/spend'
import type { Query, Sql } from '#store/engine/db'
import {
  bytesKept,
  type IdempotencyClaim,
  type Keep,
  MOST_STORED_BYTES,
  readBack,
  removeExpired,
  roomSoon,
  type StoredAnswer,
  type Written,
  written,
} from '#store/engine/idempotency'
import type { Gate } from '#store/engine/letter'
import type { Begun, Call, CommandContext, HandlerOf, HandlerResult, QueryContext, World } from './call.ts'
import { serialise } from './validate.ts'

/** What the letter of a command decides by. */
export type LetterHandler = HandlerOf<Op>['command' | 'awaited']

interface Command {
  o: NamedOp
  handler: LetterHandler
  input: unknown
  call: Call
  world: Pick<World, 'networks' | 'sealer'>
  reader: QueryContext
}

/** For a decision that is only tried. */
const untouched: LiveLanes = { ids: () => [], recall: () => [] }

/** JSON with the keys of every object in order, so that equal inputs have equal text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, child) =>
    child && typeof child === 'object' && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  )

/**
 * What is for one person's eyes is replayed to nobody else: the secret in the answer, and what a handler has decided by who asked.
 * Retries of a program may come by another key than the first try.
 */
const askerOf = ({ o, call: { principal } }: Command): string =>
  o.secret || o.scope === 'session' ? `\n${principal.member?.personId ?? principal.id}` : ''

/** Over operation, path (its parameters are in the input) and canonical input. */
const fingerprintOf = (command: Command): string =>
  createHash('sha256')
    .update(`${command.o.id}\n${command.o.path}\n${canonical(command.input)}${askerOf(command)}`)
    .digest('hex')

const claimOf = (command: Command): IdempotencyClaim | undefined => {
  const { idempotencyKey: key } = command.call
  if (key === undefined) return undefined
  return { key, operation: command.o.id, fingerprint: fingerprintOf(command), ours: command.call.ownKey ?? false }
}

/** Runs a command as a letter. Where it takes of the plan, every answer that a letter has decided says how far that goes: replays too, which take nothing. */
export const runCommand = async (command: Command, ask: (letter: Letter<Answer>) => Promise<Answer>): Promise<Answer> => {
  const limits: Limits = { now: [] }
  try {
    const answer = await ask(commandLetter(command, limits))
    return limits.now.length === 0 ? answer : { ...answer, allowances: limits.now }
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.status >= 500 || limits.now.length === 0) throw cause
    throw AppError.telling(cause, limits.now)
  }
}

/** As the last letter of the command saw them; none before there was one. */
interface Limits {
  now: Allowance[]
}

const commandLetter = (command: Command, limits: Limits): Letter<Answer> => {
  const { o, call, handler } = command
  const claim = claimOf(command)
  const standing = (reader: QueryContext) =>
    'asItStands' in handler ? handler.asItStands(command.input as never, reader) : fail('internal')
  return {
    name: o.id,
    priority: o.urgent ? 'control' : 'interactive',
    alone: o.urgent ?? false,
    ...(o.whileDeleting ? { whileDeleting: true } : {}),
    provenance: { principal: call.principal, surface: call.surface, requestId: call.requestId },
    claim,
    late: () => standing(command.reader),
    async decide(sql, gate, lanes) {
      limits.now = allowancesOf(gate, o)
      const context = { tenantId: call.tenantId, sql, gate, networks: command.world.networks, principal: call.principal }
      const decide = (reached: LiveLanes) =>
        decideOnce(command, { ...context, lanes: reached }, isOverfull(command, gate) ? undefined : claim)
      if (!claim || !gate.seen) {
        const first = claim ? await makingRoom(command, gate, sql) : []
        const decision = before(first, await decide(lanes))
        const spend = decision.effects?.spend ?? []
        requireDeclared(o, spend)
        limits.now = allowancesOf(gate, o, spend)
        return decision
      }
      // By the letter's own connection: one that waits for a second may wait for itself, when all are taken.
      const inLetter: QueryContext = { ...command.reader, read: async <Row>(query: Query) => (await query(sql)) as unknown as Row[] }
      return { reply: await replay(command, gate.seen, { claim, decide: () => decide(untouched), late: () => standing(inLetter) }) }
    },
  }
}

const limited: readonly string[] = [...capKeys, ...quotaKeys]

/** Whoever reads the contract learns there what an operation takes of the plan: it takes nothing else. Anything may give back. */
const requireDeclared = (o: NamedOp, spend: readonly Spend[]): void => {
  const hidden = spend.find(({ key, amount }) => amount > 0 && limited.includes(key) && key !== o.cap && key !== o.quota)
  if (hidden) throw new Error(`${o.id} takes ${hidden.key}, which its declaration does not say`)
}

/** What a kept answer is bound to, where it is sealed. */
const rowOf = ({ call }: Command): string => `idempotency/${call.tenantId}/${call.idempotencyKey}`

/** A kept answer as it was given, whatever way it was kept. */
const opened = (command: Command, { encoding, body }: Written): string =>
  readBack({ encoding, body: command.o.secret ? command.world.sealer.open(Buffer.from(body, 'base64'), rowOf(command)) : body })

const kept = (command: Command, text: string): Written => {
  const { encoding, body } = written(text)
  return { encoding, body: command.o.secret ? command.world.sealer.seal(body, rowOf(command)).toString('base64') : body }
}

/**
 * Throws `rate_limited:idempotency` where the workspace has as much kept as it may, before anything of the command has run; or gives
 * what makes room first, because some of it has expired by now. Exempt operations are never refused for it, nor is a command under the
 * deployment's own key.
 */
const makingRoom = async ({ o, call }: Command, { counters }: Pick<Gate, 'counters'>, sql: Sql): Promise<Query[]> => {
  const bytes = bytesKept(counters)
  if (bytes < MOST_STORED_BYTES || call.ownKey || isExempt(o, 'answers')) return []
  const { expired, wait } = await roomSoon(sql)
  if (bytes - expired >= MOST_STORED_BYTES) fail('rate_limited', 'idempotency', { retryAfter: wait })
  return [removeExpired]
}

/** Exempt operations may go over the limit, but not without end: beyond twice as much their answers are not kept. What posts always is. */
const isOverfull = ({ o }: Command, { counters }: Pick<Gate, 'counters'>): boolean =>
  isExempt(o, 'answers') && o.kind !== 'awaited' && bytesKept(counters) >= 2 * MOST_STORED_BYTES

const before = <R>(first: Query[], decision: Decision<R>): Decision<R> =>
  first.length === 0 ? decision : { ...decision, effects: { ...decision.effects, first: [...first, ...(decision.effects?.first ?? [])] } }

/** A stored answer goes out again as it was; a record still in flight goes out as it stands. Nothing runs a second time. */
const replay = async (
  command: Command,
  seen: StoredAnswer,
  { claim, decide, late }: { claim: IdempotencyClaim; decide(): Promise<unknown>; late(): Promise<Answer> },
): Promise<Answer> => {
  if (seen.fingerprint !== claim.fingerprint) {
    // An unknown id is 404 before the key is looked at. A decision that reaches no lane changes nothing until it is applied.
    await decide().catch((cause) => {
      if (!(cause instanceof AppError) || cause.code === 'not_found') throw cause
    })
    fail('idempotency_key_reused')
  }
  if (seen.state === 'done')
    return { status: seen.status!, body: opened(command, { encoding: seen.encoding, body: seen.body! }), replayed: true }
  return late()
}

const decideOnce = async (command: Command, context: CommandContext, claim: IdempotencyClaim | undefined): Promise<Decision<Answer>> => {
  const { o, handler, input } = command
  const refId = (input as { id?: string }).id
  if ('begin' in handler) return begun(o, await handler.begin(input as never, context), claim)
  return answered(command, await handler(input, context), { refId, claim })
}

const audit = (o: NamedOp, refId: string | undefined, auditDetail?: Record<string, unknown>) => ({
  audit: { operation: o.id, ...(refId ? { refId } : {}), ...(auditDetail ? { detail: auditDetail } : {}) },
})

const begun = (o: NamedOp, { awaits, effects }: Begun, claim: IdempotencyClaim | undefined): Decision<Answer> => ({
  // Never seen: the reply is the outcome's.
  reply: { status: 202, body: '' },
  awaits,
  effects: { ...effects, ...audit(o, awaits) },
  keep: claim && { claim, pending: awaits },
})

const answered = (
  command: Command,
  { reply, effects, refId, auditDetail, unchanged, answers }: HandlerResult<unknown>,
  context: { refId: string | undefined; claim: IdempotencyClaim | undefined },
): Decision<Answer> => {
  const { o } = command
  const answer: Answer = { status: o.status, body: serialise(o, reply) }
  const keep: Keep | undefined = context.claim && { claim: context.claim, status: answer.status, answer: kept(command, answer.body) }
  const row = unchanged ? {} : audit(o, refId ?? context.refId, auditDetail)
  return { reply: answer, effects: { ...effects, ...row }, keep, ...(answers ? { answers } : {}) }
}
