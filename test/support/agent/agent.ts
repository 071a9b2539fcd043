/** Conversations with the agent in tests, past the surfaces. */
import { newWork } from '#decisions/work'
import type { ConversationThread } from '#domain/agent/job/change'
import { type Job, newTurn, type OnBehalf } from '#domain/agent/job/job'
import { newId } from '#kernel/ids'
import { eventEffects } from '#store/agent/events'
import { insertJob } from '#store/agent/jobs'
import { insertMessages } from '#store/agent/messages'
import { saveThread } from '#store/agent/thread'
import { merge } from '#store/engine/letter'
import { eventually, type TestApp } from '../app.ts'

interface Turned {
  content: string
  by: OnBehalf
  model?: string
  tools?: string[] | null
  tenantId?: string
  /** An existing conversation. */
  conversation?: string
  origin?: Job['origin']
  taint?: string[]
  /** Whether the words are those of somebody outside the workspace. */
  untrusted?: boolean
}

/** A new key of the workspace that writes, as the caller of a job. */
export const asKey = async (app: TestApp, tenantId = app.tenantId): Promise<OnBehalf> => {
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  return { kind: 'key', id, personId: null }
}

export interface StepRow {
  number: number
  kind: string
  name: string
  state: string
  args: Record<string, unknown> | null
  result: { text: string } | null
  error: string | null
}

/** A conversation, which is made if it does not exist. */
const threadOf = async (
  { owner }: TestApp,
  id: string,
  tenantId: string,
): Promise<ConversationThread> => {
  await owner`insert into agent_conversation (id, tenant_id, status,
    origin, next_seq, last_at, created_at, updated_at)
    values (${id}, ${tenantId}, 'active', 'app', 1, now(), now(), now()) on conflict do nothing`
  const [row] = await owner<
    ConversationThread[]
  >`select id, next_seq, handles from agent_conversation where id = ${id}`
  return { ...row! }
}

/** Sends a message, in a new conversation if none is named. Returns the id of its job. */
export const turn = async (
  app: TestApp,
  {
    content,
    by,
    model = 'scripted',
    tools = null,
    tenantId = app.tenantId,
    conversation = newId(),
    origin = 'manual',
    ...more
  }: Turned,
): Promise<string> => {
  const [message, job] = [newId(), newId()]
  const thread = await threadOf(app, conversation, tenantId)
  const seq = thread.next_seq
  await app.workplace.world.ask(tenantId, {
    name: 'test.turn',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
    async decide(_, { now }) {
      const row = {
        id: message,
        conversation_id: conversation,
        seq,
        job_id: job,
        reply_to: null,
        role: 'user' as const,
        content,
      }
      const { taint = [], untrusted = false } = more
      const rest = {
        author: by as never,
        untrusted,
        model: null,
        tools_used: [],
        created_at: now,
        updated_at: now,
      }
      const record: Job = {
        ...newTurn(job, {
          conversation_id: conversation,
          message_id: message,
          on_behalf: by,
          tools,
          tier: 'reasoning',
          asked_model: null,
          model,
          taint,
          content,
          now,
        }),
        next_event: 2,
        origin,
      }
      const event = {
        job_id: job,
        seq: 1,
        conversation_id: conversation,
        at: now,
        type: 'job.status' as const,
        data: { status: 'queued' },
      }
      const work = newWork('agent', { refId: job, origin, runAt: now, root: job })
      const writes = [
        insertMessages([{ ...row, ...rest }]),
        insertJob(record),
        saveThread({ ...thread, next_seq: seq + 1 }, now),
      ]
      return { reply: undefined, effects: merge({ writes, work: [work] }, eventEffects([event])) }
    },
  })
  return job
}

export const jobOf = async (app: TestApp, id: string): Promise<Job> =>
  (await app.owner<Job[]>`select * from agent_job where id = ${id}`)[0]!

/** The job once it is over. */
export const overJob = (app: TestApp, id: string): Promise<Job> =>
  eventually(
    () => jobOf(app, id),
    ({ ended_at }) => ended_at !== null,
  )

/** The job once it waits for a person. */
export const waitingJob = (app: TestApp, id: string): Promise<Job> =>
  eventually(
    () => jobOf(app, id),
    ({ status }) => status === 'waiting_approval',
  )

export const stepsIn = async (app: TestApp, id: string): Promise<StepRow[]> =>
  (
    await app.owner<
      StepRow[]
    >`select number, kind, name, state, args, result, error from agent_step where job_id = ${id}
      order by number`
  ).map((row) => ({ ...row }))

export const messagesIn = async (
  app: TestApp,
  { conversation_id }: Pick<Job, 'conversation_id'>,
): Promise<{ role: string; content: string }[]> => {
  const rows = await app.owner<
    { role: string; content: string }[]
  >`select role, content from agent_message
    where conversation_id = ${conversation_id} order by seq`
  return rows.map(({ role, content }) => ({ role, content }))
}
