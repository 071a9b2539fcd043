/**
 * Commands that people type run beside a job of the same conversation that waits for its model,
 * whatever else of the agent runs.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { newGate } from '#test/support/actors/letters'
import { testStops } from '#test/support/actors/stops'
import { jobOf, overJob, stepsIn, turn } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const HELD = 'think for long'
let gate = newGate()
const stops = testStops()
const thinker = scriptedModel(async () => {
  await gate.opened
  return { text: 'Done.' }
})
const app = useApp({ model: thinker, overrides: { failpoints: stops.at } })
beforeEach(() => {
  gate = newGate()
  thinker.turns.length = 0
})
// A job that is left over would stop in the place of the next test's.
afterEach(async () => {
  gate.open()
  await eventually(
    () => app.owner`select from agent_job where ended_at is null and origin = 'manual'`,
    ({ length }) => length === 0,
  )
})

/**
 * A workspace whose four places are taken by calls of the model: one in the conversation `place`,
 * which has another message that waits.
 */
const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const { key, personId, sessionId } = await signedIn(app, tenantId, 'owner')
  const by = { kind: 'session', id: sessionId, personId } as const
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, `/api/v1/${path}`, { key, ...(body === undefined ? {} : { body }) })
  const { id } = (await send('POST', 'agent/conversations', {})).body.conversation
  const say = async (content: string): Promise<string> => {
    const { status, body } = await send('POST', `agent/conversations/${id}/messages`, { content })
    expect(status).toBe(201)
    return body.job.id
  }
  const isPaused = async (): Promise<boolean> =>
    (await send('GET', 'growth/automation')).body.automation.paused
  return { id, tenantId, personId, by, send, say, isPaused }
}
type Place = Awaited<ReturnType<typeof place>>

/** Turns of somebody who signs in, all of which the model holds. */
const asks = async (tenantId: string, count: number): Promise<string[]> => {
  const { sessionId: id, personId } = await signedIn(app, tenantId, 'editor')
  return await Promise.all(
    Array.from({ length: count }, () =>
      turn(app, { content: HELD, by: { kind: 'session', id, personId }, tenantId }),
    ),
  )
}
const waitingIn = async (tenantId: string): Promise<string[]> => {
  const rows = await app.owner`select id, xmin::text from work where tenant_id = ${tenantId}
      and payload ? 'waits_for_place'`
  return rows.map(({ id, xmin }) => `${id} ${xmin}`)
}

/** All places but one are taken, by another member. */
const crowd = ({ tenantId }: Place) => asks(tenantId, 3)

const thinking = (count: number) =>
  eventually(
    () => thinker.turns.length,
    (turns) => turns === count,
  )
/** Nothing of a job has begun. */
const untouched = async (id: string) =>
  expect([(await jobOf(app, id)).status, await stepsIn(app, id)]).toEqual(['queued', []])

test('what one member asks for leaves a place for another, whose message waits for none of it', async () => {
  const { tenantId } = await place()
  const first = await asks(tenantId, 12)
  await thinking(3)
  await eventually(
    () => waitingIn(tenantId),
    ({ length }) => length === 9,
  )
  const [other] = await asks(tenantId, 1)
  await thinking(4)
  expect((await jobOf(app, other!)).status).toBe('running')
  gate.open()
  for (const id of [...first, other!])
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  expect(await waitingIn(tenantId)).toHaveLength(0)
})

test('nor does it wait for what found no place at first and now finds the share of its asker taken', async () => {
  const { tenantId } = await place()
  const held = gate
  const first = await asks(tenantId, 3)
  await thinking(3)
  const second = await asks(tenantId, 12)
  await thinking(4)
  const marks = await eventually(
    () => waitingIn(tenantId),
    ({ length }) => length === 11,
  )
  gate = newGate()
  held.open()
  await thinking(7)
  const [other] = await asks(tenantId, 1)
  await thinking(8)
  expect((await jobOf(app, other!)).status).toBe('running')
  // None was claimed again in vain: each still has the version that its first claim wrote.
  const waiting = await waitingIn(tenantId)
  expect(waiting).toHaveLength(8)
  expect(marks).toEqual(expect.arrayContaining(waiting))
  gate.open()
  for (const id of [...first, ...second, other!])
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
})

