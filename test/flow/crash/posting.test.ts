/**
 * A process dies at each point of sending a manual or a scheduled post. The network never has more
 * than one post, and the outcome is found out; what cannot be found out goes to review.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { testStops } from '#test/support/actors/stops'
import { eventually, type Reply, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { openWire, type Wire } from '#test/support/database/lost-commit'
import { endLeases } from '#test/support/database/writes'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'

/** A send may begin in the first two seconds of its lease. */
const times: SendTimes = {
  ...sendTimes,
  leaseMs: 2_600,
  deadlineMs: 500,
  marginMs: 100,
  settleMs: 50,
  windowMs: 150,
}

const postNow = (story: Story, id: string) =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': 'post it' } })
const decided = (story: Story, id: string) =>
  eventually(
    () => story.item(id),
    ({ status, review }) => status === 'posted' || review,
  )

const modes = ['post-now', 'schedule'] as const
type Mode = (typeof modes)[number]

interface AwaitedResult {
  id: string
  /** The answer to post-now. */
  asked?: Promise<Reply<{ item: { id: string; status: string } }>>
}

const begin = async (story: Story, mode: Mode): Promise<AwaitedResult> => {
  if (mode === 'schedule') return { id: await story.scheduled(0) }
  const id = await story.approved()
  return { id, asked: postNow(story, id) }
}

type Outcome = 'posted' | 'review'

const stateOf = ({ status, review }: { status: string; review: boolean }): string =>
  review ? 'review' : status

/** Where the process dies, what the next one makes of it, and how often the post stands then. */
const points: [point: string, failpoint: string, outcome: Outcome, posts: number][] = [
  ['C4, when the answer is read and not committed', 'send.sent', 'posted', 1],
  ['C3, when the post stands and its answer is unread', 'sandbox.applied', 'posted', 1],
  ['C2, while the request is on its way', 'sandbox.received', 'review', 0],
  ['C1, after the claim and before the send', 'send.claimed', 'review', 0],
  // The last one, because it stops inside a transaction, which the database soon cancels.
  ['C0, before the claim is committed', 'send.claiming', 'posted', 1],
]
const cases = points.flatMap(([point, failpoint, outcome, posts]) =>
  modes.map((mode) => ({
    name: `${point}: ${mode} → ${outcome}`,
    failpoint,
    outcome,
    posts,
    mode,
  })),
)

describe('a process that dies', () => {
  const world = new AsyncDisposableStack()
  const found = new Map<
    string,
    { story: Story; id: string; firstAnswer: number | undefined; goOn: () => void }
  >()

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    // With the real durations: nothing may time out before the process dies, however long it takes
    // to bring all to their places.
    const dying = world.use(
      await testApp({ database: options, overrides: { failpoints: stops.at } }),
    )
    const begun: { name: string; story: Story; begun: AwaitedResult; goOn: () => void }[] = []
    for (const { name, failpoint, mode } of cases) {
      const story = await newStory(dying)
      const stopped = stops.stopNext(failpoint)
      const one = await begin(story, mode)
      begun.push({ name, story, begun: one, goOn: await stopped })
    }
    await crash(dying)
    await endLeases(dying)
    const next = world.use(await testApp({ database: options, overrides: { times } }))
    for (const {
      name,
      story,
      goOn,
      begun: { id, asked },
    } of begun)
      found.set(name, { story: story.at(next), id, firstAnswer: (await asked)?.status, goOn })
  })
  afterAll(() => world.disposeAsync())

  test.each(cases)('$name', async ({ name, failpoint, outcome, posts, mode }) => {
    const { story, id, firstAnswer, goOn } = found.get(name)!
    const times = (count: number) => (count === 1 ? { [textOf(id)]: 1 } : {})
    expect(firstAnswer).toBe(mode === 'post-now' ? 503 : undefined)
    if (mode === 'post-now') expect([200, 202]).toContain((await postNow(story, id)).status)
    expect(stateOf(await decided(story, id))).toBe(outcome)
    expect(await story.posts()).toEqual(times(posts))
    expect(await story.events()).toEqual([
      outcome === 'posted' ? 'growth.item.posted' : 'growth.approval.requested',
    ])
    if (mode === 'post-now') {
      const again = await postNow(story, id)
      expect([again.status, stateOf(again.body.item)]).toEqual([
        outcome === 'posted' ? 200 : 202,
        outcome,
      ])
    }
    // If the process was only stopped it goes on now and does not send. The network may still apply
    // what it has received.
    goOn()
    const onTheWire = failpoint === 'sandbox.received'
    if (onTheWire) expect(stateOf(await story.settled(id, 'posted'))).toBe('posted')
    expect(await story.posts()).toEqual(times(onTheWire ? 1 : posts))
  })
})

