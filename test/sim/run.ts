/**
 * Random histories of a workspace, as many as fit in the time: `npm run sim -- --seconds 120 --seed 7`. A seed decides a
 * history; one that breaks a rule is made as short as it can be and printed, and `--replay '<history>'` runs it
 * again. `--histories` bounds their number besides.
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
/** So many histories without a single send do not test what they are meant to. */
const ENOUGH = 100
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

const simulate = async ({ seconds, seed, histories }: Record<'seconds' | 'seed' | 'histories', number>): Promise<number> => {
  const started = performance.now()
  const passed = () => (performance.now() - started) / 1_000
  const totals = { histories: 0, steps: 0, sends: 0, posts: 0, attempts: 0 }
  for (; passed() < seconds && totals.histories < histories; totals.histories++) {
    const steps = historyFrom(numbers(seed + totals.histories), LONGEST)
    const { broken, wires, posts, memory } = await run(steps)
    if (broken.length > 0) return report(steps, `seed ${seed + totals.histories}`)
    totals.steps += steps.length
    totals.sends += wires.length
    totals.posts += posts.length
    totals.attempts += memory.attempts.size
  }
  const isVain = totals.histories >= ENOUGH && totals.sends === 0
  const counts = Object.entries(totals).map(([what, count]) => `${what}=${count}`)
  console.log(
    `sim: seed=${seed} ${counts.join(' ')} per_second=${Math.round(totals.histories / passed())} ${isVain ? 'BROKEN: nothing was sent' : 'ok'}`,
  )
  return isVain ? 1 : 0
}

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { seconds: text, seed: text, histories: text, replay: text } })
const { seconds = '10', seed = String(Date.now() % 1e9), histories = 'Infinity', replay } = values
const numbersGiven = { seconds: Number(seconds), seed: Number(seed), histories: Number(histories) }
process.exit(replay === undefined ? await simulate(numbersGiven) : await report(JSON.parse(replay), 'the history'))
