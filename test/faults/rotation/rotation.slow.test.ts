/** A short seeded run of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runRotation } from './rotation.harness.ts'

test('while the secret key is rotated under load and commands and a server are killed, nobody is signed out, and nothing becomes unreadable', async () => {
  const { broken, counts } = await runRotation({ kills: 4, people: 3, seed: 1 })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ signed_out: 0, unreadable: 0, kills_of_servers: 1 })
})
