/**
 * Deleted items and engagements are erased after 30 days, with all that is kept of them but the
 * audit.
 */
import { expect, test } from 'bun:test'
import { sweepSome } from '#store/app/sweep'
import { othersPost } from '#test/support/growth/records'
import { newStory, type Story } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { sweep: { everyMs: 3_600_000 } } })

/** Sweeps until nothing is left to remove, so many rows at a time. */
const sweep = async ({ tenantId }: Story, rows = 1_000): Promise<void> => {
  for (let pass = 0; pass < 50; pass++)
    if (!(await sweepSome(app.workplace.db, tenantId, { keepDays: 400, agentKeepDays: 90, rows })))
      return
  throw new Error('the sweep does not end')
}

const age = async (table: 'item' | 'engagement', id: string, days: number): Promise<void> => {
  await app.owner`update ${app.owner(table)} set deleted_at = now() - ${days} * interval '1 day'
    where id = ${id}`
}

const OF_RECORD = {
  revision: 'record_id',
  comment: 'item_id',
  item_word: 'item_id',
  item_word_move: 'item_id',
  item_print: 'item_id',
} as const
const leftOf = async (id: string): Promise<string[]> => {
  const left: string[] = []
  for (const [table, column] of Object.entries(OF_RECORD))
    if (
      (await app.owner`select from ${app.owner(table)} where ${app.owner(column)} = ${id}`).length >
      0
    )
      left.push(table)
  if (
    (await app.owner`select from attempt where item_id = ${id} or engagement_id = ${id}`).length > 0
  )
    left.push('attempt')
  for (const table of ['item', 'engagement'])
    if ((await app.owner`select from ${app.owner(table)} where id = ${id}`).length > 0)
      left.push(table)
  return left
}

/** A deleted item with earlier texts, a comment and an attempt that failed. */
const deletedItem = async (story: Story): Promise<string> => {
  const { id } = (
    await story.send('POST', 'items', { body: { body: 'A first text', tags: ['spring'] } })
  ).body.item
  for (const body of ['A second text', 'A third text'])
    await story.send('PATCH', `items/${id}`, { body: { body } })
  await app.owner`insert into comment (id, tenant_id, item_id, kind, body, written_by, created_at)
    select gen_random_uuid(), tenant_id, id, 'comment', 'Well?', '{"kind": "key", "id": "k"}', now()
      from item where id = ${id}`
  await app.owner`insert into attempt (id, tenant_id, sendable, item_id, number, connection_id,
    body_sha, origin, state, intent_at, lease_until, ended_at)
    select gen_random_uuid(), i.tenant_id, 'post', i.id, 1, c.id, 'x', 'manual', 'failed', now(),
      now(), now()
      from item i join connection c on c.tenant_id = i.tenant_id where i.id = ${id}`
  expect((await story.send('DELETE', `items/${id}`)).status).toBe(200)
  return id
}

const deletedEngagement = async (story: Story): Promise<string> => {
  const body = { post: await othersPost({ app }), action: 'reply', body: 'A first text' }
  const { id } = (await story.send('POST', 'engagements', { body })).body.engagement
  await story.send('PATCH', `engagements/${id}`, { body: { body: 'A second text' } })
  expect((await story.send('DELETE', `engagements/${id}`)).status).toBe(200)
  return id
}

test.each([[1], [1_000]])(
  'are gone, and the audit is there, if a pass removes %i rows',
  async (rows) => {
    const story = await newStory(app)
    const [item, engagement] = [await deletedItem(story), await deletedEngagement(story)]
    await age('item', item, 31)
    await age('engagement', engagement, 31)
    expect(await leftOf(item)).toContain('revision')
    await sweep(story, rows)
    expect([await leftOf(item), await leftOf(engagement)]).toEqual([[], []])
    expect((await story.send('POST', `items/${item}/restore`)).status).toBe(404)
    expect((await story.send('POST', `engagements/${engagement}/restore`)).status).toBe(404)
    const audited =
      await app.owner`select operation from audit where ref_id in (${item}, ${engagement})
        and operation like '%.remove'`
    expect(audited).toHaveLength(2)
  },
)

test('stay for 30 days, as do all that are not deleted', async () => {
  const story = await newStory(app)
  const [item, engagement, draft] = [
    await deletedItem(story),
    await deletedEngagement(story),
    await story.drafted(),
  ]
  await age('item', item, 29)
  await age('engagement', engagement, 29)
  await sweep(story)
  expect((await story.send('POST', `items/${item}/restore`)).body.item).toMatchObject({
    status: 'drafted',
    body: 'A third text',
  })
  expect((await story.send('POST', `engagements/${engagement}/restore`)).body.engagement.body).toBe(
    'A second text',
  )
  expect((await story.item(draft)).status).toBe('drafted')
})
