/**
 * Two servers on one database: when one is gone, or seems to be, the other continues, and nothing
 * is done by both.
 */
import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { eventually, type Reply } from '#test/support/app'
import { waitForLockWaiter } from '#test/support/database/locks'
import { storyAt, textOf } from '#test/support/growth/story'
import { newDeployment, startServer } from '#test/support/processes/server'

/** Sends the request again while the answer is 503. */
const answered = (send: () => Promise<Reply>) => eventually(send, ({ status }) => status !== 503)

const ownerOf = async (owner: postgres.Sql, tenantId: string) => {
  const [row] = await owner<
    { owner: string; epoch: number }[]
  >`select owner, epoch::int from actor where tenant_id = ${tenantId}`
  return row!
}

test('after one server is killed, the other serves its workspace at once, and posts what was scheduled', async () => {
  await using world = await newDeployment()
  const { owner, server } = world
  await using first = await startServer(server)
  await using second = await startServer(server)
  const before = storyAt({ owner, send: first.send }, await world.firstWorkspace())
  const [id, scheduled] = [await before.approved(), await before.scheduled(1_500)]
  const owned = await ownerOf(owner, before.tenantId)
  await first.kill()
  const after = before.at({ owner, send: second.send })
  const reply = await answered(() =>
    after.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': 'after' } }),
  )
  expect([reply.status, (await after.item(id)).status]).toEqual([200, 'posted'])
  expect((await ownerOf(owner, after.tenantId)).owner).not.toBe(owned.owner)
  await after.settled(scheduled, 'posted')
  expect(await after.posts()).toEqual({ [textOf(id)]: 1, [textOf(scheduled)]: 1 })
})

test('a server stopped during a command loses its workspaces; resumed, it changes nothing and serves again', async () => {
  await using world = await newDeployment()
  const { owner, server } = world
  await using first = await startServer(server)
  const before = storyAt({ owner, send: first.send }, await world.firstWorkspace())
  const id = await before.drafted()
  await before.approved()
  const old = await ownerOf(owner, before.tenantId)
  await using second = await startServer(server)
  const after = before.at({ owner, send: second.send })

  // Held at its gate by a lock, then stopped: the database must end that transaction before anyone
  // can continue. Behind the gate it would be too late, since the commit is sent together with the
  // effects.
  const locked = await owner.reserve()
  await locked`begin`
  await locked`select 1 from actor where tenant_id = ${before.tenantId} for update`
  const approve = (body: string) => ({ body: { edited_body: body } })
  const stalled = before.send('POST', `items/${id}/approve`, approve('By the first.'))
  await waitForLockWaiter(owner)
  first.pause()
  await locked`rollback`
  locked.release()

  const reply = await answered(() =>
    after.send('POST', `items/${id}/approve`, approve('By the second.')),
  )
  expect([reply.status, (await after.item(id)).body]).toEqual([200, 'By the second.'])
  const current = await ownerOf(owner, before.tenantId)
  expect(current.owner).not.toBe(old.owner)
  expect(current.epoch).toBeGreaterThan(old.epoch)
  const scheduled = await after.scheduled(0)
  await after.settled(scheduled, 'posted')

  first.resume()
  expect((await stalled).status).not.toBe(200)
  const rejoined = async () =>
    owner`select 1 from node where incarnation not in (${old.owner}, ${current.owner})
      and expires_at > now()`
  expect(await eventually(rejoined, ({ length }) => length > 0)).toHaveLength(1)
  expect(await ownerOf(owner, before.tenantId)).toEqual(current)
  expect(await after.item(id)).toMatchObject({ status: 'approved', body: 'By the second.' })
  const approvals =
    await owner`select 1 from audit where ref_id = ${id} and operation = 'growth.items.approve'`
  expect(approvals).toHaveLength(1)

  await second.kill()
  const posted = await answered(() =>
    before.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': 'again' } }),
  )
  expect(posted.status).toBe(200)
  expect(await before.posts()).toEqual({ 'By the second.': 1, [textOf(scheduled)]: 1 })
})
