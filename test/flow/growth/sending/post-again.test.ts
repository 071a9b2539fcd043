/**
 * Posting again what may already be on the network: only when a person confirms it, and only after
 * a full read of the timeline.
 */

import { beforeAll, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { NetworkError } from '#port/network/network'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import { applyFirstSend, insertSandboxPost, makeDue } from '#test/support/database/writes'
import { postAgain, putInReview, refusal } from '#test/support/growth/post-again'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import {
  lostAnswer,
  lostRequest,
  type Unreliable,
  unreliable,
} from '#test/support/growth/unreliable'
import { useApp } from '#test/support/use'

const times: SendTimes = { ...sendTimes, settleMs: 20, windowMs: 60 }

let network: Unreliable
const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })
beforeAll(() => {
  network = unreliable(app)
})

/** A workspace with an item in review, which did not reach the network. */
const doubtful = async () => {
  const story = await newStory(app)
  const id = await story.approved()
  await putInReview(app, story, { network, id })
  return { story, id }
}

const attempts = async (id: string) =>
  (await app.owner`select state from attempt where item_id = ${id} order by number`).map(
    ({ state }) => state,
  )
const reads = ({ account }: Story) => network.reads.filter((one) => one === account).length
const sends = (id: string) => network.sent.filter((text) => text === textOf(id)).length
/**
 * Nothing but what the test asks for reads the timeline any more: a read that has begun ends
 * first, for it would see what the timeline shows later.
 */
const putOff = (id: string) =>
  eventually(
    () =>
      app.owner`update work set run_at = now() + interval '1 hour' where ref_id = ${id}
        and state = 'queued' returning id`,
    (waiting) => waiting.length === 1,
  )
/** The timeline is shown so until this is disposed of. */
const seenAs = (view: Unreliable['view']) => {
  network.view = view
  return {
    [Symbol.dispose]() {
      network.view = (timeline) => timeline
    },
  }
}

test('an item that is not on the network is sent once more; the old attempt is superseded and the key replays the post', async () => {
  const { story, id } = await doubtful()
  const before = reads(story)
  const answer = await postAgain(app, story, id, 'again')
  expect([answer.status, answer.body.item.status]).toEqual([200, 'posted'])
  expect(reads(story)).toBeGreaterThan(before)
  expect(await attempts(id)).toEqual(['superseded', 'posted'])
  // The seconds left of the hour count down.
  const allowances = answer.allowances!.map((one) => ({ ...one, resetsIn: expect.any(Number) }))
  expect(await postAgain(app, story, id, 'again')).toEqual({
    ...answer,
    allowances,
    replayed: true,
  })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect(await story.events()).toEqual(['growth.approval.requested', 'growth.item.posted'])
})

test('an API key cannot confirm it: 409, and nothing is read or sent', async () => {
  const { story, id } = await doubtful()
  const reply = await story.send('POST', `items/${id}/post-now`, {
    body: { confirm: 'post_again' },
  })
  expect([reply.status, reply.body.error.code]).toEqual([409, 'conflict'])
  expect(reply.body.error.message).toEndWith('only a signed-in person can confirm, not an API key')
  expect(
    await app.owner`select 1 from work where ref_id = ${id} and payload ? 'again'`,
  ).toHaveLength(0)
  expect([await attempts(id), sends(id)]).toEqual([['review'], 1])
})

