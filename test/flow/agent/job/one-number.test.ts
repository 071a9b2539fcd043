/**
 * One number each of calls, tokens and cents, wherever they are shown: in the hour, in usage, in
 * analytics and in the job.
 */
import { beforeAll, expect, test } from 'bun:test'
import { ThinkError } from '#port/model/thinker'
import { asKey, overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { setPlan } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const script = { answer: (() => ({})) as Parameters<typeof scriptedModel>[0] }
const model = scriptedModel((asked, answers) => script.answer(asked, answers))
const PRICES = JSON.stringify({ scripted: { input: 20, cached: 20, output: 100 } })
const app = useApp({ model, env: { PRICES } })

beforeAll(() => recordReservations(app.owner))

const ask = async (surface: Surface) => {
  const by = await asKey(app, surface.tenantId)
  return overJob(app, await turn(app, { content: 'go', by, tenantId: surface.tenantId }))
}
const shown = async ({ send }: Surface, job: string) => {
  const [usage, analytics, one] = [
    await send('GET', 'usage'),
    await send('GET', 'analytics'),
    await send('GET', `jobs/${job}`),
  ]
  return { usage: usage.body, analytics: analytics.body, job: one.body.job }
}

test('a refused call is none: not in the hour, not in usage, and not in analytics', async () => {
  const surface = await newSurface(app)
  await setPlan(app, surface.tenantId, { overrides: { agent_calls_hour: 3 } })
  const look = ['get_current_time', {}] as [string, unknown]
  script.answer = (_, answers) => {
    // Made twice; then it is refused as a repetition, as a call that cannot be read, and as one of
    // a tool that there is not.
    if (answers === 0) return { calls: [look, look] }
    if (answers === 1)
      return { calls: [look, ['get_current_time', { timeZone: 7 }], ['no_such_tool', {}]] }
    // The third of the hour; and one that is over it.
    if (answers === 2) return { calls: [['get_current_time', { timeZone: 'UTC' }]] }
    return answers === 3
      ? { calls: [['get_current_time', { timeZone: 'Asia/Tokyo' }]] }
      : { text: 'Done.' }
  }
  const { id } = await ask(surface)
  const { usage, analytics, job } = await shown(surface, id)
  expect(usage.tools_hour).toEqual([{ tool: 'get_current_time', calls: 3, limit: 3 }])
  expect(analytics.actions).toMatchObject({
    total: 3,
    by_tool: [{ tool: 'get_current_time', calls: 3 }],
  })
  expect(job.toolCalls).toBe(3)
  const refused =
    await app.owner`select result->>'text' as text from agent_step where job_id = ${id}
      and state = 'failed' order by number`
  expect(refused.map(({ text }) => text).at(-1)).toContain('called 3 times within the last hour')
})

test('a call that was made and failed counts', async () => {
  const surface = await newSurface(app)
  script.answer = (_, answers) =>
    answers === 0 ? { calls: [['read_playbook', { slug: 'none' }]] } : { text: 'Done.' }
  const { id } = await ask(surface)
  const { usage, analytics, job } = await shown(surface, id)
  expect([usage.tools_hour[0]?.calls, analytics.actions.total, job.toolCalls]).toEqual([1, 1, 1])
})

test('tokens and cents are those that the budget holds, with what is kept for a call that died', async () => {
  const surface = await newSurface(app)
  let died = false
  script.answer = () => {
    if (died) return { text: 'Done.' }
    died = true
    throw new ThinkError('timeout')
  }
  const { id } = await ask(surface)
  const { usage, analytics, job } = await shown(surface, id)
  expect(job.reservedTokens).toBeGreaterThan(4_000)
  expect(job.inputTokens + job.outputTokens).toBe(220)
  expect(usage.usage.tokens_month).toBe(220 + job.reservedTokens)
  expect(analytics.cost.input_tokens + analytics.cost.output_tokens).toBe(usage.usage.tokens_month)
  expect(analytics.cost.usd_cents).toBe(usage.usage.cost_usd_cents_month)
  expect(Math.ceil(job.costUsdCents)).toBe(usage.usage.cost_usd_cents_month)
  expect(job.reservedCostUsdCents).toBeGreaterThan(0)
  expect(await brokenInvariants(app.owner, { ledger: true })).toEqual([])
})
