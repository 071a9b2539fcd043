/**
 * Random histories of a workspace, as many as fit in the time: `npm run sim -- --seconds 120 --seed
 * 7`. A seed determines a history. A history that breaks a rule is shortened as far as possible and
 * printed, and `--replay '<history>'` runs it again, as it does several. `--histories` also limits
 * their number; `--workers` says how many processes share them, each seed going to one.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { numbers } from '#test/faults/numbers'
import type { Step } from './history.ts'
import { installMemory } from './statements.ts'
import { add, emptyTotals, summary, type Totals, totalsOf } from './totals.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    seconds: text,
    seed: text,
    histories: text,
    workers: text,
    share: text,
    replay: { ...text, multiple: true },
  },
})
const seconds = Number(values.seconds ?? 10)
const seed = Number(values.seed ?? Date.now() % 1e9)
const histories = Number(values.histories ?? Number.POSITIVE_INFINITY)
const workers = Math.min(
  Number(values.workers ?? availableParallelism()),
  Math.ceil(histories / 100),
)

const LONGEST = 40
/** Histories between two pauses, in which rejections that nobody handles are reported. */
const AT_ONCE = 200
// Refusals are part of most histories, and nobody reads their stack traces.
Error.stackTraceLimit = 0

const simulation = async () => {
  await installMemory()
  const { historyFrom } = await import('./actions.ts')
  const { run } = await import('./story.ts')
  return { historyFrom, run }
}
type Simulation = Awaited<ReturnType<typeof simulation>>

/**
 * Prints the history, as short as possible, and what is wrong with it. Returns the exit code of a
 * failure.
 */
const report = async (
  { run }: Simulation,
  steps: readonly Step[],
  name: string,
): Promise<number> => {
  const { shortest } = await import('./shorten.ts')
  const short = await shortest(steps, async (some) => run(some).broken.length > 0)
  const { broken } = run(short)
  if (broken.length === 0) {
    console.log(`${name} breaks no rule`)
    return 0
  }
  console.error(`${name} breaks a rule after ${short.length} of ${steps.length} steps:`)
  for (const step of short) console.error(`  ${JSON.stringify(step)}`)
  for (const words of broken) console.error(`broken: ${words}`)
  console.error(`again: npm run sim -- --replay '${JSON.stringify(short)}'`)
  return 1
}

/**
 * Runs every history whose number modulo `of` is `part`. Undefined if one broke a rule, which is
 * printed.
 */
const simulate = async ({
  part,
  of,
}: {
  part: number
  of: number
}): Promise<Totals | undefined> => {
  const simulated = await simulation()
  const totals = emptyTotals()
  const [started, startedCpu] = [performance.now(), process.cpuUsage()]
  const isOver = (at: number) => at >= histories || performance.now() - started > seconds * 1_000
  for (let at = part; !isOver(at); at += of) {
    const steps = simulated.historyFrom(numbers(seed + at), LONGEST)
    const world = simulated.run(steps, totals.counts)
    if (world.broken.length > 0) {
      await report(
        simulated,
        steps,
        `seed ${seed + at} (again: npm run sim -- --seed ${seed + at} --histories 1), history ${at + 1},`,
      )
      return undefined
    }
    add(totals, totalsOf(world, steps))
    if (totals.histories % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(startedCpu)
  totals.cpuMs = (user + system) / 1_000
  return totals
}

/**
 * One process for each share: each has the whole simulation to itself, with its own ids and time.
 */
const simulateShared = async (): Promise<Totals | undefined> => {
  const args = ['--seconds', `${seconds}`, '--seed', `${seed}`, '--histories', `${histories}`]
  const children = Array.from({ length: workers }, (_, part) =>
    Bun.spawn(
      [
        process.execPath,
        '--no-orphans',
        import.meta.path,
        ...args,
        '--share',
        `${part}/${workers}`,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    ),
  )
  const totals = emptyTotals()
  const ended = children.map(async (child) => {
    const printed = await new Response(child.stdout).text()
    if ((await child.exited) !== 0) throw new Error('a share failed')
    add(
      totals,
      JSON.parse(printed, (key, value) => (key === 'counts' ? new Map(value) : value)),
    )
  })
  try {
    await Promise.all(ended)
    return totals
  } catch {
    for (const child of children) child.kill('SIGKILL')
    return undefined
  }
}

const simulateAll = async (): Promise<number> => {
  const started = performance.now()
  const totals = workers > 1 ? await simulateShared() : await simulate({ part: 0, of: 1 })
  if (!totals) return 1
  const { lines, ok } = summary(totals, {
    seed,
    workers,
    seconds: (performance.now() - started) / 1_000,
  })
  for (const line of lines) console.log(line)
  return ok ? 0 : 1
}

const simulateShare = async (share: string): Promise<number> => {
  const [part, of] = share.split('/').map(Number)
  const totals = await simulate({ part: part!, of: of! })
  if (totals) console.log(JSON.stringify({ ...totals, counts: [...totals.counts] }))
  return totals ? 0 : 1
}

const replay = async (histories: readonly string[]): Promise<number> => {
  const simulated = await simulation()
  let code = 0
  for (const [index, steps] of histories.entries())
    code ||= await report(simulated, JSON.parse(steps), `history ${index + 1}`)
  return code
}

const main = (): Promise<number> => {
  if (values.replay !== undefined) return replay(values.replay)
  return values.share === undefined ? simulateAll() : simulateShare(values.share)
}

process.exit(await main())
