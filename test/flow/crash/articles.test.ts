/** A process dies while it writes an article: it is written once more, then given up. */
import { describe, expect, test } from 'bun:test'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { heldDrafter } from '#test/support/model/held-drafter'

describe('a process that dies', () => {
  const dying = async (
    options: Awaited<ReturnType<typeof freshDb>>['options'],
    points: TestFailpoints,
  ) => {
    const { drafter } = heldDrafter()
    const article: typeof drafter.article = async () => ({
      article: {
        title: 'Docks',
        text: 'All begins there.',
        rationale: 'for a test',
        stories: [],
        learnings: [],
      },
      model: 'held',
      usage: { input_tokens: 0, output_tokens: 0, cost_micros: 0 },
    })
    return testApp({
      database: options,
      overrides: { failpoints: points.at, drafter: { ...drafter, article } },
    })
  }

  test.each(['generation.claimed', 'generation.drafted'])(
    'once, at %s: the article is written again and charged once',
    async (point) => {
      await using db = await freshDb()
      const points = testFailpoints()
      points.arm(point, 'hang')
      await using first = await dying(db.options, points)
      const { key, tenantId } = await first.newWorkspace()
      const { id } = (await first.send('POST', 'articles', { key, body: { topic: 'docks' } })).body
        .article
      await points.reached(point)
      await crash(first)
      await using second = await dying(db.options, testFailpoints())
      const article = await eventually(
        async () => (await second.send('GET', `articles/${id}`, { key })).body.article,
        ({ status }) => status === 'ready',
      )
      expect(article.item).toMatchObject({ status: 'drafted', body: 'Docks\n\nAll begins there.' })
      // The process that was declared dead goes on and changes nothing.
      points.release(point)
      const rows = await second.owner`select (select count(*)::int from item
          where tenant_id = ${tenantId}) as items,
      (select count(*)::int from outbox where tenant_id = ${tenantId}) as events,
      (select used::int from counter where tenant_id = ${tenantId} and key = 'articles') as spent`
      expect({ ...rows[0] }).toEqual({ items: 1, events: 1, spent: 1 })
    },
  )

  test('twice: it is given up and the quota given back', async () => {
    await using db = await freshDb()
    let created: { id: string; key: string; tenantId: string } | undefined
    const gone: TestApp[] = []
    for (let time = 0; time < 2; time++) {
      const points = testFailpoints()
      points.arm('generation.claimed', 'hang')
      const one = await dying(db.options, points)
      gone.push(one)
      if (!created) {
        const { key, tenantId } = await one.newWorkspace()
        created = {
          key,
          tenantId,
          id: (await one.send('POST', 'articles', { key, body: { topic: 'docks' } })).body.article
            .id,
        }
      }
      await points.reached('generation.claimed')
      await crash(one)
      points.release('generation.claimed')
    }
    await using last = await dying(db.options, testFailpoints())
    const { id, key, tenantId } = created!
    const article = await eventually(
      async () => (await last.send('GET', `articles/${id}`, { key })).body.article,
      ({ status }) => status === 'failed',
    )
    expect(article).toMatchObject({
      status: 'failed',
      error: 'enqueue_failed',
      title: null,
      item_id: null,
      item: null,
    })
    const [row] = await last.owner`select used::int from counter where tenant_id = ${tenantId}
        and key = 'articles'`
    expect(row!.used).toBe(0)
    for (const one of gone) await one[Symbol.asyncDispose]()
  })
})
