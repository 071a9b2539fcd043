/** Posting again what may already be on the network: only when a person confirms it, and only after a full read of the timeline. */
import { beforeAll, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { NetworkError } from '#port/network/network'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import { applyFirstSend, endLeaseAtIntent, insertSandboxPost, makeDue } from '#test/support/database/writes'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { type Loss, lostAnswer, lostRequest, type Unreliable, unreliable } from '#test/support/growth/unreliable'
import { asPerson } from '#test/support/session'
import { useApp } from '#test/support/use'

const times: SendTimes = { ...sendTimes, settleMs: 20, windowMs: 60 }
const POST_AGAIN = 'growth.items.postNow'

let network: Unreliable
const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })
beforeAll(() => {
  network = unreliable(app)
})

const postAgain = (story: Story, id: string, idempotencyKey?: string) =>
  asPerson(app, story.tenantId)(POST_AGAIN, { id, confirm: 'post_again' }, { idempotencyKey })
const refusal = (pending: Promise<unknown>) =>
  pending.then(
    () => 'accepted',
    ({ code, message }) => `${code} ${message}`,
  )

/** An item in review, whatever became of its post; the lease of its attempt is over. */
const inReview = async (story: Story, id: string, how: Loss = lostRequest): Promise<string> => {
  const { body } = await story.item(id)
  network.answers.set(body, how)
  void story.send('POST', `items/${id}/post-now`)
  await eventually(
    () => story.item(id),
    ({ review }) => review,
  )
  await endLeaseAtIntent(app, id)
  return id
}
const attempts = async (id: string) =>
  (await app.owner`select state from attempt where item_id = ${id} order by number`).map(({ state }) => state)
const reads = ({ account }: Story) => network.reads.filter((one) => one === account).length
const sends = (id: string) => network.sent.filter((text) => text === textOf(id)).length
/** The timeline shows nothing until this is disposed of. */
const hidden = () => {
  network.view = (timeline) => ({ ...timeline, posts: [] })
  return {
    [Symbol.dispose]() {
      network.view = (timeline) => timeline
    },
  }
}

test('an item that is not on the network is sent once more; the old attempt is superseded and the key replays the post', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  const before = reads(story)
  const answer = await postAgain(story, id, 'again')
  expect([answer.status, answer.body.item.status]).toEqual([200, 'posted'])
  expect(reads(story)).toBeGreaterThan(before)
  expect(await attempts(id)).toEqual(['superseded', 'posted'])
  // The seconds left of the hour count down.
  const allowances = answer.allowances!.map((one) => ({ ...one, resetsIn: expect.any(Number) }))
  expect(await postAgain(story, id, 'again')).toEqual({ ...answer, allowances, replayed: true })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect(await story.events()).toEqual(['growth.approval.requested', 'growth.item.posted'])
})

test('an API key cannot confirm it: 409, and nothing is read or sent', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  const reply = await story.send('POST', `items/${id}/post-now`, { body: { confirm: 'post_again' } })
  expect([reply.status, reply.body.error.code]).toEqual([409, 'conflict'])
  expect(reply.body.error.message).toEndWith('only a signed-in person can confirm, not an API key')
  expect(await app.owner`select 1 from work where ref_id = ${id} and payload ? 'again'`).toHaveLength(0)
  expect([await attempts(id), sends(id)]).toEqual([['review'], 1])
})

test('an item that is on the network after all is posted by its old attempt, and nothing is sent', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  {
    using _ = hidden()
    await inReview(story, id, lostAnswer)
    await makeDue(app, id, { at: new Date(Date.now() + 3_600_000) })
  }
  expect((await postAgain(story, id)).body.item.status).toBe('posted')
  expect([await attempts(id), sends(id)]).toEqual([['posted'], 1])
  const { attempts: tries, external_id } = (await story.send('GET', `items/${id}`)).body.item
  expect(tries).toEqual([expect.objectContaining({ number: 1, outcome: 'posted', cause: 'no_answer', external_id, next_read_at: null })])
  const seen = { candidates: [], posts: 0, saw: 'nothing', at: expect.any(String) }
  const it = { external_id, url: null, posted_at: expect.any(String) }
  expect(tries[0].reads.slice(-2)).toEqual([seen, { ...seen, saw: 'it', posts: 1, candidates: [it] }])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test.each([
  ['incomplete', () => ({ posts: [], complete: false }), 'network_error network_error:the timeline could not be read to its end'],
  ['refused for now', () => Promise.reject(new NetworkError('rate_limited', '429', 9_000)), 'rate_limited rate_limited:network'],
  ['failing', () => Promise.reject(new NetworkError('unreachable', 'no answer')), 'network_error network_error:the timeline could'],
])('after a read that is %s nothing is sent, the item says why, and the same key can be used again', async (_, view, error) => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  network.view = view
  const refused = await refusal(postAgain(story, id, 'once more'))
  network.view = (timeline) => timeline
  expect(refused).toStartWith(error)
  expect(await story.item(id)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    last_error: 'the timeline could not be read to its end, so nothing was sent',
  })
  const [last] = (await story.send('GET', `items/${id}`)).body.item.attempts
  expect(last).toMatchObject({ outcome: 'review', ended_at: null, next_read_at: expect.any(String) })
  expect(last.reads.at(-1)).toMatchObject({ saw: 'unreadable', posts: null, candidates: [] })
  expect([await attempts(id), sends(id)]).toEqual([['review'], 1])
  expect(await app.owner`select origin, payload from work where ref_id = ${id}`).toEqual([
    { origin: 'manual', payload: { sendable: 'post' } },
  ] as never)
  expect((await postAgain(story, id, 'once more')).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('nothing is sent if the timeline shows a post that may be this one, cut short or with the same text', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  const cut = { externalId: 'x', text: `${textOf(id).slice(0, 12)}…`, truncated: true, createdAt: new Date(), url: null }
  network.view = (timeline) => ({ ...timeline, posts: [cut] })
  const refused = await refusal(postAgain(story, id))
  network.view = (timeline) => timeline
  expect(refused).toStartWith('conflict cannot post again: the timeline shows a post that may be this one')
  expect([await attempts(id), sends(id)]).toEqual([['review'], 1])
})

test('the timeline is not read before the lease has ended and the last possible send must show', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  await app.owner`update attempt set lease_until = now() + interval '15 seconds', doubt_at = now() where item_id = ${id}`
  void postAgain(story, id).catch(() => {})
  const waiting = async () =>
    (
      await app.owner`select run_at > a.lease_until as after from work w join attempt a on a.item_id = w.ref_id
    where w.ref_id = ${id} and w.payload ? 'again' and w.state = 'queued'`
    )[0]?.after
  expect(await eventually(waiting, (after) => after === true)).toBe(true)
  // A second request meanwhile is refused. A person who marks it as posted settles it, and nothing goes out.
  expect(await refusal(postAgain(story, id))).toBe('conflict cannot post again: the item is already being posted again')
  expect((await story.send('POST', `items/${id}/posted`)).body.item.status).toBe('posted')
  expect(await app.owner`select 1 from work where ref_id = ${id}`).toHaveLength(0)
  expect([await attempts(id), sends(id)]).toEqual([['posted'], 1])
})

