/**
 * `npm run fuzz`, or `npm run fuzz -- --requests 1000 --texts 500 --seed 7`: prints each
 * operation's results and each parser's, then summaries. `--requests 0`: texts alone.
 */
import { optionsFrom, withTemplate } from '#test/faults/own-database'
import { type Fuzzed, fuzz, summaryOf } from './fuzz.ts'
import { fuzzTexts, type TextFuzzed, textSummaryOf } from './texts.ts'

const options = optionsFrom(
  { requests: 300, texts: 60, seed: 1, parallel: 4 },
  process.argv.slice(2),
)

const print = ({ id, requests, statuses, findings }: Fuzzed): void => {
  const counts = Object.entries(statuses).map(([status, times]) => `${status}:${times}`)
  console.log(`${id.padEnd(36)} ${String(requests).padStart(5)}  ${counts.join(' ')}`)
  for (const { kind, what, request } of findings) console.log(`  ${kind}: ${what}\n    ${request}`)
}

const printTexts = ({ name, texts, worst, findings }: TextFuzzed): void => {
  console.log(
    `${name.padEnd(36)} ${String(texts).padStart(5)}  worst ${worst.toFixed(0)} ms of processor time`,
  )
  for (const finding of findings) console.log(`  slow: ${finding}`)
}

const startedAt = performance.now()
const read = fuzzTexts(options, printTexts)
const results = options.requests > 0 ? await withTemplate(() => fuzz(options, print)) : []
console.log(`seed ${options.seed}, ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
console.log(textSummaryOf(read))
if (options.requests > 0) console.log(summaryOf(results))
process.exit([...read, ...results].some(({ findings }) => findings.length > 0) ? 1 : 0)
