/**
 * Engagements on their way to the network: sent once, and what becomes of those whose answer proves
 * nothing.
 */

import { describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { eventually } from '#test/support/app'
import {
  act,
  answersTo,
  approvedEngagement,
  engage,
  engagementOf,
  reactionsTo,
} from '#test/support/growth/engagements'
import { newStory, type Story } from '#test/support/growth/story'
import { lostAnswer, lostRequest } from '#test/support/growth/unreliable'
import { useApp } from '#test/support/use'

const quick = { ...sendTimes, settleMs: 20, windowMs: 60, deadlineMs: 2_000 }
const app = useApp({ overrides: { times: quick } })

/** An approved engagement, with its post. */
const approved = (story: Story, action?: string) =>
  approvedEngagement(app, story, action ? { action } : {})
const answers = (post: string) => answersTo(app, post)
const reactions = (post: string) => reactionsTo(app, post)

describe('executing an engagement', () => {
  test.each(['reply', 'quote'])(
    'puts a %s on the network once, however many requests there are',
    async (action) => {
      const story = await newStory(app)
      const { id, post } = await approved(story, action)
      const done = await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })
      expect([done.status, done.body.engagement]).toMatchObject([
        200,
        { status: 'executed', account: story.account, external_id: expect.any(String) },
      ])
      expect(
        (await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })).text,
      ).toBe(done.text)
      expect((await act(story, id, 'execute')).body.error.message).toBe(
        'cannot execute: the engagement is executed; nothing is left to do',
      )
      expect(await answers(post)).toEqual(['We call first.'])
    },
  )

  test.each(['like', 'repost'])('puts a %s on the network', async (action) => {
    const story = await newStory(app)
    const { id, post } = await approved(story, action)
    expect((await act(story, id, 'execute')).body.engagement).toMatchObject({
      status: 'executed',
      external_id: post,
    })
    expect(await reactions(post)).toEqual([action])
  })

  test('from two requests at once sends it once', async () => {
    const story = await newStory(app)
    const { id, post } = await approved(story)
    const replies = await Promise.all([act(story, id, 'execute'), act(story, id, 'execute')])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await answers(post)).toHaveLength(1)
  })

  test('is refused if the body has changed since its approval', async () => {
    const story = await newStory(app)
    const { id, post } = await approved(story)
    await app.owner`update engagement set body = 'Something else.' where id = ${id}`
    const refused = await act(story, id, 'execute')
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'cannot execute: the engagement has changed since its approval; approve it again',
    ])
    expect([await engagementOf(story, id), await answers(post)]).toMatchObject([
      { status: 'drafted', last_error: 'approval_stale' },
      [],
    ])
  })
})

test('a caller need not wait for its outcome', async () => {
  const story = await newStory(app)
  const { id, post } = await approved(story)
  const begun = await act(story, id, 'execute', { body: { wait: 0 } })
  expect(begun.status).toBe(202)
  expect(['executing', 'executed']).toContain(begun.body.engagement.status)
  await eventually(
    () => engagementOf(story, id),
    ({ status }) => status === 'executed',
  )
  expect(await answers(post)).toEqual(['We call first.'])
})

describe('an answer that proves nothing', () => {
  /** Sets what the network does with the next engagement. */
  const loseNext = (loss: typeof lostAnswer): void => {
    const { sandbox } = app.workplace
    const { engage } = sandbox
    sandbox.engage = (...args) => {
      sandbox.engage = engage
      return loss(() => engage(...args))
    }
  }

  test.each(['reply', 'quote', 'like', 'repost'])(
    'a %s that was applied is found, and the caller gets it',
    async (action) => {
      const story = await newStory(app)
      const { id, post } = await approved(story, action)
      loseNext(lostAnswer)
      const done = await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })
      expect([done.status, done.body.engagement.status]).toEqual([200, 'executed'])
      expect(
        (await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })).text,
      ).toBe(done.text)
      expect([...(await answers(post)), ...(await reactions(post))]).toHaveLength(1)
    },
  )

  test.each(['reply', 'like'])(
    'a %s that was lost is never sent again and goes to review',
    async (action) => {
      const story = await newStory(app)
      const { id, post } = await approved(story, action)
      loseNext(lostRequest)
      void act(story, id, 'execute')
      const doubtful = await eventually(
        () => engagementOf(story, id),
        ({ review }) => review,
      )
      expect(doubtful.status).toBe('execute_unconfirmed')
      expect((await act(story, id, 'execute')).body.error).toMatchObject({ code: 'conflict' })
      expect(
        (await story.events()).filter((type) => type === 'growth.approval.requested'),
      ).toHaveLength(2)
      expect([...(await answers(post)), ...(await reactions(post))]).toEqual([])
      expect((await act(story, id, 'reject')).body.engagement).toMatchObject({
        status: 'rejected',
        review: false,
      })
      expect((await engage(story, { post, action: 'repost' })).status).toBe(201)
    },
  )

  test('a person who finds it on the network settles it by approving it', async () => {
    const story = await newStory(app)
    const { id } = await approved(story)
    loseNext(lostRequest)
    const waiting = act(story, id, 'execute')
    await eventually(
      () => engagementOf(story, id),
      ({ review }) => review,
    )
    expect((await act(story, id, 'approve', { body: { body: 'Other words.' } })).status).toBe(409)
    expect((await act(story, id, 'approve')).body.engagement).toMatchObject({
      status: 'executed',
      review: false,
      external_id: null,
    })
    expect([(await waiting).status, (await waiting).body.engagement.status]).toEqual([
      200,
      'executed',
    ])
  })
})
