import { describe, expect, test } from 'bun:test'
import { hookKeys, hookPattern } from '#domain/growth/drafting/hooks'
import { recognisedAgain, recogniseForm } from '#domain/growth/drafting/recognised'
import { tidyTags, writtenText } from '#domain/growth/drafting/written-text'
import { errorOf } from '../../errors.ts'
import { draftedItem } from '../../records.ts'

const of = (body: string) => {
  const { format, hook } = recogniseForm({ kind: 'post', body })
  return [format, hook]
}

describe('of a person’s own text', () => {
  test.each([
    ['Ask me about the day the oven caught fire.', 'invitation', 'ask-about'],
    ['You are welcome to disagree: dashboards hide more than they show.', 'contrarian', 'disagree'],
    ['"I finally sleep on Sundays." A customer, last week.', 'quote', 'quote-alone'],
    ['"You talk too much about yourselves," she said. She was right.', 'story', 'quote-open'],
    ['Why does every form ask for a fax number?', 'question', 'open-question'],
    ['Why does every form ask for a fax number? Ours did.', 'question', 'own-question'],
    ['The demo began in ten minutes. What would you do next?', 'question', 'open-ending'],
    [
      'At first I wrote every reply myself. Now I write none before noon.',
      'before-after',
      'then-now',
    ],
    ['We used to answer every ticket on the day it came.', 'story', 'back-then'],
    ['In the spring of 2021 we had two customers and one printer.', 'story', 'time-stamp'],
    ['We changed three things:\n- the hours\n- the menu', 'list', 'list-head'],
    ['A short checklist:\n- call first\n- write it down', 'checklist', 'checklist-open'],
    ['Today\n- hours\n- menu', 'list', ''],
    ['Every delay starts at the dock.', '', ''],
  ])('%j is recognised by its form', (body, format, hook) => {
    expect(of(body)).toEqual([format, hook])
  })

  test('an example of the library is recognised as its own opening, as a question, or not at all', () => {
    const [questions, recognisable] = [
      ['own-question', 'audience-question'],
      hookKeys.map((key) => [key, of(hookPattern(key).example)[1]] as const),
    ]
    for (const [key, hook] of recognisable)
      expect(['', questions.includes(key) ? 'open-question' : key]).toContain(hook!)
    expect(recognisable.filter(([, hook]) => hook !== '').length).toBeGreaterThan(10)
  })

  test('an article is an article', () => {
    expect(recogniseForm({ kind: 'article', body: 'Late?\n\nA text.' })).toEqual({
      format: 'article',
      hook: 'article',
    })
  })
})

describe('after a change', () => {
  test('what was recognised is recognised anew', () => {
    const before = {
      ...draftedItem,
      body: 'Ask me about the oven.',
      format: 'invitation',
      hook: 'ask-about',
    }
    expect(recognisedAgain(before, { kind: 'post', body: 'Why not?' })).toEqual({
      format: 'question',
      hook: 'open-question',
    })
  })

  test('what a drafter said of a text stays', () => {
    const { format, hook } = draftedItem
    expect(recognisedAgain(draftedItem, { kind: 'post', body: 'Why not?' })).toEqual({
      format,
      hook,
    })
  })
})

describe('a written text', () => {
  test('has newlines only', () =>
    expect(writtenText('a\r\nb\rc\u2028d\u0085e\tf', 'body')).toBe('a\nb\nc\nd\ne\tf'))

  test.each(['\u0007', '\u001b', '\u000b', '\u007f', '\u009b'])(
    'with the control character %j is refused',
    (control) => {
      const error = errorOf(() => writtenText(`a${control}`, 'body'))
      expect([error.code, error.details?.[0]?.path]).toEqual(['invalid_input', 'body'])
    },
  )

  test('keeps joiners and marks of direction, which scripts need', () =>
    expect(writtenText('a\u200d\u200f', 'body')).toBe('a\u200d\u200f'))
})

test('tags are trimmed, and those that differ by case or Unicode form alone are one', () => {
  expect(tidyTags([' Launch', 'launch ', 'Pre\u0301s', 'Pr\u00e9s', 'x'])).toEqual([
    'Launch',
    'Pr\u00e9s',
    'x',
  ])
})
