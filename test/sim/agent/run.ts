/**
 * Random histories of jobs of the agent over its pure rules:
 * `npm run sim:agent -- --seconds 60 --seed 7`. A seed decides a history. The first that breaks a
 * rule is printed with its seed; `--histories 1` runs one. It is one process, whatever `--workers`
 * says.
 */
import { parseArgs } from 'node:util'
import { installRows } from './rows.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: { seconds: text, seed: text, histories: text, workers: text },
})
const seconds = Number(values.seconds ?? 10)
const seed = Number(values.seed ?? Date.now() % 1e9)
const histories = Number(values.histories ?? Number.POSITIVE_INFINITY)
// Refusals are part of most histories, and nobody reads where they come from.
Error.stackTraceLimit = 0

const main = async (): Promise<number> => {
  await installRows()
  const { history } = await import('./history.ts')
  const counts = new Map<string, number>()
  const started = performance.now()
  let done = 0
  for (; done < histories && performance.now() - started < seconds * 1_000; done++) {
    const broken = history(seed + done, counts)
    if (broken.length === 0) continue
    console.error(
      `seed ${seed + done} (again: npm run sim:agent -- --seed ${seed + done} --histories 1), history ${done + 1}, breaks a rule:`,
    )
    for (const words of broken.slice(0, 5)) console.error(`broken: ${words}`)
    return 1
  }
  for (const [what, times] of [...counts].sort()) console.log(`${what}: ${times}`)
  console.log(`sim: seed=${seed} histories=${done} ok`)
  return 0
}

process.exit(await main())
