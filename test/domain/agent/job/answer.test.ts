import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { keptAnswer } from '#domain/agent/job/answer'
import { beginning } from '#kernel/storable'
import { runs } from '#test/support/property'

const answer = {
  text: 'Fine.',
  calls: [],
  ending: 'whole' as const,
  usage: undefined,
  model: 'm',
}

test('of a thousand calls 16 are made, those up to 64 refused, and the others counted', () => {
  const calls = Array.from({ length: 1_000 }, (_, index) => ({
    id: `${index}`,
    name: 'list',
    arguments: '{}',
  }))
  const kept = keptAnswer({ ...answer, calls, left: 500 }, 'm')
  expect(kept.calls).toEqual(calls.slice(0, 16))
  expect(kept.refused).toEqual({ calls: calls.slice(16, 64), left: 936 + 500 })
  expect(keptAnswer({ ...answer, calls: calls.slice(0, 16) }, 'm').refused).toEqual({
    calls: [],
    left: 0,
  })
})

test('a call that is refused shows the beginning of its arguments', () => {
  const calls = Array.from({ length: 17 }, (_, index) => ({
    id: `${index}`,
    name: 'list',
    arguments: 'a\0'.repeat(1_000),
  }))
  const [refused] = keptAnswer({ ...answer, calls }, 'm').refused.calls
  expect([refused!.arguments.length, refused!.arguments.includes('\0')]).toEqual([200, false])
})

test('counts of tokens that cannot be true are none', () => {
  const usage = { input_tokens: 10, cached_tokens: 0, output_tokens: 2 }
  expect(keptAnswer({ ...answer, usage }, 'm').usage).toEqual(usage)
  for (const wrong of [-1, 1.5, Number.NaN, 1e12, Number.POSITIVE_INFINITY])
    for (const field of Object.keys(usage))
      expect(
        keptAnswer({ ...answer, usage: { ...usage, [field]: wrong } }, 'm').usage,
      ).toBeUndefined()
})

test('an answer without the name of a model has that of the job', () => {
  expect(keptAnswer({ ...answer, model: '\0' }, 'asked').model).toBe('asked')
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\0', 'a\ud800', '\udfff', '😀'),
)
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

test('whatever a model writes, it can be stored', () => {
  const check = fc.property(anyText, anyText, anyText, (text, name, reasoning) => {
    const kept = keptAnswer(
      { ...answer, text, calls: [{ id: name, name, arguments: '{}' }], reasoning },
      'm',
    )
    expect(
      [kept.text, kept.calls[0]!.id, kept.calls[0]!.name, kept.reasoning!].filter(
        (one) => !isStorable(one),
      ),
    ).toEqual([])
  })
  fc.assert(check, runs(500))
})

test('text that is cut never ends in half a character', () => {
  const check = fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, most) => {
    const cut = beginning(text, most)
    expect(
      text.startsWith(cut) && cut.length <= most && cut.length >= Math.min(text.length, most) - 1,
    ).toBe(true)
    expect(cut.isWellFormed()).toBe(true)
  })
  fc.assert(check, runs(500))
})
