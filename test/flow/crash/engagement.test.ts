/** A process dies at each point of sending an engagement: the network never has more than one. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { endLeases } from '#test/support/database/writes'
import {
  act,
  approvedEngagement,
  draftedEngagement,
  engagementOf,
} from '#test/support/growth/engagements'
import { crash, newStory, type Story } from '#test/support/growth/story'

const times: SendTimes = {
  ...sendTimes,
  leaseMs: 2_600,
  deadlineMs: 500,
  marginMs: 100,
  settleMs: 50,
  windowMs: 150,
}

/** `approve`: with `execute`, which sends as well. */
type Verb = 'execute' | 'approve'
const send = (story: Story, id: string, verb: Verb) =>
  act(story, id, verb, {
    headers: { 'idempotency-key': 'do it' },
    body: verb === 'approve' ? { body: 'We call before we come.', execute: true } : {},
  })
const decided = (story: Story, id: string) =>
  eventually(
    () => engagementOf(story, id),
    ({ status, review }) => status === 'executed' || review,
  )

const onNetwork = async ({ owner }: TestApp, post: string): Promise<number> => {
  const [row] = await owner<
    { count: number }[]
  >`select (select count(*) from sandbox.posts where in_reply_to = ${post})::int
    + (select count(*) from sandbox.reactions where post_id = ${post})::int as count`
  return row!.count
}

const points: [
  point: string,
  failpoint: string,
  outcome: 'executed' | 'review',
  onNetwork: number,
][] = [
  ['the answer is read and not committed', 'send.sent', 'executed', 1],
  ['it stands and its answer is unread', 'sandbox.applied', 'executed', 1],
  ['the request is on its way', 'sandbox.received', 'review', 0],
  ['it is claimed and not sent', 'send.claimed', 'review', 0],
  // The last one, because it stops inside a transaction, which the database soon cancels.
  ['the claim is not committed', 'send.claiming', 'executed', 1],
]
const sends: [action: string, verb: Verb][] = [
  ['reply', 'execute'],
  ['like', 'execute'],
  ['reply', 'approve'],
]
const cases = points.flatMap(([point, failpoint, outcome, count]) =>
  sends.map(([action, verb]) => ({
    name: `${verb} a ${action}: ${point} → ${outcome}`,
    failpoint,
    outcome,
    count,
    action,
    verb,
  })),
)

describe('a process that dies', () => {
  const world = new AsyncDisposableStack()
  let next: TestApp
  const found = new Map<
    string,
    { story: Story; id: string; post: string; firstAnswer: number; goOn: () => void }
  >()

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    const dying = world.use(
      await testApp({ database: options, overrides: { failpoints: stops.at } }),
    )
    const begun: {
      name: string
      story: Story
      id: string
      post: string
      asked: ReturnType<typeof send>
      goOn: () => void
    }[] = []
    for (const { name, failpoint, action, verb } of cases) {
      const story = await newStory(dying)
      const make = verb === 'approve' ? draftedEngagement : approvedEngagement
      const one = await make(dying, story, { action })
      const stopped = stops.stopNext(failpoint)
      const asked = send(story, one.id, verb)
      begun.push({ name, story, ...one, asked, goOn: await stopped })
    }
    await crash(dying)
    await endLeases(dying)
    next = world.use(await testApp({ database: options, overrides: { times } }))
    for (const { name, story, asked, ...one } of begun)
      found.set(name, { story: story.at(next), ...one, firstAnswer: (await asked).status })
  })
  afterAll(() => world.disposeAsync())

  test.each(cases)('$name', async ({ name, failpoint, outcome, count, verb }) => {
    const { story, id, post, firstAnswer, goOn } = found.get(name)!
    expect(firstAnswer).toBe(503)
    expect([200, 202]).toContain((await send(story, id, verb)).status)
    const { status, review } = await decided(story, id)
    expect(review ? 'review' : status).toBe(outcome)
    expect(await onNetwork(next, post)).toBe(count)
    expect((await send(story, id, verb)).status).toBe(outcome === 'executed' ? 200 : 202)
    // If the process was only stopped it goes on now and does not send. The network may still apply
    // what it has received.
    goOn()
    const onTheWire = failpoint === 'sandbox.received'
    if (onTheWire)
      await eventually(
        () => engagementOf(story, id),
        (one) => one.status === 'executed',
      )
    expect(await onNetwork(next, post)).toBe(onTheWire ? 1 : count)
  })
})
