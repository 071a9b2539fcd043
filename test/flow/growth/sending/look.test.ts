/** A person reads the account for a post that may have gone out elsewhere. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { NetworkError, type Timeline } from '#port/network/network'
import { eventually, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { insertSandboxPost, setUsed } from '#test/support/database/writes'
import { act, approvedEngagement, engagementOf } from '#test/support/growth/engagements'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'
import { type Unreliable, unreliable } from '#test/support/growth/unreliable'
import { adoptNow, holdNow } from '#test/support/held'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const app = useApp(() => ({ database: db.options }))
let network: Unreliable
beforeAll(() => {
  network = unreliable(app)
})
const plain = (timeline: Timeline) => timeline
beforeEach(() => {
  network.view = plain
})

const BACKUP = "now() - interval '1 hour'"

/** An approved item that may have gone out elsewhere within the last hour. */
const marked = async (story: Story): Promise<string> => {
  const id = await story.approved()
  await app.owner`update item set restored_as_of = ${app.owner.unsafe(BACKUP)} where id = ${id}`
  return id
}

const markedEngagement = async (story: Story, wish: { action?: string; body?: string }) => {
  const made = await approvedEngagement(app, story, wish)
  await app.owner`update engagement set restored_as_of = ${app.owner.unsafe(BACKUP)}
    where id = ${made.id}`
  return made
}

const look = (story: Story, id: string) => story.send('POST', `items/${id}/look`)

test('while held, what stands there is proposed, and one of it is taken for the post', async () => {
  const story = await newStory(app)
  const [id, other] = [await story.approved(), await story.approved()]
  await holdNow(app, { asOf: new Date() })
  const [there, stranger] = [
    await insertSandboxPost(app, story.account, textOf(id)),
    await insertSandboxPost(app, story.account, 'By hand'),
  ]
  const { status, body } = await look(story, id)
  expect(status).toBe(200)
  expect(body.look).toMatchObject({ complete: true, saw: 'it' })
  expect(body.look.posts).toMatchObject([
    { external_id: stranger, text: 'By hand', is_candidate: false },
    { external_id: there, text: textOf(id), is_candidate: true },
  ])
  expect((await look(story, other)).body.look).toMatchObject({
    saw: 'nothing',
    posts: [{ is_candidate: false }, { is_candidate: false }],
  })
  // Two posts twice: what was taken beyond that was given back.
  expect(await story.used('reads_free')).toBe(4)
  expect(await story.item(id)).toMatchObject({
    status: 'approved',
    restored_as_of: expect.any(String),
  })
  expect(network.sent).not.toContain(textOf(id))
  // The sandbox gives no addresses, but knows its posts by them.
  const url = `https://sandbox.example/status/${there}`
  await story.send('POST', `items/${id}/posted`, { body: { url } })
  expect(await story.item(id)).toMatchObject({ status: 'posted', url, restored_as_of: null })
  await adoptNow(app)
})

test('a post from before the backup is not shown', async () => {
  const story = await newStory(app)
  const id = await marked(story)
  const old = await insertSandboxPost(app, story.account, textOf(id))
  await app.owner`update sandbox.posts set created_at = now() - interval '2 hours' where id = ${old}`
  expect((await look(story, id)).body.look).toMatchObject({ saw: 'nothing', posts: [] })
})

test('a post that another record owns is not taken for it', async () => {
  const story = await newStory(app)
  const id = await marked(story)
  const own = await story.approved('The same words')
  await story.postNow(own)
  await app.owner`update item set body = 'The same words' where id = ${id}`
  expect((await look(story, id)).body.look).toMatchObject({
    saw: 'nothing',
    posts: [{ text: 'The same words', is_candidate: false }],
  })
})

describe('engagements', () => {
  const lookAt = async (story: Story, id: string) => (await act(story, id, 'look')).body.look

  test('a reply is looked for among the answers of the account to its post', async () => {
    const story = await newStory(app)
    const { id, post } = await markedEngagement(story, { body: 'We call first.' })
    await insertSandboxPost(app, story.account, 'We call first.')
    expect(await lookAt(story, id)).toMatchObject({ saw: 'nothing', posts: [{}] })
    await app.owner`insert into sandbox.posts (account_id, text, in_reply_to)
      values (${story.account}, 'We call first.', ${post})`
    expect(await lookAt(story, id)).toMatchObject({
      saw: 'it',
      posts: [{ is_candidate: true }, { is_candidate: false }],
    })
  })

  test('a like is looked up at its post', async () => {
    const story = await newStory(app)
    const { id, post } = await markedEngagement(story, { action: 'like' })
    expect(await lookAt(story, id)).toMatchObject({ saw: 'nothing', complete: true, posts: [] })
    await app.owner`insert into sandbox.reactions (account_id, post_id, kind)
      values (${story.account}, ${post}, 'like')`
    expect(await lookAt(story, id)).toMatchObject({ saw: 'it', complete: true, posts: [] })
    expect(await engagementOf(story, id)).toMatchObject({ status: 'approved' })
  })
})

