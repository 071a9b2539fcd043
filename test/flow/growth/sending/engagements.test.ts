import { describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { eventually } from '#test/support/app'
import { setPlan } from '#test/support/database/writes'
import { othersPost } from '#test/support/growth/records'
import { newStory, type Story } from '#test/support/growth/story'
import { lostAnswer, lostRequest } from '#test/support/growth/unreliable'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const quick = { ...sendTimes, settleMs: 20, windowMs: 60, deadlineMs: 2_000 }
const app = useApp({ overrides: { drafter: held.drafter, times: quick } })

const engagementsOf = async (story: Story) => (await story.send('GET', 'engagements?limit=100')).body.engagements
const engagement = async (story: Story, id: string) => (await engagementsOf(story)).find((one: { id: string }) => one.id === id)
const settled = (story: Story, id: string, ...statuses: string[]) =>
  eventually(
    () => engagement(story, id),
    ({ status }) => statuses.includes(status),
  )
const create = (story: Story, body: Record<string, unknown>) => story.send('POST', 'engagements', { body })
const act = (story: Story, id: string, verb: string, options: { body?: object; headers?: Record<string, string> } = {}) =>
  story.send('POST', `engagements/${id}/${verb}`, options)

/** An approved engagement, with its post. */
const approved = async (story: Story, { action = 'reply', body = 'We call first.' }: { action?: string; body?: string } = {}) => {
  const post = await othersPost({ app })
  const made = await create(story, { post, action, ...(action === 'reply' || action === 'quote' ? { body } : {}) })
  expect([made.status, made.body.engagement.status]).toEqual([201, 'drafted'])
  expect((await act(story, made.body.engagement.id, 'approve')).status).toBe(200)
  return { id: made.body.engagement.id as string, post }
}

const answers = async (post: string) =>
  (await app.owner<{ text: string }[]>`select text from sandbox.posts where in_reply_to = ${post} or quoted = ${post}`).map(
    ({ text }) => text,
  )
const reactions = async (post: string) =>
  (await app.owner<{ kind: string }[]>`select kind from sandbox.reactions where post_id = ${post}`).map(({ kind }) => kind)

const readsUsed = async ({ tenantId }: Story): Promise<number> =>
  (await app.owner<{ used: number }[]>`select used::int as used from counter where tenant_id = ${tenantId} and key = 'reads_free'`)[0]
    ?.used ?? 0

describe('drafting an engagement', () => {
  test('with a body calls no model, keeps the body and asks for approval', async () => {
    const story = await newStory(app)
    const post = await othersPost({ app }, 'Who answers on Sundays?')
    const { status, body } = await create(story, { post: `https://sandbox.example/status/${post}`, action: 'reply', body: 'We do.' })
    expect(status).toBe(201)
    expect(body.engagement).toMatchObject({ status: 'drafted', action: 'reply', body: 'We do.', model: null, account: null, review: false })
    expect(body.engagement.post).toMatchObject({ network: 'sandbox', id: post, text: 'Who answers on Sundays?', addresses_us: false })
    expect(await story.events()).toEqual(['growth.approval.requested'])
    expect(await readsUsed(story)).toBe(1)
  })

  test('without a body gives the drafter the post, and asks for approval once the draft is there', async () => {
    const story = await newStory(app)
    const { body } = await create(story, { post: await othersPost({ app }), action: 'quote', instruction: 'be kind' })
    const { id } = body.engagement
    expect(body.engagement).toMatchObject({ status: 'queued', body: null, instruction: 'be kind' })
    await held.begun(1)
    expect(await engagement(story, id)).toMatchObject({ status: 'generating' })
    expect((await act(story, id, 'approve')).body.error).toMatchObject({
      code: 'conflict',
      message: 'cannot approve: the engagement is generating; read it again once it is drafted',
      details: [{ path: 'next', message: `growth.engagements.get ${id}` }],
    })
    held.release()
    expect(await settled(story, id, 'drafted')).toMatchObject({ body: `Reply of ${id}`, model: 'held' })
    expect(await story.events()).toEqual(['growth.approval.requested'])
  })

  test('a second time for the same post and action is refused until the first is rejected', async () => {
    const story = await newStory(app)
    const input = { post: await othersPost({ app }), action: 'like' }
    const first = await create(story, input)
    const second = await create(story, input)
    expect([second.status, second.body.error.message]).toEqual([
      409,
      `this post already has a like: engagement ${first.body.engagement.id} is drafted`,
    ])
    expect(await readsUsed(story)).toBe(1)
    expect((await create(story, { ...input, action: 'repost' })).status).toBe(201)
    await act(story, first.body.engagement.id, 'reject', { body: { reason: 'no' } })
    expect((await create(story, input)).status).toBe(201)
  })

  test('under one key makes one, however many requests there are', async () => {
    const story = await newStory(app)
    const input = { body: { post: await othersPost({ app }), action: 'like' }, headers: { 'idempotency-key': 'once' } }
    const [first, second] = [await story.send('POST', 'engagements', input), await story.send('POST', 'engagements', input)]
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
    expect(await engagementsOf(story)).toHaveLength(1)
  })

  test.each([
    [{ post: '17', action: 'like' }, 404, 'the network has no such post'],
    [{ post: 'hello', action: 'like' }, 400, 'post is neither the id nor the URL of a post on sandbox'],
    [{ post: '', action: 'like' }, 400, 'post'],
    [{ action: 'wave', post: '17' }, 400, 'action'],
  ])('%j is answered %i', async (input, status, message) => {
    const story = await newStory(app)
    const reply = await create(story, input)
    expect([reply.status, reply.body.error.message]).toEqual([status, expect.stringContaining(message)])
  })

  test.each([
    [{ action: 'like', body: 'Nice.' }, 'body only applies to replies and quotes, not to a like'],
    [{ action: 'repost', instruction: 'be kind' }, 'instruction only applies to replies and quotes, not to a repost'],
    [{ action: 'reply', body: ' ' }, 'body is empty'],
    [{ action: 'reply', body: 'x'.repeat(281) }, 'body is 281 characters long as the network counts; the maximum is 280'],
  ])('%j is refused', async (input, message) => {
    const story = await newStory(app)
    const reply = await create(story, { post: await othersPost({ app }), ...input })
    expect([reply.status, reply.body.error.message]).toEqual([400, message])
  })

  test('follows the rules of the channel for replies', async () => {
    const story = await newStory(app)
    const channels = (await story.send('GET', 'overview')).body.overview.channels
    const { id } = channels.find(({ name }: { name: string }) => name === 'replies')
    await story.send('PUT', `channels/${id}`, { body: { format_rules: { banned_words: ['synergy'] } } })
    const post = await othersPost({ app })
    const refused = await create(story, { post, action: 'reply', body: 'Pure synergy.' })
    expect([refused.status, refused.body.error.details]).toEqual([400, [{ path: 'body', message: expect.stringContaining('synergy') }]])
    const { body } = await create(story, { post, action: 'reply', body: 'Pure luck.' })
    expect((await act(story, body.engagement.id, 'approve', { body: { body: 'Synergy!' } })).status).toBe(400)
    expect((await act(story, body.engagement.id, 'approve')).status).toBe(200)
  })

  test('without an account works only if the post need not be read', async () => {
    const story = await newStory(app)
    const post = await othersPost({ app })
    await story.send('DELETE', 'connection')
    expect((await create(story, { post, action: 'reply' })).body.error.message).toStartWith(
      'drafting needs a connected account to read the post',
    )
    expect((await create(story, { post, action: 'reply', body: 'Hm.' })).body.engagement).toMatchObject({
      status: 'drafted',
      post: { text: null },
    })
    expect(await readsUsed(story)).toBe(0)
  })

  test("is refused when the plan lacks the feature, the cap is reached or the day's reads are spent", async () => {
    const story = await newStory(app)
    const post = await othersPost({ app })
    const plan = (changes: { plan?: string; overrides?: object }) =>
      setPlan(app, story.tenantId, { plan: 'team', overrides: {}, ...changes })
    const refusal = async () => (await create(story, { post, action: 'like' })).body.error.message
    await plan({ plan: 'free' })
    expect(await refusal()).toBe('plan_feature_disabled:engagement')
    await plan({ overrides: { create_engagement: 0 } })
    expect(await refusal()).toBe('rate_limited:create_engagement')
    await plan({ overrides: { reads_free: 0 } })
    const exhausted = await create(story, { post, action: 'like' })
    expect([exhausted.status, exhausted.body.error.message]).toEqual([429, 'x_read_budget_exhausted'])
    expect(Number(exhausted.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await readsUsed(story)).toBe(0)
  })
})

describe('executing an engagement', () => {
  test.each(['reply', 'quote'])('puts a %s on the network once, however many requests there are', async (action) => {
    const story = await newStory(app)
    const { id, post } = await approved(story, { action })
    const done = await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })
    expect([done.status, done.body.engagement]).toMatchObject([
      200,
      { status: 'executed', account: story.account, external_id: expect.any(String) },
    ])
    expect((await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })).text).toBe(done.text)
    expect((await act(story, id, 'execute')).body.error.message).toBe('cannot execute: the engagement is executed; nothing is left to do')
    expect(await answers(post)).toEqual(['We call first.'])
  })

  test.each(['like', 'repost'])('puts a %s on the network', async (action) => {
    const story = await newStory(app)
    const { id, post } = await approved(story, { action })
    expect((await act(story, id, 'execute')).body.engagement).toMatchObject({ status: 'executed', external_id: post })
    expect(await reactions(post)).toEqual([action])
  })

  test('from two requests at once sends it once', async () => {
    const story = await newStory(app)
    const { id, post } = await approved(story)
    const replies = await Promise.all([act(story, id, 'execute'), act(story, id, 'execute')])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await answers(post)).toHaveLength(1)
  })

  test('takes an approval and a connected account', async () => {
    const story = await newStory(app)
    const { body } = await create(story, { post: await othersPost({ app }), action: 'like' })
    expect((await act(story, body.engagement.id, 'execute')).body.error.message).toBe(
      'cannot execute: the engagement is drafted; approve it first',
    )
    const { id } = await approved(story)
    await story.send('DELETE', 'connection')
    const refused = await act(story, id, 'execute')
    expect([refused.status, refused.body.error.message]).toEqual([400, 'x_not_connected'])
    expect(await engagement(story, id)).toMatchObject({ status: 'approved' })
  })

  test('sends the body that was approved', async () => {
    const story = await newStory(app)
    const post = await othersPost({ app })
    const { body } = await create(story, { post, action: 'reply', body: 'Draft.' })
    expect((await act(story, body.engagement.id, 'approve', { body: { body: 'Edited.' } })).body.engagement.body).toBe('Edited.')
    await act(story, body.engagement.id, 'execute')
    expect(await answers(post)).toEqual(['Edited.'])
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
    expect([await engagement(story, id), await answers(post)]).toMatchObject([{ status: 'drafted', last_error: 'approval_stale' }, []])
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

  test.each(['reply', 'quote', 'like', 'repost'])('a %s that was applied is found, and the caller gets it', async (action) => {
    const story = await newStory(app)
    const { id, post } = await approved(story, { action })
    loseNext(lostAnswer)
    const done = await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })
    expect([done.status, done.body.engagement.status]).toEqual([200, 'executed'])
    expect((await act(story, id, 'execute', { headers: { 'idempotency-key': 'key' } })).text).toBe(done.text)
    expect([...(await answers(post)), ...(await reactions(post))]).toHaveLength(1)
  })

  test.each(['reply', 'like'])('a %s that was lost is never sent again and goes to review', async (action) => {
    const story = await newStory(app)
    const { id, post } = await approved(story, { action })
    loseNext(lostRequest)
    void act(story, id, 'execute')
    const doubtful = await eventually(
      () => engagement(story, id),
      ({ review }) => review,
    )
    expect(doubtful.status).toBe('execute_unconfirmed')
    expect((await act(story, id, 'execute')).body.error).toMatchObject({ code: 'conflict' })
    expect((await story.events()).filter((type) => type === 'growth.approval.requested')).toHaveLength(2)
    expect([...(await answers(post)), ...(await reactions(post))]).toEqual([])
    expect((await act(story, id, 'reject')).body.engagement).toMatchObject({ status: 'rejected', review: false })
    expect((await create(story, { post, action: 'repost' })).status).toBe(201)
  })

  test('a person who finds it on the network settles it by approving it', async () => {
    const story = await newStory(app)
    const { id } = await approved(story)
    loseNext(lostRequest)
    const waiting = act(story, id, 'execute')
    await eventually(
      () => engagement(story, id),
      ({ review }) => review,
    )
    expect((await act(story, id, 'approve', { body: { body: 'Other words.' } })).status).toBe(409)
    expect((await act(story, id, 'approve')).body.engagement).toMatchObject({ status: 'executed', review: false, external_id: null })
    expect([(await waiting).status, (await waiting).body.engagement.status]).toEqual([200, 'executed'])
  })
})
