/**
 * People who ask the agent for something, decide what it asks, and sometimes cancel a job, through
 * servers that die.
 */

import type postgres from 'postgres'
import { soleKey } from '#kernel/secret-keys'
import { createTokens } from '#port/tokens'
import { type Plan, planText } from '#test/support/agent/plan'
import { TEST_SECRET } from '#test/support/database/db'
import { newPerson } from '#test/support/session'
import { type Asking, persistently, wordsOf } from '../asking.ts'
import { toolsOf } from './jobs.ts'

/** Somebody signed in to a workspace. */
export interface Person {
  tenantId: string
  token: string
}

export interface Clients extends Asking {
  owner: postgres.Sql
  /** When the last kill was over, by `performance.now()`. */
  overSince(): number | undefined
}

const SESSION_MS = 12 * 3_600_000
const POLL_MS = 100
/**
 * The time limit for a job once nothing is killed any more. Until then it gets only as far as the
 * kills let it.
 */
const JOB_WITHIN_MS = 120_000

export const signIn = async (owner: postgres.Sql, tenantId: string): Promise<Person> => {
  const { id: sessionId, member } = await newPerson(owner, tenantId)
  const token = await createTokens(soleKey(TEST_SECRET)).access(
    { sessionId, personId: member.personId },
    new Date(Date.now() + SESSION_MS),
  )
  return { tenantId, token }
}

interface Request {
  path: string
  /** The same for each try. */
  id: string
  body?: unknown
  /** Statuses that end the tries, besides those of success. */
  also?: number[]
}

/** Asks with the same key until a server answers. */
const sent = (clients: Clients, { token }: Person, { path, id, body = {}, also = [] }: Request) =>
  persistently(clients, path, async ({ send }) => {
    const headers = { 'idempotency-key': id }
    const reply = await send('POST', path, { key: token, body, headers })
    if (reply.status < 300 || also.includes(reply.status)) return { answer: reply }
    const passes =
      reply.status === 503 ||
      reply.status === 429 ||
      reply.body.error?.code === 'idempotency_in_flight'
    return passes ? { again: wordsOf(reply) } : { wrong: wordsOf(reply) }
  })

/** Starts a job in a conversation of its own; undefined if that failed. */
const started = async (
  clients: Clients,
  person: Person,
  { id, plan }: { id: string; plan: Plan },
): Promise<string | undefined> => {
  const conversation = await sent(clients, person, {
    path: '/api/v1/agent/conversations',
    id: `${id}-conversation`,
  })
  if (!conversation) return undefined
  const toolNames = toolsOf(plan)
  const path = `/api/v1/agent/conversations/${conversation.body.conversation.id}/messages`
  const reply = await sent(clients, person, {
    path,
    id,
    body: { content: planText(plan), toolNames },
  })
  return reply?.body.job.id
}

/**
 * The shares of approvals that are rejected, and of jobs that are cancelled, or whose sub-agent is,
 * while they run.
 */
const [REJECTED, CANCELLED] = [0.1, 0.05]

const DECIDED_BEFORE = 409

const decideAll = async (clients: Clients, person: Person, jobId: string): Promise<void> => {
  const rows = await clients.owner<
    { id: string }[]
  >`select a.id from agent_approval a join agent_job j on j.id = a.job_id
    where j.root_id = ${jobId} and a.status = 'pending'`
  for (const { id } of rows) {
    const how = clients.next() < REJECTED ? 'reject' : 'approve'
    await sent(clients, person, {
      path: `/api/v1/agent/approvals/${id}/${how}`,
      id: `${id}-${how}`,
      also: [DECIDED_BEFORE],
    })
  }
}

/** Cancels the job, or one of the jobs below it; its parent learns of that. */
const callOff = async (clients: Clients, person: Person, jobId: string): Promise<void> => {
  const open = await clients.owner<
    { id: string }[]
  >`select id from agent_job where root_id = ${jobId} and ended_at is null order by id`
  const id = open[Math.floor(clients.next() * open.length)]?.id ?? jobId
  await sent(clients, person, { path: `/api/v1/agent/jobs/${id}/cancel`, id: `${id}-cancel` })
}

/** Follows a job to its end. */
const followed = async (clients: Clients, person: Person, jobId: string): Promise<void> => {
  const begun = performance.now()
  const isLate = () =>
    performance.now() - Math.max(begun, clients.overSince() ?? Number.POSITIVE_INFINITY) >
    JOB_WITHIN_MS
  let cancels = clients.next() < CANCELLED
  while (!isLate()) {
    const [job] = await clients.owner<
      { status: string; is_over: boolean }[]
    >`select status, ended_at is not null as is_over from agent_job
      where id = ${jobId}`
    if (job!.is_over) return
    if (cancels && clients.next() < 0.5) {
      cancels = false
      await callOff(clients, person, jobId)
    }
    if (job!.status.startsWith('waiting_')) await decideAll(clients, person, jobId)
    await Bun.sleep(POLL_MS)
  }
  clients.wrong.push(`job ${jobId} did not end within ${JOB_WITHIN_MS} ms after the last kill`)
}

/** Asks for a job and waits until it is over. */
export const askFor = async (
  clients: Clients,
  person: Person,
  wanted: { id: string; plan: Plan },
): Promise<void> => {
  const jobId = await started(clients, person, wanted)
  if (jobId) await followed(clients, person, jobId)
}
