/**
 * Jobs that begin by themselves: their messages in a conversation, and their work, which is
 * automatic.
 */
import {
  type Conversation,
  type Message,
  newConversation,
  titleOf,
  withMessage,
} from '#domain/agent/conversation'
import { type Job, type NewTurn, newUnattended } from '#domain/agent/job/job'
import { BEHIND_MS } from '#domain/agent/job/limits'
import { chooseModel, type Models, type NO_MODEL } from '#domain/agent/job/model-choice'
import { CONVERSATION, tainted } from '#domain/agent/job/taint'
import { goalAuthor, type Standing } from '#domain/agent/trigger/goal'
import { newId } from '#kernel/ids'
import { insertConversation, saveConversation, type TurnFacts } from '#store/agent/conversations'
import { insertMessages } from '#store/agent/messages'
import type { Query } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { startEffects } from './job-effects.ts'

/** A conversation to write into, and how it is saved. */
export interface Into {
  conversation: Conversation
  save(conversation: Conversation): Query
}

/** The conversation, or a new one if there is none. */
export const into = (
  before: Conversation | undefined,
  {
    title,
    origin,
    personId,
    now,
  }: { title: string; origin: Conversation['origin']; personId: string | null; now: Date },
): Into =>
  before
    ? { conversation: before, save: saveConversation }
    : {
        conversation: newConversation(newId(), {
          title: titleOf(title),
          person_id: personId,
          origin,
          now,
        }),
        save: insertConversation,
      }

type Words = Pick<Message, 'role' | 'content' | 'author'> & { untrusted?: boolean; job_id?: string }

/** Adds messages. Returns the id of the last one. */
const say = ({ conversation: before, save }: Into, words: readonly Words[], now: Date) => {
  let conversation = before
  const messages = words.map((one) => {
    const added = withMessage(conversation, { id: newId(), ...one }, now)
    conversation = added.conversation
    return added.message
  })
  const writes = [save(conversation), insertMessages(messages)]
  return { conversation, last: messages.at(-1)!, effects: { writes } satisfies Effects }
}

/** A notice by the service itself. `by`: the record that the notice is about. */
export const sayNotice = (
  where: Into,
  { by, content, now }: { by: string; content: string; now: Date },
) => say(where, [{ role: 'notice', content, author: { kind: 'agent', id: by } }], now)

interface Unattended extends Standing, Pick<NewTurn, 'tools' | 'taint' | 'now'> {
  kind: 'scheduled' | 'webhook'
  cause: NonNullable<Job['cause']>
  goal: string
  facts: Pick<TurnFacts, 'has_untrusted' | 'is_busy'>
  /** Text from outside, placed before the goal. */
  untrusted?: string
}

/**
 * A job with the goal as its message. It is due now, or once the job before it in the conversation
 * has ended.
 */
export const startUnattended = (
  models: Models | typeof NO_MODEL,
  where: Into,
  wish: Unattended,
) => {
  const { kind, cause, goal, facts, on_behalf, tools, untrusted, now } = wish
  const id = newId()
  const foreign = {
    role: 'user',
    author: { kind: 'webhook', id: cause.id },
    untrusted: true,
    job_id: id,
  } as const
  const words = untrusted === undefined ? [] : [{ ...foreign, content: untrusted }]
  const said = say(
    where,
    [...words, { role: 'user', content: goal, author: goalAuthor(wish), job_id: id }],
    now,
  )
  const taint = facts.has_untrusted ? tainted(wish.taint, [CONVERSATION]) : wish.taint
  const turn = {
    ...chooseModel(undefined, models),
    conversation_id: said.conversation.id,
    message_id: said.last.id,
  }
  const job = newUnattended(id, {
    ...turn,
    kind,
    cause,
    on_behalf,
    tools,
    taint,
    content: goal,
    now,
  })
  const runAt = facts.is_busy ? new Date(now.getTime() + BEHIND_MS) : now
  const effects = merge(said.effects, startEffects(job, now, runAt))
  return { job, conversation: said.conversation, effects }
}
