/** A 5xx of a network that promises how late it may still apply it: the doubt ends by itself, once, and never in a second post. */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { NetworkError, type PublishResult } from '#port/network/network'
import { eventually } from '#test/support/app'
import { asPerson } from '#test/support/session'
import { newStory, type Story, textOf } from '#test/support/story'
import { type Loss, lostRequest, type Unreliable, unreliable } from '#test/support/unreliable'
import { useApp } from '#test/support/use'
import { endLeaseAtIntent, insertSandboxPost, makeDue } from '#test/support/writes'

const times: SendTimes = { ...sendTimes, settleMs: 20, windowMs: 80 }
const REASON = 'network_error_not_posted'

let network: Unreliable
const app = useApp({ overrides: { times } })
beforeAll(() => {
  network = unreliable(app)
})
afterEach(() => {
  network.view = (timeline) => timeline
})

const serverError: PublishResult = { kind: 'unknown', reason: '503', cause: 'server_error' }
/** The network answers 5xx and does not apply the request. */
const refused: Loss = async () => serverError
/** It answers 5xx and has applied the request. */
const applied: Loss = async (deliver) => {
  await deliver()
  return serverError
}

const postNow = (story: Story, id: string, key = 'post it') =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': key } })
const attempts = async (id: string): Promise<string[]> =>
  (await app.owner`select state from attempt where item_id = ${id} order by number`).map(({ state }) => state)
const sends = (text: string): number => network.sent.filter((one) => one === text).length
/** Requests the post and returns once the item is in doubt, for the answer may take long. */
const postUntilDoubt = async (story: Story, id: string, key?: string) => {
  const pending = postNow(story, id, key)
  return { pending, item: await story.settled(id, 'publish_unconfirmed') }
}
/** Reads of timelines wait until it is disposed of, so that none ends a doubt before a test has seen it. */
const heldReads = (): Disposable => {
  const { view } = network
  const { promise, resolve } = Promise.withResolvers<void>()
  network.view = async (timeline, account) => {
    await promise
    return view(timeline, account)
  }
  return {
    [Symbol.dispose]() {
      network.view = view
      resolve()
    },
  }
}
const decided = (story: Story, id: string) =>
  eventually(
    () => story.item(id),
    ({ status, review }) => status === 'approved' || status === 'posted' || review,
  )
/** Skips the wait for the next read of a returned post, which is watched for a day. */
const readNow = (id: string) => makeDue(app, id, { kind: 'reconcile' })
/** The watch over a returned post rests, so that a test decides what reads the timeline next. */
const restWatch = (id: string) =>
  eventually(
    () =>
      app.owner`update work set run_at = now() + interval '1 hour' where ref_id = ${id} and kind = 'reconcile' and state = 'queued' returning id`,
    (rested) => rested.length === 1,
  )
const wake = (story: Story) => story.send('POST', 'automation/resume-all')

/** An item that got a 5xx, was never posted, and is approved again by itself. */
const returned = async (story: Story): Promise<string> => {
  const id = await story.approved()
  network.answers.set(textOf(id), refused)
  const reply = await postNow(story, id)
  expect([reply.status, reply.body.error?.code]).toEqual([502, 'network_error'])
  return id
}

test('a 5xx that posted nothing returns the item to approved, unscheduled and with its key free; only a new request sends it', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), refused)
  const held = heldReads()
  const { pending, item: doubtful } = await postUntilDoubt(story, id)
  held[Symbol.dispose]()
  expect(doubtful).toMatchObject({ status: 'publish_unconfirmed', review: false, last_error: '503' })
  expect(doubtful.doubt).toEqual({ cause: 'server_error', resolves: 'by_itself', next_read_at: expect.any(String) })
  const reply = await pending
  expect([reply.status, reply.body.error?.code]).toEqual([502, 'network_error'])
  expect(await story.item(id)).toMatchObject({ status: 'approved', post_at: null, last_error: REASON, doubt: null })
  expect([await attempts(id), sends(textOf(id))]).toEqual([['returned'], 1])
  expect(await story.events()).toEqual([`growth.item.returned ${REASON}`])
  expect(await app.owner`select 1 from idempotency where ref_id = ${id}`).toHaveLength(0)
  const again = await postNow(story, id)
  expect([again.status, again.body.item.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'posted', null])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect([await attempts(id), sends(textOf(id))]).toEqual([['returned', 'posted'], 2])
})

