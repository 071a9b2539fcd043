/**
 * The life of an engagement before it goes out: its text changes, decisions are taken back, and
 * people do it by hand.
 */

import { describe, expect, test } from 'bun:test'
import {
  act,
  approvedEngagement,
  draftedEngagement,
  engage,
} from '#test/support/growth/engagements'
import { newStory, type Story } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const edit = (story: Story, id: string, body: object) =>
  story.send('PATCH', `engagements/${id}`, { body })

const drafted = (story: Story, action = 'reply') => draftedEngagement(app, story, { action })
const approved = (story: Story, action = 'reply') => approvedEngagement(app, story, { action })

const audited = async ({ tenantId }: Story, id: string) =>
  (
    await app.owner<
      { operation: string }[]
    >`select operation from audit where tenant_id = ${tenantId} and ref_id = ${id} order by id`
  ).map(({ operation }) => operation.replace('growth.engagements.', ''))

describe('the text of an engagement', () => {
  test('is changed by a person, and the change ends its approval', async () => {
    const story = await newStory(app)
    const { id, post } = await approved(story)
    const { status, body } = await edit(story, id, {
      body: 'We call before we are late.',
      revision: 1,
    })
    expect(status).toBe(200)
    expect(body.engagement).toMatchObject({
      status: 'drafted',
      body: 'We call before we are late.',
      revision: 2,
      original_body: 'We call first.',
      account: null,
      decision: { what: 'approved', by: { kind: 'key' } },
    })
    const refused = await act(story, id, 'execute')
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'cannot execute: the engagement is drafted; approve it first',
    ])
    const again = await act(story, id, 'approve')
    expect(again.body.engagement).toMatchObject({
      status: 'approved',
      revision: 2,
      content_hash: body.engagement.content_hash,
    })
    expect((await act(story, id, 'execute')).body.engagement.status).toBe('executed')
    const sent = await app.owner<
      { text: string }[]
    >`select text from sandbox.posts where in_reply_to = ${post}`
    expect(sent).toMatchObject([{ text: 'We call before we are late.' }])
  })

  test('is guarded by its revision: of two people who edit one, the second is told', async () => {
    const story = await newStory(app)
    const { id } = await drafted(story)
    await edit(story, id, { body: 'First.', revision: 1 })
    const late = await edit(story, id, { body: 'Second.', revision: 1 })
    expect([late.status, late.body.error.code, late.body.error.details]).toEqual([
      409,
      'conflict',
      [
        { path: 'revision', message: 'the present revision is 2' },
        { path: 'next', message: `growth.engagements.get ${id}` },
      ],
    ])
    expect((await edit(story, id, { body: 'Second.', revision: 2 })).body.engagement).toMatchObject(
      { body: 'Second.', revision: 3 },
    )
  })

  test('follows the rules of its channel and its network', async () => {
    const story = await newStory(app)
    const { id } = await drafted(story)
    await story.changeChannel('replies', { format_rules: { banned_words: ['synergy'] } })
    expect((await edit(story, id, { body: 'Pure synergy.' })).body.error.details).toEqual([
      { path: 'body', message: expect.stringContaining('synergy') },
    ])
    expect((await edit(story, id, { body: 'x'.repeat(281) })).body.error.message).toContain(
      '281 characters long',
    )
    const strange = await edit(story, id, { body: 'We\u0007 call first.' })
    expect([strange.status, strange.body.error.details]).toEqual([
      400,
      [{ path: 'body', message: expect.stringContaining('U+0007') }],
    ])
    expect((await edit(story, id, { body: 'One line\r\nand another' })).body.engagement.body).toBe(
      'One line\nand another',
    )
  })
})

describe('reopening', () => {
  test.each([['approved'], ['rejected']])(
    'makes a draft of an engagement that is %s, and another decision of it',
    async (state) => {
      const story = await newStory(app)
      const { id } = state === 'approved' ? await approved(story) : await drafted(story)
      if (state === 'rejected')
        await act(story, id, 'reject', { body: { reason: 'Not our subject' } })
      const { status, body } = await act(story, id, 'reopen')
      expect(status).toBe(200)
      expect(body.engagement).toMatchObject({
        status: 'drafted',
        account: null,
        reject_reason: null,
        decision: { what: 'reopened' },
      })
      expect((await act(story, id, 'approve')).body.engagement.status).toBe('approved')
    },
  )

  test('a draft answers with the draft, and writes nothing', async () => {
    const story = await newStory(app)
    const { id } = await drafted(story)
    const [before, events] = [await audited(story, id), await story.events()]
    expect((await act(story, id, 'reopen')).body.engagement).toMatchObject({
      status: 'drafted',
      decision: null,
    })
    expect([await audited(story, id), await story.events()]).toEqual([before, events])
  })

  test('a rejected one is refused while another of the same action on the post is open', async () => {
    const story = await newStory(app)
    const { id, post } = await drafted(story, 'like')
    await act(story, id, 'reject')
    const other = await engage(story, { post, action: 'like' })
    expect(other.status).toBe(201)
    const refused = await act(story, id, 'reopen')
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining(`engagement ${other.body.engagement.id} is`),
    ])
    await act(story, other.body.engagement.id, 'reject')
    expect((await act(story, id, 'reopen')).status).toBe(200)
  })
})

describe('an engagement done by hand', () => {
  test.each([
    ['drafted', 'reply'],
    ['approved', 'like'],
  ])(
    'is settled when it was %s, with the URL if there is one, and nothing is sent',
    async (state, action) => {
      const story = await newStory(app)
      const { id, post } =
        state === 'approved' ? await approved(story, action) : await drafted(story, action)
      const url = 'https://sandbox.example/status/7'
      const { status, body } = await act(
        story,
        id,
        'done',
        action === 'reply' ? { body: { url } } : {},
      )
      expect(status).toBe(200)
      expect(body.engagement).toMatchObject({
        status: 'executed',
        url: action === 'reply' ? url : null,
        executed_at: expect.any(String),
        decision: { what: 'marked_done' },
      })
      expect(await app.owner`select from sandbox.posts where in_reply_to = ${post}`).toHaveLength(0)
      expect(await app.owner`select from sandbox.reactions where post_id = ${post}`).toHaveLength(0)
      const twice = await act(story, id, 'done')
      expect([twice.status, twice.body.error.message]).toEqual([
        409,
        'cannot mark done: the engagement is executed; nothing is left to do',
      ])
    },
  )
})

describe('one engagement, read by its id', () => {
  test('tells its whole way: versions, decisions and attempts', async () => {
    const story = await newStory(app)
    const { id } = await approved(story)
    await edit(story, id, { body: 'We call before we are late.' })
    await act(story, id, 'approve')
    await act(story, id, 'execute')
    const { status, body } = await story.send('GET', `engagements/${id}`)
    expect(status).toBe(200)
    const { versions, decisions, attempts } = body.engagement
    expect(body.engagement).toMatchObject({
      id,
      status: 'executed',
      revision: 2,
      original_body: 'We call first.',
    })
    expect(versions.map(({ number }: { number: number }) => number)).toEqual([2, 1])
    expect(versions[0].content_hash).toBe(body.engagement.content_hash)
    expect(
      decisions.map(({ operation }: { operation: string }) =>
        operation.replace('growth.engagements.', ''),
      ),
    ).toEqual([...['execute', 'approve', 'edit', 'approve', 'create']])
    expect(attempts).toMatchObject([
      { number: 1, outcome: 'posted', content_hash: body.engagement.content_hash, error: null },
    ])
  })
})
