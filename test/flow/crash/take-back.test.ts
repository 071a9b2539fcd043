/**
 * A process dies, or a connection, while a person takes back a send that is claimed and not yet on
 * its way: a post, or a reply. Whatever the person was told, the network has the text at most once,
 * and not after the answer that it was taken back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { type Stops, testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { openWire } from '#test/support/database/lost-commit'
import { endLeases } from '#test/support/database/writes'
import { othersPost } from '#test/support/growth/records'
import { crash, newStory, type Story } from '#test/support/growth/story'

const times: SendTimes = {
  ...sendTimes,
  leaseMs: 2_600,
  deadlineMs: 500,
  marginMs: 100,
  settleMs: 50,
  windowMs: 150,
}

const kinds = ['item', 'engagement'] as const
type Kind = (typeof kinds)[number]

/** Makes an approved record and asks for its send; gives its id. */
const asked: Record<Kind, (app: TestApp, story: Story) => Promise<string>> = {
  item: (_, story) => story.scheduled(0),
  async engagement(app, story) {
    const post = await othersPost({ app })
    const { body } = await story.send('POST', 'engagements', {
      body: { post, action: 'reply', body: 'We call first.' },
    })
    const { id } = body.engagement
    await story.send('POST', `engagements/${id}/approve`)
    void story.send('POST', `engagements/${id}/execute`)
    return id
  },
}

interface Held {
  kind: Kind
  id: string
  /** Lets the send go on. */
  goOn: () => void
}

/** A record whose send is claimed and held up. */
const claimed = async (
  app: TestApp,
  story: Story,
  { kind, stops }: { kind: Kind; stops: Stops },
): Promise<Held> => {
  const stopped = stops.stopNext('send.claimed')
  const id = await asked[kind](app, story)
  return { kind, id, goOn: await stopped }
}

const reopen = (story: Story, { kind, id }: Held, key = 'take it back') =>
  story.send('POST', `${kind}s/${id}/reopen`, { headers: { 'idempotency-key': key } })
const read = async (story: Story, { kind, id }: Held) =>
  (await story.send('GET', `${kind}s/${id}`)).body[kind]
const attemptsOf = async ({ owner }: TestApp, { id }: Held) =>
  (
    await owner`select state from attempt where ${id} in (item_id, engagement_id) order by number`
  ).map(({ state }) => state)

describe('a process that dies', () => {
  const world = new AsyncDisposableStack()
  let [dying, next]: TestApp[] = []
  interface Left extends Held {
    story: Story
    status: number
  }
  const left: Record<string, Left> = {}

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    dying = world.use(await testApp({ database: options, overrides: { failpoints: stops.at } }))
    const after: Left[] = []
    for (const kind of kinds) {
      const story = await newStory(dying)
      const held = await claimed(dying, story, { kind, stops })
      after.push({ ...held, story, status: (await reopen(story, held)).status })
    }
    const held: (Held & { story: Story })[] = []
    for (const kind of kinds) {
      const story = await newStory(dying)
      held.push({ ...(await claimed(dying, story, { kind, stops })), story })
    }
    // One after the other, and last: each stops inside a transaction, which the database soon
    // cancels.
    const before: {
      one: Held & { story: Story }
      answer: ReturnType<typeof reopen>
      goOn: () => void
    }[] = []
    for (const one of held) {
      const stopped = stops.stopNext(`letter.deciding:growth.${one.kind}s.reopen`)
      const answer = reopen(one.story, one)
      before.push({ one, answer, goOn: await stopped })
    }
    await crash(dying)
    await endLeases(dying)
    next = world.use(await testApp({ database: options, overrides: { times } }))
    for (const { one, answer, goOn } of before) {
      goOn()
      left[`${one.kind} before`] = {
        ...one,
        story: one.story.at(next),
        status: (await answer).status,
      }
    }
    for (const one of after) left[`${one.kind} after`] = { ...one, story: one.story.at(next) }
  })
  afterAll(() => world.disposeAsync())

  test.each(kinds)(
    'between the recall and its commit: nobody was told so, nothing is sent, and a person looks (%s)',
    async (kind) => {
      const one = left[`${kind} before`]!
      expect(one.status).toBe(503)
      one.goOn()
      await eventually(
        () => read(one.story, one),
        ({ review }) => review,
      )
      expect((await reopen(one.story, one)).status).toBe(409)
      expect([await one.story.posts(), await attemptsOf(next!, one)]).toEqual([{}, ['review']])
    },
  )

  test.each(kinds)(
    'after the commit: it is a draft, and the held lane sends nothing (%s)',
    async (kind) => {
      const one = left[`${kind} after`]!
      expect(one.status).toBe(200)
      one.goOn()
      const again = await reopen(one.story, one)
      expect([
        again.status,
        again.body[kind].status,
        again.headers.get('idempotency-replayed'),
      ]).toEqual([200, 'drafted', 'true'])
      expect([await one.story.posts(), await attemptsOf(next!, one)]).toEqual([{}, ['unsent']])
    },
  )
})

test('a commit that was not heard of: 503, and the same key and another request find the draft', async () => {
  await using db = await freshDb()
  await using wire = await openWire(db.options)
  const stops = testStops()
  await using app = await testApp({
    database: wire.options,
    overrides: { times, failpoints: stops.at },
  })
  for (const kind of kinds) {
    const story = await newStory(app)
    const held = await claimed(app, story, { kind, stops })
    const lost = wire.loseCommitOf(held.id)
    const answer = reopen(story, held)
    await lost
    expect((await answer).status).toBe(503)
    held.goOn()
    expect((await read(story, held)).status).toBe('drafted')
    const replayed = await reopen(story, held)
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect((await reopen(story, held, 'again')).status).toBe(200)
    expect([await story.posts(), await attemptsOf(app, held)]).toEqual([{}, ['unsent']])
  }
})

test('a send that another process claimed is not taken back', async () => {
  await using db = await freshDb()
  const stops = testStops()
  await using dying = await testApp({ database: db.options, overrides: { failpoints: stops.at } })
  const held: (Held & { story: Story })[] = []
  for (const kind of kinds) {
    const story = await newStory(dying)
    held.push({ ...(await claimed(dying, story, { kind, stops })), story })
  }
  await crash(dying)
  await using next = await testApp({
    database: db.options,
    overrides: { times: { ...times, settleMs: 3_600_000 } },
  })
  for (const { story: before, ...one } of held) {
    const story = before.at(next)
    expect((await reopen(story, one)).status).toBe(409)
    one.goOn()
    await eventually(
      () => read(story, one),
      ({ status }) => status.endsWith('_unconfirmed'),
    )
    expect(await story.posts()).toEqual({})
  }
})
