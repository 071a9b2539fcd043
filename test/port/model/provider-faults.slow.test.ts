/**
 * Every way in which a provider may fail, twice in a row: each gives a result or a fitting hint.
 */
import { describe, expect, test } from 'bun:test'
import pino from 'pino'
import { GenerationError } from '#port/model/drafter'
import type { OpenAiDrafterOptions } from '#port/model/openai/drafter'
import { briefWith, neverAborts } from '#test/support/model/briefs'
import { validDrafts } from '#test/support/model/fake-drafts'
import { type behaviours, createFakeOpenAi } from '#test/support/model/fake-openai'
import { API_KEY, drafterOn } from '#test/support/model/openai-drafter'
import { aborted } from '#test/support/model/openai-thinker'

const NOT_VALID = 'model output was not valid; retry once, or use another model'
const FAILED = 'model provider failed; retry later'
const LATE = 'model did not answer in time; lower count or retry later'
const REFUSED = 'model refused to write this; change the focus or the profile'
const FAR_TOO_MUCH = 'the answer was far too long; lower the count or use another model'

/** The result of each, and after how many calls. */
const outcomes: Record<(typeof behaviours)[number], [string, number]> = {
  valid: ['delivered', 1],
  wrong_schema: [NOT_VALID, 2],
  not_json: [NOT_VALID, 2],
  truncated: ['model output was cut off; lower the count or shorten the focus', 2],
  empty: [NOT_VALID, 2],
  no_choices: [NOT_VALID, 2],
  refusal: [REFUSED, 1],
  filtered: [REFUSED, 1],
  tool_calls: [NOT_VALID, 2],
  content_in_parts: [NOT_VALID, 2],
  nul_characters: [NOT_VALID, 2],
  half_characters: [NOT_VALID, 2],
  invalid_utf8: [NOT_VALID, 2],
  fences: [NOT_VALID, 2],
  nested: [NOT_VALID, 2],
  huge: [FAR_TOO_MUCH, 1],
  endless: [FAR_TOO_MUCH, 1],
  endless_error: [FAILED, 1],
  half_body: [FAILED, 1],
  null_body: [FAILED, 1],
  no_content: [FAILED, 1],
  web_page: [NOT_VALID, 2],
  rate_limited: ['model provider is rate limiting; retry later', 1],
  out_of_credit: ['model provider account has no credit left; check its billing', 1],
  unauthorized: ['model provider refused the API key; check OPENAI_API_KEY', 1],
  not_found: [
    'model provider does not know the model or the address; check MODEL_FAST, MODEL_REASONING and OPENAI_BASE_URL',
    1,
  ],
  bad_request: [
    'model provider refused the request; use a model that supports structured output, or shorten the focus',
    1,
  ],
  server_error: [FAILED, 1],
  overloaded: [FAILED, 1],
  redirect: ['model provider cannot be reached; check OPENAI_BASE_URL and the network', 1],
  hang: [LATE, 1],
  hang_after_headers: [LATE, 1],
  hang_in_body: [LATE, 1],
}

/** The result or the error, with every line of the log. */
const draftAt = async ({ url }: { url: string }, options: Partial<OpenAiDrafterOptions> = {}) => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const outcome = await drafterOn(url, { log, ...options })
    .draft(briefWith(), neverAborts())
    .catch((error: unknown) => error)
  return { outcome, said: [...lines, Bun.inspect(outcome, { depth: 12 })].join('\n') }
}

/** Answers that go on until their connection is closed. */
const closed = ['endless', 'endless_error', 'hang_in_body']

describe('a provider that fails twice', () => {
  test.concurrent.each(Object.entries(outcomes) as [keyof typeof outcomes, [string, number]][])(
    '%s',
    async (name, [expected, calls]) => {
      await using fake = await createFakeOpenAi()
      fake.otherwise(() => name)
      const { outcome, said } = await draftAt(
        fake,
        name.startsWith('hang') ? { timeoutMs: 1_000 } : {},
      )
      expect(outcome instanceof GenerationError ? outcome.hint : 'delivered').toBe(expected)
      if (expected === 'delivered') expect(outcome).not.toBeInstanceOf(Error)
      expect(fake.calls.length).toBe(calls)
      expect(said).not.toContain(API_KEY)
      expect(said).not.toContain('Incorrect API key')
      if (closed.includes(name)) await aborted(fake.calls[0]!.signal)
    },
  )
})

describe('an answer', () => {
  test('that is long and valid is delivered', async () => {
    await using fake = await createFakeOpenAi({
      write: (input) => ({
        drafts: validDrafts(input).map((draft) => ({
          ...draft,
          rationale: `${draft.rationale}${' '.repeat(500)}`,
        })),
      }),
    })
    const { outcome } = await draftAt(fake)
    expect(outcome).toMatchObject({ model: 'gpt-5-mini' })
  })

  test('whose token counts are no numbers counts as none', async () => {
    await using fake = await createFakeOpenAi('content_in_parts')
    const { outcome } = await draftAt(fake)
    expect(outcome).toMatchObject({ usage: { input_tokens: 1_000, output_tokens: 200 } })
  })
})

test('a fenced answer is read', async () => {
  const answer = {
    drafts: [
      {
        body: 'Plain words.',
        format: 'note',
        hook: 'one-line',
        rationale: 'Short.',
        stories: [],
        learnings: [],
      },
    ],
  }
  await using provider = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      Response.json({
        choices: [
          {
            finish_reason: 'stop',
            message: { content: ['```json', JSON.stringify(answer), '```', ''].join('\n') },
          },
        ],
      }),
  })
  const { outcome } = await draftAt({ url: `http://127.0.0.1:${provider.port}/v1` })
  expect(outcome).toMatchObject({ drafts: [{ body: 'Plain words.' }], model: 'gpt-5-mini' })
})
