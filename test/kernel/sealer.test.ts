import { describe, expect, test } from 'bun:test'
import { createSealer } from '#kernel/sealer'

const sealer = createSealer(Buffer.alloc(32, 1))
const TEXT = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('a sealed secret', () => {
  test('opens in its row, and does not contain the text', () => {
    for (const text of [TEXT, '', 'ü'.repeat(10_000)])
      expect(sealer.open(sealer.seal(text, 'row/1'), 'row/1')).toBe(text)
    expect(sealer.seal(TEXT, 'row/1').includes(TEXT)).toBe(false)
  })

  test('differs every time', () => {
    expect(sealer.seal(TEXT, 'row/1').equals(sealer.seal(TEXT, 'row/1'))).toBe(false)
  })

  test('opens neither in another row nor under another secret', () => {
    const sealed = sealer.seal(TEXT, 'row/1')
    expect(() => sealer.open(sealed, 'row/2')).toThrow()
    expect(() => createSealer(Buffer.alloc(32, 2)).open(sealed, 'row/1')).toThrow()
  })

  test('does not open if any byte is changed or missing', () => {
    const sealed = sealer.seal(TEXT, 'row/1')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index]! ^= 1
      expect(() => sealer.open(changed, 'row/1')).toThrow()
      expect(() => sealer.open(sealed.subarray(0, index), 'row/1')).toThrow()
    }
  })
})
