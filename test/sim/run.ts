/**
 * Random histories of a workspace, as many as fit in the time: `npm run sim -- --seconds 120 --seed 7`. A seed decides a
 * history; one that breaks a rule is made as short as it can be and printed, and `--replay '<history>'` runs it again.
 */
import { parseArgs } from 'node:util'
import { numbers } from '#test/faults/numbers'
import type { Step } from './history.ts'
import { installMemory } from './memory.ts'

await installMemory()
const { historyFrom } = await import('./history.ts')
const { run } = await import('./story.ts')
const { shortest } = await import('./shorten.ts')

const LONGEST = 40
// Refusals are part of most histories, and nobody reads where they come from.
Error.stackTraceLimit = 0

const breaks = async (steps: readonly Step[]): Promise<boolean> => (await run(steps)).broken.length > 0

/** Prints the history and what is wrong with it; the exit code of a failure. */
const report = async (steps: Step[], name: string): Promise<number> => {
  const short = await shortest(steps, breaks)
  const { broken } = await run(short)
  console.error(`${name} breaks a rule after ${short.length} steps:`)
  for (const step of short) console.error(`  ${JSON.stringify(step)}`)
  for (const words of broken) console.error(`broken: ${words}`)
  console.error(`again: bun test/sim/run.ts --replay '${JSON.stringify(short)}'`)
  return 1
}

const simulate = async (seconds: number, seed: number): Promise<number> => {
  const until = performance.now() + seconds * 1_000
  const totals = { histories: 0, steps: 0, sends: 0, posts: 0, attempts: 0 }
  for (; performance.now() < until; totals.histories++) {
    const steps = historyFrom(numbers(seed + totals.histories), LONGEST)
    const { broken, wires, posts, memory } = await run(steps)
    if (broken.length > 0) return report(steps, `seed ${seed + totals.histories}`)
    totals.steps += steps.length
    totals.sends += wires.length
    totals.posts += posts.length
    totals.attempts += memory.attempts.size
  }
  const counts = Object.entries(totals).map(([what, count]) => `${what}=${count}`)
  console.log(`sim: seed=${seed} ${counts.join(' ')} per_second=${Math.round(totals.histories / seconds)} ok`)
  return 0
}

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' }, replay: { type: 'string' } } })
const { seconds = '10', seed = String(Date.now() % 1e9), replay } = values
process.exit(replay === undefined ? await simulate(Number(seconds), Number(seed)) : await report(JSON.parse(replay), 'the history'))
