/**
 * Batches that a drafter writes in several runs: what is drafted stays, whatever ends the batch.
 * And cancelling, over HTTP.
 */
import { describe, expect, test } from 'bun:test'
import type { DraftBrief } from '#domain/growth/drafting/draft'
import { GenerationError } from '#port/model/drafter'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import { newStory } from '#test/support/growth/story'
import { heldDrafter } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

/** Posts of each run. */
const AT_ONCE = 2

let held = heldDrafter(AT_ONCE)
/** The drafter refuses from this call on. */
let refusedFrom = Number.POSITIVE_INFINITY
let briefs: DraftBrief[] = []
const points = testFailpoints()

const app = useApp(() => ({
  overrides: {
    failpoints: points.at,
    drafter: {
      ...held.drafter,
      async draft(brief, signal) {
        briefs.push(brief)
        if (briefs.length >= refusedFrom) throw new GenerationError('write plainer')
        return held.drafter.draft(brief, signal)
      },
      article: (...given) => held.drafter.article(...given),
    },
  },
}))

/** A workspace, and a drafter that waits to be let on. */
const opened = async () => {
  held.release()
  held = heldDrafter(AT_ONCE)
  briefs = []
  refusedFrom = Number.POSITIVE_INFINITY
  const story = await newStory(app)
  const { tenantId, send } = story
  return {
    ...story,
    create: async (body: object): Promise<string> =>
      (await send('POST', 'batches', { body })).body.batch.id,
    batch: async (id: string) => (await send('GET', `batches/${id}`)).body.batch,
    ended: (id: string) => story.ended(`batches/${id}`),
    cancel: (id: string) => send('POST', `batches/${id}/cancel`),
    spent: (key = 'posts') => story.used(key),
    audited: async () =>
      (
        await app.owner`select operation, ref_id from audit where tenant_id = ${tenantId}
          and operation like '%.cancel'`
      ).map((row) => ({
        ...row,
      })),
    works: async () =>
      (await app.owner`select 1 from work where tenant_id = ${tenantId} and lane = 'generation'`)
        .length,
  }
}

/** Lets the call that waits write; the next one waits again. */
const step = () => {
  held.release()
  held.hold()
}

const SETTLED = ['growth.batch.settled', 'growth.approval.requested']

describe('a batch of several runs', () => {
  test('shows how far it is, with the posts that it has, and settles once', async () => {
    const { create, batch, ended, spent, events } = await opened()
    const id = await create({ count: 5, focus: 'docks' })
    await held.begun(1)
    expect(await batch(id)).toMatchObject({
      status: 'generating',
      progress: { done: 0, of: 5 },
      items: [],
    })
    step()
    await held.begun(2)
    expect(await batch(id)).toMatchObject({
      status: 'generating',
      progress: { done: 2, of: 5 },
      items: [{}, {}],
    })
    step()
    await held.begun(3)
    expect(await batch(id)).toMatchObject({ progress: { done: 4, of: 5 } })
    expect(await events()).toEqual([])
    step()
    expect(await ended(id)).toMatchObject({
      status: 'ready',
      delivered: 5,
      shortfall: null,
      progress: null,
      model: 'held',
      items: Array(5).fill({}),
    })
    expect([await spent(), await events()]).toEqual([5, SETTLED])
    expect(briefs.map(({ count, recent }) => [count, recent.length])).toEqual([
      [2, 0],
      [2, 2],
      [1, 4],
    ])
  })

  test('keeps its posts if the drafter finds no more, and is charged for those', async () => {
    const { create, ended, spent, events } = await opened()
    refusedFrom = 2
    held.release()
    expect(await ended(await create({ count: 5 }))).toMatchObject({
      status: 'ready',
      error: null,
      delivered: 2,
      shortfall: '2 of 5 drafted: generation_failed: write plainer',
    })
    expect([await spent(), await events()]).toEqual([2, SETTLED])
    refusedFrom = 1
    expect(await ended(await create({ count: 5 }))).toMatchObject({
      status: 'failed',
      error: 'generation_failed: write plainer',
      delivered: 0,
    })
    expect(await spent()).toBe(2)
  })

  test('divides an experiment between its arms as one run would', async () => {
    const { create, ended, send } = await opened()
    const { experiment } = (
      await send('POST', 'experiments', {
        body: { name: 'Asking', hypothesis: 'Questions get replies' },
      })
    ).body
    held.release()
    const arms: string[][] = []
    for (const count of [5, 3]) {
      const { items } = await ended(await create({ count, experiment_id: experiment.id }))
      arms.push(items.map(({ arm }: { arm: string }) => arm).sort())
    }
    expect(arms.map(({ length }) => length)).toEqual([5, 3])
    expect(arms.flat().sort()).toEqual([...Array(4).fill('control'), ...Array(4).fill('variant')])
  })
})

