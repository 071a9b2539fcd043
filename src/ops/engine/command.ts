/**
 * Commands as letters: decision, output validation and, under an Idempotency-Key, the stored answer
 * (idempotency.ts).
 */
import type { Answer, Decision, Letter } from '#actors/engine/letter'
import { limitsOfCall } from '#contract/included'
import { capKeys, quotaKeys } from '#contract/limits'
import type { NamedOp, Op } from '#contract/op'
import type { LiveLanes } from '#decisions/deciding'
import { type WarningFound, warningsFor } from '#decisions/growth/item-warnings'
import { allowancesOf } from '#domain/app/allowance'
import type { ShownItem } from '#domain/growth/drafting/item-view'
import type { Allowance } from '#kernel/allowance'
import { AppError, fail } from '#kernel/errors'
import type { Spend } from '#kernel/spend'
import type { Query } from '#store/engine/db'
import type { IdempotencyClaim, Keep } from '#store/engine/idempotency'
import type { Load, Loaded } from '#store/engine/load'
import type {
  AwaitedResult,
  Call,
  CommandContext,
  Decides,
  HandlerOf,
  HandlerResult,
  QueryContext,
  World,
} from './call.ts'
import { withNameIn } from './conflict-names.ts'
import { claimOf, isOverfull, makeRoom, replay, toStored } from './idempotency.ts'
import { serialiseFor } from './serialise.ts'
import { withWarnings } from './warnings.ts'

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
 * Runs a command as a letter. If it has a cap or quota, adds the allowances left to every decided
 * answer, including replays.
 */
export const runCommand = async (
  command: Command,
  ask: (letter: Letter<Answer, Load>) => Promise<Answer>,
): Promise<Answer> => {
  const limits: Limits = { now: [] }
  try {
    const { refusal, ...answer } = await ask(commandLetter(command, limits))
    if (refusal) throw refusal
    return limits.now.length === 0 ? answer : { ...answer, allowances: limits.now }
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.status >= 500) throw cause
    const named = await withNameIn(command.reader, cause)
    throw limits.now.length === 0 ? named : AppError.withAllowances(named, limits.now)
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
  return {
    name: o.id,
    priority: o.urgent ? 'control' : 'interactive',
    alone: (o.urgent || o.recalls) ?? false,
    ...(o.whileDeleting ? { exempt: true } : {}),
    provenance: { principal: call.principal, surface: call.surface, requestId: call.requestId },
    claim,
    load: 'load' in decides ? decides.load(command.input, call) : {},
    late: () => currentAnswer(command, command.reader, awaited),
    async decide(sql, gate, lanes, loaded, apart) {
      const limited = limitsOfCall(o, command.input)
      limits.now = allowancesOf(gate, limited)
      const decide = deciderOf({ command, claim, sql, gate, loaded })
      if (claim && gate.seen) {
        // On the letter's own connection. If all were taken, waiting for a second one would be a
        // deadlock.
        const inLetter: QueryContext = {
          ...command.reader,
          read: async (query) => await query(sql),
        }
        const late = () => currentAnswer(command, inLetter, gate.seen?.ref_id ?? '')
        return {
          reply: await replay(command, gate.seen, {
            claim,
            decide: () => decide({ lanes: noLanes }),
            late,
          }),
        }
      }
      const first = claim ? await makeRoom(command, gate, sql) : []
      const decision = withFirst(first, await decide({ lanes, apart }))
      awaited = decision.awaits ?? ''
      const spend = decision.effects?.spend ?? []
      requireDeclared(o, command.input, spend)
      limits.now = allowancesOf(gate, limited, spend)
      return decision
    },
  }
}

/** The record that the work of a command is for, as it is now. */
const currentAnswer = (
  { handler, input }: Command,
  reader: QueryContext,
  refId: string,
): Promise<Answer> =>
  'currentAnswer' in handler
    ? handler.currentAnswer(input as never, reader, refId)
    : fail('internal')

interface Deciding extends Pick<CommandContext, 'sql' | 'gate'> {
  command: Command
  claim: IdempotencyClaim | undefined
  loaded: Loaded<Load>
}