test('a claim that is held up too long is not sent late but made again', async () => {
  const stops = testStops()
  await using app = await testApp({ overrides: { times, failpoints: stops.at } })
  const story = await newStory(app)
  const stopped = stops.stopNext('send.claimed')
  const { id, asked } = await begin(story, 'post-now')
  const goOn = await stopped
  const age = async () =>
    (
      await app.owner`select now() - intent_at > '2050 ms' as old from attempt
        where item_id = ${id}`
    )[0]!.old
  await eventually(age, (old) => old)
  goOn()
  expect((await asked)?.body.item.status).toBe('posted')
  const attempts = await app.owner`select state from attempt where item_id = ${id} order by number`
  expect(attempts.map(({ state }) => state)).toEqual(['unsent', 'posted'])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('an outcome that the database first refuses is delivered again and leaves no doubt', async () => {
  await using app = await testApp({ overrides: { times, replyWithinMs: 60_000 } })
  const story = await newStory(app)
  // A sequence keeps its count when the transaction is rolled back.
  await app.owner`create sequence tries`
  await app.owner`create function refuse() returns trigger language plpgsql security definer as $$
    begin
    if new.state = 'posted' and nextval('public.tries') = 1
      then raise exception 'the disk is full'; end if; return new; end $$`
  await app.owner`create trigger refuse before update on attempt for each row execute function
    refuse()`
  const { id, asked } = await begin(story, 'post-now')
  expect((await asked)?.body.item.status).toBe('posted')
  const attempts = await app.owner`select state, doubt_at from attempt where item_id = ${id}`
  expect([...attempts]).toEqual([{ state: 'posted', doubt_at: null }])
  expect(await app.owner`select last_value::int as tries from tries`).toMatchObject([{ tries: 2 }])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

/**
 * C5: the commit is written and its news is lost. Where the letter is held, or the lane before it,
 * until the wire is ready.
 */
const lostCommits: [letter: string, failpoint: string, outcome: Outcome, posts: number][] = [
  ['the outcome', 'send.sent', 'posted', 1],
  ['the claim', 'send.claiming', 'review', 0],
]
const losses = lostCommits.flatMap(([letter, failpoint, outcome, posts]) =>
  modes.map((mode) => ({
    name: `of the commit of ${letter}: ${mode} → ${outcome}`,
    failpoint,
    outcome,
    posts,
    mode,
  })),
)

describe('C5, the answer to a commit is lost', () => {
  const world = new AsyncDisposableStack()
  const found = new Map<string, { story: Story; begun: AwaitedResult }>()
  let app: TestApp
  let wire: Wire

  beforeAll(async () => {
    wire = world.use(await openWire(world.use(await freshDb()).options))
    const stops = testStops()
    app = world.use(
      await testApp({
        database: wire.options,
        overrides: { times, failpoints: stops.at, replyWithinMs: 60_000 },
      }),
    )
    for (const { name, failpoint, mode } of losses) {
      const story = await newStory(app)
      const stopped = stops.stopNext(failpoint)
      const begun = await begin(story, mode)
      const goOn = await stopped
      const lost = wire.loseCommitOf(begun.id)
      goOn()
      await lost
      found.set(name, { story, begun })
    }
  })
  afterAll(() => world.disposeAsync())

  test.each(losses)('$name', async ({ name, outcome, posts }) => {
    const {
      story,
      begun: { id, asked },
    } = found.get(name)!
    expect(stateOf(await decided(story, id))).toBe(outcome)
    if (outcome === 'review') await story.send('POST', `items/${id}/posted`)
    if (asked)
      expect(await asked).toMatchObject({ status: 200, body: { item: { id, status: 'posted' } } })
    if (asked) expect((await postNow(story, id)).headers.get('idempotency-replayed')).toBe('true')
    expect(await story.posts()).toEqual(posts === 1 ? { [textOf(id)]: 1 } : {})
    expect(await app.owner`select 1 from attempt where item_id = ${id}`).toHaveLength(1)
  })

  test('of the commit of the request: 503, posted once, and the same key gets the answer', async () => {
    const story = await newStory(app)
    const id = await story.approved()
    const lost = wire.loseCommitOf(id)
    const asked = await postNow(story, id)
    await lost
    expect(asked.status).toBe(503)
    expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
    const replay = await postNow(story, id)
    expect([
      replay.status,
      replay.body.item.status,
      replay.headers.get('idempotency-replayed'),
    ]).toEqual([200, 'posted', 'true'])
    expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  })
})
