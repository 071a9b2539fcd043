/**
 * Conversations with the agent as a page holds them: a stream of events, and messages whose answers
 * come on it.
 */
import { newId } from '#kernel/ids'
import type { Plan } from '../../support/agent/plan.ts'
import { planText } from '../../support/agent/plan.ts'
import { openStream } from '../../support/http/event-stream.ts'
import { quantile, type Result } from '../load.ts'
import type { Running } from '../spawn.ts'
import type { Tenant } from '../world.ts'

/** As the API names them: `fast` answers at once. */
type Tier = 'fast' | 'reasoning'

export interface Conversation extends AsyncDisposable {
  id: string
  /** Says something; resolves with the milliseconds until the agent's message has arrived. */
  say(plan: Plan, model: Tier): Promise<number>
}

const send = async ({ port }: Running, { key }: Tenant, path: string, body: object = {}) => {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': newId(),
  }
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/agent/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
  return (await reply.json()) as { conversation: { id: string }; job: { id: string } }
}

export const pathOf = (id: string): string => `/api/v1/agent/conversations/${id}/events`

export const converse = async (server: Running, tenant: Tenant): Promise<Conversation> => {
  const { conversation } = await send(server, tenant, 'conversations')
  const events = await openStream(`http://127.0.0.1:${server.port}${pathOf(conversation.id)}`, {
    key: tenant.key,
  })
  return {
    id: conversation.id,
    async say(plan, model) {
      const began = performance.now()
      const { job } = await send(server, tenant, `conversations/${conversation.id}/messages`, {
        content: planText(plan),
        model,
      })
      const end = await events.until(({ type, data }) => data.jobId === job.id && isEnd(type, data))
      if (end.data.status === 'failed') throw new Error(`a job failed: ${end.data.error}`)
      return performance.now() - began
    },
    [Symbol.asyncDispose]: () => events[Symbol.asyncDispose](),
  }
}

const isEnd = (type: string, { role, status }: { role?: string; status?: string }): boolean =>
  (type === 'message' && role === 'assistant') || status === 'failed'

/** What so many times in milliseconds are, measured within `ms`. */
export const resultOf = (times: number[], ms: number): Result => {
  const sorted = Float64Array.from(times).sort()
  const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)]
  return {
    perSecond: (times.length * 1_000) / ms,
    p50,
    p99,
    count: times.length,
    statuses: {},
    bytes: 0,
    cpuMs: 0,
  }
}
