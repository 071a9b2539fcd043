import type { delegationCapabilities } from '#contract/agent/delegation'
import { startEffects } from '#decisions/agent/job-effects'
import { newConversation } from '#domain/agent/conversation'
import { newChild, requireRoomForChild } from '#domain/agent/job/delegation'
import type { CallingJob } from '#domain/agent/job/job'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { insertConversation, turnFacts } from '#store/agent/conversations'
import { jobPart, treeFacts } from '#store/agent/jobs'
import { loadNow } from '#store/engine/load'
import type { CapabilityParts, CommandContext, Handlers } from '../engine/call.ts'
import { requireJobRoom, requireKnown, startTurn, turnFactsFor } from './job/turns.ts'

interface Asked {
  goal: string
  tools: string[]
  maxSteps?: number
}

/** The desk only carries out commands, which nobody needs to delegate. */
const requireModel = (model: string | undefined): void => {
  if (model === NO_MODEL)
    fail(
      'conflict',
      'model_required: no model is set (OPENAI_API_KEY), and a sub-agent needs one',
      { reason: 'missing_prerequisite' },
    )
}

/** Runs in the letter of the step that waits for the child. */
const delegate = async (
  calling: CallingJob,
  { goal, tools, maxSteps = undefined }: Asked,
  { sql, gate: { now } }: CommandContext,
) => {
  const {
    parent: before,
    tree,
    facts,
  } = await loadNow(sql, {
    parent: jobPart(calling.id),
    tree: treeFacts(calling.rootId),
    facts: turnFacts(null, { on_behalf: calling.onBehalf, origin: calling.origin }),
  })
  const parent = found(before, 'no such job')
  requireModel(parent.model)
  requireRoomForChild(tree.children)
  requireJobRoom(facts)
  const asked = { stepId: calling.stepId, goal, tools, mostSteps: maxSteps ?? null, now }
  const job = newChild(newId(), parent, asked)
  return {
    reply: { jobId: job.id, status: job.status },
    effects: startEffects(job, now),
    refId: job.id,
    auditDetail: { parent_id: parent.id },
  }
}

export const delegationHandlers = ({
  tools: box,
  models,
  desk,
}: CapabilityParts): Handlers<typeof delegationCapabilities> => ({
  async delegate(asked, context) {
    const tools = box()
    await requireKnown(tools, { names: asked.tools, field: 'tools' }, context)
    if (context.job && context.job.kind !== 'action') return delegate(context.job, asked, context)
    requireModel(models === NO_MODEL ? NO_MODEL : undefined)
    const { sql, gate, principal } = context
    const { facts } = await loadNow(sql, { facts: turnFactsFor(null, principal) })
    const before = newConversation(newId(), {
      title: null,
      person_id: principal.member?.personId ?? null,
      now: gate.now,
    })
    const said = { content: asked.goal, toolNames: asked.tools }
    const more = { kind: 'delegate', most_steps: asked.maxSteps ?? null } as const
    const turn = { before, said, more, principal, facts, now: gate.now, save: insertConversation }
    const { job, effects, auditDetail } = await startTurn({ tools, models, desk }, turn, context)
    return { reply: { jobId: job.id, status: job.status }, effects, refId: job.id, auditDetail }
  },
})