/** Decides a command in its letter, with what it can reach there. */
const deciderOf =
  ({ command, claim, sql, gate, loaded }: Deciding) =>
  (
    reached: Partial<Pick<CommandContext, 'apart'>> & { lanes: LiveLanes },
  ): Promise<Decision<Answer>> => {
    const { tenantId, principal } = command.call
    const context = { tenantId, sql, gate, networks: command.world.networks, principal, ...reached }
    return decideOnce(command, { context, loaded }, isOverfull(command, gate) ? undefined : claim)
  }

const limited: readonly string[] = [...capKeys, ...quotaKeys]

/**
 * Throws if a handler spends a limit that the contract does not declare for the call. Returning
 * units needs no declaration.
 */
export const requireDeclared = (o: NamedOp, input: unknown, spend: readonly Spend[]): void => {
  const { cap, quota } = limitsOfCall(o, input)
  const hidden = spend.find(
    ({ key, amount }) => amount > 0 && limited.includes(key) && key !== cap && key !== quota,
  )
  if (hidden) throw new Error(`${o.id} spends ${hidden.key}, which it does not declare`)
}

const withFirst = <R>(first: Query[], decision: Decision<R>): Decision<R> =>
  first.length === 0
    ? decision
    : {
        ...decision,
        effects: { ...decision.effects, first: [...first, ...(decision.effects?.first ?? [])] },
      }

interface Opened {
  context: CommandContext
  /** By the handler's own names, and of its types. */
  loaded: Loaded<Load>
}

/** Runs a handler, and adds its warnings to the reply. */
export const runHandler = async <I, R extends object>(
  { output }: Pick<Op, 'output'>,
  decides: Decides<I, R>,
  input: I,
  { context, loaded }: Opened,
): Promise<R> => {
  if (!('decide' in decides)) return await decides(input, context)
  const result = await decides.decide(input, context, loaded as never)
  if (!('reply' in result)) return result
  const warned = decides.warns?.(input)
  const find = (item: ShownItem) =>
    warned && (warned.isDecided || item.status === 'drafted')
      ? warningsFor(item, context.networks, loaded as unknown as WarningFound)
      : []
  return { ...result, reply: withWarnings(output, result.reply, find) }
}

/** Decides a command without looking at its limits, and without a letter of its own. */
export const decideOnce = async (
  command: Command,
  opened: Opened,
  claim: IdempotencyClaim | undefined,
): Promise<Decision<Answer>> => {
  const { o, handler, input } = command
  const refId = (input as { id?: string }).id
  const result = await runHandler<unknown, AwaitedResult | HandlerResult<unknown>>(
    o,
    'begin' in handler ? handler.begin : handler,
    input,
    opened,
  )
  return 'awaits' in result
    ? beginDecision(command, result, claim)
    : replyDecision(command, result, { refId, claim })
}

const audit = (o: NamedOp, refId: string | undefined, auditDetail?: Record<string, unknown>) => ({
  audit: {
    operation: o.id,
    ...(refId ? { refId } : {}),
    ...(auditDetail ? { detail: auditDetail } : {}),
  },
})

const waitMs = ({ wait }: { wait?: number }): number | undefined =>
  wait === undefined ? undefined : wait * 1_000

const beginDecision = (
  { o, input }: Command,
  { awaits, effects, auditDetail }: AwaitedResult,
  claim: IdempotencyClaim | undefined,
): Decision<Answer> => ({
  // Never sent: the outcome of the work brings the reply.
  reply: { status: 202, body: '' },
  awaits,
  withinMs: waitMs(input as { wait?: number }),
  effects: { ...effects, ...audit(o, awaits, auditDetail) },
  keep: claim && { claim, pending: awaits },
})

const replyDecision = (
  command: Command,
  { reply, effects, refId, auditDetail, unchanged, refusal, answers }: HandlerResult<unknown>,
  context: { refId: string | undefined; claim: IdempotencyClaim | undefined },
): Decision<Answer> => {
  const { o } = command
  const answer: Answer = {
    status: o.status,
    body: serialiseFor(command.reader, o, reply),
    ...(refusal && { refusal: refusal.error }),
  }
  const { claim } = context
  const stored = () =>
    refusal
      ? { pending: refusal.refId }
      : { status: answer.status, answer: toStored(command, answer.body) }
  const keep: Keep | undefined = claim && { claim, ...stored() }
  const row = unchanged ? {} : audit(o, refId ?? context.refId, auditDetail)
  return { reply: answer, effects: { ...effects, ...row }, keep, ...(answers ? { answers } : {}) }
}
