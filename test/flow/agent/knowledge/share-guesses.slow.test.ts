/** Ten thousand guesses at share tokens of every kind have one answer, byte for byte. */
import { expect, test } from 'bun:test'
import { createRandom } from '#kernel/random'
import { guess, guesser, guessKinds, newToken } from '#test/support/agent/share-guesses'
import { useApp } from '#test/support/use'

const GUESSES = 10_000
const AT_ONCE = 8

const app = useApp()

test('10,000 guesses are answered alike, and open nothing', async () => {
  const { token, valid } = await guesser(app, createRandom('guesses'))
  const expected = await guess(app.url, newToken())
  expect(JSON.parse(expected)[0]).toBe(404)
  const seen = new Map<string, number>()
  let next = 0
  const work = async () => {
    while (next < GUESSES) {
      const kind = guessKinds[next++ % guessKinds.length]!
      if ((await guess(app.url, token(kind))) === expected)
        seen.set(kind, (seen.get(kind) ?? 0) + 1)
      else seen.set(`${kind}, answered otherwise`, 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect([...seen.keys()].sort()).toEqual([...guessKinds].sort())
  expect([...seen.values()].reduce((sum, count) => sum + count)).toBe(GUESSES)
  expect(JSON.parse(await guess(app.url, valid))[0]).toBe(200)
})
