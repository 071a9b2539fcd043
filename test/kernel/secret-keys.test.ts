/** What a process makes and accepts while the secret key is rotated. */
import { describe, expect, test } from 'bun:test'
import { createSealer, sealedUnder } from '#kernel/sealer'
import { type SecretKey, secretKeyOf } from '#kernel/secret'
import { type SecretKeyRow, SecretKeys, soleKey } from '#kernel/secret-keys'
import { nodeSignature } from '#port/nodes'
import { createTokens } from '#port/tokens'

const [old, next, other] = [1, 2, 3].map((byte) => secretKeyOf(Buffer.alloc(32, byte))) as [
  SecretKey,
  SecretKey,
  SecretKey,
]
const row = (
  { fingerprint }: SecretKey,
  state: SecretKeyRow['state'],
  sealed = false,
): SecretKeyRow => ({ fingerprint, state, sealed })

/** Each state of a rotation from `old` to `next`, for a process that knows both. */
const states: Record<string, SecretKeyRow[]> = {
  before: [],
  during: [row(old, 'old'), row(next, 'new')],
  sealed: [row(old, 'old'), row(next, 'new', true)],
  after: [row(old, 'dropped'), row(next, 'new', true)],
}
const following = (state: string): SecretKeys => {
  const keys = new SecretKeys([old, next])
  keys.read(states[state]!)
  return keys
}

describe('values in rows', () => {
  const ROW = 'webhook_rule/1'
  const sealed = createSealer(new SecretKeys([old])).seal('text', ROW)

  test('name the key that they are sealed under', () => {
    expect(sealed.subarray(0, 9)).toEqual(sealedUnder(old.fingerprint))
    expect(createSealer(following('during')).seal('text', ROW).subarray(0, 9)).toEqual(
      sealedUnder(next.fingerprint),
    )
  })

  test.each(Object.keys(states))('open %s a rotation, of the old form too', (state) => {
    const sealer = createSealer(following(state))
    const unnamed = Buffer.concat([Buffer.of(1), sealed.subarray(9)])
    expect([sealed, unnamed].map((one) => sealer.open(one, ROW))).toEqual(['text', 'text'])
  })

  test('of another key do not, which is named', () => {
    expect(() => createSealer(soleKey(next.bytes)).open(sealed, ROW)).toThrow(old.fingerprint)
  })
})

describe('tokens and letters', () => {
  const claims = { sessionId: '0190d6a8-1111-7111-8111-111111111111', generation: 3 }
  const person = '0190d6a8-2222-7222-8222-222222222222'
  const later = new Date(Date.now() + 60_000)
  const made = async (keys: SecretKeys) => {
    const tokens = createTokens(keys)
    const letter = { operation: 'o', letter: 'l', workspace: 'w' }
    return {
      access: await tokens.access({ ...claims, personId: person }, later),
      refresh: tokens.refresh(claims),
      browser: tokens.browser({ personId: person }, later),
      headers: new Headers(nodeSignature(keys, Date.now).sign('{}', letter)),
    }
  }
  const accepted = async (keys: SecretKeys, given: Awaited<ReturnType<typeof made>>) => {
    const tokens = createTokens(keys)
    return [
      await tokens.readAccess(given.access),
      tokens.readRefresh(given.refresh),
      tokens.readBrowser(given.browser),
      nodeSignature(keys, Date.now).sealOf(given.headers),
    ].map((one) => one !== undefined)
  }
  const all = [true, true, true, true]

  test.each([
    ['before', 'during'],
    ['during', 'before'],
    ['before', 'sealed'],
    ['during', 'sealed'],
    ['sealed', 'during'],
    ['sealed', 'after'],
    ['after', 'sealed'],
  ])('made %s are accepted %s', async (from, to) => {
    expect(await accepted(following(to), await made(following(from)))).toEqual(all)
  })

  test('of the old key are refused after it was dropped, by a process that still knows it', async () => {
    const none = [false, false, false, false]
    expect(await accepted(following('after'), await made(following('before')))).toEqual(none)
    expect(await accepted(following('during'), await made(soleKey(other.bytes)))).toEqual(none)
  })

  test('of a known browser say whether they are of the newest key', async () => {
    const { browser } = await made(following('before'))
    const isNewest = (state: string) =>
      createTokens(following(state)).readBrowser(browser)?.isUnderNewest
    expect([isNewest('before'), isNewest('during')]).toEqual([true, false])
  })
})

test('a process learns that it lacks a key, and keeps what it knew', async () => {
  const keys = new SecretKeys([old])
  expect(keys.read(states.during!)).toEqual([next.fingerprint])
  expect(await keys.stranded).toEqual([next.fingerprint])
  expect(keys.newest).toBe(old)
})

test('a key that the database has not seen is the next one', () => {
  expect(following('before').candidate).toBe(next)
  expect(following('during').candidate).toBeUndefined()
  expect(following('after').candidate).toBeUndefined()
})
