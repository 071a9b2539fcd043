/**
 * An item is posted by hand, with the URL of the post: the post is read back, and measured like any
 * other.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import { makeDue, setUsed, wakeActor } from '#test/support/database/writes'
import { othersPost } from '#test/support/growth/records'
import { newStory, type Story } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const points = testFailpoints()
const app = useApp({ overrides: { failpoints: points.at } })
afterEach(() => points.release('posted_read.reading'))

const urlOf = (post: string): string => `https://sandbox.example/status/${post}`

/** Posts as the workspace's own account, by hand. */
const postByHand = async ({ tenantId, account }: Story, text: string): Promise<string> => {
  const [row] = await app.owner`select id, handle from connection where tenant_id = ${tenantId}
      and external_id = ${account}`
  const poster = { id: row!.id, externalId: account, handle: row!.handle }
  const request = {
    account: poster,
    text,
    attemptId: newId(),
    key: null,
    madeAt: new Date(),
    deadlineMs: 5_000,
  }
  const sent = await app.workplace.sandbox.publish(request, AbortSignal.timeout(30_000))
  return sent.kind === 'posted' ? sent.externalId : Promise.reject(new Error(sent.kind))
}

const markPosted = (story: Story, id: string, url: string) =>
  story.send('POST', `items/${id}/posted`, { body: { url } })
const worksOf = async (story: Story, kind: string) =>
  await app.owner<{ state: string; payload: { tries: number } }[]>`select state, payload from work
    where tenant_id = ${story.tenantId} and kind = ${kind}`
const read = (story: Story, id: string) =>
  eventually(
    () => story.item(id),
    ({ external_id, last_error }) => external_id !== null || last_error !== null,
  )

/** An approved item that a person has posted. */
const postedByHand = async (story: Story, text = 'By hand') => {
  const [id, post] = [await story.approved(text), await postByHand(story, text)]
  return { id, post }
}

test('is answered at once; then the item has the id of its post, and metrics are read', async () => {
  const story = await newStory(app)
  const { id, post } = await postedByHand(story)
  points.arm('posted_read.reading', 'hang')
  const { status, body } = await markPosted(story, id, urlOf(post))
  expect([status, body.item]).toMatchObject([
    200,
    { status: 'posted', url: urlOf(post), external_id: null, last_error: null },
  ])
  await points.reached('posted_read.reading')
  expect(await worksOf(story, 'metrics')).toHaveLength(0)
  points.release('posted_read.reading')
  expect(await read(story, id)).toMatchObject({
    status: 'posted',
    external_id: post,
    url: urlOf(post),
    account: story.account,
  })
  expect([
    (await worksOf(story, 'posted_read')).length,
    (await worksOf(story, 'metrics')).length,
  ]).toEqual([0, 1])
  expect(await story.posts()).toEqual({ 'By hand': 1 })
  expect(await story.events()).toEqual(['growth.item.posted'])
  expect(await story.used('reads_free')).toBe(1)
})

describe('the item stays posted, and says why its post is not known, if the URL names', () => {
  test("another account's post", async () => {
    const story = await newStory(app)
    const id = await story.approved()
    await markPosted(story, id, urlOf(await othersPost({ app })))
    expect(await read(story, id)).toMatchObject({
      status: 'posted',
      external_id: null,
      last_error: expect.stringMatching(/^url_of_another_account: the post is by @o-/),
    })
    expect(await worksOf(story, 'posted_read')).toHaveLength(0)
  })

  test('the post of another item, whether that one was sent or posted by hand', async () => {
    const story = await newStory(app)
    const sent = await story.approved()
    const { external_id } = (await story.send('POST', `items/${sent}/post-now`)).body.item
    const byHand = await postedByHand(story)
    await markPosted(story, byHand.id, urlOf(byHand.post))
    await read(story, byHand.id)
    for (const taken of [external_id, byHand.post]) {
      const id = await story.approved()
      await markPosted(story, id, urlOf(taken))
      expect(await read(story, id)).toMatchObject({
        status: 'posted',
        external_id: null,
        last_error: expect.stringMatching(/^url_of_another_item/),
      })
    }
  })

  test('no post', async () => {
    const story = await newStory(app)
    const id = await story.approved()
    await markPosted(story, id, urlOf('999999999999'))
    expect(await read(story, id)).toMatchObject({
      status: 'posted',
      last_error: 'url_not_found: the network has no such post',
    })
  })
})

test('a URL of another site is kept, and nothing is read', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  await markPosted(story, id, 'https://elsewhere.example/a')
  expect(await story.item(id)).toMatchObject({
    status: 'posted',
    url: 'https://elsewhere.example/a',
    last_error: null,
  })
  expect(await worksOf(story, 'posted_read')).toHaveLength(0)
})

test('a read that fails is tried again, up to a limit, and the item then says so', async () => {
  const story = await newStory(app)
  const { id, post } = await postedByHand(story)
  points.arm('posted_read.reading', new Error('the read fails'))
  await markPosted(story, id, urlOf(post))
  for (let tries = 1; tries <= 7; tries++) {
    await eventually(
      async () => (await worksOf(story, 'posted_read'))[0],
      (row) => row?.state === 'queued' && row.payload.tries === tries,
    )
    await makeDue(app, id, { kind: 'posted_read' })
    await wakeActor(app, story.tenantId)
    await story.send('POST', 'automation/resume-all')
  }
  expect(await read(story, id)).toMatchObject({
    status: 'posted',
    external_id: null,
    last_error: 'url_not_read: bad_answer',
  })
  expect(await worksOf(story, 'posted_read')).toHaveLength(0)
})

test("waits for the next day once the day's reads are spent", async () => {
  const story = await newStory(app)
  const { id, post } = await postedByHand(story)
  await setUsed(app, story.tenantId, {
    key: 'reads_free',
    used: 1_000_000,
    period: new Date().toISOString().slice(0, 10),
  })
  await markPosted(story, id, urlOf(post))
  const [row] = await eventually(
    () => worksOf(story, 'posted_read'),
    ([first]) => first?.payload.tries === 1,
  )
  expect(row!.state).toBe('queued')
  const [due] =
    await app.owner`select run_at >= date_trunc('day', now() at time zone 'UTC') + interval '1 day'
      as tomorrow from work
    where tenant_id = ${story.tenantId} and kind = 'posted_read'`
  expect(due!.tomorrow).toBe(true)
})

test('a post that a person found for an item in doubt belongs to its attempt', async () => {
  const story = await newStory(app)
  points.arm('send.sent', new Error('the answer was lost'))
  const id = await story.scheduled(0)
  await story.settled(id, 'publish_unconfirmed')
  points.release('send.sent')
  const [row] = await app.owner`select id from sandbox.posts where account_id = ${story.account}`
  await markPosted(story, id, urlOf(row!.id))
  expect(await read(story, id)).toMatchObject({ status: 'posted', external_id: row!.id })
  expect(
    await app.owner`select state, external_id from attempt where item_id = ${id}`,
  ).toMatchObject([{ state: 'posted', external_id: row!.id }])
})
