/** Quotations for free questions: which parts of a text are shown, and which texts say enough. */
import { describe, expect, test } from 'bun:test'
import {
  bestOf,
  type QuotedPassage,
  quotationOf,
  quotationsIn,
} from '#domain/agent/knowledge/quoting'
import { MARKS } from '#kernel/spacing'

const [OPEN, CLOSE] = MARKS
/** With marks in the place of brackets. */
const found = (text: string) => text.replaceAll('[', OPEN).replaceAll(']', CLOSE)
const from = { source: 'playbook refunds', tool: 'read_playbook', untrusted: false }

describe('the quotations in a playbook', () => {
  test('are its paragraphs, under the heading that stands over them', () => {
    const text = found(
      'Be kind.\n\n# [Refunds]\n\nWithin 14 days.\nBy [bank].\n\nNobody asks.\n## Other\nSay [refund] once.\n\nBye.',
    )
    expect(quotationsIn(text, from)).toEqual([
      { ...from, source: 'playbook refunds, Refunds', text: 'Within 14 days.\nBy bank.', words: 2 },
      { ...from, source: 'playbook refunds, Refunds', text: 'Nobody asks.', words: 1 },
      { ...from, source: 'playbook refunds, Refunds › Other', text: 'Say refund once.', words: 1 },
    ])
  })

  test('have the name of the playbook alone where no heading is', () => {
    expect(quotationsIn(found('[One]\r\n\r\nTwo'), from)).toEqual([
      { ...from, text: 'One', words: 1 },
    ])
  })
})

test('a word counts once, however it is written', () => {
  expect(quotationOf(found('[Late] is [late], and [lost]'), from).words).toBe(2)
})

test('a long text is shown from the first sentence with a word of the question', () => {
  const { text } = quotationOf(
    found(`${'Nobody asks for this. '.repeat(30)}Now [refunds] come. ${'And so on. '.repeat(60)}`),
    from,
  )
  expect(text).toStartWith('… Now refunds come. And')
  expect(text).toEndWith('…')
  expect(text.length).toBeLessThanOrEqual(503)
  expect(text).not.toContain(OPEN)
})

test('the headings over a paragraph are all named', () => {
  const text = found(
    'Support\n=======\n\n## Late [refunds]\n\nSoon.\n\n```\n# [refunds] in code\n```',
  )
  expect(quotationsIn(text, from).map(({ source, text }) => [source, text])).toEqual([
    ['playbook refunds, Support › Late refunds', 'Soon.'],
    ['playbook refunds, Support › Late refunds', '```\n# refunds in code\n```'],
  ])
})

describe('the best', () => {
  const having = (words: number): QuotedPassage => ({ ...from, text: String(words), words })
  const wordsOf = (words: number[], asked: number) =>
    bestOf(words.map(having), asked).map((one) => one.words)

  test.each([
    ['are three', [1, 1, 1, 1], 1, [1, 1, 1]],
    ['have the most words first', [1, 2, 2], 2, [2, 2, 1]],
    ['have a third of the words of the question', [1, 2], 6, [2]],
    ['have half of the words of the best', [1, 3, 2], 3, [3, 2]],
    ['are none where all say too little', [1, 1], 4, []],
    ['are none of none', [], 0, []],
  ])('%s', (_, words, asked, best) => {
    expect(wordsOf(words, asked)).toEqual(best)
  })
})
