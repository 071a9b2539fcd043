/**
 * People change an item while it is on its way: at the latest before its request is out, and never
 * after.
 */
import { expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

/** The doubt never gets as far as a read of the timeline. */
const times = { ...sendTimes, settleMs: 3_600_000 }
const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })

const edit = (story: Story, id: string, body: object) =>
  story.send('PATCH', `items/${id}`, { body })
const attemptsOf = async (id: string) =>
  (await app.owner`select state from attempt where item_id = ${id} order by number`).map(
    (row) => row.state,
  )

const stopped = async (point: string, begin: () => Promise<string>): Promise<string> => {
  points.arm(point, 'hang')
  const id = await begin()
  await points.reached(point)
  return id
}

test('a changed text takes back a claimed post, and only the text that is approved then goes out', async () => {
  const story = await newStory(app)
  const id = await stopped('send.claimed', () => story.scheduled(0))
  const { post_at } = await story.item(id)
  const { status, body } = await edit(story, id, { body: 'Without the typo' })
  expect([status, body.item]).toMatchObject([
    200,
    { status: 'drafted', body: 'Without the typo', post_at: null, revision: 2 },
  ])
  expect(body.item.proposed_at).toBe(post_at)
  points.release('send.claimed')
  expect([await attemptsOf(id), await story.posts()]).toEqual([['unsent'], {}])
  await story.send('POST', `items/${id}/approve`)
  await story.send('POST', `items/${id}/post-now`)
  expect(await story.posts()).toEqual({ 'Without the typo': 1 })
})

test('tags and a note change while a post is on its way, and stop nothing', async () => {
  const story = await newStory(app)
  const id = await stopped('send.claimed', () => story.scheduled(0))
  expect(
    (await edit(story, id, { tags: ['launch'], note: 'Look at the replies' })).body.item,
  ).toMatchObject({
    status: 'publishing',
    tags: ['launch'],
    note: 'Look at the replies',
  })
  points.release('send.claimed')
  expect(await story.settled(id, 'posted')).toMatchObject({
    tags: ['launch'],
    note: 'Look at the replies',
  })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a change that is refused leaves the post on its way', async () => {
  const story = await newStory(app)
  const id = await stopped('send.claimed', () => story.scheduled(0))
  const refusals = [
    { body: 'A bell\u0007' },
    { body: 'Late', revision: 7 },
    { account: '018f47a0-0000-7000-8000-000000000000' },
  ]
  for (const change of refusals)
    expect((await edit(story, id, change)).status).toBeGreaterThanOrEqual(400)
  points.release('send.claimed')
  await story.settled(id, 'posted')
  expect([await attemptsOf(id), await story.posts()]).toEqual([['posted'], { [textOf(id)]: 1 }])
})

test('a post whose request is out keeps its text', async () => {
  const story = await newStory(app)
  const id = await stopped('sandbox.received', () => story.scheduled(0))
  const refused = await edit(story, id, { body: 'Too late' })
  expect([refused.status, refused.body.error?.code, refused.body.error?.details]).toEqual([
    ...[
      409,
      'conflict',
      [
        { path: 'in_flight', message: expect.any(String) },
        { path: 'next', message: `growth.items.get ${id}` },
      ],
    ],
  ])
  points.release('sandbox.received')
  expect((await story.settled(id, 'posted')).body).toBe(textOf(id))
})
