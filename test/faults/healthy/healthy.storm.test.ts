/** A short seeded run of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runHealthy } from './healthy.harness.ts'

test('healthy posts, replies and deliveries end by no kill -9 and no outage of the database, but those on the wire just then', async () => {
  const { broken, counts } = await runHealthy({
    rows: 12,
    kills: 4,
    outage: 2,
    workspaces: 2,
    seed: 3,
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    posts: 12,
    replies: 12,
    events: 12 + Number(counts.posted),
    lost: 0,
  })
}, 240_000)