describe('refused, with nothing lost', () => {
  const refusalOf = async (story: Story, id: string) => {
    const { status, body, headers } = await look(story, id)
    return { status, ...body.error, after: headers.get('retry-after') }
  }

  test('where nothing waits for a decision, and in another workspace', async () => {
    const [story, stranger] = [await newStory(app), await newStory(app)]
    expect(await refusalOf(story, await story.approved())).toMatchObject({
      status: 409,
      reason: 'wrong_state',
      message: expect.stringContaining('does not wait for a decision'),
    })
    const id = await marked(story)
    expect(await refusalOf(stranger, id)).toMatchObject({ status: 404, message: 'no such item' })
    expect(await story.used('reads_free')).toBe(0)
  })

  test.each([
    [
      'asks to wait',
      () => new NetworkError('rate_limited', 'wait', 30_000),
      429,
      'rate_limited:network',
      '30',
    ],
    [
      'is away',
      () => new NetworkError('unreachable', 'gone'),
      502,
      'network_error:unreachable',
      null,
    ],
    [
      'lets the account in no more',
      () => new NetworkError('disconnected', 'revoked'),
      502,
      'network_error:disconnected',
      null,
    ],
    ['is misread', () => new TypeError('a mistake'), 502, 'network_error:bad_answer', null],
  ])('where the network %s', async (_, failure, status, message, after) => {
    const story = await newStory(app)
    const id = await marked(story)
    network.view = () => Promise.reject(failure())
    expect(await refusalOf(story, id)).toMatchObject({ status, message, after })
    expect(await story.used('reads_free')).toBe(0)
    network.view = plain
    expect((await look(story, id)).status).toBe(200)
  })

  test('where no account is connected, or another one', async () => {
    const story = await newStory(app)
    const id = await marked(story)
    await app.owner`update connection set status = 'disconnected', is_default = false
      where tenant_id = ${story.tenantId}`
    expect(await refusalOf(story, id)).toMatchObject({ status: 400, code: 'x_not_connected' })
  })

  test('where the day has no reads left; with a few left, it takes those', async () => {
    const story = await newStory(app)
    const id = await marked(story)
    const today = new Date().toISOString().slice(0, 10)
    for (const text of ['one', 'two', 'three']) await insertSandboxPost(app, story.account, text)
    const { limit, reserved } = (await story.send('GET', 'connection')).body.connection.reads
    const used = (amount: number) =>
      setUsed(app, story.tenantId, { key: 'reads_free', used: amount, period: today })
    await used(limit - reserved)
    expect(await refusalOf(story, id)).toMatchObject({
      status: 429,
      code: 'x_read_budget_exhausted',
    })
    await used(limit - reserved - 1)
    expect((await look(story, id)).body.look.posts).toHaveLength(3)
    expect(await story.used('reads_free')).toBe(limit - reserved + 2)
  })
})

test('of a timeline that was not read to its end, what it showed is told as that', async () => {
  const story = await newStory(app)
  const id = await marked(story)
  await insertSandboxPost(app, story.account, textOf(id))
  network.view = (timeline) => ({ ...timeline, complete: false })
  expect((await look(story, id)).body.look).toMatchObject({
    complete: false,
    saw: 'it',
    posts: [{ is_candidate: true }],
  })
  expect(await story.used('reads_free')).toBe(1)
})

test('two people at once: of one post both see the same; for another, one is told to wait', async () => {
  const [story, other] = [await newStory(app), await newStory(app)]
  const [id, second, elsewhere] = [await marked(story), await marked(story), await marked(other)]
  const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let reads = 0
  network.view = async (timeline, { externalId }) => {
    reads++
    if (externalId !== story.account) return timeline
    begun.resolve()
    await done.promise
    return timeline
  }
  const first = [look(story, id), look(story, id)]
  await begun.promise
  expect(await look(story, second)).toMatchObject({
    status: 429,
    body: { error: { code: 'rate_limited', message: 'rate_limited:looks' } },
  })
  expect((await look(other, elsewhere)).status).toBe(200)
  // Somebody decides meanwhile: what was read is still told.
  await story.send('POST', `items/${id}/reopen`)
  done.resolve()
  const [one, another] = await Promise.all(first)
  expect([one!.status, another!.text]).toEqual([200, one!.text])
  // Each workspace's account once.
  expect(reads).toBe(2)
  network.view = plain
  expect((await look(story, second)).status).toBe(200)
  expect(await story.used('reads_free')).toBe(0)
})

test('a repeat under its Idempotency-Key gets the answer of the first', async () => {
  const story = await newStory(app)
  const id = await marked(story)
  const once = () =>
    story.send('POST', `items/${id}/look`, { headers: { 'idempotency-key': 'look' } })
  const { text } = await once()
  await insertSandboxPost(app, story.account, textOf(id))
  expect((await once()).text).toBe(text)
})

test('a server that dies while it reads leaves nothing but the reads it took', async () => {
  await using dying = await testApp({ database: db.options })
  const there = await newStory(dying)
  const id = await marked(there)
  await insertSandboxPost(app, there.account, textOf(id))
  const [begun, never] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  unreliable(dying).view = async (timeline) => {
    begun.resolve()
    await never.promise
    return timeline
  }
  const lost = look(there, id).catch(() => {})
  await begun.promise
  expect(await there.used('reads_free')).toBe(100)
  await crash(dying)
  const here = there.at(app)
  const again = await eventually(
    () => look(here, id),
    ({ status }) => status !== 503,
  )
  expect(again.body.look).toMatchObject({ saw: 'it', complete: true })
  expect(await here.used('reads_free')).toBe(101)
  expect(await here.works(id)).toEqual([])
  never.resolve()
  await lost
  expect(await here.used('reads_free')).toBe(101)
})
