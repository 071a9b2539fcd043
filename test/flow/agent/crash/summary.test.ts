/**
 * A process dies, or a person calls the job off, while a conversation is summarised: the summary is
 * made again or used as it is, and paid for.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testStops } from '#test/support/actors/stops'
import { overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { scriptedModel } from '#test/support/model/scripted-model'

const FAST = 'fast-model'
const env = { OPENAI_API_KEY: 'key', MODEL_CONTEXT: '8000', MODEL_FAST: FAST }

/** Twelve messages of 900 bytes, of which 6,857 bytes fit. */
const talked = async ({ owner }: TestApp, tenantId: string): Promise<string> => {
  const id = newId()
  await owner`insert into agent_conversation (id, tenant_id, status,
    origin, next_seq, last_at, created_at, updated_at)
    values (${id}, ${tenantId}, 'active', 'app', 13, now(), now(), now())`
  await owner`insert into agent_message (id, tenant_id, conversation_id, seq, role, content, author,
    created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, ${id}, n, 'user',
      rpad('message ' || n || ' of ' || ${id}::text || ' ', 900, 'x'), '{"kind":"agent","id":"x"}', now(), now()
    from generate_series(1, 12) n`
  return id
}

const points = [
  { name: 'A2, when the call is reserved and not made', at: 'agent.claimed', nth: 1, asked: 1 },
  { name: 'A3, when the model is asked', at: 'test.asked', nth: 1, asked: 2 },
  { name: 'A4, when the model has answered', at: 'agent.thought', nth: 1, asked: 2 },
  { name: 'A16, when the summary is written and not used', at: 'agent.claimed', nth: 2, asked: 1 },
  // It stops inside a transaction, which the database soon cancels: the last before the death.
  {
    name: 'A4, when its answer is about to be settled',
    at: 'letter.deciding:agent.settle',
    nth: 1,
    asked: 2,
  },
]

const SUMMARY = 'They want numbers.'

const stops = testStops()
const model = scriptedModel(async ({ model: name }) => {
  if (name !== FAST) return { text: 'Fine.' }
  await stops.at('test.asked')
  return { text: SUMMARY }
})
const askedAbout = (conversation: string): number =>
  model.turns.filter(
    ({ model: name, messages }) =>
      name === FAST && JSON.stringify(messages).includes(`message 1 of ${conversation}`),
  ).length

const world = new AsyncDisposableStack()
afterAll(() => world.disposeAsync())
let db: TestDatabase
let running: TestApp
const start = async (): Promise<TestApp> =>
  world.use(
    await testApp({
      database: db.options,
      env,
      overrides: { failpoints: stops.at, thinker: model },
    }),
  )
beforeAll(async () => {
  db = world.use(await freshDb())
  running = await start()
  await recordReservations(running.owner)
})

/** A job that has stopped there, in a conversation that is too long. */
const stoppedAt = async ({ at, nth = 1 }: { at: string; nth?: number }) => {
  const { tenantId } = await running.newWorkspace()
  const conversation = await talked(running, tenantId)
  const { id, api_key: key } = await running.newKey(
    ['api:read', 'api:write', 'workspace:use'],
    tenantId,
  )
  const stopped = stops.stopNext(at, nth)
  const say = (content: string) =>
    turn(running, { content, by: { kind: 'key', id, personId: null }, conversation, tenantId })
  const job = await say('And now?')
  return { job, key, conversation, say, goOn: await stopped }
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

describe('a process that dies', () => {
  const found = new Map<string, Awaited<ReturnType<typeof stoppedAt>>>()

  beforeAll(async () => {
    for (const point of points) found.set(point.name, await stoppedAt(point))
    await crash(running)
    running = await start()
    for (const { job } of found.values()) await overJob(running, job)
  })

  test.each(points)('$name', async ({ name, asked }) => {
    const { job, conversation, say, goOn } = found.get(name)!
    expect(await overJob(running, job)).toMatchObject({ status: 'completed', error: null })
    const check = async () => {
      expect(await stepsOf(running, job)).toEqual(['summary done', 'model done'])
      expect(await summaryOf(running, conversation)).toEqual({
        summary: SUMMARY,
        summarised_to: 7,
      })
      expect(await brokenInvariants(running.owner, { ledger: true })).toEqual([])
    }
    await check()
    expect(askedAbout(conversation)).toBe(asked)
    // If the process was only stopped it goes on now, and changes nothing.
    goOn()
    await overJob(running, await say('Thanks'))
    await check()
  })
})

test.each(points)('called off: $name', async ({ name, at, nth }) => {
  const { job, key, conversation, say, goOn } = await stoppedAt({ at, nth })
  const cancelling = running.send('POST', `/api/v1/agent/jobs/${job}/cancel`, { key })
  // A letter that is being decided must end first.
  if (at.startsWith('letter.')) goOn()
  expect((await cancelling).body.job.status).toBe('cancelled')
  goOn()
  expect(await stepsOf(running, job)).not.toContain('model done')
  const isWritten = (await summaryOf(running, conversation)).summary === SUMMARY
  if (name.startsWith('A16')) expect(isWritten).toBe(true)
  // The next message uses the summary that is there, or has one made.
  const other = await say('Still there?')
  expect(await overJob(running, other)).toMatchObject({ status: 'completed' })
  expect(await stepsOf(running, other)).toEqual([
    ...(isWritten ? [] : ['summary done']),
    'model done',
  ])
  expect((await summaryOf(running, conversation)).summary).toBe(SUMMARY)
  expect(await brokenInvariants(running.owner, { ledger: true })).toEqual([])
})

test('a summary that dies three times is given up, and the job goes on without it', async () => {
  const { job, goOn } = await stoppedAt({ at: 'test.asked' })
  let letDeadGoOn = goOn
  for (const death of [1, 2, 3]) {
    await crash(running)
    const stopped = death < 3 ? stops.stopNext('test.asked') : undefined
    letDeadGoOn()
    running = await start()
    if (stopped) letDeadGoOn = await stopped
  }
  expect(await overJob(running, job)).toMatchObject({ status: 'completed', error: null })
  const steps = await running.owner`select kind, state, attempt from agent_step
    where job_id = ${job} order by number`
  expect(steps.map(({ kind, state, attempt }) => `${kind} ${state} ${attempt}`)).toEqual([
    'summary failed 3',
    'model done 0',
  ])
  expect(await brokenInvariants(running.owner, { ledger: true })).toEqual([])
})