test('an item that is on the network after all is posted by its old attempt, and nothing is sent', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  {
    using _ = seenAs((timeline) => ({ ...timeline, posts: [] }))
    await putInReview(app, story, { network, id, how: lostAnswer })
    await putOff(id)
  }
  expect((await postAgain(app, story, id)).body.item.status).toBe('posted')
  expect([await attempts(id), sends(id)]).toEqual([['posted'], 1])
  const { attempts: tries, external_id } = (await story.send('GET', `items/${id}`)).body.item
  expect(tries).toEqual([
    expect.objectContaining({
      number: 1,
      outcome: 'posted',
      cause: 'no_answer',
      external_id,
      next_read_at: null,
    }),
  ])
  const seen = { candidates: [], timeline: [], posts: 0, saw: 'nothing', at: expect.any(String) }
  const it = { external_id, url: null, posted_at: expect.any(String) }
  const shown = [{ ...it, text: textOf(id), is_cut: false }]
  expect(tries[0].reads.slice(-2)).toEqual([
    seen,
    { ...seen, saw: 'it', posts: 1, candidates: [it], timeline: shown },
  ])
  expect((await story.send('GET', 'items')).text).not.toContain('timeline')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test.each([
  [
    'incomplete',
    () => ({ posts: [], complete: false }),
    'network_error network_error:the timeline could not be read to its end',
  ],
  [
    'refused for now',
    () => Promise.reject(new NetworkError('rate_limited', '429', 9_000)),
    'rate_limited rate_limited:network',
  ],
  [
    'failing',
    () => Promise.reject(new NetworkError('unreachable', 'no answer')),
    'network_error network_error:the timeline could',
  ],
])(
  'after a read that is %s nothing is sent, the item says why, and the same key can be used again',
  async (_, view, error) => {
    const { story, id } = await doubtful()
    {
      using _ = seenAs(view)
      expect(await refusal(postAgain(app, story, id, 'once more'))).toStartWith(error)
    }
    expect(await story.item(id)).toMatchObject({
      status: 'publish_unconfirmed',
      review: true,
      last_error: 'the timeline could not be read to its end, so nothing was sent',
    })
    const [last] = (await story.send('GET', `items/${id}`)).body.item.attempts
    expect(last).toMatchObject({
      outcome: 'review',
      ended_at: null,
      next_read_at: expect.any(String),
    })
    // The next read may have seen that there is nothing.
    expect(last.reads).toContainEqual(
      expect.objectContaining({ saw: 'unreadable', posts: null, timeline: null }),
    )
    expect([await attempts(id), sends(id)]).toEqual([['review'], 1])
    expect(await app.owner`select origin, payload from work where ref_id = ${id}`).toEqual([
      { origin: 'manual', payload: { sendable: 'post' } },
    ] as never)
    expect((await postAgain(app, story, id, 'once more')).body.item.status).toBe('posted')
    expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  },
)

test('nothing is sent if the timeline shows a post that may be this one, cut short or with the same text', async () => {
  const { story, id } = await doubtful()
  const cut = {
    externalId: 'x',
    text: `${textOf(id).slice(0, 12)}…`,
    truncated: true,
    createdAt: new Date(),
    url: null,
  }
  using _ = seenAs((timeline) => ({ ...timeline, posts: [cut] }))
  expect(await refusal(postAgain(app, story, id))).toStartWith(
    'conflict cannot post again: the timeline shows a post that may be this one',
  )
  expect([await attempts(id), sends(id)]).toEqual([['review'], 1])
})

test('the timeline is not read before the lease has ended and the last possible send must show', async () => {
  const { story, id } = await doubtful()
  await app.owner`update attempt set lease_until = now() + interval '15 seconds', doubt_at = now()
    where item_id = ${id}`
  void postAgain(app, story, id).catch(() => {})
  const waiting = async () =>
    (
      await app.owner`select run_at > a.lease_until as after from work w
        join attempt a on a.item_id = w.ref_id
    where w.ref_id = ${id} and w.payload ? 'again' and w.state = 'queued'`
    )[0]?.after
  expect(await eventually(waiting, (after) => after === true)).toBe(true)
  // A second request meanwhile is refused. A person who marks it as posted settles it, and nothing
  // goes out.
  expect(await refusal(postAgain(app, story, id))).toBe(
    'conflict cannot post again: the item is already being posted again',
  )
  expect((await story.send('POST', `items/${id}/posted`)).body.item.status).toBe('posted')
  expect(await app.owner`select 1 from work where ref_id = ${id}`).toHaveLength(0)
  expect([await attempts(id), sends(id)]).toEqual([['posted'], 1])
})

test('a clean read that is too old is repeated before the send', async () => {
  const { story, id } = await doubtful()
  const other = await story.approved()
  points.arm('send.claimed', 'hang')
  const busy = story.send('POST', `items/${other}/post-now`)
  await points.reached('send.claimed')
  const pending = postAgain(app, story, id)
  const clear = async () =>
    (
      await app.owner`update work set payload = jsonb_set(payload, '{again,clear,readAt}',
        '"2026-01-01T00:00:00Z"')
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
  const { story, id } = await doubtful()
  network.answers.set(textOf(id), async () => ({
    kind: 'not_applied',
    reason: 'rate_limited',
    detail: '429',
  }))
  expect(await refusal(postAgain(app, story, id, 'limited'))).toBe(
    'rate_limited rate_limited:network',
  )
  expect(await story.item(id)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    last_error: 'rate_limited',
  })
  expect(await attempts(id)).toEqual(['review', 'failed'])
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(409)
  expect((await postAgain(app, story, id, 'limited')).body.item.status).toBe('posted')
  expect(await attempts(id)).toEqual(['superseded', 'failed', 'posted'])
  expect(await story.events()).toEqual(['growth.approval.requested', 'growth.item.posted'])
})

test("a late post of the first attempt settles the doubt about the second and counts as no other item's", async () => {
  const story = await newStory(app)
  const id = await story.approved('Late.')
  await putInReview(app, story, { network, id })
  network.answers.set('Late.', lostRequest)
  // The first send was long ago, and so is its post.
  await app.owner`update attempt set intent_at = intent_at - interval '1 minute'
    where item_id = ${id}`
  const pending = postAgain(app, story, id)
  expect(
    await eventually(
      () => attempts(id),
      ([, second]) => second === 'doubt' || second === 'review',
    ),
  ).toHaveLength(2)
  await applyFirstSend(app, story.account, { id, text: 'Late.' })
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect((await pending).body.item.status).toBe('posted')
  expect([await attempts(id), network.sent.filter((text) => text === 'Late.').length]).toEqual([
    ['superseded', 'posted'],
    2,
  ])
  // The second send is applied later still; an item with the same text is not posted by it.
  const other = await story.approved('Late.')
  await putInReview(app, story, { network, id: other })
  await insertSandboxPost(app, story.account, 'Late.')
  await makeDue(app, other)
  await eventually(
    async () =>
      (await app.owner`select clean_reads from attempt where item_id = ${other}`)[0]!.clean_reads,
    (count) => count > 3,
  )
  expect(await story.item(other)).toMatchObject({ status: 'publish_unconfirmed', review: true })
})

test('a person can post again while automation is paused', async () => {
  const { story, id } = await doubtful()
  await story.send('POST', 'automation/pause-all')
  expect((await postAgain(app, story, id)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})
