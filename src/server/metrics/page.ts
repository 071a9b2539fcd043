/**
 * The page of metrics. However many read it and however often, it is made once a second, and the
 * database is asked every fifteen seconds.
 */
import { statfs } from 'node:fs/promises'
import type { MetricsPage } from '#edge/metrics'
import type { Readiness } from '#edge/ready'
import type { Clock } from '#kernel/clock'
import { sharedQuestion } from '#kernel/shared-question'
import { deploymentCounts } from '#store/app/deployment-counts'
import { version } from '../../../package.json'
import type { DeploymentWatch } from '../watching.ts'
import type { Workplace } from '../workplace.ts'
import { exposition, TEXT_FORMAT } from './exposition.ts'
import { familiesOf, type MetricsReading } from './families.ts'
import { watchLoopDelay } from './loop-delay.ts'

export interface MetricsPageDeps
  extends Pick<DeploymentWatch, 'backup'>,
    Pick<Workplace, 'db' | 'runtime'> {
  meters: NonNullable<Workplace['meters']>
  clock: Clock
  /** Undefined: there is no disk of this server's own. */
  home: string | undefined
  commit: string | null
  readiness(): Promise<Readiness>
  streams(): number
  mcpSessions(): number
}

const PAGE = { withinMs: 5_000, keepMs: 1_000 }
const COUNTS = { withinMs: 2_000, keepMs: 15_000 }
const DISK = { withinMs: 1_000, keepMs: 5_000 }

const processNow = (): MetricsReading['process'] => {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const startedAt = performance.timeOrigin / 1_000
  return { rss, heap: heapUsed, cpuSeconds: (user + system) / 1e6, startedAt }
}

const diskOf = async (home: string) => {
  const { bavail, blocks, bsize } = await statfs(home)
  return { free: bavail * bsize, size: blocks * bsize }
}

export const openMetricsPage = (deps: MetricsPageDeps): { page: MetricsPage } & Disposable => {
  const { db, runtime, clock, home, backup } = deps
  const loop = watchLoopDelay()
  const nothing = async () => undefined
  const asked = {
    counts: sharedQuestion(async () => (await db.system(deploymentCounts))[0], {
      clock,
      ...COUNTS,
    }),
    disk: sharedQuestion(home ? () => diskOf(home) : nothing, { clock, ...DISK }),
    backup: sharedQuestion(backup ?? nothing, { clock, ...COUNTS }),
  }
  const read = async (): Promise<MetricsReading> => {
    const [readiness, counts, disk, made] = await Promise.all([
      deps.readiness(),
      asked.counts(),
      asked.disk(),
      asked.backup(),
    ])
    return {
      ...deps,
      build: { version, commit: deps.commit ?? '' },
      queued: runtime.queued(),
      now: clock.monotonic(),
      awake: runtime.awake,
      pools: db.uses(),
      streams: deps.streams(),
      mcpSessions: deps.mcpSessions(),
      loopDelay: loop.seconds,
      readiness,
      counts,
      disk,
      backup: made,
      process: processNow(),
    }
  }
  const page = sharedQuestion(
    async () => ({
      body: new Blob([exposition(familiesOf(await read()))]),
      type: TEXT_FORMAT,
    }),
    { clock, ...PAGE },
  )
  return { page, [Symbol.dispose]: () => loop[Symbol.dispose]() }
}
