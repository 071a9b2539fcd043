/**
 * A process dies, or a person calls the job off, while a conversation is summarised: the summary is
 * made again or used as it is, and paid for.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testStops } from '#test/support/actors/stops'
import { overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { useSuccession } from '#test/support/agent/succession'
import type { TestApp } from '#test/support/app'
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

const processes = useSuccession({ env, overrides: { failpoints: stops.at, thinker: model } })
beforeAll(() => recordReservations(processes.running.owner))

/** A job that has stopped there, in a conversation that is too long. */
const stoppedAt = async ({ at, nth = 1 }: { at: string; nth?: number }) => {
  const { tenantId } = await processes.running.newWorkspace()
  const conversation = await talked(processes.running, tenantId)
  const { id, api_key: key } = await processes.running.newKey(
    ['api:read', 'api:write', 'workspace:use'],
    tenantId,
  )
  const stopped = stops.stopNext(at, nth)
  const say = (content: string) =>
    turn(processes.running, {
      content,
      by: { kind: 'key', id, personId: null },
      conversation,
      tenantId,
    })
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
    await processes.die()
    for (const { job } of found.values()) await overJob(processes.running, job)
  })

  test.each(points)('$name', async ({ name, asked }) => {
    const { job, conversation, say, goOn } = found.get(name)!
    expect(await overJob(processes.running, job)).toMatchObject({
      status: 'completed',
      error: null,
    })
    const check = async () => {
      expect(await stepsOf(processes.running, job)).toEqual(['summary done', 'model done'])
      expect(await summaryOf(processes.running, conversation)).toEqual({
        summary: SUMMARY,
        summarised_to: 7,
      })
      expect(await brokenInvariants(processes.running.owner, { ledger: true })).toEqual([])
    }
    await check()
    expect(askedAbout(conversation)).toBe(asked)
    // If the process was only stopped it goes on now, and changes nothing.
    goOn()
    await overJob(processes.running, await say('Thanks'))
    await check()
  })
})

test.each(points)('called off: $name', async ({ name, at, nth }) => {
  const { job, key, conversation, say, goOn } = await stoppedAt({ at, nth })
  const cancelling = processes.running.send('POST', `/api/v1/agent/jobs/${job}/cancel`, { key })
  // A letter that is being decided must end first.
  if (at.startsWith('letter.')) goOn()
  expect((await cancelling).body.job.status).toBe('cancelled')
  goOn()
  expect(await stepsOf(processes.running, job)).not.toContain('model done')
  const isWritten = (await summaryOf(processes.running, conversation)).summary === SUMMARY
  if (name.startsWith('A16')) expect(isWritten).toBe(true)
  // The next message uses the summary that is there, or has one made.
  const other = await say('Still there?')
  expect(await overJob(processes.running, other)).toMatchObject({ status: 'completed' })
  expect(await stepsOf(processes.running, other)).toEqual([
    ...(isWritten ? [] : ['summary done']),
    'model done',
  ])
  expect((await summaryOf(processes.running, conversation)).summary).toBe(SUMMARY)
  expect(await brokenInvariants(processes.running.owner, { ledger: true })).toEqual([])
})

test('a summary that dies three times is given up, and the job goes on without it', async () => {
  const { job, goOn } = await stoppedAt({ at: 'test.asked' })
  let letDeadGoOn = goOn
  for (const death of [1, 2, 3]) {
    await crash(processes.running)
    const stopped = death < 3 ? stops.stopNext('test.asked') : undefined
    letDeadGoOn()
    await processes.start()
    if (stopped) letDeadGoOn = await stopped
  }
  expect(await overJob(processes.running, job)).toMatchObject({ status: 'completed', error: null })
  const steps = await processes.running.owner`select kind, state, attempt from agent_step
    where job_id = ${job} order by number`
  expect(steps.map(({ kind, state, attempt }) => `${kind} ${state} ${attempt}`)).toEqual([
    'summary failed 3',
    'model done 0',
  ])
  expect(await brokenInvariants(processes.running.owner, { ledger: true })).toEqual([])
})
