/**
 * Commands that need no model need no budget, and no place in their tool's hour: above all the kill
 * switch.
 */
import { describe, expect, test } from 'bun:test'
import type { LimitKey } from '#contract/limits'
import { overJob, stepsIn } from '#test/support/agent/agent'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { setPlan } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp, useSharedApp } from '#test/support/use'

const model = scriptedModel((_, answers) =>
  answers === 0 ? { calls: [['growth_list_learnings', {}]] } : { text: 'Done.' },
)
const withModel = useApp({
  model,
  env: { MODEL_FAST: 'gpt-5-mini', MODEL_REASONING: 'gpt-5' },
})
const withoutModel = useSharedApp()

const spent: Partial<Record<LimitKey, number>>[] = [
  { agent_tokens_day: 1 },
  { agent_tokens_month: 1 },
  { agent_cost_month: 0 },
  { agent_calls_hour: 0 },
]
const all = Object.assign({}, ...spent)

const typed = [
  '/automation pause-all',
  '  /automation pause-all\n',
  'automation pause-all',
  'Automation Pause-All',
  'tendril automation pause-all',
  'Tendril automation pause-all',
]

const place = async (app: typeof withModel, overrides: Partial<Record<LimitKey, number>>) => {
  const { tenantId } = await app.newWorkspace()
  const { key, personId } = await signedIn(app, tenantId, 'owner')
  await setPlan(app, tenantId, { overrides })
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, `/api/v1/${path}`, { key, ...(body === undefined ? {} : { body }) })
  const say = async (content: string) => {
    const { conversation } = (await send('POST', 'agent/conversations', {})).body
    const { body } = await send('POST', `agent/conversations/${conversation.id}/messages`, {
      content,
    })
    return overJob(app, body.job.id)
  }
  const isPaused = async (): Promise<boolean> =>
    (await send('GET', 'growth/automation')).body.automation.paused
  return { tenantId, personId, send, say, isPaused }
}

describe.each([
  ['with a model', withModel, typed],
  ['without a model', withoutModel, typed.slice(0, 1)],
] as const)('%s', (_, app, forms) => {
  test.each(forms)('the kill switch works as %j when all is spent', async (content) => {
    const { say, isPaused } = await place(app, all)
    expect(await say(content)).toMatchObject({
      status: 'completed',
      error: null,
      cost: 0,
      input_tokens: 0,
    })
    expect(await isPaused()).toBe(true)
  })

  test('the kill switch works in a channel when all is spent', async () => {
    const { tenantId, personId, isPaused } = await place(app, all)
    const channel = await devChannel(app, {}, tenantId)
    await linked(app, channel, 'ada', personId)
    await postDev(app.url, channel, { text: '/automation pause-all' })
    const job = (await channelJobs(app, channel)).at(-1)!
    expect(await overJob(app, job.id)).toMatchObject({ status: 'completed', error: null })
    expect(await isPaused()).toBe(true)
    const [reply] =
      await app.owner`select text from channel_reply where connection_id = ${channel.id}`
    expect(reply!.text).toContain('paused: true')
  })

  test('another command works, too, and one that is none is answered by the desk', async () => {
    const { say, send } = await place(app, all)
    expect(await say('/learnings create --kind worked --note "Short posts"')).toMatchObject({
      status: 'completed',
    })
    expect((await send('GET', 'growth/learnings')).body.learnings).toMatchObject([
      { note: 'Short posts' },
    ])
    expect(await say('/learnings lsit')).toMatchObject({
      status: 'completed',
      error: null,
      tool_calls: 0,
    })
  })
})

test('what is no command needs the budget as before', async () => {
  for (const overrides of spent.slice(0, 3)) {
    const { say } = await place(withModel, overrides)
    const error = `budget_exhausted:${Object.keys(overrides)[0]}`
    for (const content of [
      'Please pause everything',
      'automation pause-all please',
      'tendril is a nice name',
    ])
      expect(await say(content)).toMatchObject({ status: 'failed', error })
  }
})

test('what the model calls needs a place in the tool’s hour as before', async () => {
  const { say } = await place(withModel, { agent_calls_hour: 0 })
  const job = await say('What have we learnt?')
  const [, called] = await stepsIn(withModel, job.id)
  expect(called).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('within the last hour'),
  })
})

test('a long conversation is not summarised for a command', async () => {
  const { send, isPaused } = await place(withModel, {})
  const { conversation } = (await send('POST', 'agent/conversations', {})).body
  const said = async (content: string) =>
    overJob(
      withModel,
      (await send('POST', `agent/conversations/${conversation.id}/messages`, { content })).body.job
        .id,
    )
  await said('Hello')
  await withModel.owner`update agent_message set content = repeat('word ', 1_000_000)
    where conversation_id = ${conversation.id}`
  const calls = model.turns.length
  expect(await said('/automation pause-all')).toMatchObject({ status: 'completed' })
  expect(await isPaused()).toBe(true)
  expect(model.turns.length).toBe(calls)
})
