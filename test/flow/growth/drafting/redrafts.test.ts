/**
 * Items that are written again, over HTTP: what becomes of the text, of the quota, and of a text
 * that comes too late.
 */
import { describe, expect, test } from 'bun:test'
import type { DraftBrief } from '#domain/growth/drafting/draft'
import { MOVED } from '#domain/growth/drafting/redraft'
import { GenerationError } from '#port/model/drafter'
import { eventually } from '#test/support/app'
import { newStory, type Story } from '#test/support/growth/story'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const briefs: DraftBrief[] = []
const app = useApp(() => ({
  overrides: {
    drafter: {
      ...held.drafter,
      draft: (brief, signal) => {
        briefs.push(brief)
        return held.drafter.draft(brief, signal)
      },
    },
  },
}))

const opened = async () => {
  const story = await newStory(app)
  const { tenantId, send } = story
  const id = await story.drafted()
  return {
    ...story,
    id,
    redraft: (hint = 'shorter', of = id) => send('POST', `items/${of}/redraft`, { body: { hint } }),
    now: async (of = id) => (await send('GET', `items/${of}`)).body.item,
    generated: story.ended,
    ended: (of = id) => endOf(story, of),
    spent: () => story.used('posts'),
    rows: async () =>
      (
        await app.owner`select status, error from redraft where tenant_id = ${tenantId} order by id`
      ).map(({ status, error }) => [status, error]),
  }
}

const endOf = ({ send }: Pick<Story, 'send'>, id: string) =>
  eventually(
    async () => (await send('GET', `items/${id}`)).body.item,
    ({ redraft }) => redraft === null || redraft === 'failed',
  )

describe('a draft', () => {
  test('is written again: a version by no person, that waits for approval, for one post of the quota', async () => {
    const { id, redraft, now, ended, spent, events, send } = await opened()
    const before = await now()
    expect((await redraft(' ')).status).toBe(400)
    const asked = await redraft('  shorter  ')
    expect(asked.status).toBe(201)
    expect(asked.body.item).toMatchObject({
      id,
      body: before.body,
      revision: 1,
      status: 'drafted',
      redraft: 'queued',
    })
    await held.begun(1)
    expect(await now()).toMatchObject({ redraft: 'generating', body: before.body, revision: 1 })
    expect(briefs.at(-1)).toMatchObject({
      count: 1,
      recent: [],
      revise: { body: before.body, hook: before.hook, hint: 'shorter' },
    })
    expect((await redraft('longer')).body.error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('redrafted already'),
    })
    held.release()
    const after = await ended()
    expect(after).toMatchObject({
      status: 'drafted',
      revision: 2,
      redraft: null,
      original_body: before.body,
      rationale: 'for a test',
    })
    expect(after.body).toStartWith('Draft 0 of ')
    expect([after.length, await spent(), await events()]).toEqual([
      after.body.length,
      1,
      ['growth.approval.requested'],
    ])
    const { revisions } = (await send('GET', `items/${id}/revisions`)).body
    expect(revisions.map(({ body }: { body: string }) => body).sort()).toEqual(
      [before.body, after.body].sort(),
    )
    expect((await redraft('once more')).status).toBe(201)
    expect(await ended()).toMatchObject({ revision: 3 })
  })

  test('stays as it was if the drafter fails, says why, and costs nothing', async () => {
    const { redraft, now, ended, spent, rows } = await opened()
    const before = await now()
    held.failWith(new GenerationError('write plainer'))
    await redraft()
    const after = await ended()
    expect(after).toMatchObject({
      body: before.body,
      revision: 1,
      redraft: 'failed',
      last_error: 'generation_failed: write plainer',
    })
    expect([await spent(), await rows()]).toEqual([
      0,
      [['failed', 'generation_failed: write plainer']],
    ])
  })

  test('that is an article becomes another article', async () => {
    const story = await opened()
    const { redraft, ended, send } = story
    held.release()
    const { article } = (await send('POST', 'articles', { body: { topic: 'docks' } })).body
    const ready = await story.generated(`articles/${article.id}`)
    expect((await redraft('shorter', ready.item_id)).status).toBe(201)
    const after = await ended(ready.item_id)
    expect(after).toMatchObject({ kind: 'article', title: 'On docks', revision: 2 })
    expect(after.body).not.toBe(ready.item.body)
    expect([await story.used('articles'), await story.used('posts')]).toEqual([1, 1])
  })
})

describe('a text that comes too late is dropped, and its quota returned', () => {
  const moves: [string, (story: Awaited<ReturnType<typeof opened>>) => Promise<unknown>][] = [
    [
      'after an edit',
      ({ send, id }) => send('PATCH', `items/${id}`, { body: { body: 'By hand.' } }),
    ],
    ['after an approval', ({ send, id }) => send('POST', `items/${id}/approve`)],
    ['after a rejection', ({ send, id }) => send('POST', `items/${id}/reject`)],
    ['after a deletion', ({ send, id }) => send('DELETE', `items/${id}`)],
  ]
  test.each(moves)('%s', async (_, move) => {
    const story = await opened()
    await story.redraft()
    await held.begun(1)
    expect(await move(story)).toMatchObject({ status: 200 })
    const [before] =
      await app.owner`select body, status, revision, last_error from item where id = ${story.id}`
    held.release()
    expect(await eventually(story.rows, ([row]) => row![0] === 'failed')).toEqual([
      ['failed', MOVED],
    ])
    const [after] =
      await app.owner`select body, status, revision, last_error from item where id = ${story.id}`
    expect([{ ...after }, await story.spent()]).toEqual([{ ...before }, 0])
  })

  test('if it moved before the drafter began, none is asked', async () => {
    const story = await opened()
    await story.redraft('first')
    await held.begun(1)
    const other = await story.drafted()
    await story.redraft('second', other)
    await story.send('PATCH', `items/${other}`, { body: { body: 'By hand.' } })
    const asked = briefs.length
    held.release()
    expect(
      (
        await eventually(story.rows, (rows) =>
          rows.every(([status]) => status !== 'queued' && status !== 'generating'),
        )
      )[1],
    ).toEqual(['failed', MOVED])
    expect([briefs.length, await story.spent()]).toEqual([asked, 1])
  })
})
