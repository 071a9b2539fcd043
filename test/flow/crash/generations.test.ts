/**
 * Processes die while they generate: it is made once more, then given up. What earlier runs of a
 * batch have drafted stays, and is drafted once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Failpoints } from '#kernel/failpoint'
import { newGate } from '#test/support/actors/letters'
import { testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash, newStory, type Story } from '#test/support/growth/story'
import { heldDrafter } from '#test/support/model/held-drafter'

/** Drafts two posts a run. */
const served = (database: TestApp['options'], failpoints: Failpoints) => {
  const { drafter, release } = heldDrafter(2)
  release()
  return testApp({ database, overrides: { failpoints, drafter } })
}

const failed = { status: 'failed', error: 'enqueue_failed' }
const ready = { status: 'ready', error: null }
const kinds = {
  article: {
    path: 'articles',
    table: 'article',
    body: { topic: 'docks' },
    once: { ...ready, items: 1 },
    twice: failed,
  },
  audit: { path: 'audits', table: 'growth_audit', body: {}, once: ready, twice: failed },
  report: { path: 'reports', table: 'report', body: {}, once: ready, twice: failed },
  batch: {
    path: 'batches',
    table: 'batch',
    body: { count: 5 },
    once: { ...ready, items: 5, spent: 5 },
    twice: { ...ready, items: 2, spent: 2 },
  },
}
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as Kind[]

interface Begun {
  story: Story
  id: string
  kind: Kind
  goOn: () => void
}

/** Begins one, which stops at the point: a batch does so in its second run. */
const begin = async (
  app: TestApp,
  { stopNext }: ReturnType<typeof testStops>,
  { kind, point }: { kind: Kind; point: string },
): Promise<Begun> => {
  const story = await newStory(app)
  const stopped = stopNext(point, kind === 'batch' ? 2 : 1)
  const made = await story.send('POST', kinds[kind].path, {
    body: kinds[kind].body,
  })
  return { story, id: made.body[kind].id, kind, goOn: await stopped }
}

/** How it ended at the server, and what it left. */
const outcome = async ({ owner }: TestApp, { story: { tenantId }, id, kind }: Begun) => {
  const [record] = await eventually(
    () => owner`select status, error from ${owner(kinds[kind].table)} where id = ${id}`,
    ([row]) => row!.status === 'ready' || row!.status === 'failed',
  )
  const [left] =
    await owner`select (select count(*)::int from item where tenant_id = ${tenantId}) as items,
      (select count(distinct body)::int from item where tenant_id = ${tenantId}) as texts,
      (select count(*)::int from outbox where tenant_id = ${tenantId}) as events,
      (select used::int from counter where tenant_id = ${tenantId}
        and key = ${kind === 'batch' ? 'posts' : `${kind}s`}) as spent,
      (select count(*)::int from work where ref_id = ${id}) as works`
  return { ...record, ...left }
}

const expected = (wanted: { items?: number; spent?: number; status: string }) => ({
  items: 0,
  spent: wanted.status === 'ready' ? 1 : 0,
  ...wanted,
  texts: wanted.items ?? 0,
  works: 0,
})

describe('a process that dies once', () => {
  const cases = names.flatMap((kind) =>
    ['generation.claimed', 'generation.drafted'].map((point) => ({ kind, point })),
  )
  const world = new AsyncDisposableStack()
  const begun: Begun[] = []
  let next: TestApp

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    const dying = world.use(await served(options, stops.at))
    for (const one of cases) begun.push(await begin(dying, stops, one))
    await crash(dying)
    next = world.use(await served(options, () => undefined))
  })
  afterAll(() => world.disposeAsync())

  test.each(cases)('at $point: of $kind nothing is made or charged twice', async (one) => {
    const it = begun[cases.indexOf(one)]!
    const after = await outcome(next, it)
    expect(after).toMatchObject(expected(kinds[one.kind].once))
    // The process that was declared dead goes on and changes nothing.
    it.goOn()
    expect(await outcome(next, it)).toEqual(after)
  })
})

describe('processes that die twice', () => {
  const world = new AsyncDisposableStack()
  const begun: Begun[] = []
  let last: TestApp

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    const first = world.use(await served(options, stops.at))
    for (const kind of names)
      begun.push(await begin(first, stops, { kind, point: 'generation.claimed' }))
    await crash(first)
    const released = newGate()
    let hanging = 0
    const hang: Failpoints = (name) => {
      if (name !== 'generation.claimed') return
      hanging++
      return released.opened
    }
    const second = world.use(await served(options, hang))
    await eventually(
      () => hanging,
      (count) => count === names.length,
    )
    await crash(second)
    released.open()
    for (const { goOn } of begun) goOn()
    last = world.use(await served(options, () => undefined))
  })
  afterAll(() => world.disposeAsync())

  test.each(names)(
    'in the middle of one %s: what there is stays, the rest is given up',
    async (kind) => {
      expect(await outcome(last, begun[names.indexOf(kind)]!)).toMatchObject(
        expected(kinds[kind].twice),
      )
    },
  )
})

test('after a cancellation was committed nothing of a batch goes on', async () => {
  await using db = await freshDb()
  const stops = testStops()
  await using first = await served(db.options, stops.at)
  const one = await begin(first, stops, { kind: 'batch', point: 'generation.drafted' })
  expect((await one.story.send('POST', `batches/${one.id}/cancel`)).body.batch).toMatchObject({
    status: 'ready',
    delivered: 2,
  })
  await crash(first)
  await using second = await served(db.options, () => undefined)
  one.goOn()
  expect(await outcome(second, one)).toMatchObject(expected(kinds.batch.twice))
})
