import { expect, test } from 'bun:test'
import { runKillSwitch } from './killswitch.harness.ts'

test('after the answer of pause-all nothing goes out but what it lists, on either server; after resuming, everything does, once', async () => {
  const options = {
    items: 60,
    workspaces: 4,
    rounds: 3,
    everywhere: 2,
    watchMs: 200,
    samples: 3,
    letters: 900,
    seed: 3,
  }
  const { broken } = await runKillSwitch(options)
  expect(broken).toEqual([])
}, 120_000)
