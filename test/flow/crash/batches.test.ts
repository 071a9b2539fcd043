/**
 * A process dies in a later run of a batch: what earlier runs have drafted stays, and is drafted
 * once.
 */
import { expect, test } from 'bun:test'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { heldDrafter } from '#test/support/model/held-drafter'

type Options = Awaited<ReturnType<typeof freshDb>>['options']

/** Two posts a run. */
const served = (options: Options, points: TestFailpoints) => {
  const held = heldDrafter(2)
  held.release()
  return testApp({ database: options, overrides: { failpoints: points.at, drafter: held.drafter } })
}

/** Lets the first run pass, and stops the second one at the point. */
const inTheSecondRun = (points: TestFailpoints, point: string) => {
  points.arm(point, () => points.arm(point, 'hang'))
}

const counted = async ({ owner }: TestApp, { tenantId, id }: { tenantId: string; id: string }) => {
  const [row] =
    await owner`select (select count(*)::int from item where tenant_id = ${tenantId}) as items,
    (select count(distinct body)::int from item where tenant_id = ${tenantId}) as texts,
    (select count(*)::int from outbox where tenant_id = ${tenantId}
      and type = 'growth.batch.settled') as settled,
    (select used::int from counter where tenant_id = ${tenantId} and key = 'posts') as spent,
    (select count(*)::int from work where ref_id = ${id}) as works`
  return { ...row }
}

const ended = (at: TestApp, { key, id }: { key: string; id: string }) =>
  eventually(
    async () => (await at.send('GET', `batches/${id}`, { key })).body.batch,
    ({ status }) => status === 'ready' || status === 'failed',
  )

test.each(['generation.claimed', 'generation.drafted'])(
  'once, at %s: the batch goes on from where it was',
  async (point) => {
    await using db = await freshDb()
    const points = testFailpoints()
    inTheSecondRun(points, point)
    await using first = await served(db.options, points)
    const { key, tenantId } = await first.newWorkspace()
    const { id } = (await first.send('POST', 'batches', { key, body: { count: 5 } })).body.batch
    await eventually(
      async () => (await first.owner`select delivered, status from batch where id = ${id}`)[0]!,
      ({ delivered }) => delivered === 2,
    )
    await points.reached(point)
    await crash(first)
    await using second = await served(db.options, testFailpoints())
    expect(await ended(second, { key, id })).toMatchObject({ status: 'ready', delivered: 5 })
    points.release(point)
    expect(await counted(second, { tenantId, id })).toEqual({
      items: 5,
      texts: 5,
      settled: 1,
      spent: 5,
      works: 0,
    })
  },
)

test('twice: the batch is ready with the posts that it has', async () => {
  await using db = await freshDb()
  const gone: TestApp[] = []
  let made: { key: string; tenantId: string; id: string } | undefined
  for (let time = 0; time < 2; time++) {
    const points = testFailpoints()
    if (made) points.arm('generation.claimed', 'hang')
    else inTheSecondRun(points, 'generation.claimed')
    const one = await served(db.options, points)
    gone.push(one)
    if (!made) {
      const { key, tenantId } = await one.newWorkspace()
      made = {
        key,
        tenantId,
        id: (await one.send('POST', 'batches', { key, body: { count: 5 } })).body.batch.id,
      }
      await eventually(
        async () =>
          (await one.owner`select delivered from batch where id = ${made!.id}`)[0]!.delivered,
        (delivered) => delivered === 2,
      )
    }
    await points.reached('generation.claimed')
    await crash(one)
    points.release('generation.claimed')
  }
  await using last = await served(db.options, testFailpoints())
  expect(await ended(last, made!)).toMatchObject({ status: 'ready', error: null, delivered: 2 })
  expect(await counted(last, made!)).toEqual({ items: 2, texts: 2, settled: 1, spent: 2, works: 0 })
  for (const one of gone) await one[Symbol.asyncDispose]()
})

test('after a cancellation was committed: nothing goes on', async () => {
  await using db = await freshDb()
  const points = testFailpoints()
  inTheSecondRun(points, 'generation.drafted')
  await using first = await served(db.options, points)
  const { key, tenantId } = await first.newWorkspace()
  const { id } = (await first.send('POST', 'batches', { key, body: { count: 5 } })).body.batch
  await eventually(
    async () => (await first.owner`select delivered from batch where id = ${id}`)[0]!.delivered,
    (delivered) => delivered === 2,
  )
  await points.reached('generation.drafted')
  expect((await first.send('POST', `batches/${id}/cancel`, { key })).body.batch).toMatchObject({
    status: 'ready',
    delivered: 2,
  })
  await crash(first)
  await using second = await served(db.options, testFailpoints())
  points.release('generation.drafted')
  expect(await ended(second, { key, id })).toMatchObject({ status: 'ready', delivered: 2 })
  expect(await counted(second, { tenantId, id })).toEqual({
    items: 2,
    texts: 2,
    settled: 1,
    spent: 2,
    works: 0,
  })
})
