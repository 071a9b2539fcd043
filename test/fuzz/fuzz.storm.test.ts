/**
 * A few requests of every operation, valid and not, whose answers must match the OpenAPI document;
 * `npm run fuzz` sends many.
 */
import { expect, test } from 'bun:test'
import { fuzz, summaryOf } from './fuzz.ts'

const REQUESTS = 10

test('every operation answers any request as its document says', async () => {
  const results = await fuzz({
    requests: Number(process.env.RUNS || REQUESTS),
    seed: Number(process.env.SEED || 1),
    parallel: 4,
  })
  const findings = results.flatMap(({ id, findings: found }) =>
    found.map((one) => ({ id, ...one })),
  )
  expect(findings).toEqual([])
  expect(summaryOf(results)).toEndWith('failed=0 undocumented=0 mismatched=0')
  // Each was admitted and did something; otherwise the answers would say little.
  expect(
    results.filter(({ statuses }) => Object.keys(statuses).length < 2).map(({ id }) => id),
  ).toEqual([])
}, 120_000)
