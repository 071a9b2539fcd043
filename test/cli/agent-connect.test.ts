/** Connecting a channel on the command line, at a real server. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { CHANNEL_SECRET } from '#test/support/channels/channels'
import { type CliOptions, cli } from '#test/support/cli/host'
import { tokenOf } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const setUp = async () => {
  const { tenantId } = await app.newWorkspace()
  const key = await tokenOf(app, tenantId, 'owner')
  const run = (argv: string[], options: CliOptions = {}) =>
    // A pause takes no time in tests, but the provider's answer does.
    cli(['agent', 'channels', 'connect', ...argv, '--api-url', app.url, '--api-key', key], {
      meanwhile: () => Bun.sleep(20),
      ...options,
    })
  const connections = async () =>
    (await app.send('GET', '/api/v1/channels', { key })).body.connections
  return { run, connections }
}

describe('tendril agent channels connect', () => {
  test('says what to do, asks for what it needs without showing it, and ends once the provider agrees', async () => {
    const { run, connections } = await setUp()
    const key = newId()
    const { code, out, err } = await run(['dev', '--display-name', 'Desk'], {
      typed: [key],
      secret: CHANNEL_SECRET,
    })
    expect(code).toBe(0)
    expect(err).toStartWith(
      `Address for its posts: ${app.workplace.world.identity.publicUrl}/webhooks/channels/dev\n\n1. The routing key is`,
    )
    expect(err).toContain('routingKey: ')
    expect(err).toContain('secret: Signs posts')
    expect(err).toEndWith('Active: people can write now.\n')
    expect(out).toContain(key)
    expect(out + err).not.toContain(CHANNEL_SECRET)
    expect(await connections()).toMatchObject([
      { routingKey: key, displayName: 'Desk', status: 'active' },
    ])
  })

  test('reads lines of a pipe, files and options', async () => {
    const { run, connections } = await setUp()
    const [one, two] = [newId(), newId()]
    const piped = await run(['dev', '--json'], { input: `${one}\n${CHANNEL_SECRET}\n` })
    expect([piped.code, JSON.parse(piped.out).connection]).toMatchObject([
      0,
      { routingKey: one, status: 'active' },
    ])
    const given = [
      'dev',
      '--routing-key',
      two,
      '--credential',
      'secret=@secret.txt',
      '--config',
      'team=shop',
      '--sender-policy',
      'anyone',
    ]
    const filed = await run(given, { files: { 'secret.txt': `${CHANNEL_SECRET}\n` } })
    expect([filed.code, filed.err.includes(CHANNEL_SECRET)]).toEqual([0, false])
    expect(await connections()).toMatchObject([
      {
        routingKey: two,
        config: { team: 'shop' },
        senderPolicy: 'anyone',
        credentials: { secret: '…' },
      },
      { routingKey: one },
    ])
  })

  test('ends with 10, and says why, if the provider does not agree', async () => {
    const { run, connections } = await setUp()
    const { code, err } = await run([
      'dev',
      '--routing-key',
      newId(),
      '--credential',
      'secret=short',
    ])
    const [{ id }] = await connections()
    expect(code).toBe(10)
    expect(err).toContain(`Not active: credentials.secret must have at least 16 bytes`)
    expect(err).toContain(`tendril agent channels update ${id}`)
  })

  test('prints the manifest of a Slack app', async () => {
    const { run, connections } = await setUp()
    const { code, err } = await run(['slack'], { typed: ['T012AB3CD', ''], secret: '' })
    expect(code).toBe(10)
    const manifest = JSON.parse(/App manifest:\n(\{[\s\S]*?\n\})\n/.exec(err)![1]!)
    expect(manifest.settings.event_subscriptions).toEqual({
      request_url: `${app.workplace.world.identity.publicUrl}/webhooks/channels/slack`,
      bot_events: ['app_mention', 'message.im'],
    })
    expect(await connections()).toMatchObject([
      { status: 'unverified', lastError: 'credentials are missing: botToken, signingSecret' },
    ])
  })

  const misused: [string, string[], CliOptions, string][] = [
    ['an unknown channel', ['fax'], {}, 'fax'],
    [
      'a credential without a value',
      ['dev', '--routing-key', 'a', '--credential', 'secret'],
      {},
      '--credential must be name=value',
    ],
    ['a wait that is no number', ['dev', '--wait', 'long'], {}, '--wait must be'],
    ['the end of input', ['dev'], { input: '' }, 'routingKey is missing'],
    [
      'a credential that is not typed',
      ['dev', '--routing-key', 'a'],
      { typed: [] },
      'secret is missing',
    ],
  ]
  test.each(misused)(
    'with %s ends with 2 and connects nothing',
    async (_, argv, options, message) => {
      const { run, connections } = await setUp()
      const { code, err } = await run(argv, options)
      expect([code, err]).toEqual([2, expect.stringContaining(message)])
      expect(await connections()).toEqual([])
    },
  )
})
