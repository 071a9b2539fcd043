import { describe, expect, test } from 'bun:test'
import { channelSetup } from '#domain/agent/channel/setup'

describe('the setup', () => {
  const publicUrl = 'https://agent.example.com'

  test.each(['email', 'slack', 'whatsapp', 'sms', 'dev'] as const)(
    'of %s names its own address, and what to paste',
    (channel) => {
      const { webhookUrl, steps, paste } = channelSetup({ channel, publicUrl })
      expect(webhookUrl).toBe(`${publicUrl}/webhooks/channels/${channel}`)
      expect(steps.length).toBeGreaterThan(2)
      expect(paste.some(({ text }) => text.includes(webhookUrl))).toBe(true)
    },
  )

  test.each([
    'http://agent.example.com',
    'http://localhost:3000',
    'https://localhost',
    'https://127.0.0.1',
    'https://[::1]:3000',
  ])('says that no provider reaches %s', (address) => {
    expect(channelSetup({ channel: 'sms', publicUrl: address }).steps[0]).toContain('PUBLIC_URL')
    expect(channelSetup({ channel: 'dev', publicUrl: address }).steps[0]).not.toContain(
      'PUBLIC_URL',
    )
  })

  test('of email is that of its provider, or of both', () => {
    const of = (provider?: string) => {
      const { steps, paste } = channelSetup({
        channel: 'email',
        publicUrl,
        routingKey: 'a@b.example',
        config: { provider },
      })
      return [...steps, ...paste.map(({ text }) => text)].join('\n')
    }
    expect([
      of('mailgun').includes('match_recipient("a@b.example")'),
      of('mailgun').includes('resend.com'),
    ]).toEqual([true, false])
    expect([of('resend').includes('resend.com'), of('resend').includes('mailgun.com')]).toEqual([
      true,
      false,
    ])
    expect([of().includes('resend.com'), of().includes('mailgun.com')]).toEqual([true, true])
  })

  test("of Slack has a manifest with the scopes that the app's check asks for", () => {
    const { oauth_config, settings } = JSON.parse(
      channelSetup({ channel: 'slack', publicUrl }).paste[0]!.text,
    )
    expect(oauth_config.scopes.bot).toEqual(
      expect.arrayContaining(['chat:write', 'app_mentions:read', 'im:history', 'users:read']),
    )
    expect(settings.event_subscriptions.request_url).toBe(`${publicUrl}/webhooks/channels/slack`)
  })
})
