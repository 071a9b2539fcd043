/**
 * Hooks over HTTP: the library with the performance of each opening, and drafting that follows it.
 */
import { expect, test } from 'bun:test'
import { LEAST_MEASURED } from '#domain/growth/drafting/hook-choice'
import { hookKeys, postHooks } from '#domain/growth/drafting/hooks'
import { createComposer } from '#port/model/composer/composer'
import { setItem } from '#test/support/database/writes'
import { insertCounts } from '#test/support/growth/posted'
import { softwareProfile } from '#test/support/growth/profiles'
import { newStory, type Story } from '#test/support/growth/story'
import { inlineWorker } from '#test/support/model/inline-worker'
import { useApp } from '#test/support/use'

type Hook = Record<'drafted' | 'approved' | 'posted' | 'rejected' | 'measured', number> & {
  id: string
  engagement_rate: number | null
}

/** The weights of openings in the brief of the last batch. */
let weights: Record<string, number> = {}
const app = useApp(() => {
  const composer = createComposer(inlineWorker)
  const draft = (...[brief, signal]: Parameters<typeof composer.draft>) => {
    weights = Object.fromEntries(brief.hooks.map(({ hook, weight }) => [hook, weight]))
    return composer.draft(brief, signal)
  }
  return { overrides: { drafter: { ...composer, draft } } }
})

const listed = async (story: Story): Promise<Hook[]> => {
  const all: Hook[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await story.send('GET', `hooks?limit=20${cursor ? `&cursor=${cursor}` : ''}`)
    all.push(...body.hooks)
    cursor = body.next_cursor
  }
  return all
}
const hookOf = async (story: Story, id: string): Promise<Hook> =>
  (await listed(story)).find((hook) => hook.id === id)!

/** A posted item with this opening and these snapshots of its metrics. */
const posted = async (
  story: Story,
  hook: string,
  ...snapshots: [impressions: number, likes: number][]
): Promise<void> => {
  const id = await story.drafted()
  await setItem(app, id, { hook, status: 'posted', posted_at: app.owner`now()` })
  const counts = snapshots.map(([impressions, likes], index) => ({
    at: new Date(Date.now() + index * 60_000),
    impressions,
    likes,
    clicks: 9,
  }))
  await insertCounts(app, { tenantId: story.tenantId, itemId: id }, counts)
}

test('the library is listed in pages and in its own order, at first unused', async () => {
  const story = await newStory(app)
  const hooks = await listed(story)
  expect(hooks.map(({ id }) => id)).toEqual([...hookKeys])
  for (const hook of hooks)
    expect(hook).toMatchObject({
      drafted: 0,
      approved: 0,
      posted: 0,
      rejected: 0,
      measured: 0,
      engagement_rate: null,
    })
})

test('each workspace counts by opening what becomes of its drafts, without deleted ones', async () => {
  const [story, other] = [await newStory(app), await newStory(app)]
  const { on_missed: _, ...profile } = softwareProfile
  await story.send('PUT', 'profile', { body: profile })
  const { batch } = (await story.send('POST', 'batches', { body: { count: 6 } })).body
  const { items } = await story.ended(`batches/${batch.id}`)
  for (const { hook } of items) expect(postHooks).toContain(hook)
  const [first, second] = items
  await story.send('POST', `items/${first.id}/approve`, { body: {} })
  await story.send('POST', `items/${first.id}/posted`, { body: {} })
  await story.send('POST', `items/${second.id}/reject`, { body: {} })
  const hooks = await listed(story)
  const total = (field: 'drafted' | 'approved' | 'posted' | 'rejected') =>
    hooks.reduce((sum, hook) => sum + hook[field], 0)
  expect([total('drafted'), total('approved'), total('posted'), total('rejected')]).toEqual([
    items.length,
    1,
    1,
    1,
  ])
  expect(await hookOf(story, first.hook)).toMatchObject({ approved: 1, posted: 1 })
  expect((await hookOf(story, second.hook)).rejected).toBe(1)
  const [third] = items.slice(2)
  const before = await hookOf(story, third.hook)
  await story.send('DELETE', `items/${third.id}`)
  expect(await hookOf(story, third.hook)).toEqual({ ...before, drafted: before.drafted - 1 })
  expect((await listed(other)).every(({ drafted }) => drafted === 0)).toBeTrue()
})

test('performance is the mean of the latest metrics, and null while there are few', async () => {
  const story = await newStory(app)
  for (let count = 1; count < LEAST_MEASURED; count += 1)
    await posted(story, 'admission', [10, 10], [100, 5])
  await posted(story, 'admission')
  await posted(story, 'admission', [0, 0])
  expect(await hookOf(story, 'admission')).toMatchObject({
    posted: LEAST_MEASURED + 1,
    measured: LEAST_MEASURED - 1,
    engagement_rate: null,
  })
  await posted(story, 'admission', [100, 10])
  expect(await hookOf(story, 'admission')).toMatchObject({
    measured: LEAST_MEASURED,
    engagement_rate: expect.closeTo(0.06, 10),
  })
})

test('the brief of a batch weights openings by performance, and all alike while nothing was measured', async () => {
  const story = await newStory(app)
  const draft = async () => {
    const { batch } = (
      await story.send('POST', 'batches', { body: { count: 1, focus: 'Onboarding' } })
    ).body
    await story.ended(`batches/${batch.id}`)
    return weights
  }
  expect(new Set(Object.values(await draft()))).toEqual(new Set([1]))
  for (let count = 0; count < 12; count += 1) {
    await posted(story, 'admission', [100, 20])
    await posted(story, 'cold-open', [100, 2])
  }
  const { admission, 'cold-open': flopped } = await draft()
  expect(admission).toBeGreaterThan(1.25)
  expect(flopped).toBeLessThan(0.8)
})
