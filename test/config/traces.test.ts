import { expect, test } from 'bun:test'
import { readConfig } from '#config/config'

const ENDPOINT = 'http://127.0.0.1:4318'
const tracesIn = (env: Record<string, string>) => readConfig({ ...env, HOME: '/home/x' }).traces
const withEndpoint = (env: Record<string, string> = {}) =>
  tracesIn({ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, ...env })

test('there are no traces unless an endpoint is set', () => {
  const others = { OTEL_SERVICE_NAME: '', OTEL_EXPORTER_OTLP_HEADERS: 'no header' }
  expect(tracesIn({})).toBeUndefined()
  expect(tracesIn({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined()
  expect(tracesIn(others)).toBeUndefined()
  const url = `${ENDPOINT}/v1/traces`
  const empty = { OTEL_SERVICE_NAME: '', OTEL_EXPORTER_OTLP_HEADERS: '' }
  for (const env of [{}, empty])
    expect(withEndpoint(env)).toEqual({ url, headers: {}, service: 'tendril' })
  expect(withEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: `${ENDPOINT}/` })?.url).toBe(url)
  expect(withEndpoint({ OTEL_SERVICE_NAME: 'docks' })?.service).toBe('docks')
})

test('headers are names and values, as OpenTelemetry writes them', () => {
  const text = 'Authorization=Basic%20cXVpbmNl==, x-scope = docks'
  const headers = { authorization: 'Basic cXVpbmNl==', 'x-scope': 'docks' }
  expect(withEndpoint({ OTEL_EXPORTER_OTLP_HEADERS: text })?.headers).toEqual(headers)
})

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https', 'ENDPOINT', '127.0.0.1:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT must be an address without', 'ENDPOINT', 'http://a:b@x'],
  ['OTEL_EXPORTER_OTLP_HEADERS must be headers', 'HEADERS', 'x'],
  ['OTEL_EXPORTER_OTLP_HEADERS must be headers', 'HEADERS', 'x=%zz'],
  ['OTEL_EXPORTER_OTLP_HEADERS must be headers', 'HEADERS', 'x=a%0d%0ab'],
  ['OTEL_EXPORTER_OTLP_HEADERS must be headers', 'HEADERS', 'content-type=text/plain'],
])('%s: %s=%s', (refusal, name, value) => {
  expect(() => withEndpoint({ [`OTEL_EXPORTER_OTLP_${name}`]: value })).toThrow(refusal)
})

test('a header that is refused is not repeated, and a name has a bound', () => {
  const hush = { OTEL_EXPORTER_OTLP_HEADERS: 'hush hush=secret' }
  expect(() => withEndpoint(hush)).not.toThrow('secret')
  const long = { OTEL_SERVICE_NAME: 'x'.repeat(101) }
  expect(() => withEndpoint(long)).toThrow('OTEL_SERVICE_NAME must be 1 to 100')
})
