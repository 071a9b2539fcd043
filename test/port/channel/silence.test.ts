/**
 * What is known of a message, and of a connection, whose provider does not answer: the same of
 * every provider.
 */
import { describe, expect, test } from 'bun:test'
import type { Channel } from '#domain/agent/channel/channel'
import type { OpenConnection } from '#port/channel/channel'
import { channelAdapters } from '#port/channel/registry'
import { devConnection } from '#test/support/channels/dev-channel'
import { slackConnection } from '#test/support/channels/slack-posts'
import { whatsAppConnection } from '#test/support/channels/whatsapp-posts'
import { egressTo } from '#test/support/http/egress'
import { openReceiver } from '#test/support/http/receiver'

const mail = (provider: string): OpenConnection => ({
  id: 'c1',
  routingKey: 'agent@example.com',
  config: { provider },
  credentials: { apiKey: 'key', signingSecret: 'whsec_c2lnbmluZy1zZWNyZXQtb2YtdGVzdHM=' },
})
const sms: OpenConnection = {
  id: 'c1',
  routingKey: '+14155550100',
  config: {},
  credentials: { accountSid: `AC${'0'.repeat(32)}`, authToken: 'token' },
}

const providers: [name: string, Channel, OpenConnection, replyTo: Record<string, unknown>][] = [
  ['Slack', 'slack', slackConnection(), { channel: 'C0LAN2Q65' }],
  ['Meta', 'whatsapp', whatsAppConnection(), { to: '16505551234' }],
  ['Twilio', 'sms', sms, { to: '+4915112345678' }],
  ['Resend', 'email', mail('resend'), { to: 'ada@example.org', subject: 'Plans' }],
  ['Mailgun', 'email', mail('mailgun'), { to: 'ada@example.org', subject: 'Plans' }],
  ['the program of a developer', 'dev', devConnection(), { sender: 'ada', thread: null }],
]

describe.each(providers)('%s', (_, channel, connection, replyTo) => {
  const message = {
    id: 'r1:0',
    replyTo,
    text: 'Two items are due.',
    html: '<p>Two items are due.</p>',
    part: 0,
  }

  /** The adapter whose provider is on this port of loopback, and the connection. */
  const at = (port: number, isAllowed = true) => {
    const url = `http://127.0.0.1:${port}`
    const urls = {
      slack: url,
      slack_files: url,
      whatsapp: url,
      twilio: url,
      resend: url,
      mailgun: url,
      mailgun_eu: url,
    }
    const adapter = channelAdapters({ egress: isAllowed ? egressTo(url) : egressTo(), urls })[
      channel
    ]!
    const own = channel === 'dev' ? { ...connection, config: { url } } : connection
    const { signal: never } = new AbortController()
    return {
      send: (signal = never) => adapter.send(own, message, signal),
      check: () => adapter.check(own, never),
    }
  }

  test('that cannot be reached has got nothing', async () => {
    const gone = await openReceiver()
    await gone[Symbol.asyncDispose]()
    expect(await at(gone.port).send()).toEqual({
      kind: 'unsent',
      error: 'the connection failed: ECONNREFUSED',
    })
  })

  test('that ends the connection before it answers may have got the message, which is not sent again', async () => {
    await using receiver = await openReceiver()
    for (const raw of ['', 'HTTP/1.1 2']) {
      receiver.answer = { raw }
      expect(await at(receiver.port).send()).toMatchObject({ kind: 'unknown' })
    }
    expect(receiver.requests).toHaveLength(2)
  })

  test('that is waited for no longer may have got the message', async () => {
    await using receiver = await openReceiver()
    receiver.answer = { hang: 'before' }
    const stopping = new AbortController()
    const sending = at(receiver.port).send(stopping.signal)
    await receiver.received(1)
    stopping.abort()
    expect(await sending).toMatchObject({ kind: 'unknown' })
  })

  test('whose address may not be called gets nothing, and a person has to mend the connection', async () => {
    await using receiver = await openReceiver()
    expect(await at(receiver.port, false).send()).toMatchObject({
      kind: 'refused',
      of: 'connection',
    })
    expect(receiver.requests).toEqual([])
  })

  // Nobody is asked about the program of a developer.
  test.skipIf(channel === 'dev')(
    'that does not answer neither proves nor refuses the connection',
    async () => {
      await using receiver = await openReceiver()
      receiver.answer = { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n' }
      expect(await at(receiver.port).check()).toMatchObject({ kind: 'unreachable' })
      await receiver[Symbol.asyncDispose]()
      expect(await at(receiver.port).check()).toMatchObject({ kind: 'unreachable' })
    },
  )
})
