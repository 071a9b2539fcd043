import type { Answer } from '#actors/engine/letter'
import { actions } from '#contract/agent/actions'
import { capabilities, operations } from '#contract/index'
import { braces } from '#contract/op'
import { onBehalfOf, toolCaller } from '#decisions/agent/caller'
import { refusalOf } from '#decisions/agent/refusal'
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
import { argumentsHash } from '#domain/agent/hash'
import { directCaller } from '#domain/agent/job/approval'
import { agentLimit } from '#domain/agent/job/budget'
import type { OnBehalf } from '#domain/agent/job/job'
import { roomForApprovals } from '#domain/agent/job/limits'
import { decisionsOf, directVerdict, type RuleDecision } from '#domain/agent/job/verdict'
import { jobView } from '#domain/agent/job/views'
import { decidersOf, decidersText, nobodyDecides } from '#kernel/deciders'
import { fail, found } from '#kernel/errors'
import { nearest } from '#kernel/nearest'
import { actionLoad } from '#store/agent/actions'
import { openApprovalCount, pendingDirect } from '#store/agent/approvals'
import { callerNow } from '#store/agent/callers'
import { toolDecisions } from '#store/agent/rules'
import { callsWithinHour } from '#store/agent/steps'
import { decidersPart, rolesToCome } from '#store/app/members'
import { type Loaded, loadBy } from '#store/engine/load'
import type { AwaitedResult, CommandContext, HandlerResult, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { seesNames } from '../engine/people-names.ts'
import { serialise } from '../engine/serialise.ts'
import type { DecidingReader } from './approval/standing.ts'
import {
  type Acting,
  approvalRequired,
  ask,
  begin,
  callOutcome,
  execute,
} from './job/direct-call.ts'

/** What the decision on a direct call reads. */
const facts = (by: OnBehalf, name: string, args: Record<string, unknown>) => ({
  now: callerNow(by),
  rules: toolDecisions,
  pending: openApprovalCount(null, { on_behalf: by, origin: 'manual' }),
  hour: callsWithinHour(name),
  members: decidersPart,
  taken: rolesToCome,
  waiting: pendingDirect(directCaller(by), name, argumentsHash(args)),
})

const names = new Set(capabilities.map(({ tool }) => tool!))

/** Throws `not_found`; if the tool is an operation, the error names its route. */
const theCapability = ({ tools }: ToolBox, name: string): Tool => {
  if (names.has(name)) return tools.get(name)!
  const o = operations.find(({ tool }) => tool === name)
  if (o) fail('not_found', `${name} is no capability: send ${o.method} ${braces(o.path)}`)
  const near = nearest(name, [...names])
  return fail('not_found', `no such capability${near ? `; did you mean ${near}?` : ''}`)
}

/** Seconds after which a call may be possible again. */
const RETRY_AFTER = 60

const requireWithinHour = (
  { gate }: CommandContext,
  { hour }: Loaded<ReturnType<typeof facts>>,
): void => {
  const limit = agentLimit(gate, 'agent_calls_hour')
  if (limit >= 0 && hour.calls >= limit)
    fail('rate_limited', 'agent_calls_hour', { retryAfter: RETRY_AFTER })
}

interface Deps {
  tools: ToolBox
  publicUrl: string
}

export const actionHandlers = (deps: Deps): Handlers<typeof actions> => ({
  call: {
    begin: loading(
      ({ name, arguments: args }, { principal }) => facts(onBehalfOf(principal), name, args),
      async ({ name, arguments: given }, context, loaded) => {
        const tool = theCapability(deps.tools, name)
        const args = deps.tools.checked(name, given)
        const by = onBehalfOf(context.principal)
        requireWithinHour(context, loaded)
        const caller = toolCaller(context.tenantId, by, loaded.now ?? fail('unauthenticated'))
        const acting: Acting = { ...deps, context, tool, args, by, caller }
        return decideCall(acting, loaded)
      },
    ),

    async currentAnswer(_, { read, principal }, jobId): Promise<Answer> {
      const { job, step, approval, members } = await loadBy(read, {
        ...actionLoad(jobId),
        members: decidersPart,
      })
      const who = whoDecides(deps.tools, step!.name, { principal, members })
      const outcome = callOutcome(found(job, 'the call is past its retention'), step!, {
        approval,
        publicUrl: deps.publicUrl,
        who,
      })
      const reply =
        outcome === 'open' ? { result: null, job: jobView(job!) } : { result: outcome.result }
      return {
        status: outcome === 'open' ? 202 : 200,
        body: serialise({ id: 'agent.actions.call', output: actions.call.output }, reply),
      }
    },
  },
})

/**
 * Why a person is asked about this particular call. Throws `capability_failed` for a call that can
 * never run.
 */
const asksOf = (
  { tools, tool, args }: Acting,
  rules: ReadonlyMap<string, RuleDecision>,
): string[] => {
  try {
    return tools.asks(tool.name, args, { rules, taint: [], unasked: 0 })
  } catch (cause) {
    const refusal = refusalOf(cause)
    if (refusal === undefined) throw cause
    return fail('capability_failed', refusal)
  }
}

/** Who can decide: by name, for readers who may see people's names. */
const whoDecides = (tools: ToolBox, name: string, { principal, members }: DecidingReader): string =>
  decidersText(decidersOf(tools.roles(name), members), {
    named: seesNames({ principal, job: undefined }),
  })

/** Whether part of the call runs beside the mailbox. */
const isBeside = ({ class: of, way }: Tool): boolean => of === 'outside_read' || way === 'reach'

type Result = AwaitedResult | HandlerResult<{ result: unknown }>

const decideCall = async (
  acting: Acting,
  { rules, pending, waiting, members, taken }: Loaded<ReturnType<typeof facts>>,
): Promise<Result> => {
  const { tools, tool, caller, by, publicUrl } = acting
  const byName = decisionsOf(rules)
  const verdict = directVerdict({
    class: tool.class,
    mayRun: tools.mayRun(tool.name, caller),
    rule: byName.get(tool.name),
    asks: asksOf(acting, byName),
    isPerson: by.kind === 'session',
    readsOnly: caller.principal.member?.role === 'viewer',
  })
  if (verdict.decision === 'deny') return fail('forbidden', verdict.reason)
  if (verdict.decision === 'allow') return isBeside(tool) ? begin(acting) : execute(acting)
  const who = whoDecides(tools, tool.name, { principal: acting.context.principal, members })
  // An equal call joins the one that already waits.
  if (waiting)
    return {
      reply: { result: null },
      unchanged: true,
      refusal: approvalRequired(waiting, publicUrl, who),
    }
  const nobody = nobodyDecides(tools.roles(tool.name), taken)
  if (nobody !== undefined) fail('forbidden', nobody)
  if (roomForApprovals(pending) <= 0)
    fail('rate_limited', 'agent_approvals', { retryAfter: RETRY_AFTER })
  return ask(acting, verdict.why, who)
}
