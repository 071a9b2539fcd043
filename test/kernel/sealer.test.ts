import { describe, expect, test } from 'bun:test'
import { createSealer } from '#kernel/sealer'

const sealer = createSealer(Buffer.alloc(32, 1))
const TEXT = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('a sealed secret', () => {
  test('opens in its row, and is not to be seen in it', () => {
    for (const text of [TEXT, '', 'ü'.repeat(10_000)]) expect(sealer.open(sealer.seal(text, 'row/1'), 'row/1')).toBe(text)
    expect(sealer.seal(TEXT, 'row/1').includes(TEXT)).toBe(false)
  })

  test('is another one every time', () => {
    expect(sealer.seal(TEXT, 'row/1').equals(sealer.seal(TEXT, 'row/1'))).toBe(false)
  })

  test('does not open in another row, nor under another secret', () => {
    const sealed = sealer.seal(TEXT, 'row/1')
    expect(() => sealer.open(sealed, 'row/2')).toThrow()
    expect(() => createSealer(Buffer.alloc(32, 2)).open(sealed, 'row/1')).toThrow()
  })

  test('does not open when any byte was changed or is missing', () => {
    const sealed = sealer.seal(TEXT, 'row/1')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index]! ^= 1
      expect(() => sealer.open(changed, 'row/1')).toThrow()
      expect(() => sealer.open(sealed.subarray(0, index), 'row/1')).toThrow()
    }
  })
})
