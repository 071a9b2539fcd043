/** A short seeded run of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runFlood } from './flood.harness.ts'

test('connections that finish no request are bounded, do not stop a server, and do not keep others from it', async () => {
  const { broken, counts } = await runFlood({
    bodies: 400,
    headers: 200,
    addresses: 8,
    rate: 200,
    seconds: 4,
    seed: 1,
    health: 0,
  })
  expect(broken).toEqual([])
  for (const name of ['direct', 'proxied']) {
    for (const answer of ['401', '404', '413', '503', 'unanswered'])
      expect(Number(counts[`${name}_${answer}`])).toBeGreaterThan(0)
    expect(Number(counts[`${name}_others_served`])).toBeGreaterThan(0)
  }
}, 120_000)