test('a 5xx that posted nothing takes a scheduled item off the schedule', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  network.answers.set(textOf(id), refused)
  await story.send('POST', `items/${id}/approve`)
  {
    using _held = heldReads()
    await story.send('POST', `items/${id}/schedule`, { body: { post_at: new Date().toISOString() } })
    await story.settled(id, 'publish_unconfirmed')
  }
  expect(await decided(story, id)).toMatchObject({ status: 'approved', post_at: null, last_error: REASON })
  expect(await app.owner`select 1 from work where ref_id = ${id} and kind = 'send'`).toHaveLength(0)
  expect(sends(textOf(id))).toBe(1)
})

test('after a 5xx that did post, the post is found', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), applied)
  expect((await postNow(story, id)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a time-out goes to review, and the item says so', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), lostRequest)
  await postUntilDoubt(story, id)
  expect((await story.item(id)).doubt).toMatchObject({ cause: 'no_answer', resolves: 'by_person' })
  expect(await decided(story, id)).toMatchObject({ status: 'publish_unconfirmed', review: true, doubt: { resolves: 'by_person' } })
  expect(await attempts(id)).toEqual(['review'])
})

test('a post of the same text that a person has made and named for another item is not in the way of the next send', async () => {
  const story = await newStory(app)
  const id = await returned(story)
  await restWatch(id)
  const post = await insertSandboxPost(app, story.account, textOf(id))
  const other = await story.approved(textOf(id))
  await story.send('POST', `items/${other}/posted`, { body: { url: `https://sandbox.example/status/${post}` } })
  await eventually(
    () => story.item(other),
    ({ external_id }) => external_id === post,
  )
  const reply = await postNow(story, id, 'again')
  expect([reply.status, reply.body.item?.status]).toEqual([200, 'posted'])
  expect([await attempts(id), await story.posts()]).toEqual([['returned', 'posted'], { [textOf(id)]: 2 }])
})

test('a second 5xx of the same item goes to review', async () => {
  const story = await newStory(app)
  const id = await returned(story)
  network.answers.set(textOf(id), refused)
  await postUntilDoubt(story, id)
  expect(await decided(story, id)).toMatchObject({ status: 'publish_unconfirmed', review: true, doubt: { resolves: 'by_person' } })
  expect(await attempts(id)).toEqual(['returned', 'review'])
})

test('when a person has an item in doubt posted again, a 5xx does not return it by itself', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), lostRequest)
  await postUntilDoubt(story, id)
  await decided(story, id)
  await endLeaseAtIntent(app, id)
  network.answers.set(textOf(id), refused)
  void asPerson(app, story.tenantId)('growth.items.postNow', { id, confirm: 'post_again' })
  await eventually(
    () => attempts(id),
    (states) => states.join() === 'superseded,review',
  )
  expect(await story.item(id)).toMatchObject({ status: 'publish_unconfirmed', review: true, doubt: { resolves: 'by_person' } })
})

test('a read that is incomplete or may show the post proves nothing', async () => {
  const story = await newStory(app)
  const [cutOff, similar] = [await story.approved(), await story.approved()]
  network.view = (timeline) => ({ ...timeline, complete: false })
  network.answers.set(textOf(cutOff), refused)
  await postUntilDoubt(story, cutOff)
  const count = async () => network.reads.filter((account) => account === story.account).length
  const before = await count()
  await eventually(count, (reads) => reads > before + 4)
  expect(await story.item(cutOff)).toMatchObject({ status: 'publish_unconfirmed', review: false, doubt: { resolves: 'by_itself' } })
  const cut = { externalId: 'x', text: `${textOf(similar).slice(0, 12)}…`, truncated: true, createdAt: new Date(), url: null }
  network.view = () => ({ posts: [{ ...cut, createdAt: new Date() }], complete: true })
  network.answers.set(textOf(similar), refused)
  await postUntilDoubt(story, similar, 'another')
  expect(await decided(story, similar)).toMatchObject({ status: 'publish_unconfirmed', review: true, doubt: { resolves: 'by_person' } })
  network.view = (timeline) => timeline
})

test('nothing is read while automation is paused, and the item says so', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), refused)
  network.view = (timeline) => ({ ...timeline, complete: false })
  await story.send('POST', `items/${id}/schedule`, { body: { post_at: new Date().toISOString() } })
  await story.settled(id, 'publish_unconfirmed')
  await story.send('POST', 'automation/pause-all')
  expect((await story.item(id)).doubt).toEqual({ cause: 'server_error', resolves: 'by_itself', next_read_at: null })
  network.view = (timeline) => timeline
  await wake(story)
  expect((await decided(story, id)).status).toBe('approved')
})

