/**
 * kill -9 of the real server at the points of a post's way, with the real durations of the state
 * machine.
 */
import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { eventually } from '#test/support/app'
import { storyAt, textOf } from '#test/support/growth/story'
import { newDeployment, startServer } from '#test/support/processes/server'

/** Ends the leases of the dead now, as if twenty seconds had passed. */
const endLeases = async (owner: postgres.Sql): Promise<void> => {
  await owner`update attempt set lease_until = now(), intent_at = intent_at - interval '20 s'
    where state = 'open'`
  await owner`update node set expires_at = now()`
}

const points = [
  { failpoint: 'send.claiming', mode: 'schedule', outcome: 'posted', posts: 1 },
  { failpoint: 'send.claimed', mode: 'post-now', outcome: 'publish_unconfirmed', posts: 0 },
  { failpoint: 'sandbox.applied', mode: 'schedule', outcome: 'posted', posts: 1 },
  { failpoint: 'send.sent', mode: 'post-now', outcome: 'posted', posts: 1 },
] as const

test.concurrent.each(points)(
  'killed at $failpoint ($mode): $outcome, $posts on the network',
  async ({ failpoint, mode, outcome, posts }) => {
    await using world = await newDeployment()
    const { owner, server } = world
    await using dying = await startServer({ ...server, dieAt: failpoint })
    const before = storyAt({ owner, send: dying.send }, await world.firstWorkspace())
    const id = mode === 'schedule' ? await before.scheduled(1_500) : await before.approved()
    const keyed = { headers: { 'idempotency-key': 'post it' } }
    if (mode === 'post-now')
      await expect(before.send('POST', `items/${id}/post-now`, keyed)).rejects.toThrow()
    expect(await dying.exited).toBe('SIGKILL')
    await endLeases(owner)

    await using next = await startServer(server)
    const story = before.at({ owner, send: next.send })
    const item = await story.settled(id, outcome)
    expect(item.status).toBe(outcome)
    if (mode === 'post-now') {
      const reply = await story.send('POST', `items/${id}/post-now`, keyed)
      expect([reply.status, reply.body.item.status]).toEqual([
        outcome === 'posted' ? 200 : 202,
        outcome,
      ])
    }
    const attempt = async () =>
      (
        await owner<
          { clean_reads: number }[]
        >`select clean_reads from attempt where item_id = ${id}`
      )[0]!
    if (outcome === 'publish_unconfirmed')
      expect((await eventually(attempt, ({ clean_reads }) => clean_reads > 0)).clean_reads).toBe(1)
    expect(await story.posts()).toEqual(posts === 1 ? { [textOf(id)]: 1 } : {})
  },
)

test.concurrent('killed in its first start, the next start completes the workspace, with the same key', async () => {
  await using world = await newDeployment()
  const { owner, server } = world
  await expect(startServer({ ...server, dieAt: 'letter.deciding' })).rejects.toThrow('SIGKILL')
  expect(await owner`select 1 from tenant`).toHaveLength(1)
  await owner`update node set expires_at = now()`
  await using next = await startServer(server)
  expect(await owner`select 1 from tenant`).toHaveLength(1)
  const story = storyAt({ owner, send: next.send }, await world.firstWorkspace())
  const id = await story.approved()
  expect((await story.send('POST', `items/${id}/post-now`)).body.item.status).toBe('posted')
})
