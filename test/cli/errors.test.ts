/** What is said of a refusal, and the exit code that follows from it. */
import { describe, expect, test } from 'bun:test'
import { errorTable } from '#kernel/errors'
import { cli } from '#test/support/cli/host'
import { refusal, scriptedServer } from '#test/support/cli/scripted'
import { approve, at, ID } from './approve.ts'

describe('an error', () => {
  const codes = Object.entries(errorTable)
  test.each(codes.map(([code, { status, exit }]) => [code, status, exit] as const))(
    '%s (%i) is exit code %i',
    async (code, status, exit) => {
      await using server = scriptedServer([refusal(status, code, { message: 'why' })])
      const plain = await approve(server.url)
      expect([plain.code, plain.out]).toEqual([exit, ''])
      expect(plain.err).toStartWith(`tendril: ${code}: why\n`)
      const asJson = await approve(server.url, '--json')
      expect([asJson.code, asJson.out]).toEqual([exit, ''])
      expect(JSON.parse(asJson.err)).toMatchObject({
        error: { code, message: 'why', request_id: 'r-1' },
      })
    },
  )

  test('with an unknown code has the exit code of its status', async () => {
    await using server = scriptedServer([refusal(403, 'moon_in_retrograde')])
    expect((await approve(server.url)).code).toBe(errorTable.forbidden.exit)
  })

  test('names the option that is wrong', async () => {
    const details = [
      { path: 'writing_dna.stories.1', message: 'is too long' },
      { path: 'goal', message: 'is too dull' },
      { path: 'Idempotency-Key', message: 'is too long' },
    ]
    await using server = scriptedServer([
      refusal(400, 'invalid_input', { message: 'goal is too dull', details }),
    ])
    const { err } = await cli(['profile', 'update', '--goal', 'x'], at(server.url))
    const lines = [
      'tendril: invalid_input: goal is too dull',
      '  --writing-dna.stories (entry 2): is too long',
      '  --goal: is too dull',
    ]
    expect(err).toBe(`${[...lines, '  --idempotency-key: is too long'].join('\n')}\n`)
  })

  test.each([
    ['unauthenticated', 401, 'tendril login'],
    ['missing_scope', 403, 'tendril login'],
  ])('%s has a hint', async (code, status, hint) => {
    await using server = scriptedServer([refusal(status, code)])
    expect((await approve(server.url)).err).toContain(hint)
  })

  test('from a server that is not Tendril says so', async () => {
    await using server = scriptedServer([
      { status: 502, body: '<html>', headers: { 'content-type': 'text/html' } },
    ])
    const { code, err } = await approve(server.url)
    expect([code, err]).toEqual([
      1,
      `tendril: internal: ${server.url} returned 502, and not in the format of Tendril\n  hint: check --api-url\n`,
    ])
  })

  test('for a redirect does not send the key to the new address', async () => {
    await using server = scriptedServer([
      { status: 308, headers: { location: 'https://elsewhere.example' } },
    ])
    const { code, err } = await approve(server.url)
    expect([code, server.asked.length]).toEqual([2, 1])
    expect(err).toContain('https://elsewhere.example')
  })

  test('cannot send control characters to the terminal', async () => {
    await using server = scriptedServer([refusal(409, 'conflict', { message: '\u001b[2Jgone' })])
    expect((await approve(server.url)).err).toBe('tendril: conflict: [U+001B][2Jgone\n')
  })
})

test('an interrupt ends a wait with 130 and prints nothing', async () => {
  await using server = scriptedServer([refusal(503, 'unavailable')])
  const { code, out, err } = await cli(['items', 'approve', ID], {
    ...at(server.url),
    signal: AbortSignal.abort(),
  })
  expect({ code, out, err }).toEqual({ code: 130, out: '', err: '' })
})

describe('a refusal by the plan', () => {
  const advice: [number, string, string, Record<string, string>, string][] = [
    [
      403,
      'plan_invalid',
      'plan_invalid:trial_expired',
      {},
      'settle the billing of this workspace first',
    ],
    [403, 'plan_quota_exceeded', 'plan_quota_exceeded:posts', {}, 'the monthly quota is used up'],
    [
      403,
      'plan_feature_disabled',
      'plan_feature_disabled:rules',
      {},
      'the plan of this workspace does not include this feature',
    ],
    [
      429,
      'rate_limited',
      'rate_limited:create_batch',
      { 'retry-after': '61' },
      'try again in 61 s',
    ],
    [
      429,
      'rate_limited',
      'rate_limited:create_batch',
      { 'retry-after': '1234' },
      'try again in 21 min',
    ],
    [
      429,
      'x_read_budget_exhausted',
      'x_read_budget_exhausted',
      { 'retry-after': '40000' },
      'try again in 12 h',
    ],
  ]
  test.each(advice)(
    '%i %s is printed once, with what to do about it',
    async (status, code, message, headers, hint) => {
      await using server = scriptedServer([refusal(status, code, { message, headers })])
      const result = await approve(server.url)
      expect(result.err).toStartWith(`tendril: ${message}\n  hint: ${hint}`)
      const exit = errorTable[code as keyof typeof errorTable].exit
      expect([result.code, result.pauses, server.asked.length]).toEqual([exit, [], 1])
      const { error } = JSON.parse((await approve(server.url, '--json')).err)
      expect(error).toMatchObject({
        code,
        message,
        ...(status === 429 ? { retry_after: Number(headers['retry-after']) } : {}),
      })
    },
  )
})
