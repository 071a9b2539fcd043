/** What a schedule does when its time comes, when a person runs it, and when a run ends. */
import type { Conversation } from '#domain/agent/conversation'
import type { Job } from '#domain/agent/job/job'
import { openJobLimits } from '#domain/agent/job/limits'
import { chooseModel, type Models, type NO_MODEL } from '#domain/agent/job/model-choice'
import { KEPT_MESSAGES, recordRun, type Schedule } from '#domain/agent/trigger/schedule'
import { conversationPart, type TurnFacts, turnFacts } from '#store/agent/conversations'
import { saveSchedule, trimMessages } from '#store/agent/schedules'
import { type Effects, merge } from '#store/engine/letter'
import { when } from '#store/engine/load'
import { type Into, into, sayNotice, startUnattended } from './unattended.ts'

/** What a run of a schedule needs to know. */
export const runLoad = ({ conversation_id: id }: Pick<Schedule, 'conversation_id'>) => ({
  conversation: when(id !== null, conversationPart(id ?? '')),
  facts: turnFacts(id, null),
})

export interface RunFacts {
  conversation: Conversation | undefined
  facts: TurnFacts
}

/** Whether no more jobs can begin until others end. */
export const isFull = ({ all_jobs, our_jobs }: TurnFacts, most = openJobLimits.all): boolean =>
  our_jobs >= openJobLimits.ofConversation || all_jobs >= most

/** The prompt of a run, for the model that it would call. */
export const runPrompt = (
  models: Models | typeof NO_MODEL,
  { goal, on_behalf }: Pick<Schedule, 'goal' | 'on_behalf'>,
) => ({
  model: chooseModel(undefined, models).model,
  goal,
  on_behalf,
})

const threadOf = (
  { goal, on_behalf }: Schedule,
  conversation: Conversation | undefined,
  now: Date,
): Into =>
  into(conversation, { title: goal, origin: 'schedule', personId: on_behalf.personId, now })

const trimConversation = ({ id, next_seq }: Conversation): Effects => ({
  writes: [trimMessages(id, next_seq - 1, KEPT_MESSAGES)],
})

/** Begins a run. */
export const runSchedule = (
  models: Models | typeof NO_MODEL,
  schedule: Schedule,
  { conversation: known, facts, now }: RunFacts & { now: Date },
): { schedule: Schedule; job: Job; effects: Effects } => {
  const { id, goal, tools, taint, on_behalf, goal_by } = schedule
  const wish = {
    kind: 'scheduled',
    cause: { kind: 'schedule', id },
    goal,
    tools,
    taint,
    on_behalf,
    goal_by,
    facts,
    now,
  } as const
  const { job, conversation, effects } = startUnattended(
    models,
    threadOf(schedule, known, now),
    wish,
  )
  const after = recordRun(schedule, { job: job.id, conversation: conversation.id, now })
  return {
    schedule: after,
    job,
    effects: merge(effects, trimConversation(conversation), { writes: [saveSchedule(after)] }),
  }
}

/** A notice in the schedule's conversation that says why there was no run. */
export const noticeOf = (
  before: Schedule,
  content: string,
  { conversation: known, now }: { conversation: Conversation | undefined; now: Date },
): Effects => {
  const { conversation, effects } = sayNotice(threadOf(before, known, now), {
    by: before.id,
    content,
    now,
  })
  const after = { ...before, conversation_id: conversation.id }
  return merge(effects, trimConversation(conversation), { writes: [saveSchedule(after)] })
}
