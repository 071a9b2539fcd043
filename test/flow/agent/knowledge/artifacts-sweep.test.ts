/**
 * What is deleted or has ended goes after a week, with its bytes; earlier where the workspace's
 * room runs short.
 */
import { expect, test } from 'bun:test'
import { sweepSome } from '#store/app/sweep'
import { expire, makeArtifact, makeShare } from '#test/support/agent/artifacts'
import { newSurface } from '#test/support/agent/surface'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { sweep: { everyMs: 86_400_000 } } })

const setUp = async () => {
  const surface = await newSurface(app)
  const { tenantId, key } = surface
  const sweep = async (rows = 10) => {
    let passes = 1
    while (await sweepSome(app.workplace.db, tenantId, { keepDays: 400, agentKeepDays: 90, rows }))
      passes++
    const [left] = await app.owner`select (select count(*)::int from artifact
        where tenant_id = ${tenantId}) as artifacts,
      (select count(*)::int from artifact_share where tenant_id = ${tenantId}) as shares,
      (select count(*)::int from inbound_route where tenant_id = ${tenantId}) as routes,
      (select count(*)::int from file where tenant_id = ${tenantId}) as files,
      (select count(*)::int from file_block where tenant_id = ${tenantId}) as blocks,
      (select used from counter where tenant_id = ${tenantId} and key = 'files') as kib`
    return { passes, left: { ...left } }
  }
  const make = async () => {
    const { id } = await makeArtifact(surface)
    return { id, share: await makeShare(surface, id) }
  }
  const remove = (id: string) => app.send('DELETE', `/api/v1/artifacts/${id}`, { key })
  const age = (id: string, days: number) =>
    app.owner`update artifact set deleted_at = now() - ${days} * interval '1 day' where id = ${id}`
  return { tenantId, sweep, make, remove, age }
}

test('a deleted artifact goes after a week with its bytes and shares, and others stay', async () => {
  const { sweep, make, remove, age } = await setUp()
  const [kept, recent, old] = [await make(), await make(), await make()]
  for (const { id } of [recent, old]) await remove(id)
  await age(recent.id, 6.9)
  await age(old.id, 7.1)
  expect((await sweep()).left).toEqual({
    artifacts: 2,
    shares: 2,
    routes: 1,
    files: 2,
    blocks: 2,
    kib: 8,
  })
  expect(
    (await app.send('GET', `/api/v1/artifacts/shared/${kept.share.token}`, { key: null })).status,
  ).toBe(200)
})

test('shares go a week after their end, whichever it was, and their routes with them', async () => {
  const { sweep, make, tenantId } = await setUp()
  const all = [await make(), await make(), await make(), await make()]
  const [revoked, expired, justExpired] = all.map(({ share }) => share.id)
  await app.owner`update artifact_share set revoked_at = now() - interval '8 days'
    where id = ${revoked!}`
  await app.owner`update artifact_share set expires_at = now() - interval '8 days'
    where id = ${expired!}`
  await app.owner`update artifact_share set expires_at = now() - interval '1 day'
    where id = ${justExpired!}`
  expect((await sweep()).left).toMatchObject({ artifacts: 4, shares: 2, routes: 2, files: 4 })
  expect(tenantId).toBeString()
})

test('what an expired token found its workspace by goes at once', async () => {
  const { sweep, make } = await setUp()
  const [one, other] = [await make(), await make()]
  await expire(app, one.share.id)
  expect((await sweep()).left).toMatchObject({ shares: 2, routes: 1 })
  expect(
    (await app.send('GET', `/api/v1/artifacts/shared/${other.share.token}`, { key: null })).status,
  ).toBe(200)
})

test('where room runs short, deleted ones go at once', async () => {
  const { sweep, make, remove, tenantId } = await setUp()
  const [, deleted] = [await make(), await make()]
  await remove(deleted.id)
  await app.owner`update counter set used = 786432 where tenant_id = ${tenantId} and key = 'files'`
  expect((await sweep()).left).toMatchObject({ artifacts: 2, files: 2 })
  await app.owner`update counter set used = 786433 where tenant_id = ${tenantId} and key = 'files'`
  expect((await sweep()).left).toMatchObject({ artifacts: 1, files: 1, shares: 1, routes: 1 })
})

test('where room runs short, those in S3 stay for the week, of which there is a hundred times the room', async () => {
  const { sweep, make, remove, tenantId } = await setUp()
  const { id } = await make()
  await remove(id)
  await app.owner`update file set store = 's3' where tenant_id = ${tenantId}`
  await app.owner`update counter set used = 786433 where tenant_id = ${tenantId} and key = 'files'`
  expect((await sweep()).left).toMatchObject({ artifacts: 1, files: 1 })
  await app.owner`update counter set used = 78643201 where tenant_id = ${tenantId}
    and key = 'files'`
  expect((await sweep()).left).toMatchObject({ artifacts: 0, files: 0 })
})

test('a pass removes so many rows of each kind at most', async () => {
  const { sweep, make, remove, age } = await setUp()
  for (let count = 0; count < 5; count++) {
    const { id } = await make()
    await remove(id)
    await age(id, 8)
  }
  const { passes, left } = await sweep(2)
  expect([passes, left.artifacts, left.files]).toEqual([3, 0, 0])
})
