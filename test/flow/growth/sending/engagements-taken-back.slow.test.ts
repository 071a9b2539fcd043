/** People take engagements back, as late as can be, and delete them. */

import { describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import {
  act,
  answersTo,
  approvedEngagement,
  engage,
  engagementOf,
} from '#test/support/growth/engagements'
import { newStory, type Story } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

/** The doubt never gets as far as a read of the timeline. */
const times = { ...sendTimes, settleMs: 3_600_000 }
const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })

const edit = (story: Story, id: string, body = 'Without the typo') =>
  story.send('PATCH', `engagements/${id}`, { body: { body } })
const remove = (story: Story, id: string) => story.send('DELETE', `engagements/${id}`)
const execute = (story: Story, id: string) =>
  story.send('POST', `engagements/${id}/execute`, { headers: { 'idempotency-key': 'execute it' } })
const listed = async (story: Story) =>
  (await story.send('GET', 'engagements?limit=100')).body.engagements
const approved = (story: Story, action = 'reply') =>
  approvedEngagement(app, story, { action, body: 'With a tpyo' })

/**
 * An execution that stands at this point, until it is released, with the answer that its caller
 * waits for.
 */
const stoppedAt = async (point: string, story: Story) => {
  const made = await approved(story)
  points.arm(point, 'hang')
  const asked = execute(story, made.id)
  await points.reached(point)
  return { ...made, asked }
}

const repliesTo = (post: string) => answersTo(app, post)

const ways = [
  ['edit', edit, 'drafted'],
  ['reopen', (story: Story, id: string) => act(story, id, 'reopen'), 'drafted'],
  ['reject', (story: Story, id: string) => act(story, id, 'reject'), 'rejected'],
  ['delete', remove, 'drafted'],
] as const

describe('a claimed execution that is not yet sent', () => {
  test.each(ways)(
    '%s takes it back, and whoever waits learns that nothing was sent',
    async (way, take, status) => {
      const story = await newStory(app)
      const { id, post, asked } = await stoppedAt('send.claimed', story)
      expect((await take(story, id)).body.engagement).toMatchObject({ status, account: null })
      const reply = await asked
      expect([reply.status, reply.body.error?.message]).toEqual([
        409,
        'nothing was sent: the engagement was taken back',
      ])
      points.release('send.claimed')
      expect([await story.attempts(id), await story.works(id), await repliesTo(post)]).toEqual([
        ['unsent'],
        [],
        [],
      ])
      if (way === 'delete') await act(story, id, 'restore')
      if (way === 'reject') await act(story, id, 'reopen')
      await act(story, id, 'approve', { body: { body: 'Another text' } })
      const retried = await execute(story, id)
      expect([
        retried.status,
        retried.headers.get('idempotency-replayed'),
        await repliesTo(post),
      ]).toEqual([202, 'true', []])
      expect((await act(story, id, 'execute')).body.engagement.status).toBe('executed')
      expect([await repliesTo(post), await story.attempts(id)]).toEqual([
        ['Another text'],
        ['unsent', 'posted'],
      ])
    },
  )

  test('goes out if its text is edited to what it is, or to what cannot be used', async () => {
    const story = await newStory(app)
    const { id, post, asked } = await stoppedAt('send.claimed', story)
    expect((await edit(story, id, 'With a tpyo')).body.engagement.status).toBe('executing')
    expect((await edit(story, id, 'x'.repeat(281))).status).toBe(400)
    points.release('send.claimed')
    expect((await asked).body.engagement.status).toBe('executed')
    expect(await repliesTo(post)).toEqual(['With a tpyo'])
  })
})

