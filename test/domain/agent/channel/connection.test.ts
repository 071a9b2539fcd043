import { describe, expect, test } from 'bun:test'
import {
  channelConnectionView,
  missingCredentials,
  newChannelConnection,
  updateChannelConnection,
} from '#domain/agent/channel/connection'
import {
  markLost,
  markRefused,
  markUnreached,
  nextCheck,
  notDelivered,
  proven,
  withLearned,
} from '#domain/agent/channel/connection-health'
import { newId } from '#kernel/ids'
import { errorOf } from '#test/domain/errors'

const now = new Date('2026-11-23T10:00:00Z')
const later = new Date('2026-11-23T11:00:00Z')
const known = {
  credentials: {
    botToken: { needed: true },
    signingSecret: { needed: true },
    extra: { needed: false },
  },
  config: { botUserId: {} },
}
const both = { botToken: 'xoxb-1', signingSecret: 's-1' }
const given = { id: newId(), channel: 'slack', routingKey: 'T1', credentials: both } as const
const made = (more: Partial<Parameters<typeof newChannelConnection>[0]> = {}, total = 0) =>
  newChannelConnection({ ...given, ...more }, { known, total, now })

describe('a new connection', () => {
  test('is unverified, and due once its credentials are complete', () => {
    const { connection, isDue } = made()
    expect(connection).toMatchObject({
      status: 'unverified',
      display_name: 'Slack T1',
      sender_policy: 'members',
      last_error: null,
    })
    expect([isDue, connection.credential_names]).toEqual([true, ['botToken', 'signingSecret']])
    const without = made({ credentials: { extra: 'e' } })
    expect([without.isDue, without.connection.last_error]).toEqual([
      false,
      'credentials are missing: botToken, signingSecret',
    ])
  })

  test('has a name of at most 160 characters of its own', () => {
    expect(made({ routingKey: 'x'.repeat(300) }).connection.display_name).toHaveLength(160)
    expect(made({ displayName: ' Desk ' }).connection.display_name).toBe('Desk')
  })

  let nested: Record<string, unknown> = {}
  for (let depth = 0; depth < 100_000; depth++) nested = { nested }
  const many = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`name${index}`, 'v']))
  const wrong: [string, Parameters<typeof made>[0], string][] = [
    [
      'a credential in its configuration',
      { config: { botToken: 'xoxb-secret' } },
      'config.botToken',
    ],
    ['a configuration that is too long', { config: { note: 'x'.repeat(9_000) } }, 'config'],
    ['a configuration that is too deep for any walk', { config: nested }, 'config'],
    ['a NUL in its configuration', { config: { note: ['a\0b'] } }, 'config'],
    ['a NUL in a name of its configuration', { config: { 'a\0b': 1 } }, 'config'],
    ['too many credentials', { credentials: many }, 'credentials'],
    ['a blank credential', { credentials: { botToken: '  ' } }, 'credentials.botToken'],
    [
      'a credential that is too long',
      { credentials: { botToken: 'x'.repeat(9_000) } },
      'credentials.botToken',
    ],
    ['a name of a credential with spaces', { credentials: { 'bot token': 'x' } }, 'credentials'],
    [
      'a misspelt credential',
      { credentials: { ...both, botTokn: 'xoxb-9' } },
      'credentials.botTokn',
    ],
    [
      'a credential by a name of every object',
      { credentials: { ...both, constructor: 'xoxb-9' } },
      'credentials.constructor',
    ],
    ['a mask in the place of a value', { credentials: { botToken: '…' } }, 'credentials.botToken'],
  ]
  test.each(wrong)('with %s is refused', (_, more, path) => {
    const error = errorOf(() => made(more))
    expect([error.code, error.details?.[0]?.path]).toEqual(['invalid_input', path])
    for (const value of Object.values(more?.credentials ?? {}))
      if (value.length > 3)
        expect(JSON.stringify([error.message, error.details])).not.toContain(value)
  })

  test('is refused beyond 20', () => {
    expect(errorOf(() => made({}, 20)).code).toBe('invalid_input')
    expect(made({}, 19).connection.status).toBe('unverified')
  })
})

