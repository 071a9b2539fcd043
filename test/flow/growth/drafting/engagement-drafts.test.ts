/**
 * Engagements as they are drafted: by a person or a model, once for a post and an action, and
 * within the rules.
 */

import { expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { act, engage, engagementOf } from '#test/support/growth/engagements'
import { othersPost } from '#test/support/growth/records'
import { newStory } from '#test/support/growth/story'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const app = useApp({ overrides: { drafter: held.drafter } })

test('an engagement with a body calls no model, keeps the body and asks for approval', async () => {
  const story = await newStory(app)
  const post = await othersPost({ app }, 'Who answers on Sundays?')
  const { status, body } = await engage(story, {
    post: `https://sandbox.example/status/${post}`,
    action: 'reply',
    body: 'We do.',
  })
  expect(status).toBe(201)
  expect(body.engagement).toMatchObject({
    status: 'drafted',
    action: 'reply',
    body: 'We do.',
    model: null,
    account: null,
    review: false,
  })
  expect(body.engagement.post).toMatchObject({
    network: 'sandbox',
    id: post,
    text: 'Who answers on Sundays?',
    addresses_us: false,
  })
  expect(await story.events()).toEqual(['growth.approval.requested'])
  expect(await story.used('reads_free')).toBe(1)
})

test('an engagement without a body gives the drafter the post, and asks for approval once the draft is there', async () => {
  const story = await newStory(app)
  const { body } = await engage(story, {
    post: await othersPost({ app }),
    action: 'quote',
    instruction: 'be kind',
  })
  const { id } = body.engagement
  expect(body.engagement).toMatchObject({ status: 'queued', body: null, instruction: 'be kind' })
  await held.begun(1)
  expect(await engagementOf(story, id)).toMatchObject({ status: 'generating' })
  expect((await act(story, id, 'approve')).body.error).toMatchObject({
    code: 'conflict',
    message: 'cannot approve: the engagement is generating; read it again once it is drafted',
    details: [{ path: 'next', message: `growth.engagements.get ${id}` }],
  })
  held.release()
  const drafted = await eventually(
    () => engagementOf(story, id),
    ({ status }) => status === 'drafted',
  )
  expect(drafted).toMatchObject({ body: `Reply of ${id}`, model: 'held' })
  expect(await story.events()).toEqual(['growth.approval.requested'])
})

test('a second engagement for the same post and action is refused until the first is rejected', async () => {
  const story = await newStory(app)
  const input = { post: await othersPost({ app }), action: 'like' }
  const first = await engage(story, input)
  const second = await engage(story, input)
  expect([second.status, second.body.error.message]).toEqual([
    ...[409, `this post already has a like: engagement ${first.body.engagement.id} is drafted`],
  ])
  expect(await story.used('reads_free')).toBe(1)
  expect((await engage(story, { ...input, action: 'repost' })).status).toBe(201)
  await act(story, first.body.engagement.id, 'reject', { body: { reason: 'no' } })
  expect((await engage(story, input)).status).toBe(201)
})

test.each([
  [{ post: '17', action: 'like' }, 404, 'the network has no such post'],
  [
    { post: 'hello', action: 'like' },
    400,
    'post is neither the id nor the URL of a post on sandbox',
  ],
])('%j is answered %i', async (input, status, message) => {
  const story = await newStory(app)
  const reply = await engage(story, input)
  expect([reply.status, reply.body.error.message]).toEqual([
    status,
    expect.stringContaining(message),
  ])
})

test('an engagement follows the rules of the channel for replies', async () => {
  const story = await newStory(app)
  await story.changeChannel('replies', { format_rules: { banned_words: ['synergy'] } })
  const post = await othersPost({ app })
  const refused = await engage(story, { post, action: 'reply', body: 'Pure synergy.' })
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [{ path: 'body', message: expect.stringContaining('synergy') }],
  ])
  const { body } = await engage(story, { post, action: 'reply', body: 'Pure luck.' })
  expect(
    (await act(story, body.engagement.id, 'approve', { body: { body: 'Synergy!' } })).status,
  ).toBe(400)
  expect((await act(story, body.engagement.id, 'approve')).status).toBe(200)
})

test('an engagement without an account works only if the post need not be read', async () => {
  const story = await newStory(app)
  const post = await othersPost({ app })
  await story.send('DELETE', 'connection')
  expect((await engage(story, { post, action: 'reply' })).body.error.message).toStartWith(
    'drafting needs a connected account to read the post',
  )
  expect(
    (await engage(story, { post, action: 'reply', body: 'Hm.' })).body.engagement,
  ).toMatchObject({
    status: 'drafted',
    post: { text: null },
  })
  expect(await story.used('reads_free')).toBe(0)
})