test('an execution whose request is out cannot be taken back', async () => {
  const story = await newStory(app)
  const { id, post, asked } = await stoppedAt('sandbox.received', story)
  for (const [, take] of ways) {
    const refused = await take(story, id)
    expect([refused.status, refused.body.error?.details]).toEqual([
      409,
      [
        { path: 'in_flight', message: expect.any(String) },
        { path: 'next', message: `growth.engagements.get ${id}` },
      ],
    ])
  }
  points.release('sandbox.received')
  expect((await asked).body.engagement.status).toBe('executed')
  expect(await repliesTo(post)).toEqual(['With a tpyo'])
})

test('what may be on the network is not taken back, and can be marked done', async () => {
  const story = await newStory(app)
  const { id } = await approved(story)
  points.arm('send.sent', new Error('the answer was lost'))
  const asked = execute(story, id)
  await eventually(
    () => engagementOf(story, id),
    ({ status }) => status === 'execute_unconfirmed',
  )
  points.release('send.sent')
  for (const [, take] of ways) {
    const refused = await take(story, id)
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      expect.stringContaining('may already be on the network'),
    ])
  }
  expect((await act(story, id, 'done')).body.engagement).toMatchObject({
    status: 'executed',
    review: false,
  })
  expect((await asked).body.engagement.status).toBe('executed')
  expect([await story.attempts(id), await story.works(id)]).toEqual([['posted'], []])
  const refused = await remove(story, id)
  expect([refused.status, refused.body.error?.message]).toEqual([
    409,
    expect.stringContaining('cannot delete: the engagement is executed'),
  ])
})

describe('a deleted engagement', () => {
  test('is in no list, blocks no other, and is restored as it was', async () => {
    const story = await newStory(app)
    const { id, post } = await approved(story, 'like')
    expect((await engage(story, { post, action: 'like' })).status).toBe(409)
    expect((await remove(story, id)).body.engagement).toMatchObject({ id, status: 'drafted' })
    for (const gone of [
      await remove(story, id),
      await act(story, id, 'reopen'),
      await act(story, id, 'approve'),
    ])
      expect(gone.status).toBe(404)
    expect(await listed(story)).toEqual([])
    expect((await story.send('GET', 'engagements?status=drafted')).body.engagements).toEqual([])
    const restored = await act(story, id, 'restore')
    expect([restored.status, restored.body.engagement.status]).toEqual([200, 'drafted'])
    expect((await act(story, id, 'restore')).body).toEqual(restored.body)
    expect(await listed(story)).toMatchObject([{ id, status: 'drafted' }])
  })

  test('is not restored while another of its action on the post is open', async () => {
    const story = await newStory(app)
    const { id, post } = await approved(story, 'like')
    await remove(story, id)
    const other = (await engage(story, { post, action: 'like' })).body.engagement
    const refused = await act(story, id, 'restore')
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      `this post already has a like: engagement ${other.id} is drafted`,
    ])
    await remove(story, other.id)
    expect((await act(story, id, 'restore')).status).toBe(200)
  })

  test('opens its signal to another answer, and takes it again when it is restored', async () => {
    const story = await newStory(app)
    const { sandbox } = app.workplace
    const account = { id: newId(), ...(await sandbox.connect(newId(), `s-${newId()}`)) }
    await sandbox.publish(
      {
        account,
        text: 'Who answers on Sundays?',
        attemptId: newId(),
        key: null,
        madeAt: new Date(),
        deadlineMs: 5_000,
      },
      AbortSignal.timeout(30_000),
    )
    await story.send('POST', 'targets', { body: { handle: account.handle } })
    const open = async () => (await story.send('GET', 'signals')).body.signals
    const [signal] = await eventually(open, (found) => found.length === 1)
    const { id } = (
      await story.send('POST', `signals/${signal.id}/engage`, { body: { action: 'like' } })
    ).body.engagement
    expect(await open()).toEqual([])
    await remove(story, id)
    expect(await open()).toMatchObject([{ id: signal.id, engagement_id: null }])
    await act(story, id, 'restore')
    expect((await story.send('GET', 'signals?status=engaged')).body.signals).toMatchObject([
      { id: signal.id, engagement_id: id },
    ])
  })
})
