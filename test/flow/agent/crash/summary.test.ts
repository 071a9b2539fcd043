/**
 * A process dies, or a person calls the job off, while a conversation is summarised: the summary is
 * made again or used as it is, and paid for.
 */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testStops } from '#test/support/actors/stops'
import { overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { scriptedModel } from '#test/support/model/scripted-model'

const FAST = 'fast-model'
const env = { OPENAI_API_KEY: 'key', MODEL_CONTEXT: '8000', MODEL_FAST: FAST }

/** Twelve messages of 900 bytes, of which 6,857 bytes fit. */
const talked = async ({ owner, tenantId }: TestApp): Promise<string> => {
  const id = newId()
  await owner`insert into agent_conversation (id, tenant_id, status,
    origin, next_seq, last_at, created_at, updated_at)
    values (${id}, ${tenantId}, 'active', 'app', 13, now(), now(), now())`
  await owner`insert into agent_message (id, tenant_id, conversation_id, seq, role, content, author,
    created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, ${id}, n, 'user', rpad('message ' || n || ' ', 900, 'x'),
      '{"kind":"agent","id":"x"}', now(), now()
    from generate_series(1, 12) n`
  return id
}

const points = [
  { name: 'A2, when the call is reserved and not made', at: 'agent.claimed', nth: 1, asked: 1 },
  { name: 'A3, when the model is asked', at: 'test.asked', nth: 1, asked: 2 },
  { name: 'A4, when the model has answered', at: 'agent.thought', nth: 1, asked: 2 },
  {
    name: 'A4, when its answer is about to be settled',
    at: 'letter.deciding:agent.settle',
    nth: 1,
    asked: 2,
  },
  { name: 'A16, when the summary is written and not used', at: 'agent.claimed', nth: 2, asked: 1 },
]

const SUMMARY = 'They want numbers.'

/** A job that has stopped there, in a conversation that is too long. */
const stoppedAt = async (stack: AsyncDisposableStack, { at, nth }: { at: string; nth: number }) => {
  const db = stack.use(await freshDb())
  const stops = testStops()
  let summaries = 0
  const model = scriptedModel(async ({ model: name }) => {
    if (name !== FAST) return { text: 'Fine.' }
    summaries++
    await stops.at('test.asked')
    return { text: SUMMARY }
  })
  const start = async () =>
    stack.use(
      await testApp({
        database: db.options,
        env,
        overrides: { failpoints: stops.at, thinker: model },
      }),
    )
  const app = await start()
  await recordReservations(app.owner)
  const conversation = await talked(app)
  const { id, api_key: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  const stopped = stops.stopNext(at, nth)
  const { tenantId } = app
  const say = (to: TestApp, content: string) =>
    turn(to, { content, by: { kind: 'key', id, personId: null }, conversation, tenantId })
  const job = await say(app, 'And now?')
  return { app, start, job, key, conversation, say, goOn: await stopped, asked: () => summaries }
}

const summaryOf = async ({ owner }: TestApp, conversation: string) => ({
  ...(
    await owner`select summary, summarised_to from agent_conversation where id = ${conversation}`
  )[0],
})

const stepsOf = async ({ owner }: TestApp, job: string): Promise<string[]> =>
  (await owner`select kind, state from agent_step where job_id = ${job} order by number`).map(
    ({ kind, state }) => `${kind} ${state}`,
  )

test.each(points)('$name', async ({ at, nth, asked }) => {
  await using stack = new AsyncDisposableStack()
  const begun = await stoppedAt(stack, { at, nth })
  await crash(begun.app)
  const next = await begun.start()
  expect(await overJob(next, begun.job)).toMatchObject({ status: 'completed', error: null })
  const check = async () => {
    expect(await stepsOf(next, begun.job)).toEqual(['summary done', 'model done'])
    expect(await summaryOf(next, begun.conversation)).toEqual({
      summary: SUMMARY,
      summarised_to: 7,
    })
    expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
  }
  await check()
  expect(begun.asked()).toBe(asked)
  // If the process was only stopped it goes on now, and changes nothing.
  begun.goOn()
  await overJob(next, await begun.say(next, 'Thanks'))
  await check()
})

test.each(points)('called off: $name', async ({ name, at, nth }) => {
  await using stack = new AsyncDisposableStack()
  const begun = await stoppedAt(stack, { at, nth })
  const cancelling = begun.app.send('POST', `/api/v1/agent/jobs/${begun.job}/cancel`, {
    key: begun.key,
  })
  // A letter that is being decided must end first.
  if (at.startsWith('letter.')) begun.goOn()
  expect((await cancelling).body.job.status).toBe('cancelled')
  begun.goOn()
  expect(await stepsOf(begun.app, begun.job)).not.toContain('model done')
  const isWritten = (await summaryOf(begun.app, begun.conversation)).summary === SUMMARY
  if (name.startsWith('A16')) expect(isWritten).toBe(true)
  // The next message uses the summary that is there, or has one made.
  const other = await begun.say(begun.app, 'Still there?')
  expect(await overJob(begun.app, other)).toMatchObject({ status: 'completed' })
  expect(await stepsOf(begun.app, other)).toEqual([
    ...(isWritten ? [] : ['summary done']),
    'model done',
  ])
  expect((await summaryOf(begun.app, begun.conversation)).summary).toBe(SUMMARY)
  expect(await brokenInvariants(begun.app.owner, { ledger: true })).toEqual([])
})

test('a summary that dies three times is given up, and the job goes on without it', async () => {
  await using db = await freshDb()
  const stops = testStops()
  const model = scriptedModel(async ({ model: name }) => {
    if (name === FAST) await stops.at('test.asked')
    return { text: 'Fine.' }
  })
  const start = () =>
    testApp({ database: db.options, env, overrides: { failpoints: stops.at, thinker: model } })
  let app = await start()
  const conversation = await talked(app)
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  const { tenantId } = app
  let stopped = stops.stopNext('test.asked')
  const job = await turn(app, {
    content: 'And now?',
    by: { kind: 'key', id, personId: null },
    conversation,
    tenantId,
  })
  for (const death of [1, 2, 3]) {
    const goOn = await stopped
    await crash(app)
    if (death < 3) stopped = stops.stopNext('test.asked')
    goOn()
    const dead = app
    app = await start()
    // Its pools would go on asking for a database that is dropped after the test.
    await dead[Symbol.asyncDispose]()
  }
  await using last = app
  expect(await overJob(last, job)).toMatchObject({ status: 'completed', error: null })
  const steps = await last.owner`select kind, state, attempt from agent_step where job_id = ${job}
      order by number`
  expect(steps.map(({ kind, state, attempt }) => `${kind} ${state} ${attempt}`)).toEqual([
    'summary failed 3',
    'model done 0',
  ])
  expect(await brokenInvariants(last.owner)).toEqual([])
})