describe('a change', () => {
  const active = proven(made({ config: { team: 'shop', keep: 1 } }).connection, now)
  const change = (patch: Parameters<typeof updateChannelConnection>[1], before = active) =>
    updateChannelConnection(before, patch, { known, credentials: both, now: later })

  test('of the name or the policy asks nobody', () => {
    const { connection, credentials, isDue } = change({
      displayName: ' Help ',
      senderPolicy: 'anyone',
    })
    expect([isDue, credentials]).toEqual([false, undefined])
    expect(connection).toEqual({
      ...active,
      display_name: 'Help',
      sender_policy: 'anyone',
      updated_at: later,
    })
  })

  test('of one credential keeps the others, and the state until the provider has answered', () => {
    const { connection, credentials, isDue } = change({ credentials: { botToken: 'xoxb-2' } })
    expect([isDue, credentials]).toEqual([true, { botToken: 'xoxb-2', signingSecret: 's-1' }])
    expect([connection.status, connection.credential_names]).toEqual([
      'active',
      ['botToken', 'signingSecret'],
    ])
  })

  test('that misspells a credential is refused with the names that there are; one that was taken before can stay and go', () => {
    const error = errorOf(() => change({ credentials: { bottoken: 'xoxb-2' } }))
    expect(error.details).toEqual([
      {
        path: 'credentials.bottoken',
        message: 'is no credential of this channel; valid names: botToken, signingSecret, extra',
      },
    ])
    const values = { ...both, former: 'f' }
    const after = (credentials: Record<string, string | null>) =>
      updateChannelConnection(active, { credentials }, { known, credentials: values, now: later })
        .credentials
    expect(after({ former: '…', botToken: 'xoxb-2' })).toEqual({ ...values, botToken: 'xoxb-2' })
    expect(after({ former: null, nothing: null })).toEqual(both)
  })

  test('with masks, as they were shown, changes no value', () => {
    expect(change({ credentials: { botToken: '…', signingSecret: 's-2' } }).credentials).toEqual({
      botToken: 'xoxb-1',
      signingSecret: 's-2',
    })
    expect(errorOf(() => change({ credentials: { extra: '…' } })).details?.[0]?.path).toBe(
      'credentials.extra',
    )
  })

  test('that takes a needed credential away makes a proven one fail', () => {
    const { connection, isDue, credentials } = change({ credentials: { botToken: null } })
    expect([connection.status, connection.last_error, isDue]).toEqual([
      'failing',
      'credentials are missing: botToken',
      false,
    ])
    expect([credentials, connection.credential_names]).toEqual([
      { signingSecret: 's-1' },
      ['signingSecret'],
    ])
    expect(change({ credentials: { botToken: null } }, made().connection).connection.status).toBe(
      'unverified',
    )
  })

  test('of the configuration keeps what is not named, and null removes', () => {
    const { connection, isDue } = change({ config: { team: null, colour: 'red' } })
    expect([connection.config, isDue]).toEqual([{ keep: 1, colour: 'red' }, true])
    const grown = { ...active, config: { a: 'x'.repeat(5_000) } }
    expect(
      errorOf(() => change({ config: { b: 'x'.repeat(5_000) } }, grown)).details?.[0]?.path,
    ).toBe('config')
  })
})

test('what the provider says makes it active or failing, and silence changes nothing but the error', () => {
  const { connection } = made()
  const active = proven(withLearned(connection, { botUserId: 'U1' }, now), now)
  expect(active).toMatchObject({
    status: 'active',
    config: { botUserId: 'U1' },
    checked_at: now,
    failures: 0,
  })
  const failing = markRefused(active, 'x'.repeat(9_000), later)
  expect([failing.status, failing.last_error?.length, failing.failures]).toEqual([
    'failing',
    500,
    1,
  ])
  const silent = markUnreached(active, 'timed out', later)
  expect([silent.status, silent.last_error, silent.checked_at]).toEqual([
    'active',
    'timed out',
    now,
  ])
  const losing = markLost(active, 'it could not be read', later)
  expect([losing.status, losing.last_error, losing.failures]).toEqual([
    'active',
    'a message was given up: it could not be read',
    0,
  ])
  expect(markLost(failing, 'it could not be read', later)).toEqual(failing)
  expect(notDelivered(failing, 'nobody is there', later)).toEqual(failing)
  expect(notDelivered(active, 'nobody is there', later)).toEqual({
    ...active,
    last_error: 'a message was not delivered: nobody is there',
    send_error: 'a message was not delivered: nobody is there',
    updated_at: later,
  })
  const [pauses, last] = [
    Array.from({ length: 7 }, (_, index) => nextCheck({ ...silent, failures: index + 1 }, now)),
    { ...silent, failures: 8 },
  ]
  expect(
    pauses.every((next, index) => next! > now && (index === 0 || next! >= pauses[index - 1]!)),
  ).toBe(true)
  expect(nextCheck(last, now)).toBeUndefined()
})

test('no value of a credential is in what people see', () => {
  const shown = channelConnectionView(made().connection)
  expect(shown.credentials).toEqual({ botToken: '…', signingSecret: '…' })
  expect(JSON.stringify(shown)).not.toContain('xoxb-1')
  expect(missingCredentials(known, ['botToken', 'signingSecret'])).toBeNull()
})