describe('a post that appears after all', () => {
  const appearsLate = (story: Story, id: string) => insertSandboxPost(app, story.account, textOf(id))

  test('marks the waiting item as posted, scheduled or not', async () => {
    const story = await newStory(app)
    const [waiting, scheduled] = [await returned(story), await returned(story)]
    await story.send('POST', `items/${scheduled}/schedule`, { body: { post_at: new Date(Date.now() + 3_600_000).toISOString() } })
    for (const id of [waiting, scheduled]) {
      await appearsLate(story, id)
      await readNow(id)
      await wake(story)
      expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted', post_at: null, last_error: null })
      expect([await attempts(id), sends(textOf(id))]).toEqual([['posted'], 1])
      expect(await app.owner`select kind from work where ref_id = ${id}`).toHaveLength(0)
    }
    expect((await story.events()).filter((event) => event === 'growth.item.posted')).toHaveLength(2)
  })

  test('is found by the read before the next send, and nothing is sent', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    await restWatch(id)
    await appearsLate(story, id)
    const reply = await postNow(story, id)
    expect([reply.status, reply.body.item.status]).toEqual([200, 'posted'])
    expect([await attempts(id), sends(textOf(id))]).toEqual([['posted', 'unsent'], 1])
    expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
    expect((await postNow(story, id)).headers.get('idempotency-replayed')).toBe('true')
  })

  describe('with the text from before an edit', () => {
    /** Returned, and then approved with another text. */
    const editedSince = async (story: Story): Promise<string> => {
      const id = await returned(story)
      expect((await story.send('PATCH', `items/${id}`, { body: { body: `Better ${id}` } })).body.item.status).toBe('drafted')
      expect((await story.send('POST', `items/${id}/approve`)).status).toBe(200)
      await restWatch(id)
      await appearsLate(story, id)
      return id
    }
    const isTold = async (story: Story, id: string) => {
      const item = await story.item(id)
      expect(item).toMatchObject({
        status: 'posted',
        body: `Better ${id}`,
        last_error: expect.stringMatching(/^posted_before_edit: .*\d+/),
      })
      expect((await story.events()).slice(-2)).toEqual(['growth.item.posted', 'growth.approval.requested'])
      expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
    }

    test('marks the waiting item as posted, and its error says so', async () => {
      const story = await newStory(app)
      const id = await editedSince(story)
      await readNow(id)
      await wake(story)
      await story.settled(id, 'posted')
      await isTold(story, id)
    })

    test('is found by the read before the next send, and nothing is sent', async () => {
      const story = await newStory(app)
      const id = await editedSince(story)
      const { body } = await postNow(story, id, 'the better one')
      expect([body.item.status, sends(`Better ${id}`)]).toEqual(['posted', 0])
      await isTold(story, id)
    })
  })

  test('that the timeline may show stops the next send, and the item goes to review', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    await restWatch(id)
    const cut = { externalId: 'x', text: `${textOf(id).slice(0, 12)}…`, truncated: true, createdAt: new Date(), url: null }
    network.view = () => ({ posts: [cut], complete: true })
    await postUntilDoubt(story, id, 'once more')
    expect(await decided(story, id)).toMatchObject({ status: 'publish_unconfirmed', review: true, doubt: { resolves: 'by_person' } })
    network.view = (timeline) => timeline
    expect([await attempts(id), sends(textOf(id))]).toEqual([['review', 'unsent'], 1])
    expect(await story.events()).toContain('growth.approval.requested')
  })

  test('cannot be ruled out without a read: nothing is sent, and the caller gets an error', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    network.view = () => Promise.reject(new NetworkError('unreachable', 'no answer'))
    const reply = await postNow(story, id, 'once more')
    network.view = (timeline) => timeline
    expect([reply.status, reply.body.error?.code]).toEqual([502, 'network_error'])
    expect([(await story.item(id)).status, await attempts(id), sends(textOf(id))]).toEqual(['approved', ['returned', 'failed'], 1])
    expect((await postNow(story, id, 'once more')).body.item.status).toBe('posted')
  })

  test('after the next send is there twice: the item stays posted, its error names the other post and a person is asked', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    expect((await postNow(story, id)).body.item.status).toBe('posted')
    await appearsLate(story, id)
    await readNow(id)
    await wake(story)
    const item = await eventually(
      () => story.item(id),
      ({ last_error }) => last_error !== null,
    )
    expect(item).toMatchObject({ status: 'posted', last_error: expect.stringMatching(/^posted_twice: .*\d+/) })
    expect(await attempts(id)).toEqual(['posted', 'posted'])
    expect((await story.events()).at(-1)).toBe('growth.approval.requested')
  })
})
