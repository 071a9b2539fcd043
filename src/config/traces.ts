/** Where traces are sent. */
import { isHeaderName, isHeaderOfMessage } from '#kernel/header-names'
import { parseAddress, refuseValue } from './values.ts'

export interface TraceSettings {
  /** Where OTLP's requests for traces go. */
  url: string
  /** Sent with each of them, such as credentials. */
  headers: Record<string, string>
  /** The name of this deployment in traces. */
  service: string
}

interface TraceEnv {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined
  OTEL_SERVICE_NAME?: string | undefined
}

const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS'
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const SERVICE = /^[\x21-\x7e](?:[\x20-\x7e]{0,98}[\x21-\x7e])?$/

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** Names and values as in W3C's baggage: `name=value,other=value`. A refusal repeats no value. */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', ...rest] = pair.split('=')
      const [header, value] = [name.trim().toLowerCase(), decoded(rest.join('=').trim())]
      if (!isHeaderName(header) || !VALUE.test(value) || isHeaderOfMessage(header))
        refuseValue(HEADERS, 'headers as name=value, with commas between them')
      return [header, value]
    }),
  )

const serviceOf = (text: string): string =>
  SERVICE.test(text)
    ? text
    : refuseValue('OTEL_SERVICE_NAME', '1 to 100 characters of printable ASCII', text)

/** The variables are OpenTelemetry's. Undefined: there are no traces. */
export const tracesOf = (env: TraceEnv): TraceSettings | undefined => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = env
  // Other programs may share the environment, so what is set without an endpoint is let be.
  if (!endpoint) return undefined
  return {
    url: `${parseAddress('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint)}/v1/traces`,
    headers: env[HEADERS] ? headersOf(env[HEADERS]) : {},
    service: serviceOf(env.OTEL_SERVICE_NAME || 'tendril'),
  }
}
