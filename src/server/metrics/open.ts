/** Metrics, where the configuration says that they can be read. */
import type { Config } from '#config/config'
import { metricsRoutes } from '#edge/metrics'
import type { Readiness } from '#edge/ready'
import type { Route } from '#edge/route'
import { systemClock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import { watchingOf } from '../watching.ts'
import type { Workplace } from '../workplace.ts'
import { serveMetrics } from './own-port.ts'
import { openMetricsPage } from './page.ts'

interface MetricsParts {
  workplace: Workplace
  log: Log
  readiness(): Promise<Readiness>
  streams(): number
  mcpSessions(): number
}

interface OpenMetrics extends AsyncDisposable {
  /** For the main port. */
  routes: Route[]
  /**
   * Opens the port of their own, if they have one, and returns it. Throws if it is taken. To be
   * called once the main port is open: a start that fails there must not have answered anybody.
   */
  listen(): number | undefined
}

export const openMetrics = (
  { metrics, home, commit }: Config,
  { workplace, log, ...parts }: MetricsParts,
): OpenMetrics => {
  const stack = new AsyncDisposableStack()
  const { db, runtime, meters } = workplace
  const close = { [Symbol.asyncDispose]: () => stack.disposeAsync() }
  if (!metrics || !meters) return { routes: [], listen: () => undefined, ...close }
  const { backup } = watchingOf(workplace)
  const { page } = stack.use(
    openMetricsPage({ ...parts, db, runtime, meters, backup, home, commit, clock: systemClock }),
  )
  const { own, token } = metrics
  return {
    routes: token === undefined ? [] : metricsRoutes(page, token),
    listen: () => own && stack.use(serveMetrics({ own, token }, page, log)).port,
    ...close,
  }
}
