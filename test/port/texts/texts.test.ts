/** The thread for texts: what happens when a text makes it hang or die, and who waits for whom. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openTexts, type TextOptions, type Texts } from '#port/texts/texts'
import { manualClock } from '#test/support/actors/manual-clock'
import { neverAborts } from '#test/support/model/briefs'

const misbehaving = (options: TextOptions = {}) =>
  openTexts({ program: join(import.meta.dir, 'misbehaving-texts.ts'), ...options })
const formed = (
  texts: Texts,
  tenant: string,
  text: string,
  signal = neverAborts(),
): Promise<string> =>
  texts.compute(tenant, { name: 'partsOf', input: ['slack', text] }, signal).then(
    (parts) => parts.texts.join(),
    (cause) => String(cause),
  )

test('a text is put into the form of its channel in the thread', async () => {
  using texts = openTexts()
  expect(
    await texts.compute(
      'a',
      { name: 'partsOf', input: ['slack', '**due** <!here>'] },
      neverAborts(),
    ),
  ).toEqual({
    texts: ['*due* &lt;!here&gt;'],
    html: null,
  })
})

test('a hostile text that hangs the thread is ended by its deadline, and nobody else’s computation is harmed', async () => {
  const clock = manualClock()
  using texts = misbehaving({ clock })
  const hanging = formed(texts, 'hostile', 'hang')
  const others = ['b', 'c'].map((tenant) => formed(texts, tenant, `of ${tenant}`))
  await clock.advance(10_000)
  expect(await hanging).toContain('text took more than 10000 ms')
  expect(await Promise.all(others)).toEqual(['of b', 'of c'])
  expect(clock.pending).toBe(0)
})

test.each([
  ['crash', 'RangeError: out of luck'],
  ['exit', 'it exited'],
])('a text that kills the thread (%s) fails alone', async (text, why) => {
  using texts = misbehaving()
  const [failed, other] = await Promise.all([
    formed(texts, 'hostile', text),
    formed(texts, 'b', 'of b'),
  ])
  expect([failed.includes(why), other]).toEqual([true, 'of b'])
})

test('workspaces take turns: one that floods the thread waits behind its own texts', async () => {
  using texts = misbehaving()
  const order: string[] = []
  const ask = (tenant: string, text: string) =>
    formed(texts, tenant, text).then((said) => void order.push(said))
  await Promise.all([
    ...Array.from({ length: 6 }, (_, index) => ask('flood', `flood ${index}`)),
    ask('b', 'of b'),
    ask('c', 'of c'),
  ])
  expect(order.slice(0, 4)).toEqual(['flood 0', 'flood 1', 'of b', 'of c'])
})

test('no workspace has more texts waiting than its bound, whatever the others have', async () => {
  using texts = misbehaving({ bound: 2 })
  const stop = new AbortController()
  const held = formed(texts, 'hostile', 'hang', stop.signal)
  const own = ['1', '2', '3'].map((text) => formed(texts, 'hostile', text))
  const other = formed(texts, 'b', 'of b')
  expect(await own[2]).toContain('rate_limited')
  stop.abort('stopped')
  expect(await Promise.all([held, own[0], own[1], other])).toEqual(['stopped', '1', '2', 'of b'])
})

test('closing ends what runs and what waits', async () => {
  const texts = misbehaving()
  const held = ['b', 'c'].map((tenant) => formed(texts, tenant, 'hang'))
  texts[Symbol.dispose]()
  for (const cause of await Promise.all(held)) expect(cause).toContain('the text worker')
})
