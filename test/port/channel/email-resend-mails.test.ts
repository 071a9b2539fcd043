/**
 * What is fetched of a mail that Resend tells of; its SDK gets the same of the server that plays
 * it.
 */
import { describe, expect, test } from 'bun:test'
import { Resend } from 'resend'
import { useResend } from '#test/support/channels/mail'
import { postOf } from '#test/support/channels/posts'
import type { ReceivedMail, ResendFailure } from '#test/support/channels/resend'

const { fake, adapter, connection } = useResend()
const { signal } = new AbortController()
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const sdk = new Resend(fake.apiKey, { baseUrl: fake.url } as never)

describe('what is fetched', () => {
  const fetched = async (mail: Partial<ReceivedMail>) => {
    const received = fake.receive(mail)
    const [message] = adapter.read(await postOf(fake.post(ADDRESS, received)), connection)
    const got = await adapter.fetch!(connection, message!.toFetch!, signal)
    return {
      message: message!,
      got,
      value: (got as { value: unknown }).value as {
        text: string
        thread: string
        isAutomatic: boolean
        attachments: object[]
        replyTo: object
      },
    }
  }

  test('nothing, if it has another sender than the post that told of it', async () => {
    const received = fake.receive({})
    const [message] = adapter.read(
      await postOf(fake.post(ADDRESS, received, { data: { from: 'Eve <eve@example.org>' } })),
      connection,
    )
    expect(message!.sender.id).toBe('eve@example.org')
    expect(await adapter.fetch!(connection, message!.toFetch!, signal)).toMatchObject({
      kind: 'gone',
      error: expect.stringContaining('another sender'),
    })
  })

  test('the text, without its quotation', async () => {
    const { value } = await fetched({
      text: 'Yes, do it.\n\nOn Mon, Nov 23, 2026 at 10:00 AM Agent <agent@example.com> wrote:\n> Shall I?\n',
    })
    expect(value.text).toBe('Yes, do it.')
  })

  test('a mail that forwards another keeps it', async () => {
    const text =
      'What is this?\n\n---------- Forwarded message ---------\nFrom: Bob <bob@example.org>\nSubject: Prices\n\nTwo euros.'
    expect((await fetched({ subject: 'Fwd: Prices', text })).value.text).toContain('Two euros.')
  })

  test('all of a mail that has nothing but a quotation', async () => {
    expect((await fetched({ text: '> a question' })).value.text).toBe('> a question')
  })

  test('HTML alone', async () => {
    const html = `<style>p { color: red }</style><p>Yes, <b>do</b> it.</p><script>alert(1)</script><div class="gmail_quote">On Mon, Nov 23, 2026 at 10:00 AM Agent &lt;agent@example.com&gt; wrote:<br><blockquote>Shall I?<br>Or not?</blockquote></div>`
    expect((await fetched({ text: null, html })).value.text).toBe('Yes, do it.')
  })

  test('a very long mail is cut, and says so', async () => {
    const { value } = await fetched({ text: `${'word '.repeat(20_000)}` })
    expect(value.text.length).toBeLessThanOrEqual(10_000)
    expect(value.text).toEndWith('[The mail goes on; the rest was left out.]')
  })

  test('threads: what began them names them', async () => {
    const first = await fetched({ message_id: '<root@example.org>' })
    const second = await fetched({
      headers: {
        References: '<root@example.org>\r\n <x@example.com>',
        'In-Reply-To': '<x@example.com>',
      },
    })
    const third = await fetched({ headers: { 'in-reply-to': '<root@example.org>' } })
    const other = await fetched({})
    expect(first.value.thread).toBe(first.message.thread)
    expect(second.value.thread).toBe(first.value.thread)
    expect(third.value.thread).toBe(first.value.thread)
    expect(other.value.thread).not.toBe(first.value.thread)
    expect(second.value.replyTo).toMatchObject({
      references: expect.stringMatching(/^<root@example.org> <x@example.com> <.+@example.org>$/),
    })
  })

  test('a thread of hundreds has references of bounded length', async () => {
    const ids = Array.from({ length: 300 }, (_, at) => `<${at}@example.org>`)
    const { value } = await fetched({
      headers: { References: ids.join(' ') },
      message_id: '<last@example.org>',
    })
    const { references } = value.replyTo as { references: string }
    expect(references.length).toBeLessThanOrEqual(1_000)
    expect(references).toStartWith('<0@example.org> ')
    expect(references).toEndWith(' <last@example.org>')
  })

  test.each([
    { 'Auto-Submitted': 'auto-replied' },
    { 'auto-submitted': 'auto-generated; x=y' },
    { Precedence: 'bulk' },
    { Precedence: 'List' },
    { 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
    { 'List-Id': '<news.example.org>' },
    { 'Return-Path': '<>' },
    { 'Content-Type': 'multipart/report; report-type=delivery-status' },
    { 'X-Autoreply': 'yes' },
  ])('a machine’s mail is known: %p', async (headers) => {
    expect(
      (await fetched({ headers: headers as unknown as Record<string, string> })).value.isAutomatic,
    ).toBe(true)
  })

  test.each([
    { 'Auto-Submitted': 'no' },
    { 'X-Auto-Response-Suppress': 'None' },
    { Precedence: 'normal' },
    { 'Return-Path': '<ada@example.org>' },
    {},
  ])('a person’s mail is known: %p', async (headers) => {
    expect((await fetched({ headers: headers as Record<string, string> })).value.isAutomatic).toBe(
      false,
    )
  })

  test('Reply-To is not followed: answers go to the sender', async () => {
    const { value } = await fetched({ headers: { 'Reply-To': 'eve@example.org' } })
    expect(value.replyTo).toMatchObject({ to: 'ada@example.org' })
  })

  test('files, which are downloaded where Resend leads, without credentials', async () => {
    const file = {
      id: 'f1',
      filename: 'agenda.md',
      content_type: 'text/markdown; charset=utf-8',
      bytes: Buffer.from('# Agenda'),
    }
    const { message, value } = await fetched({ files: [file] })
    const ref = { email: expect.any(String), attachment: 'f1' }
    expect(message.attachments).toEqual([
      { name: 'agenda.md', mimeType: 'text/markdown', byteSize: null, ref },
    ])
    expect(value.attachments).toEqual([
      { name: 'agenda.md', mimeType: 'text/markdown', byteSize: 8, ref },
    ])
    const got = await adapter.download!(
      connection,
      (value.attachments[0] as { ref: Record<string, unknown> }).ref,
      signal,
    )
    expect(Buffer.from((got as { value: Uint8Array }).value).toString()).toBe('# Agenda')
    const { data } = await sdk.emails.receiving.attachments.get({
      emailId: message.toFetch!.email as string,
      id: 'f1',
    })
    expect(data).toMatchObject({ filename: 'agenda.md', size: 8 })
  })

  test('the SDK reads the same mail', async () => {
    const { message, value } = await fetched({ text: 'by the SDK' })
    const { data } = await sdk.emails.receiving.get(message.toFetch!.email as string)
    expect(data).toMatchObject({
      text: value.text,
      message_id: message.replyTo.inReplyTo as string,
    })
  })

  test.each<[string, ResendFailure, string]>([
    ['deleted at Resend', { status: 404, name: 'not_found' }, 'gone'],
    ['too many requests', { status: 429, name: 'rate_limit_exceeded' }, 'unreachable'],
    ['a failure', { status: 500 }, 'unreachable'],
    [
      'credentials that are no longer good',
      { status: 401, name: 'invalid_api_key' },
      'unreachable',
    ],
    [
      'a mail that is too long',
      { status: 200, body: `{"text":"${'x'.repeat(2_100_000)}"}` },
      'gone',
    ],
    ['an answer that is no JSON', { status: 200, body: 'ok' }, 'unreachable'],
  ])('not fetched: %s', async (_, failure, kind) => {
    const mail = fake.receive({})
    fake.fail(failure)
    expect(await adapter.fetch!(connection, { email: mail.id }, signal)).toMatchObject({
      kind,
      error: expect.any(String),
    })
  })

  test.each([{}, { email: '../domains' }, { email: 1 }])(
    'nothing is asked about %p',
    async (toFetch) => {
      const before = fake.requests.length
      expect(await adapter.fetch!(connection, toFetch, signal)).toMatchObject({ kind: 'gone' })
      expect(
        await adapter.download!(connection, { ...toFetch, attachment: 'f1' }, signal),
      ).toMatchObject({ kind: 'gone' })
      expect(fake.requests).toHaveLength(before)
    },
  )
})
