/**
 * Conversations with the agent as a page holds them: a stream of events, and messages whose answers
 * come on it.
 */
import type { Plan } from '../../support/agent/plan.ts'
import { planText } from '../../support/agent/plan.ts'
import { openStream } from '../../support/http/event-stream.ts'
import { ask } from '../client.ts'
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

export const pathOf = (id: string): string => `/api/v1/agent/conversations/${id}/events`

export const converse = async (server: Running, tenant: Tenant): Promise<Conversation> => {
  const { conversation } = await ask(server, tenant, 'POST', 'agent/conversations', {})
  const events = await openStream(`http://127.0.0.1:${server.port}${pathOf(conversation.id)}`, {
    key: tenant.key,
  })
  const path = `agent/conversations/${conversation.id}`
  return {
    id: conversation.id,
    async say(plan, model) {
      const began = performance.now()
      const said = { content: planText(plan), model }
      const { job } = await ask(server, tenant, 'POST', `${path}/messages`, said)
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

/** Only the rate is measured. */
export const timed = async (count: number, body: () => Promise<unknown>): Promise<Result> => {
  const began = performance.now()
  await body()
  const times = Array.from({ length: count }, () => 0)
  return resultOf(times, performance.now() - began)
}
