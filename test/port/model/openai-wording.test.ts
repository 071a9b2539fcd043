/**
 * Findings in a model's words: its numbers are checked against those found, and a sentence that
 * does not match stays as it was.
 */
import { describe, expect, test } from 'bun:test'
import { createComposer } from '#port/model/composer/composer'
import { neverAborts } from '#test/support/model/briefs'
import { type Behaviour, behaviours, createFakeOpenAi } from '#test/support/model/fake-openai'
import { inlineWorker } from '#test/support/model/inline-worker'
import { drafterOn } from '#test/support/model/openai-drafter'

const found = [
  'Question posts had an engagement rate of 2.0%, other posts 6.3% (12 and 12 posts): between 0.25 and 0.41 times as much.',
  'Short posts were seen 1,204 times on average, other posts 620 times (9 and 15 posts): between 1.30 and 2.60 times as much.',
]
/** Longer than an answer takes on the slowest machine. */
const PATIENT_MS = 60_000

const said = async (behaviour: Behaviour, timeoutMs = PATIENT_MS) => {
  await using fake = await createFakeOpenAi(behaviour)
  return await drafterOn(fake.url, { timeoutMs }).reword(found, neverAborts())
}

test('a sentence with the numbers of the finding, in order, replaces it', async () => {
  const sentences = [
    'Questions got 2.0 % engagement, everything else 6.3 %.',
    'Short ones reach 1204 readers instead of 620.',
  ]
  const { usage, ...wordings } = await said({ write: () => ({ sentences }) })
  expect(wordings).toEqual({ sentences, model: 'gpt-5-mini' })
  expect(usage.input_tokens).toBe(1_000)
})

/** Behaviours that begin with a draft, and the one that leads to them. */
const aboutDrafts = new Set<Behaviour>([
  'valid',
  'nul_characters',
  'half_characters',
  'invalid_utf8',
  'redirect',
])

describe('the finding stays if the model', () => {
  test.each([
    ['says another number', 'Questions got 3.0 % engagement.'],
    ['swaps the numbers', 'Questions got 6.3 % engagement, the others 2.0 %.'],
    ['repeats a number that is there once', 'Of 2.0 % and 2.0 % questions got less.'],
    ['says nothing', '  '],
    ['goes on and on', 'Questions do badly. '.repeat(60)],
    ['writes control characters', 'Questions \u0007 do badly.'],
  ])('%s', async (_, sentence) => {
    const second = 'Short ones reach 1204 readers.'
    expect((await said({ write: () => ({ sentences: [sentence, second] }) })).sentences).toEqual([
      found[0]!,
      second,
    ])
    expect(await said({ write: () => ({ sentences: [sentence, ''] }) })).toMatchObject({
      sentences: found,
      model: 'composer',
    })
  })

  test('returns more or fewer sentences than findings', async () => {
    expect((await said({ write: () => ({ sentences: ['One.'] }) })).sentences).toEqual(found)
    expect(
      (await said({ write: () => ({ sentences: ['One.', 'Two.', 'Three.'] }) })).sentences,
    ).toEqual(found)
  })

  test.each(behaviours.filter((name) => !aboutDrafts.has(name)))(
    'answers badly: %s',
    async (name) => {
      expect((await said(name, 500)).sentences).toEqual(found)
    },
  )
})

test('without findings no model is called, and an abort rejects', async () => {
  await using fake = await createFakeOpenAi('hang')
  expect(
    (await drafterOn(fake.url, { timeoutMs: 500 }).reword([], neverAborts())).sentences,
  ).toEqual([])
  expect(fake.calls).toHaveLength(0)
  const controller = new AbortController()
  const asking = drafterOn(fake.url, { timeoutMs: PATIENT_MS }).reword(found, controller.signal)
  await fake.arrived()
  controller.abort(new Error('given up'))
  expect(await asking.catch((cause: Error) => cause.message)).toBe('given up')
})

test('the composer leaves findings as they are', async () => {
  expect((await createComposer(inlineWorker).reword(found, neverAborts())).sentences).toEqual(found)
})