describe('cancelling', () => {
  test('a batch with posts is ready with them; the call of the model stops, and the rest is not charged', async () => {
    const { create, cancel, batch, spent, events, audited, works } = await opened()
    const id = await create({ count: 5, focus: 'docks' })
    await held.begun(1)
    step()
    await held.begun(2)
    const reply = await cancel(id)
    expect([reply.status, reply.body.batch]).toEqual([
      200,
      expect.objectContaining({ status: 'ready', delivered: 2, progress: null }),
    ])
    expect(held.aborted).toEqual(['docks'])
    expect(await batch(id)).toMatchObject({
      status: 'ready',
      error: null,
      shortfall: '2 of 5 drafted: cancelled',
      requested: 5,
      items: [{ status: 'drafted' }, { status: 'drafted' }],
    })
    expect([await spent(), await events(), await works()]).toEqual([2, SETTLED, 0])
    expect((await cancel(id)).body).toEqual(reply.body)
    expect([await events(), await audited()]).toEqual([
      SETTLED,
      [{ operation: 'growth.batches.cancel', ref_id: id }],
    ])
  })

  test('articles, audits and reports fail as cancelled, and return to their quotas', async () => {
    const { send, spent, audited } = await opened()
    points.arm('generation.claimed', 'hang')
    const made = [
      ['articles', 'article', { topic: 'docks' }],
      ['audits', 'audit', {}],
      ['reports', 'report', {}],
    ] as const
    for (const [path, name, body] of made) {
      const { id } = (await send('POST', path, { body })).body[name]
      expect(await spent(path)).toBe(1)
      const reply = await send('POST', `${path}/${id}/cancel`)
      expect([reply.status, reply.body[name]]).toEqual([
        200,
        expect.objectContaining({ id, status: 'failed', error: 'cancelled' }),
      ])
      expect((await send('GET', `${path}/${id}`)).body[name]).toMatchObject({
        status: 'failed',
        error: 'cancelled',
      })
      expect(await spent(path)).toBe(0)
      expect((await send('POST', `${path}/${id}/cancel`)).body).toEqual(reply.body)
    }
    points.release('generation.claimed')
    expect((await audited()).map(({ operation }) => operation)).toEqual(
      made.map(([path]) => `growth.${path}.cancel`),
    )
  })

  test('ends each batch once, whichever comes first, and charges what it delivered', async () => {
    const { tenantId, create, cancel, ended, spent } = await opened()
    held.release()
    const ids: string[] = []
    for (let round = 0; round < 12; round++) {
      const id = await create({ count: 5 })
      ids.push(id)
      // Let it come to different points of its runs.
      const from = round % 3
      if (from > 0)
        await eventually(
          async () => (await app.owner`select delivered from batch where id = ${id}`)[0]!.delivered,
          (n) => n >= 2 * from,
        )
      await cancel(id)
    }
    const batches = await Promise.all(ids.map(ended))
    for (const { status, error, delivered, items } of batches) {
      expect([status, error]).toEqual(delivered > 0 ? ['ready', null] : ['failed', 'cancelled'])
      expect(items).toHaveLength(delivered)
    }
    expect(await spent()).toBe(batches.reduce((sum, { delivered }) => sum + delivered, 0))
    const [row] =
      await app.owner`select count(*)::int as n from outbox where tenant_id = ${tenantId}
        and type = 'growth.batch.settled'`
    expect(row!.n).toBe(ids.length)
  })
})
