import { describe, expect, test } from 'bun:test'
import { createSealer } from '#kernel/sealer'
import { soleKey } from '#kernel/secret-keys'

const sealer = createSealer(soleKey(Buffer.alloc(32, 1)))
const TEXT = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('a sealed secret', () => {
  test('opens in its row, and does not contain the text', () => {
    for (const text of [TEXT, '', 'ü'.repeat(10_000)])
      expect(sealer.open(sealer.seal(text, 'webhook_rule/1'), 'webhook_rule/1')).toBe(text)
    expect(sealer.seal(TEXT, 'webhook_rule/1').includes(TEXT)).toBe(false)
  })

  test('differs every time', () => {
    expect(sealer.seal(TEXT, 'webhook_rule/1').equals(sealer.seal(TEXT, 'webhook_rule/1'))).toBe(
      false,
    )
  })

  test('opens neither in another row nor under another secret', () => {
    const sealed = sealer.seal(TEXT, 'webhook_rule/1')
    expect(() => sealer.open(sealed, 'webhook_rule/2')).toThrow()
    expect(() =>
      createSealer(soleKey(Buffer.alloc(32, 2))).open(sealed, 'webhook_rule/1'),
    ).toThrow()
  })

  test('does not open if any byte is changed or missing', () => {
    const sealed = sealer.seal(TEXT, 'webhook_rule/1')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index]! ^= 1
      expect(() => sealer.open(changed, 'webhook_rule/1')).toThrow()
      expect(() => sealer.open(sealed.subarray(0, index), 'webhook_rule/1')).toThrow()
    }
  })
})
