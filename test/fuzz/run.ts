/** `npm run fuzz`, or `npm run fuzz -- --requests 1000 --seed 7`: prints each operation's results, then a summary. */
import { optionsFrom, withTemplate } from '#test/faults/own-database'
import { type Fuzzed, fuzz, summaryOf } from './fuzz.ts'

const options = optionsFrom({ requests: 300, seed: 1, parallel: 4 }, process.argv.slice(2))

const print = ({ id, requests, statuses, findings }: Fuzzed): void => {
  const counts = Object.entries(statuses).map(([status, times]) => `${status}:${times}`)
  console.log(`${id.padEnd(36)} ${String(requests).padStart(5)}  ${counts.join(' ')}`)
  for (const { kind, what, request } of findings) console.log(`  ${kind}: ${what}\n    ${request}`)
}

const startedAt = performance.now()
const results = await withTemplate(() => fuzz(options, print))
console.log(`seed ${options.seed}, ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
console.log(summaryOf(results))
process.exit(results.some(({ findings }) => findings.length > 0) ? 1 : 0)
