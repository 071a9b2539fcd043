/** Files that came with messages of Twilio. */
import { afterAll, describe, expect, test } from 'bun:test'
import { smsAdapter } from '#port/channel/sms/adapter'
import { openTwilio } from '#test/support/channels/twilio'
import { newSid, smsConnection } from '#test/support/channels/twilio-posts'
import { egressTo } from '#test/support/http/egress'

const fake = openTwilio()
afterAll(() => fake[Symbol.asyncDispose]())

const adapter = smsAdapter({ egress: egressTo(fake.url, fake.cdnUrl), urls: { twilio: fake.url } })
const connection = smsConnection(fake)
const { signal } = new AbortController()

describe('attachments', () => {
  const ref = { message: newSid('MM'), media: newSid('ME') }
  const download = (given: Record<string, unknown>) => adapter.download!(connection, given, signal)

  test('bytes come from where Twilio leads, which gets no credentials', async () => {
    fake.media.set(`${ref.message}/${ref.media}`, {
      type: 'text/plain',
      bytes: Buffer.from('an agenda'),
    })
    const got = await download(ref)
    expect(got).toMatchObject({ kind: 'fetched' })
    expect(Buffer.from((got as { value: Uint8Array }).value).toString()).toBe('an agenda')
  })

  test('one that is too large', async () => {
    fake.media.set(`${ref.message}/${ref.media}`, {
      type: 'text/plain',
      bytes: new Uint8Array(1_048_577),
    })
    expect(await download(ref)).toMatchObject({
      kind: 'gone',
      error: expect.stringContaining('1048576'),
    })
  })

  test.each([
    ['deleted at Twilio', { message: newSid('MM'), media: newSid('ME') }],
    ['no address', {}],
    ['a path elsewhere', { message: '../..', media: ref.media }],
    ['media that are a path', { message: ref.message, media: '../../x' }],
  ])('gone: %s', async (_, given) => {
    expect(await download(given)).toMatchObject({ kind: 'gone' })
  })
})
