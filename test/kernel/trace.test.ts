import { expect, test } from 'bun:test'
import { currentTrace, foreignTrace, inTrace, keptTrace, resumeTrace } from '#kernel/trace'

const CONTEXT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const START = 1_800_000_000_000
const at = (minutes: number) => new Date(START + minutes * 60_000)

test('a row goes on with its trace until an hour has passed without a span', () => {
  const kept = keptTrace(CONTEXT, at(0))
  expect(kept.length).toBeLessThanOrEqual(100)
  expect(resumeTrace(kept, at(60))).toMatchObject({ context: CONTEXT, isOver: false })
  expect(resumeTrace(kept, at(61))).toMatchObject({ context: CONTEXT, isOver: true })
  expect(resumeTrace(resumeTrace(kept, at(50))!.kept, at(100))?.isOver).toBe(false)
  // A clock that steps back ends no trace.
  expect(resumeTrace(kept, at(-90))?.isOver).toBe(false)
})

test('the trace of a row that runs again and again is over after a day', () => {
  let kept = keptTrace(CONTEXT, at(0))
  const ends = (minutes: number): boolean => {
    const known = resumeTrace(kept, at(minutes))!
    kept = known.kept
    return known.isOver
  }
  const runs = Array.from({ length: 60 }, (_, run) => (run + 1) * 30)
  expect(runs.find(ends)).toBe(24 * 60 + 30)
})

test.each([null, '', CONTEXT, `${CONTEXT}@1`, `${CONTEXT}@x@2`, `x${CONTEXT}@1@2`])(
  'a row that kept %p is in no trace',
  (kept) => {
    expect(resumeTrace(kept, at(0))).toBeUndefined()
  },
)

test('of a header only what is a traceparent is linked to', () => {
  expect(foreignTrace(CONTEXT)).toBe(CONTEXT)
  expect(foreignTrace(CONTEXT.replace(/01$/, '00'))).toBe(CONTEXT)
  const zeros = `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`
  const noSpan = `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`
  for (const header of [null, '', 'quince', `${CONTEXT}-more`, ` ${CONTEXT}`, zeros, noSpan])
    expect([header, foreignTrace(header)]).toEqual([header, undefined])
})

test('what runs in a span knows its context, and nothing else does', async () => {
  const inside = inTrace(CONTEXT, async () => {
    await Promise.resolve()
    return currentTrace()
  })
  expect(currentTrace()).toBeUndefined()
  expect(await inside).toBe(CONTEXT)
})
