/** Metrics on a port of their own. */
import type { MetricsSettings } from '#config/metrics'
import { hostAndPort } from '#config/values'
import { METRICS_PATH, type MetricsPage, metricsResponse } from '#edge/metrics'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'

/** A reader that takes longer between two packets is gone. */
const IDLE_S = 10
const LOOPBACK = /^(127\.|::1$|localhost$)/

const refusals: Record<string, string> = {
  EADDRINUSE: 'is taken: set METRICS_PORT to another port',
  EADDRNOTAVAIL: 'is no address of this machine: METRICS_HOST must be one',
  EACCES: 'is not open to this user: set METRICS_PORT to one above 1023',
}

const answer = (
  request: Request,
  page: MetricsPage,
  token: string | undefined,
): Response | Promise<Response> => {
  if (new URL(request.url).pathname !== METRICS_PATH) return new Response(null, { status: 404 })
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
  return metricsResponse(request, page, token)
}

export const serveMetrics = (
  { own, token }: { own: NonNullable<MetricsSettings['own']>; token: string | undefined },
  page: MetricsPage,
  log: Log,
): { port: number } & AsyncDisposable => {
  const { port, host } = own
  try {
    const server = Bun.serve({
      port,
      hostname: host,
      reusePort: false,
      idleTimeout: IDLE_S,
      maxRequestBodySize: 0,
      fetch: (request) => answer(request, page, token),
    })
    if (token === undefined && !LOOPBACK.test(host))
      log.warn({ host }, 'METRICS_HOST: whoever reaches this address can read the metrics')
    return { port: server.port!, [Symbol.asyncDispose]: () => server.stop(true) }
  } catch (cause) {
    const refusal = refusals[String((cause as { code?: unknown }).code)]
    if (!refusal) throw cause
    throw new AppError('unavailable', `${hostAndPort(host, port)} ${refusal}`, { cause })
  }
}
