/**
 * At four fifths and at the end of a budget: said in the answer, in the brief and in the plan, with
 * when it starts again and who can raise it.
 */
import { expect, test } from 'bun:test'
import { dayOf } from '#domain/app/read-budget'
import { asKey, messagesIn, overJob, turn } from '#test/support/agent/agent'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { setPlan, setUsed } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { thinker: scriptedModel(() => ({ text: 'Seen.' })) } })
const LIMIT = 100_000
const RAISE = 'whoever runs this deployment can raise the limit (agent_tokens_day)'

const ask = async ({ tenantId }: Surface) => {
  const by = await asKey(app, tenantId)
  const job = await overJob(app, await turn(app, { content: 'go', by, tenantId }))
  return { job, said: (await messagesIn(app, job)).at(-1)!.content }
}
const used = async (surface: Surface, tokens: number) => {
  await setPlan(app, surface.tenantId, { overrides: { agent_tokens_day: LIMIT } })
  await setUsed(app, surface.tenantId, {
    key: 'agent_tokens_day',
    period: dayOf(new Date()),
    used: tokens,
  })
}
const shown = async ({ as, key }: Surface) => {
  const [plan, brief] = [
    await app.send('GET', '/api/v1/app/plan', { key: await as('owner') }),
    await app.send('GET', '/api/v1/growth/brief', { key }),
  ]
  const action = brief.body.brief.actions.find(
    ({ kind }: { kind: string }) => kind === 'raise_budget',
  )
  return { near: plan.body.plan.near, agent: plan.body.plan.agent, action }
}

test('the answer that brings a budget to four fifths says so, once, and the brief and the plan show it', async () => {
  const surface = await newSurface(app)
  await used(surface, LIMIT * 0.8 - 100)
  expect((await shown(surface)).near).toEqual([])
  const { said } = await ask(surface)
  expect(said).toStartWith(
    "Seen.\n\n(80 % of the agent's tokens of today is used: 80,120 of 100,000. A new count starts on ",
  )
  expect(said).toContain(RAISE)
  expect((await ask(surface)).said).toBe('Seen.')
  const { near, agent, action } = await shown(surface)
  expect(near).toEqual([
    expect.objectContaining({ key: 'agent_tokens_day', used: 80_340, limit: LIMIT, level: 80 }),
  ])
  expect(agent.map(({ key }: { key: string }) => key)).toEqual([
    'agent_tokens_day',
    'agent_tokens_month',
    'agent_cost_month',
  ])
  expect(action).toMatchObject({
    title: 'A budget is running out',
    why: expect.stringContaining(RAISE),
  })
})

test('a job for which nothing is left says when a new count starts, and who can raise the limit', async () => {
  const surface = await newSurface(app)
  await used(surface, LIMIT)
  const { job, said } = await ask(surface)
  expect(job).toMatchObject({ status: 'failed', error: 'budget_exhausted:agent_tokens_day' })
  expect(said).toContain(
    "All of the agent's tokens of today is used: 100,000 of 100,000. A new count starts on ",
  )
  expect(said).toContain(RAISE)
  const { near, action } = await shown(surface)
  expect(near).toEqual([
    expect.objectContaining({
      key: 'agent_tokens_day',
      level: 100,
      message: expect.stringContaining(RAISE),
    }),
  ])
  expect(action.title).toBe('A budget is used up')
})
