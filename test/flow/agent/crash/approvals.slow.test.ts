/**
 * A12, A13: a process dies when something was asked of a person, and when the person has decided;
 * and what a person decides after a doubt.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, stoppableJobs } from '#test/support/agent/outside-tool'
import type { Plan } from '#test/support/agent/plan'
import { ask, endOf, newAgentStory } from '#test/support/agent/story'
import { useSuccession } from '#test/support/agent/succession'
import { eventually, type TestApp } from '#test/support/app'
import { insertItem } from '#test/support/database/writes'
import { crash } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'

const { stops, sent, overrides } = stoppableJobs()
const processes = useSuccession({ overrides })

const asked = async ({ owner }: TestApp, jobId: string) => {
  const rows = () =>
    owner<
      { id: string; why: string[] }[]
    >`select id, why from agent_approval where job_id = ${jobId} and status = 'pending'`
  return (await eventually(rows, ({ length }) => length > 0))[0]!
}
const decide = async (app: TestApp, tenantId: string, id: string, how: 'approve' | 'reject') =>
  app.send('POST', `/api/v1/agent/approvals/${id}/${how}`, {
    key: await tokenOf(app, tenantId),
    body: {},
  })

interface Doubt {
  how: 'approve' | 'reject' | undefined
  isCalledOff?: true
  /** Somebody approves the item itself. */
  isOvertaken?: true
  /** How the item and the call end. */
  ends: { status: string; state: string }
}

const doubts: Record<string, Doubt> = {
  'A12 and A13, before and after a person approves: asked once, and done as decided': {
    how: 'approve',
    ends: { status: 'approved', state: 'done' },
  },
  'A12 and A13, before and after a person rejects: asked once, and done as decided': {
    how: 'reject',
    ends: { status: 'drafted', state: 'rejected' },
  },
  'A12 and A13, before and after a person approves the item itself: not asked any more': {
    how: undefined,
    isOvertaken: true,
    ends: { status: 'approved', state: 'rejected' },
  },
  'called off at A12, when it is asked: it is not done': {
    how: undefined,
    isCalledOff: true,
    ends: { status: 'drafted', state: 'cancelled' },
  },
  'called off at A13, when it is approved and not claimed: it is not done': {
    how: 'approve',
    isCalledOff: true,
    ends: { status: 'drafted', state: 'cancelled' },
  },
  'called off at A13, when it is rejected and not claimed: it is not done': {
    how: 'reject',
    isCalledOff: true,
    ends: { status: 'drafted', state: 'rejected' },
  },
}

/** A job asks whether an item may be approved. */
const askWhether = async (app: TestApp) => {
  const story = await newAgentStory(app)
  const item = await insertItem(app, story.tenantId)
  const id = await ask(app, story, [[['growth_approve_item', { id: item }]]])
  return { story, item, id, approval: await asked(app, id) }
}
type Asked = Awaited<ReturnType<typeof askWhether>>

/** Decides at a process that claims nothing. */
const decideOn = async (app: TestApp, { how, isCalledOff, isOvertaken }: Doubt, one: Asked) => {
  const { story, id, item, approval } = one
  if (isOvertaken) {
    const done = await app.send('POST', `items/${item}/approve`, { key: story.key })
    expect(done.status).toBe(200)
  }
  if (how) expect((await decide(app, story.tenantId, approval.id, how)).status).toBe(200)
  if (!isCalledOff) return
  const { body } = await app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })
  expect(body.job.status).toBe('cancelled')
  expect((await decide(app, story.tenantId, approval.id, 'approve')).status).toBe(
    how === 'approve' ? 200 : 409,
  )
}

describe('a process that dies, and another one that dies once a person has decided', () => {
  const found = new Map<string, Asked>()

  beforeAll(async () => {
    for (const name of Object.keys(doubts)) found.set(name, await askWhether(processes.running))
    await processes.die({ lanes: [] })
    for (const [name, one] of found) await decideOn(processes.running, doubts[name]!, one)
    await processes.die()
  })

  test.each(Object.entries(doubts))('%s', async (name, doubt) => {
    const { how, isCalledOff, isOvertaken, ends } = doubt
    const { story, item, id, approval } = found.get(name)!
    const steps = ['model done', `growth_approve_item ${ends.state}`]
    if (isCalledOff) {
      const other = await ask(processes.running, story, [])
      expect(await overJob(processes.running, other)).toMatchObject({ status: 'completed' })
      expect(await endOf(processes.running, id)).toEqual({
        status: 'cancelled',
        error: null,
        steps,
      })
    } else {
      expect(await overJob(processes.running, id)).toMatchObject({
        status: 'completed',
        model_calls: 2,
      })
      expect((await endOf(processes.running, id)).steps).toEqual([...steps, 'model done'])
      const again = await decide(processes.running, story.tenantId, approval.id, how ?? 'approve')
      expect(again.status).toBe(isOvertaken ? 409 : 200)
    }
    expect(await processes.running.owner`select status from item where id = ${item}`).toEqual([
      { status: ends.status },
    ] as never)
  })

  test('and nothing is left open, or told twice', async () => {
    for (const { id } of found.values()) await overJob(processes.running, id)
    expect(await brokenInvariants(processes.running.owner)).toEqual([])
  })
})

test('a call equal to one that may have happened is asked of a person, whatever the rule for the tool says', async () => {
  const story = await newAgentStory(processes.running)
  const call: Plan[number] = [[OUTSIDE, { text: story.tenantId }]]
  const stopped = stops.stopNext('test.sent')
  const id = await ask(processes.running, story, [call, call])
  const goOn = await stopped
  const next = await processes.die()
  const { id: approval, why } = await asked(next, id)
  expect(why).toEqual(['an equal call may have happened already'])
  expect(sent.filter((text) => text === story.tenantId)).toHaveLength(1)
  expect((await decide(next, story.tenantId, approval, 'approve')).status).toBe(200)
  await overJob(next, id)
  expect((await endOf(next, id)).steps).toEqual([
    'model done',
    `${OUTSIDE} unknown`,
    'model done',
    `${OUTSIDE} done`,
    'model done',
  ])
  expect(sent.filter((text) => text === story.tenantId)).toHaveLength(2)
  goOn()
})

test('a call of the model whose process dies three times is given up, and nothing of the job is left open', async () => {
  const story = await newAgentStory(processes.running)
  const stopped = stops.stopNext('agent.claimed')
  const id = await ask(processes.running, story, [])
  let goOn = await stopped
  for (let deaths = 1; deaths <= 3; deaths++) {
    const again = deaths < 3 ? stops.stopNext('agent.claimed') : undefined
    await crash(processes.running)
    goOn()
    await processes.start()
    if (again) goOn = await again
  }
  expect(await overJob(processes.running, id)).toMatchObject({
    status: 'failed',
    error: 'enqueue_failed',
  })
  expect((await endOf(processes.running, id)).steps).toEqual(['model failed'])
  expect(await brokenInvariants(processes.running.owner)).toEqual([])
})