test('a clean read that is too old is repeated before the send', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  const other = await story.approved()
  points.arm('send.claimed', 'hang')
  const busy = story.send('POST', `items/${other}/post-now`)
  await points.reached('send.claimed')
  const pending = postAgain(story, id)
  const clear = async () =>
    (
      await app.owner`update work set payload = jsonb_set(payload, '{again,clear,readAt}', '"2026-01-01T00:00:00Z"')
    where ref_id = ${id} and kind = 'send' returning 1`
    ).length
  expect(await eventually(clear, (count) => count === 1)).toBe(1)
  // The network has applied the first send meanwhile.
  await insertSandboxPost(app, story.account, textOf(id))
  points.release('send.claimed')
  await busy
  expect((await pending).body.item.status).toBe('posted')
  expect([await attempts(id), sends(id)]).toEqual([['posted'], 1])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1, [textOf(other)]: 1 })
})

test('a send that provably did not take place leaves the item in review, and it still takes a confirmation', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  network.answers.set(textOf(id), async () => ({ kind: 'not_applied', reason: 'rate_limited', detail: '429' }))
  expect(await refusal(postAgain(story, id, 'limited'))).toBe('rate_limited rate_limited:network')
  expect(await story.item(id)).toMatchObject({ status: 'publish_unconfirmed', review: true, last_error: 'rate_limited' })
  expect(await attempts(id)).toEqual(['review', 'failed'])
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(409)
  expect((await postAgain(story, id, 'limited')).body.item.status).toBe('posted')
  expect(await attempts(id)).toEqual(['superseded', 'failed', 'posted'])
  expect(await story.events()).toEqual(['growth.approval.requested', 'growth.item.posted'])
})

test("a late post of the first attempt settles the doubt about the second and counts as no other item's", async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved('Late.'))
  network.answers.set('Late.', lostRequest)
  // The first send was long ago, and so is its post.
  await app.owner`update attempt set intent_at = intent_at - interval '1 minute' where item_id = ${id}`
  const pending = postAgain(story, id)
  expect(
    await eventually(
      () => attempts(id),
      ([, second]) => second === 'doubt' || second === 'review',
    ),
  ).toHaveLength(2)
  await applyFirstSend(app, story.account, { id, text: 'Late.' })
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect((await pending).body.item.status).toBe('posted')
  expect([await attempts(id), network.sent.filter((text) => text === 'Late.').length]).toEqual([['superseded', 'posted'], 2])
  // The second send is applied later still; an item with the same text is not posted by it.
  const other = await inReview(story, await story.approved('Late.'))
  await insertSandboxPost(app, story.account, 'Late.')
  await makeDue(app, other)
  await eventually(
    async () => (await app.owner`select clean_reads from attempt where item_id = ${other}`)[0]!.clean_reads,
    (count) => count > 3,
  )
  expect(await story.item(other)).toMatchObject({ status: 'publish_unconfirmed', review: true })
})

test('a person can post again while automation is paused', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  await story.send('POST', 'automation/pause-all')
  expect((await postAgain(story, id)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('nothing goes out if the account is disconnected between read and send, and the doubt stays', async () => {
  const story = await newStory(app)
  const id = await inReview(story, await story.approved())
  points.arm('send.claimed', 'hang')
  const pending = refusal(postAgain(story, id))
  await points.reached('send.claimed')
  await story.send('DELETE', 'connection')
  points.release('send.claimed')
  expect(await pending).toStartWith('x_not_connected')
  expect(await story.item(id)).toMatchObject({ status: 'publish_unconfirmed', review: true })
  expect([await attempts(id), sends(id)]).toEqual([['review', 'failed'], 1])
  expect(await refusal(postAgain(story, id))).toStartWith('x_not_connected')
})
