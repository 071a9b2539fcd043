/**
 * Engagements on their way to the network: sent once, and what becomes of those whose answer proves
 * nothing.
 */

import { describe, expect, test } from 'bun:test'
import type { PlanOverrides } from '#contract/limits'
import { sendTimes } from '#domain/growth/sending/times'
import { eventually } from '#test/support/app'
import { setPlan } from '#test/support/database/writes'
import {
  act,
  answersTo,
  approvedEngagement,
  draftedEngagement,
  engage,
  engagementOf,
  reactionsTo,
} from '#test/support/growth/engagements'
import { newStory, type Story } from '#test/support/growth/story'
import { lostAnswer, lostRequest } from '#test/support/growth/unreliable'
import { limitsOf } from '#test/support/http/rate-limits'
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
  // The network of a quick machine may have answered by then.
  const { status } = begun.body.engagement
  expect(['executing', 'executed']).toContain(status)
  expect(begun.status).toBe(status === 'executed' ? 200 : 202)
  await eventually(
    () => engagementOf(story, id),
    ({ status }) => status === 'executed',
  )
  expect(await answers(post)).toEqual(['We call first.'])
})

describe('approving with execute', () => {
  const text = 'We call, then we drive.'
  const sending = (story: Story, id: string, more: object = {}) =>
    act(story, id, 'approve', {
      headers: { 'idempotency-key': 'both' },
      body: { body: text, execute: true, ...more },
    })

  test('sends the text that was approved, in one letter', async () => {
    const story = await newStory(app)
    const { id, post } = await draftedEngagement(app, story)
    const { content_hash: seen } = await engagementOf(story, id)
    const done = await sending(story, id, { expect_hash: seen })
    expect([done.status, done.body.engagement]).toMatchObject([
      200,
      { status: 'executed', body: text, decision: { what: 'execution_requested' } },
    ])
    expect(limitsOf(done).left.execute_engagement).toBeDefined()
    const replayed = await sending(story, id, { expect_hash: seen, wait: 1 })
    expect([replayed.text, replayed.headers.get('idempotency-replayed')]).toEqual([
      done.text,
      'true',
    ])
    expect(await answers(post)).toEqual([text])
    expect(await story.used('execute_engagement')).toBe(1)
    const audited = await app.owner`select operation, detail from audit where ref_id = ${id}
      and actor_kind <> 'system' and operation <> 'growth.engagements.create'`
    expect(audited.map((row) => ({ ...row }))).toEqual([
      { operation: 'growth.engagements.approve', detail: { execute: true } },
    ])
  })

  test('by two people at once sends one of the texts', async () => {
    const story = await newStory(app)
    const { id, post } = await draftedEngagement(app, story)
    const replies = await Promise.all(
      ['one', 'other'].map((body) =>
        act(story, id, 'approve', { body: { body, execute: true, wait: 20 } }),
      ),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = replies.find(({ status }) => status === 200)!
    expect(await answers(post)).toEqual([winner.body.engagement.body])
  })

  test('goes on while automation is paused, as a person asks for it', async () => {
    const story = await newStory(app)
    const { id } = await draftedEngagement(app, story)
    expect((await story.send('POST', 'automation/pause-all')).status).toBe(200)
    expect((await sending(story, id)).body.engagement.status).toBe('executed')
  })

  test('does not confirm what is in review', async () => {
    const story = await newStory(app)
    const { id } = await draftedEngagement(app, story)
    await app.owner`update engagement set status = 'execute_unconfirmed', review = true
      where id = ${id}`
    const refused = await act(story, id, 'approve', { body: { execute: true } })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect(await engagementOf(story, id)).toMatchObject({ review: true })
  })

  const disconnect = (story: Story) => story.send('DELETE', 'connection')
  const limit = (overrides: PlanOverrides) => (story: Story) =>
    setPlan(app, story.tenantId, { overrides })
  test.each<[string, (story: Story, id: string) => Promise<unknown>, number, string]>([
    ['no account', disconnect, 400, 'x_not_connected'],
    [
      'the plan',
      limit({ features: { engagement: false } }),
      403,
      'plan_feature_disabled:engagement',
    ],
    ['the hourly cap', limit({ execute_engagement: 0 }), 429, 'rate_limited:execute_engagement'],
    [
      'billing',
      ({ tenantId }) => setPlan(app, tenantId, { billing: 'billing_suspended' }),
      403,
      'plan_invalid:billing_suspended',
    ],
    [
      'the rules of the network',
      async () => {
        app.workplace.sandbox.preflight = () => ({
          allowed: false,
          reason: 'x_gone',
          message: 'No more',
          link: null,
        })
      },
      409,
      'x_gone: No more',
    ],
  ])('is refused as a whole by %s', async (_, forbid, status, message) => {
    const { preflight } = app.workplace.sandbox
    using _restored = {
      [Symbol.dispose]: () => Object.assign(app.workplace.sandbox, { preflight }),
    }
    const story = await newStory(app)
    const { id, post } = await draftedEngagement(app, story)
    await forbid(story, id)
    const before = await engagementOf(story, id)
    const refused = await sending(story, id)
    expect([refused.status, refused.body.error.message]).toEqual([
      status,
      expect.stringContaining(message),
    ])
    expect(await engagementOf(story, id)).toEqual(before)
    expect([before.status, await story.works(id), await answers(post)]).toEqual(['drafted', [], []])
    expect(
      await app.owner`select 1 from audit where ref_id = ${id}
        and operation = 'growth.engagements.approve'`,
    ).toHaveLength(0)
  })
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
      const { attempts } = await engagementOf(story, id)
      const { saw, timeline } = attempts[0].reads.at(-1)
      const texts = timeline?.map(({ text }: { text: string }) => text) ?? null
      // Whether a post has been liked, the post itself says: no timeline is read.
      const isWritten = action === 'reply' || action === 'quote'
      expect([saw, texts]).toEqual(['it', isWritten ? ['We call first.'] : null])
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
