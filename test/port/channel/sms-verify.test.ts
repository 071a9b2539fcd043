/**
 * Whose posts are believed: Twilio’s SDK signs for us and verifies what our tests sign; nothing
 * else is taken.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import twilio from 'twilio'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks'
import type { InboundPost } from '#port/channel/channel'
import { useTwilio } from '#test/support/channels/adapters'
import { postOf } from '#test/support/channels/posts'
import {
  type PostChanges,
  type TwilioFields,
  twilioSignature,
} from '#test/support/channels/twilio-posts'
import { runs } from '#test/support/property'

const { fake, adapter, connection, ours: OURS, sms } = useTwilio()
const ADDRESS = 'https://tendril.example.com/webhooks/channels/sms'

const posted = (
  fields: TwilioFields = sms(),
  changes: PostChanges = {},
  to = ADDRESS,
): Promise<InboundPost> => postOf(fake.post(to, fields, changes))

describe('signatures', () => {
  const legacy = { url: `${ADDRESS}?note=it's`, signed: `${ADDRESS}?note=it%27s` }
  test.each([
    ['a form', sms(), {}, ADDRESS],
    ['JSON, of which the URL names the hash', sms(), { asJson: true }, ADDRESS],
    ['JSON beside another query', sms(), { asJson: true }, `${ADDRESS}?tenant=a`],
    [
      'an address signed with its port',
      sms(),
      { signedUrl: 'https://tendril.example.com:443/webhooks/channels/sms' },
      ADDRESS,
    ],
    [
      'an address signed without its port',
      sms(),
      { signedUrl: ADDRESS },
      'https://tendril.example.com:8443/webhooks/channels/sms',
    ],
    [
      'an address with its port',
      sms(),
      {},
      'https://tendril.example.com:8443/webhooks/channels/sms',
    ],
    ['an address with a query', sms(), {}, `${ADDRESS}?a=1&b=two%20words`],
    ['a query in the older encoding', sms(), { signedUrl: legacy.signed }, legacy.url],
    [
      'plain HTTP behind a proxy of its own',
      sms(),
      { signedUrl: 'http://tendril.example.com:80/x' },
      'http://tendril.example.com/x',
    ],
    ['names that come more than once', sms({ Tag: ['b', 'a', 'b'] }), {}, ADDRESS],
    ['empty values', sms({ Body: '' }), {}, ADDRESS],
    ['text of many bytes a character', sms({ Body: 'été ☕ 漢字 👩‍🚀 a+b&c=d' }), {}, ADDRESS],
    [
      'fields that nobody knows yet',
      sms({ ZNewParameter: 'x', aLowerCase: 'y', Ünlaut: 'z' }),
      {},
      ADDRESS,
    ],
  ] as const)('taken: %s', async (_, fields, changes, to) => {
    expect(adapter.verify(await posted(fields, changes, to), connection)).toBe(true)
  })

  test.each([
    ['a form', { ...sms(), Tag: ['b', 'a', 'b'] }, {}],
    ['JSON', sms(), { asJson: true }],
  ] as const)('what the test signs is right for the SDK: %s', async (_, fields, changes) => {
    const request = fake.post(ADDRESS, fields, changes)
    const signature = request.headers.get('x-twilio-signature')!
    const { url } = request
    const judged =
      'asJson' in changes
        ? twilio.validateRequestWithBody(fake.authToken, signature, url, await request.text())
        : twilio.validateRequest(fake.authToken, signature, url, fields)
    expect(judged).toBe(true)
  })

  test('what the SDK signs is taken', async () => {
    const fields = sms({ Body: 'signed by the SDK' })
    const signature = getExpectedTwilioSignature(fake.authToken, ADDRESS, fields)
    expect(
      adapter.verify(
        await posted(fields, { headers: { 'x-twilio-signature': signature } }),
        connection,
      ),
    ).toBe(true)
  })

  test('we agree with the SDK on any fields', async () => {
    const field = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.array(fc.string({ maxLength: 8 }), { minLength: 2, maxLength: 4 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), field, { maxKeys: 8 }),
        async (fields) => {
          const known = { ...fields, To: OURS } as TwilioFields
          const signature = twilioSignature(fake.authToken, ADDRESS, known)
          expect(twilio.validateRequest(fake.authToken, signature, ADDRESS, known)).toBe(true)
          // A form cannot carry what is no text.
          if (
            Object.values(known)
              .flat()
              .every((text) => text.isWellFormed()) &&
            Object.keys(known).every((name) => name.isWellFormed())
          )
            expect(adapter.verify(await posted(known), connection)).toBe(true)
        },
      ),
      runs(200),
    )
  })

  const signedJson = async (): Promise<InboundPost> => posted(sms(), { asJson: true })
  const withBody = (post: InboundPost, text: string): InboundPost => ({
    ...post,
    body: Buffer.from(text),
  })
  test.each([
    ['the auth token of another account', () => posted(sms(), { by: 'f'.repeat(32) })],
    [
      'another address',
      () => posted(sms(), { signedUrl: 'https://evil.example.com/webhooks/channels/sms' }),
    ],
    ['another path', () => posted(sms(), { signedUrl: `${ADDRESS}/x` })],
    ['no signature', () => posted(sms(), { headers: { 'x-twilio-signature': '' } })],
    [
      'a signature that is no base64',
      () => posted(sms(), { headers: { 'x-twilio-signature': '???' } }),
    ],
    [
      'a changed body',
      async () =>
        withBody(
          await posted(),
          `${new URLSearchParams(sms({ Body: 'pay' }) as Record<string, string>)}`,
        ),
    ],
    [
      'a field more',
      async () =>
        withBody(await posted(), `${new TextDecoder().decode((await posted()).body)}&Extra=1`),
    ],
    ['changed JSON', async () => withBody(await signedJson(), '{"Body":"pay"}')],
    [
      'JSON whose hash the URL does not name',
      async () => {
        const json = await signedJson()
        const headers = new Headers(json.headers)
        headers.set('x-twilio-signature', twilioSignature(fake.authToken, ADDRESS, {}))
        return { ...json, headers, url: ADDRESS }
      },
    ],
    [
      'a body that is of no type',
      async () => {
        const headers = new Headers({
          'x-twilio-signature': twilioSignature(fake.authToken, ADDRESS, {}),
          'content-type': 'text/plain',
        })
        return { url: ADDRESS, headers, body: Buffer.from('To=%2B14155550100'), now: 0 }
      },
    ],
    [
      'more fields than anybody sends',
      () =>
        posted(sms(Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, ''])))),
    ],
  ] as const)('refused: %s', async (_, make) => {
    expect(adapter.verify(await make(), connection)).toBe(false)
  })
})
