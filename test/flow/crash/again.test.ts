/**
 * C9: a process that dies while it posts again what was in doubt, on a person's word. Up to the
 * claim the next process begins anew, with a read of the timeline: what shows by then is not sent
 * again. From the claim on it is a send like any other.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb, unhurried } from '#test/support/database/db'
import { applyFirstSend, endLeaseAtIntent } from '#test/support/database/writes'
import { postAgain, putInReview } from '#test/support/growth/post-again'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'
import { type Unreliable, unreliable } from '#test/support/growth/unreliable'

const times: SendTimes = { ...sendTimes, settleMs: 50, windowMs: 150 }

interface Point {
  point: string
  failpoint: string
  /** The first post appears after all, before the next process starts. */
  late?: boolean
  outcome: 'posted' | 'review'
  /** Sends of the first process, and of the next. */
  sends: [number, number]
  attempts: string[]
}

const begunAnew = (point: string, failpoint: string): Point[] => [
  { point, failpoint, outcome: 'posted', sends: [1, 1], attempts: ['superseded', 'posted'] },
  { point, failpoint, late: true, outcome: 'posted', sends: [1, 0], attempts: ['posted'] },
]
const superseded = { attempts: ['superseded', 'posted'], outcome: 'posted' } as const
const points: Point[] = [
  ...begunAnew('before the timeline is asked for', 'reconcile.reading'),
  ...begunAnew('when the timeline is read and its answer not brought home', 'reconcile.read'),
  {
    point: 'after the claim and before the send',
    failpoint: 'send.claimed',
    outcome: 'review',
    sends: [1, 0],
    attempts: ['superseded', 'review'],
  },
  {
    point: 'after the claim and before the send',
    failpoint: 'send.claimed',
    late: true,
    sends: [1, 0],
    ...superseded,
    attempts: [...superseded.attempts],
  },
  {
    point: 'when the post stands and its answer is unread',
    failpoint: 'sandbox.applied',
    sends: [2, 0],
    ...superseded,
    attempts: [...superseded.attempts],
  },
  {
    point: 'when the answer is read and not committed',
    failpoint: 'send.sent',
    sends: [2, 0],
    ...superseded,
    attempts: [...superseded.attempts],
  },
  ...begunAnew('between the clean read and its commit', 'reconcile.settling'),
  ...begunAnew('before the claim is committed', 'send.claiming'),
]
const cases = points.map((one) => ({
  ...one,
  name: `${one.point}${one.late ? ', and the first post shows after all' : ''}`,
}))

/**
 * A transaction that stands for seconds is given up, and its process tries again. So the cases that
 * stop within one come last, and all at once, and none gets past the claim. Which of them stops at
 * which of these points is left open: the same is expected of both.
 */
const WITHIN = ['reconcile.settling', 'send.claiming']
const indexes = (is: (one: Point) => boolean) =>
  cases.flatMap((one, index) => (is(one) ? [index] : []))
const without = indexes(({ failpoint }) => !WITHIN.includes(failpoint))
const within = indexes(({ failpoint }) => WITHIN.includes(failpoint))

/**
 * An item whose first send was lost, and that waits for a person; the lease of its attempt is over.
 */
const inReview = async (app: TestApp, story: Story, network: Unreliable): Promise<string> => {
  const id = await story.approved()
  await putInReview(app, story, { network, id })
  // Only the confirmation may cause a read. Between two reads, under the lock that every letter
  // takes, the next one is put off.
  const putOff = () =>
    app.owner.begin(async (sql) => {
      await sql`select 1 from actor where tenant_id = ${story.tenantId} for update`
      return sql`update work set run_at = now() + interval '1 hour' where ref_id = ${id}
        and state = 'queued' returning 1`
    })
  expect(await eventually(putOff, ({ length }) => length === 1)).toHaveLength(1)
  return id
}

/**
 * As if more time had passed between the two processes, in which the first post may have appeared.
 */
const passTime = async (
  { owner }: TestApp,
  { account }: Story,
  { id, late }: { id: string; late: boolean | undefined },
): Promise<void> => {
  if (late) await applyFirstSend({ owner }, account, { id, text: textOf(id) })
  await endLeaseAtIntent({ owner }, id)
  await owner`update work set payload = jsonb_set(payload, '{again,clear,readAt}',
    '"2026-01-01T00:00:00Z"')
    where ref_id = ${id} and payload #> '{again,clear}' is not null`
}

