import { describe, expect, test } from 'bun:test'
import type { BriefLearning } from '#domain/growth/drafting/draft'
import {
  askingOf,
  guidingLearnings,
  isAboutFlopped,
  isRecord,
  learnedOf,
} from '#domain/growth/learning/guidance'
import type { Cue } from '#domain/growth/reading/cues'
import { termsOf } from '#domain/growth/reading/words'

const material = termsOf('The boiler broke in January. Our sales hire left.')
const read = (note: string, kind: BriefLearning['kind'] = 'worked') =>
  guidingLearnings({ learnings: [{ id: 'l', kind, note }] }, material)
const prospect = (text: string, ...tags: Cue[]) => ({ terms: termsOf(text), tags: new Set(tags) })
const factor = (
  note: string,
  kind: BriefLearning['kind'],
  ...on: Parameters<typeof prospect>
): number => learnedOf(prospect(...on), read(note, kind)).factor

describe('a learning about a kind of post', () => {
  test('that worked raises posts of the kind and leaves others alone', () => {
    expect(factor('Question posts', 'worked', 'The boiler broke', 'question')).toBeGreaterThan(1)
    expect(factor('Question posts', 'worked', 'The boiler broke', 'list')).toBe(1)
  })

  test('that flopped all but rules the kind out, and counts against it', () => {
    const learned = learnedOf(
      prospect('The boiler broke', 'question'),
      read('Question posts', 'flopped'),
    )
    expect(learned.factor).toBeLessThan(0.01)
    expect(learned.against.map(({ id }) => id)).toEqual(['l'])
  })

  test('that is a hypothesis only leans towards it', () => {
    const tried = factor('Question posts', 'hypothesis', 'The boiler broke', 'question')
    expect(tried).toBeGreaterThan(1)
    expect(tried).toBeLessThan(factor('Question posts', 'worked', 'The boiler broke', 'question'))
  })

  test('that doing without it worked counts against posts of the kind', () => {
    expect(
      factor('Posts without questions', 'worked', 'The boiler broke', 'question'),
    ).toBeLessThan(0.01)
  })

  test('and a topic counts in full only on that topic', () => {
    const on = (text: string) => factor('Questions about the boiler', 'worked', text, 'question')
    expect(on('The boiler broke')).toBeGreaterThan(on('Our sales hire left'))
    expect(on('Our sales hire left')).toBeGreaterThan(1)
  })
})

test('a learning about a topic needs two of its terms, or the only one', () => {
  expect(factor('The first sales hire', 'worked', 'Our sales hire left')).toBeGreaterThan(1)
  expect(factor('The first sales hire', 'worked', 'Sales went up')).toBe(1)
  expect(factor('The boiler', 'worked', 'The boiler broke')).toBeGreaterThan(1)
})

test('a sentence about a topic that flopped is found, whatever its kind', () => {
  expect(isAboutFlopped(read('The boiler', 'flopped'), termsOf('The boiler broke'))).toBeTrue()
  expect(isAboutFlopped(read('The boiler', 'worked'), termsOf('The boiler broke'))).toBeFalse()
  expect(isAboutFlopped(read('Question posts', 'flopped'), termsOf('Question posts'))).toBeFalse()
})

test('closing questions are wanted or not by notes on questions as such', () => {
  expect(askingOf(read('Question posts')).wanted).toHaveLength(1)
  expect(askingOf(read('Question posts', 'flopped')).unwanted).toBeTrue()
  expect(askingOf(read('Questions about the boiler', 'flopped')).unwanted).toBeFalse()
  expect(askingOf(read('Questions as such', 'hypothesis')).unwanted).toBeFalse()
})

test("an experiment's arm counts as worked, and is no record of the workspace", () => {
  const [arm, ...others] = guidingLearnings(
    { learnings: [], trial: 'Lists get more replies' },
    material,
  )
  expect(others).toEqual([])
  expect(arm).toMatchObject({ kind: 'worked', excerpt: 'Lists get more replies' })
  expect(isRecord(arm!)).toBeFalse()
})
