/** Commands as letters: replay, decision, output validation and the stored answer. */
import { createHash } from 'node:crypto'
import type { Answer, Decision, Letter } from '#actors/engine/letter'
import { capKeys, quotaKeys } from '#contract/limits'
import { isExempt, type NamedOp, type Op } from '#contract/op'
import type { LiveLanes } from '#decisions/deciding'
import { allowancesOf } from '#domain/app/allowance'
import type { Allowance } from '#kernel/allowance'
import { canonical } from '#kernel/canonical'
import { AppError, fail } from '#kernel/errors'
import type { Spend } from '#kernel/spend'
import type { Query, Sql } from '#store/engine/db'
import {
  bytesStored,
  decodeBody,
  type EncodedBody,
  encodeBody,
  type IdempotencyClaim,
  type Keep,
  MOST_STORED_BYTES,
  removeExpiredAnswers,
  roomForAnswers,
  type StoredAnswer,
} from '#store/engine/idempotency'
import type { Gate } from '#store/engine/letter'
import type { Load, Loaded } from '#store/engine/load'
import type { AwaitedResult, Call, CommandContext, Decides, HandlerOf, HandlerResult, QueryContext, World } from './call.ts'
import { serialiseFor } from './serialise.ts'

export type LetterHandler = HandlerOf<Op>['command' | 'awaited']

export interface Command {
  o: NamedOp
  handler: LetterHandler
  input: unknown
  /** The input of the request of which this is a part. */
  whole?: unknown
  call: Call
  world: Pick<World, 'networks' | 'sealer'>
  reader: QueryContext
}

/** For decisions that recall nothing. */
export const noLanes: LiveLanes = { ids: () => [], recall: () => [], hasBegun: () => false }

/**
 * Binds an answer to its person if it contains a secret, or if the handler decided by who the caller is. What the agent holds depends on who
 * asks as well, since conversations can be private; keys without a person all see the same. Other answers are replayed to any key of the
 * workspace: a program may retry with another key.
 */
const personBinding = ({ o, call: { principal } }: Command): string => {
  const personId = principal.member?.personId
  if (o.secret || o.scope === 'session') return `\n${personId ?? principal.id}`
  return o.also === 'workspace:use' && personId !== undefined ? `\n${personId}` : ''
}

/** A hash over operation, path (its parameters are in the input) and canonical input. */
const fingerprintOf = (command: Command): string =>
  createHash('sha256')
    .update(`${command.o.id}\n${command.o.path}\n${canonical(command.whole ?? command.input)}${personBinding(command)}`)
    .digest('hex')

const claimOf = (command: Command): IdempotencyClaim | undefined => {
  const { idempotencyKey: key } = command.call
  if (key === undefined) return undefined
  return { key, operation: command.o.id, fingerprint: fingerprintOf(command), ours: command.call.ownKey ?? false }
}

/** Runs a command as a letter. If it has a cap or quota, adds the allowances left to every decided answer, including replays. */
export const runCommand = async (command: Command, ask: (letter: Letter<Answer, Load>) => Promise<Answer>): Promise<Answer> => {
  const limits: Limits = { now: [] }
  try {
    const { refusal, ...answer } = await ask(commandLetter(command, limits))
    if (refusal) throw refusal
    return limits.now.length === 0 ? answer : { ...answer, allowances: limits.now }
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.status >= 500 || limits.now.length === 0) throw cause
    throw AppError.withAllowances(cause, limits.now)
  }
}

/** As the command's last letter saw them. */
interface Limits {
  now: Allowance[]
}

const commandLetter = (command: Command, limits: Limits): Letter<Answer, Load> => {
  const { o, call, handler } = command
  const decides = 'begin' in handler ? handler.begin : handler
  const claim = claimOf(command)
  let awaited = ''
  const currentAnswer = (reader: QueryContext, refId: string) =>
    'currentAnswer' in handler ? handler.currentAnswer(command.input as never, reader, refId) : fail('internal')
  return {
    name: o.id,
    priority: o.urgent ? 'control' : 'interactive',
    alone: (o.urgent || o.recalls) ?? false,
    ...(o.whileDeleting ? { exempt: true } : {}),
    provenance: { principal: call.principal, surface: call.surface, requestId: call.requestId },
    claim,
    load: 'load' in decides ? decides.load(command.input, call) : {},
    late: () => currentAnswer(command.reader, awaited),
    async decide(sql, gate, lanes, loaded, apart) {
      limits.now = allowancesOf(gate, o)
      const context = { tenantId: call.tenantId, sql, gate, networks: command.world.networks, principal: call.principal }
      const decide = (reached: Partial<Pick<CommandContext, 'apart'>> & { lanes: LiveLanes }) =>
        decideOnce(command, { context: { ...context, ...reached }, loaded }, isOverfull(command, gate) ? undefined : claim)
      if (!claim || !gate.seen) {
        const first = claim ? await makeRoom(command, gate, sql) : []
        const decision = withFirst(first, await decide({ lanes, apart }))
        awaited = decision.awaits ?? ''
        const spend = decision.effects?.spend ?? []
        requireDeclared(o, spend)
        limits.now = allowancesOf(gate, o, spend)
        return decision
      }
      // On the letter's own connection. If all were taken, waiting for a second one would be a deadlock.
      const inLetter: QueryContext = { ...command.reader, read: async (query) => await query(sql) }
      const late = () => currentAnswer(inLetter, gate.seen?.ref_id ?? '')
      return { reply: await replay(command, gate.seen, { claim, decide: () => decide({ lanes: noLanes }), late }) }
    },
  }
}

