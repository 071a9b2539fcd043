import { expect, test } from 'bun:test'
import { readConfig } from '#config/config'

const TOKEN = 'a-token-of-some-length'
const metricsIn = (env: Record<string, string>) => readConfig({ ...env, HOME: '/home/x' }).metrics

test('metrics are read by nobody unless a variable says so, and then from this machine', () => {
  expect(metricsIn({})).toBeUndefined()
  expect(metricsIn({ METRICS_PORT: '', METRICS_TOKEN: '' })).toBeUndefined()
  const own = { port: 9464, host: '127.0.0.1' }
  expect(metricsIn({ METRICS_PORT: '9464' })).toEqual({ own, token: undefined })
  expect(metricsIn({ METRICS_PORT: '9464', METRICS_TOKEN: TOKEN })).toEqual({ own, token: TOKEN })
  expect(metricsIn({ METRICS_TOKEN: TOKEN })).toEqual({ own: undefined, token: TOKEN })
  const all = metricsIn({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' })
  expect(all?.own).toEqual({ port: 9464, host: '0.0.0.0' })
})

test.each([
  ['METRICS_PORT must be a port number', { METRICS_PORT: '70000' }],
  ['METRICS_PORT must be another port than PORT', { PORT: '9464', METRICS_PORT: '9464' }],
  ['METRICS_HOST must be set together with METRICS_PORT', { METRICS_HOST: '0.0.0.0' }],
  ['METRICS_HOST must be an IP address', { METRICS_PORT: '9464', METRICS_HOST: 'http://x' }],
  ['METRICS_TOKEN must be 16 to 500 characters', { METRICS_TOKEN: 'short' }],
])('%s', (refusal, env) => {
  expect(() => metricsIn(env as Record<string, string>)).toThrow(refusal)
})

test('a token that is refused is not repeated', () => {
  expect(() => metricsIn({ METRICS_TOKEN: 'se cret' })).not.toThrow('se cret')
})
