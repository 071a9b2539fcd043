/** Who can read metrics. */
import { parseHost, portOf, refuseValue } from './values.ts'

export interface MetricsSettings {
  /** Where metrics are served beside the main port, if anywhere. */
  own: { port: number; host: string } | undefined
  /** What readers must send. Required for metrics on the main port. */
  token: string | undefined
}

const LOOPBACK = '127.0.0.1'
/** Long enough that nobody guesses it, and valid in a header. */
const TOKEN = /^[\x21-\x7e]{16,500}$/

const tokenOf = (text: string): string =>
  TOKEN.test(text)
    ? text
    : refuseValue('METRICS_TOKEN', '16 to 500 characters of printable ASCII without spaces')

interface MetricsEnv {
  METRICS_PORT?: string | undefined
  METRICS_HOST?: string | undefined
  METRICS_TOKEN?: string | undefined
}

/** Undefined: nobody can. `port`: the main port. */
export const metricsOf = (env: MetricsEnv, port: number): MetricsSettings | undefined => {
  const token = env.METRICS_TOKEN ? tokenOf(env.METRICS_TOKEN) : undefined
  const { METRICS_HOST: host } = env
  if (!env.METRICS_PORT) {
    if (host) refuseValue('METRICS_HOST', 'set together with METRICS_PORT')
    return token === undefined ? undefined : { own: undefined, token }
  }
  const own = portOf(env.METRICS_PORT, 'METRICS_PORT')
  if (own !== 0 && own === port) refuseValue('METRICS_PORT', 'another port than PORT', String(own))
  return { own: { port: own, host: parseHost(host || LOOPBACK, 'METRICS_HOST') }, token }
}
