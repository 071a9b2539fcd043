import { expect, test } from 'bun:test'
import { runChannels } from './channels.harness.ts'

const options = { events: 60, kills: 6, workspaces: 4, machines: 8, seed: 11, naive: false }

test('channels whose servers are killed begin one job an event, and send no message twice', async () => {
  const { counts, broken } = await runChannels(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    kills: 6,
    events: 60,
    jobs: 60,
    jobs_per_event: 1,
    replies: 60,
    replies_per_job: 1,
    sent_twice: 0,
  })
}, 120_000)

test('servers that send again what they do not know to have been sent are found out by the same events', async () => {
  const { counts } = await runChannels({ ...options, naive: true })
  expect(counts.sent_twice).toBeGreaterThan(0)
}, 120_000)