const limited: readonly string[] = [...capKeys, ...quotaKeys]

/** Throws if a handler spends a limit that the contract does not declare. Returning units needs no declaration. */
export const requireDeclared = (o: NamedOp, spend: readonly Spend[]): void => {
  const hidden = spend.find(({ key, amount }) => amount > 0 && limited.includes(key) && key !== o.cap && key !== o.quota)
  if (hidden) throw new Error(`${o.id} spends ${hidden.key}, which it does not declare`)
}

/** The row that a sealed answer is bound to. */
const rowOf = ({ call }: Command): string => `idempotency/${call.tenantId}/${call.idempotencyKey}`

/** The original text of a stored answer. */
const readStored = (command: Command, { encoding, body }: EncodedBody): string =>
  decodeBody({ encoding, body: command.o.secret ? command.world.sealer.open(Buffer.from(body, 'base64'), rowOf(command)) : body })

const toStored = (command: Command, text: string): EncodedBody => {
  const { encoding, body } = encodeBody(text)
  return { encoding, body: command.o.secret ? command.world.sealer.seal(body, rowOf(command)).toString('base64') : body }
}

/**
 * Throws `rate_limited:idempotency` if the workspace's stored answers are at their limit, before the command runs. If some of them
 * have expired, returns the statement that removes those first. Never refuses exempt operations or the deployment's own keys.
 */
const makeRoom = async ({ o, call }: Command, { counters }: Pick<Gate, 'counters'>, sql: Sql): Promise<Query[]> => {
  const bytes = bytesStored(counters)
  if (bytes < MOST_STORED_BYTES || call.ownKey || isExempt(o, 'answers')) return []
  const { expired, wait } = await roomForAnswers(sql)
  if (bytes - expired >= MOST_STORED_BYTES) fail('rate_limited', 'idempotency', { retryAfter: wait })
  return [removeExpiredAnswers]
}

/** Exempt operations may exceed the limit up to twice. Beyond that their answers are not stored, except those of operations that post. */
const isOverfull = ({ o }: Command, { counters }: Pick<Gate, 'counters'>): boolean =>
  isExempt(o, 'answers') && o.kind !== 'awaited' && bytesStored(counters) >= 2 * MOST_STORED_BYTES

const withFirst = <R>(first: Query[], decision: Decision<R>): Decision<R> =>
  first.length === 0 ? decision : { ...decision, effects: { ...decision.effects, first: [...first, ...(decision.effects?.first ?? [])] } }

/** Returns the stored answer or, while the work is in flight, the current record. Nothing runs twice. */
const replay = async (
  command: Command,
  seen: StoredAnswer,
  { claim, decide, late }: { claim: IdempotencyClaim; decide(): Promise<unknown>; late(): Promise<Answer> },
): Promise<Answer> => {
  if (seen.fingerprint !== claim.fingerprint) {
    // An unknown id is 404 even with a reused key. A trial decision finds that out: it changes nothing, because it is not applied.
    await decide().catch((cause) => {
      if (!(cause instanceof AppError) || cause.code === 'not_found') throw cause
    })
    fail('idempotency_key_reused')
  }
  if (seen.state === 'done')
    return { status: seen.status!, body: readStored(command, { encoding: seen.encoding, body: seen.body! }), replayed: true }
  return late()
}

interface Opened {
  context: CommandContext
  /** By the handler's own names, and of its types. */
  loaded: Loaded<Load>
}

const decided = <I, R>(decides: Decides<I, R>, input: I, { context, loaded }: Opened): R | Promise<R> =>
  'decide' in decides ? decides.decide(input, context, loaded as never) : decides(input, context)

/** Decides a command without looking at its limits, and without a letter of its own. */
export const decideOnce = async (command: Command, opened: Opened, claim: IdempotencyClaim | undefined): Promise<Decision<Answer>> => {
  const { o, handler, input } = command
  const refId = (input as { id?: string }).id
  const result = await decided<unknown, AwaitedResult | HandlerResult<unknown>>('begin' in handler ? handler.begin : handler, input, opened)
  return 'awaits' in result ? beginDecision(o, result, claim) : replyDecision(command, result, { refId, claim })
}

const audit = (o: NamedOp, refId: string | undefined, auditDetail?: Record<string, unknown>) => ({
  audit: { operation: o.id, ...(refId ? { refId } : {}), ...(auditDetail ? { detail: auditDetail } : {}) },
})

const beginDecision = (o: NamedOp, { awaits, effects }: AwaitedResult, claim: IdempotencyClaim | undefined): Decision<Answer> => ({
  // Never sent: the outcome of the work brings the reply.
  reply: { status: 202, body: '' },
  awaits,
  effects: { ...effects, ...audit(o, awaits) },
  keep: claim && { claim, pending: awaits },
})

const replyDecision = (
  command: Command,
  { reply, effects, refId, auditDetail, unchanged, refusal, answers }: HandlerResult<unknown>,
  context: { refId: string | undefined; claim: IdempotencyClaim | undefined },
): Decision<Answer> => {
  const { o } = command
  const answer: Answer = { status: o.status, body: serialiseFor(command.reader, o, reply), ...(refusal && { refusal: refusal.error }) }
  const { claim } = context
  const stored = () => (refusal ? { pending: refusal.refId } : { status: answer.status, answer: toStored(command, answer.body) })
  const keep: Keep | undefined = claim && { claim, ...stored() }
  const row = unchanged ? {} : audit(o, refId ?? context.refId, auditDetail)
  return { reply: answer, effects: { ...effects, ...row }, keep, ...(answers ? { answers } : {}) }
}
