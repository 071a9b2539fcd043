import { expect, test } from 'bun:test'
import { runWebhooks } from './webhooks.harness.ts'

test('servers killed while events flow deliver each event, under its id, in order within its record', async () => {
  const { counts, broken } = await runWebhooks({
    events: 18,
    kills: 3,
    workspaces: 2,
    clients: 6,
    seed: 11,
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ kills: 3, lost: 0, events: 18 })
}, 120_000)