describe('C9, the process dies', () => {
  const world = new AsyncDisposableStack()
  const found = new Map<string, { story: Story; id: string; goOn: () => void }>()
  const networks: Unreliable[] = []
  let next: TestApp

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    const dying = world.use(
      await testApp({
        database: unhurried(options),
        overrides: { times, failpoints: stops.at },
      }),
    )
    networks.push(unreliable(dying))
    const waiting: { name: string; story: Story; id: string }[] = []
    for (const { name } of cases) {
      const story = await newStory(dying)
      waiting.push({ name, story, id: await inReview(dying, story, networks[0]!) })
    }
    const stop = async (index: number) => {
      const { name, story, id } = waiting[index]!
      const stopped = stops.stopNext(cases[index]!.failpoint)
      postAgain(dying, story, id, 'again').catch(() => {})
      found.set(name, { story, id, goOn: await stopped })
    }
    for (const index of without) await stop(index)
    const stopped = within.map(stop)
    stops.stopOthers('send.claiming')
    await Promise.all(stopped)
    await crash(dying)
    for (const { name, late } of cases)
      await passTime(dying, found.get(name)!.story, { id: found.get(name)!.id, late })
    next = world.use(await testApp({ database: options, overrides: { times } }))
    networks.push(unreliable(next))
  })
  afterAll(() => world.disposeAsync())

  const sendsOf = (id: string) =>
    networks.map(({ sent }) => sent.filter((text) => text === textOf(id)).length)

  test.each(cases)('$name', async ({ name, outcome, sends, attempts }) => {
    const { story, id, goOn } = found.get(name)!
    const after = story.at(next)
    const settled = () => after.item(id).then(({ status, review }) => (review ? 'review' : status))
    // A retry under the same key answers with the current item and sends nothing.
    expect([200, 202]).toContain((await postAgain(next, story, id, 'again')).status)
    expect(await eventually(settled, (state) => state === outcome)).toBe(outcome)
    const states = async () =>
      (await next.owner`select state from attempt where item_id = ${id} order by number`).map(
        ({ state }) => state,
      )
    expect(await eventually(states, (now) => now.at(-1) === attempts.at(-1))).toEqual(attempts)
    expect(sendsOf(id)).toEqual(sends as never)
    expect(await after.posts()).toEqual(outcome === 'posted' ? { [textOf(id)]: 1 } : {})
    // If the process was only stopped it goes on now, sends nothing and changes nothing.
    goOn()
    await after.approved()
    expect([sendsOf(id), await settled()]).toEqual([sends, outcome] as never)
    const events = [
      'growth.approval.requested',
      outcome === 'posted' ? 'growth.item.posted' : 'growth.approval.requested',
    ]
    expect(await after.events()).toEqual(events)
  })
})

test('C9, the process dies when the clean read is committed and its claim waits for another send of the account: looked up again', async () => {
  await using db = await freshDb()
  const stops = testStops()
  await using dying = await testApp({
    database: db.options,
    overrides: { times, failpoints: stops.at },
  })
  const story = await newStory(dying)
  const id = await inReview(dying, story, unreliable(dying))
  const stopped = stops.stopNext('send.claimed')
  story.send('POST', `items/${await story.approved()}/post-now`).catch(() => {})
  await stopped
  postAgain(dying, story, id, 'again').catch(() => {})
  const handedOver = () => dying.owner`select 1 from work where ref_id = ${id} and kind = 'send'`
  expect(await eventually(handedOver, ({ length }) => length === 1)).toHaveLength(1)
  await crash(dying)
  await passTime(dying, story, { id, late: true })
  await using next = await testApp({ database: db.options, overrides: { times } })
  const { sent } = unreliable(next)
  const after = story.at(next)
  expect(await after.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect(sent).toEqual([])
  expect(await next.owner`select state from attempt where item_id = ${id}`).toEqual([
    { state: 'posted' },
  ] as never)
  expect(await after.posts()).toEqual({ [textOf(id)]: 1 })
})
