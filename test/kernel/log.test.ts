import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { createLog, type Log } from '#kernel/log'

const logged = (write: (log: Log) => void): string => {
  const lines: string[] = []
  write(createLog('trace', { write: (line) => void lines.push(line) }))
  return lines.join('')
}

describe('a secret never reaches a log line', () => {
  const key = newApiKey()
  const lines: [string, (log: Log) => void][] = [
    [
      'as a field',
      (log) =>
        log.info({
          api_key: key,
          authorization: 'hidden',
          password: 'hidden',
          token: 'hidden',
          secret: 'hidden',
        }),
    ],
    [
      'in a nested field',
      (log) =>
        log.info({ headers: { authorization: 'Bearer hidden' }, account: { token: 'hidden' } }),
    ],
    [
      'two fields deep',
      (log) =>
        log.info({
          request: { headers: { authorization: 'hidden' } },
          network: { account: { secret: 'hidden' } },
        }),
    ],
    ['in a field of a child logger', (log) => log.child({ token: 'hidden' }).info('x')],
    ['in a message', (log) => log.info(`refused ${key}`)],
    [
      'in the text of an error',
      (log) => log.error({ err: new Error(`refused ${key}`, { cause: new Error(key) }) }, 'failed'),
    ],
    [
      'in an address',
      (log) => log.info({ url: `/api/v1/growth/overview?key=${key}&other=${key}` }),
    ],
    ['in a list', (log) => log.info({ args: ['--api-key', key] })],
  ]
  test.each(lines)('%s', (_, write) => {
    const text = logged(write)
    expect(text).toContain('[redacted]')
    expect(text).not.toContain(key)
    expect(text).not.toContain('hidden')
    expect(JSON.parse(text)).toMatchObject({ time: expect.any(String), level: expect.any(Number) })
  })
})

test('nor does the secret of a webhook, as it is or as an address has it', () => {
  const secret = `whsec_${Buffer.alloc(32, '\xfb\xef\xbe/+secret', 'latin1').toString('base64')}`
  const text = logged((log) =>
    log.info({ url: `/rules?secret=${encodeURIComponent(secret)}` }, `no rule has ${secret}`),
  )
  expect(JSON.parse(text)).toMatchObject({
    url: '/rules?secret=[redacted]%3D',
    msg: 'no rule has [redacted]=',
  })
})

test('other fields stay, in one JSON object a line', () => {
  const text = logged((log) => {
    log.info({ tenant: 'a', tokens: 3 }, 'first')
    log.warn('second')
  })
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { tenant: 'a', tokens: 3, msg: 'first' },
    { msg: 'second' },
  ])
})

test('lines below the level are not written', () => {
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  log.info('no')
  log.warn('yes')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['yes'])
})