test('/automation pause-all typed behind a job that hangs in its model call answers at once, and unattended work is held', async () => {
  const at = await place()
  const others = [...(await crowd(at)), await at.say(HELD)]
  await thinking(4)
  const waiting = await at.say('And then?')
  expect(await overJob(app, await at.say('/automation pause-all'))).toMatchObject({
    status: 'completed',
    typed: true,
  })
  expect(await at.isPaused()).toBe(true)
  const unattended = await turn(app, {
    content: HELD,
    by: at.by,
    tenantId: at.tenantId,
    origin: 'automatic',
  })
  // What comes after it has been looked for.
  await overJob(app, await at.say('/learnings list'))
  await untouched(unattended)
  await untouched(waiting)
  expect(thinker.turns).toHaveLength(4)
  gate.open()
  for (const id of [...others, waiting])
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  await untouched(unattended)
})

test('nor does it wait for a burst of messages to be looked at first, each of which finds no place', async () => {
  const at = await place()
  await asks(at.tenantId, 60)
  await overJob(app, await at.say('/automation pause-all'))
  // All of them were due before it.
  expect((await waitingIn(at.tenantId)).length).toBeLessThan(50)
  expect(await at.isPaused()).toBe(true)
})

test('nor does a direct call wait for the thoughts of its own caller, or of others', async () => {
  const at = await place()
  await Promise.all(
    Array.from({ length: 3 }, () => turn(app, { content: HELD, by: at.by, tenantId: at.tenantId })),
  )
  await crowd(at)
  await thinking(4)
  const file = { fileName: 'a.csv', kind: 'data', mimeType: 'text/csv', content: 'name\nAda\n' }
  const { status, body } = await at.send('POST', 'actions/create_artifact', file)
  expect([status, body.result?.artifact?.fileName]).toEqual([200, 'a.csv'])
})

test('so it does in a channel', async () => {
  const at = await place()
  const channel = await devChannel(app, {}, at.tenantId)
  await linked(app, channel, 'ada', at.personId)
  await crowd(at)
  await postDev(app.url, channel, { text: HELD, thread: 't' })
  await thinking(4)
  await postDev(app.url, channel, { text: '/automation pause-all', thread: 't' })
  const [first, second] = await channelJobs(app, channel)
  expect(second!.conversation_id).toBe(first!.conversation_id)
  expect(await overJob(app, second!.id)).toMatchObject({ status: 'completed' })
  expect(await at.isPaused()).toBe(true)
  expect((await jobOf(app, first!.id)).status).toBe('running')
})

test('the kill switch waits for no call of other commands to a network, however many', async () => {
  const at = await place()
  const hung: { id: string; goOn: (() => void) | undefined }[] = []
  for (let n = 0; n < 5; n++) {
    // Its thought, then its call; the fifth finds no place for that.
    const stopped = n < 4 ? stops.stopNext('agent.claimed', 2) : undefined
    const id = await at.say(`/engagements create --post 185971234567890123${n} --action like`)
    hung.push({ id, goOn: await stopped })
  }
  const waits = () =>
    app.owner`select from work where ref_id = ${hung[4]!.id}
      and payload->'waits_for_place' ? 'agent.typed'`
  await eventually(waits, ({ length }) => length === 1)
  expect(await overJob(app, await at.say('/automation pause-all'))).toMatchObject({
    status: 'completed',
  })
  expect(await at.isPaused()).toBe(true)
  for (const { goOn } of hung) goOn?.()
  for (const { id } of hung) expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
})

test('commands wait for those typed before them until these have been read', async () => {
  const at = await place()
  const stopped = stops.stopNext('agent.claimed')
  const first = await at.say('/automation resume-all')
  const goOn = await stopped
  const second = await at.say('/automation pause-all')
  await eventually(
    async () =>
      (
        await app.owner`select run_at > now() + interval '30 seconds' as later from work
          where ref_id = ${second}`
      )[0]?.later,
    Boolean,
  )
  await untouched(second)
  goOn()
  for (const id of [first, second])
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  // The last word holds.
  expect(await at.isPaused()).toBe(true)
})

test('a conversation and a workspace that have as many open jobs as they may take commands all the same', async () => {
  const at = await place()
  for (let n = 0; n < 20; n++) await at.say(HELD)
  await thinking(1)
  const refused = await at.send('POST', `agent/conversations/${at.id}/messages`, { content: HELD })
  expect([refused.status, refused.body.error.message]).toEqual([429, 'rate_limited:agent_jobs'])
  expect(await overJob(app, await at.say('/automation pause-all'))).toMatchObject({
    status: 'completed',
  })
  expect(await at.isPaused()).toBe(true)
})
