import { expect, test } from 'bun:test'
import { runStreams } from './streams.harness.ts'

const options = { readers: 100, workspaces: 10, seed: 11, naive: false }

test('a hundred readers, broken off at random while one of two servers is killed, end with the stored events, each once', async () => {
  const { counts, broken } = await runStreams(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ readers: 100, missing: 0, doubled: 0, different: 0 })
}, 120_000)

test('readers that go on one event too early are found out', async () => {
  const { counts } = await runStreams({ ...options, readers: 12, workspaces: 2, naive: true })
  expect(counts.doubled).toBeGreaterThan(0)
}, 120_000)
