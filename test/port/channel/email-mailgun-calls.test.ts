/**
 * What we send by Mailgun, and ask of it: its SDK gets the same answers of the server that plays
 * it. And bytes that are no post.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import Mailgun from 'mailgun.js'
import { adapterCases, refused, unknown, unsent } from '#test/cases/channel-adapter'
import { mailgunConnection, OURS, useMailgun } from '#test/support/channels/mail'
import type { MailgunFailure } from '#test/support/channels/mailgun'
import { postOf } from '#test/support/channels/posts'
import { runs } from '#test/support/property'

const { fake, eu, adapter, connection } = useMailgun()
const { signal } = new AbortController()
const now = Date.parse('2026-11-23T10:00:00Z')
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const sdk = new Mailgun(FormData).client({ username: 'api', key: fake.apiKey, url: fake.url })
const check = (changes: object = {}) => adapter.check({ ...connection, ...changes }, signal)

const replyTo = {
  to: 'ada@example.org',
  subject: 'Re: Plans',
  inReplyTo: '<b@example.org>',
  references: '<a@example.org> <b@example.org>',
}
const message = {
  id: 'r1:0',
  replyTo,
  text: 'Two items are due.',
  html: '<p>Two <strong>items</strong> are due.</p>',
  part: 0,
}

const name = fc.constantFrom(
  'recipient',
  'from',
  'sender',
  'subject',
  'body-plain',
  'body-html',
  'message-headers',
  'attachments',
  'token',
  'timestamp',
  'signature',
)
const value = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(OURS, '[["References",1]]', '[[[]]]', '<', '"', '(('),
)
const pairs = fc.array(fc.tuple(name, value), { maxLength: 12 })
const form = pairs.map((all) => ({
  type: 'application/x-www-form-urlencoded',
  body: Buffer.from(all.map(([key, text]) => `${key}=${text}`).join('&')),
}))
const part = fc.tuple(
  fc.constantFrom(
    'Content-Disposition: form-data; name=',
    'Content-Disposition: form-data; filename="x"; name=',
    'X: ',
  ),
  name,
  value,
)
const multipart = fc.array(part, { maxLength: 8 }).map((all) => ({
  type: 'multipart/form-data; boundary=x',
  body: Buffer.from(
    `${all.map(([head, key, text]) => `--x\r\n${head}"${key}"\r\n\r\n${text}\r\n`).join('')}--x--`,
  ),
}))
const bytes = fc
  .tuple(
    fc.constantFrom(
      'multipart/form-data; boundary=x',
      'multipart/form-data',
      'multipart/form-data; boundary=""',
      'application/x-www-form-urlencoded',
    ),
    fc.uint8Array({ maxLength: 300 }),
  )
  .map(([type, body]) => ({ type, body }))
const anything = fc.oneof(form, multipart, bytes).map(({ type, body }) => ({
  url: ADDRESS,
  headers: new Headers({ 'content-type': type }),
  body,
  now,
}))
const keyless = () => postOf(fake.post(ADDRESS, {}, { at: new Date(now), by: '' }), now)

adapterCases<MailgunFailure>({
  adapter,
  connection,
  posts: { keyless: [[{}, keyless]], anything, longest: 10_000 },
  routingKeys: { read: { ' Agent@Example.COM ': OURS }, refused: ['agent'] },
  calls: {
    message,
    requests: fake.requests,
    fail: fake.fail,
    outcomes: {
      'another key': [{ status: 401, body: 'Forbidden' }, refused('connection')],
      'a domain that may not send': [{ status: 403 }, refused('connection')],
      'an account without money': [{ status: 402 }, refused('connection')],
      'a domain that is not there': [{ status: 404 }, refused('connection')],
      'a field that is wrong': [{ status: 400 }, refused('message')],
      'a mail that is too large': [{ status: 413 }, refused('message')],
      'too many requests': [{ status: 429, headers: { 'retry-after': '3' } }, unsent(3_000)],
      'a failure': [{ status: 500 }, unknown],
      'a gateway': [{ status: 502, body: '<html>' }, unknown],
      'an answer that is no JSON': [
        { status: 200, body: 'ok' },
        { kind: 'sent', externalId: null },
      ],
    },
    leaks: {
      secret: fake.apiKey,
      failures: [{ status: 400, body: JSON.stringify({ message: `bad ${fake.apiKey}` }) }],
    },
    unaddressed: { 'no recipient': [{ replyTo: {} }] },
  },
  check: {
    refused: {
      'a domain of nobody': [{ routingKey: 'a@example.net' }, 'example.net'],
      'another key': [{ credentials: { apiKey: 'x', signingSecret: 'y' } }, 'apiKey'],
      'no key': [{ credentials: { signingSecret: 'y' } }, 'apiKey'],
      'no signing key': [{ credentials: { apiKey: fake.apiKey } }, 'signingSecret'],
    },
    unreachable: {
      'that it is broken': { status: 500 },
      'nothing of the domain': { status: 200, body: '{}' },
      'something of another domain': {
        status: 200,
        body: '{"domain":{"name":"example.net","state":"active"}}',
      },
    },
  },
})

test('a mail of the thread, which tells machines not to answer, and whose links lead where they say', async () => {
  const sent = await adapter.send(mailgunConnection(fake, { fromName: 'Tendril' }), message, signal)
  expect(sent).toEqual({ kind: 'sent', externalId: '<tendril.r1.0@example.com>' })
  expect(fake.mails.at(-1)).toEqual({
    from: `"Tendril" <${OURS}>`,
    to: 'ada@example.org',
    subject: 'Re: Plans',
    text: 'Two items are due.',
    html: expect.stringContaining('<strong>items</strong>'),
    'h:In-Reply-To': '<b@example.org>',
    'h:References': '<a@example.org> <b@example.org>',
    'h:Message-Id': '<tendril.r1.0@example.com>',
    'h:Auto-Submitted': 'auto-replied',
    'h:X-Auto-Response-Suppress': 'All',
    'o:tracking': 'no',
  })
  expect(adapter.repeatableForMs!(connection)).toBe(0)
})

test('the SDK sends the same', async () => {
  await adapter.send(connection, message, signal)
  const ours = fake.mails.at(-1)!
  const { id } = await sdk.messages.create('example.com', ours as never)
  expect(fake.mails.at(-1)).toEqual(ours)
  expect(id).toBe('<tendril.r1.0@example.com>')
})

test('a domain of the EU is asked there', async () => {
  eu.domains.set('example.com', { state: 'active' })
  const european = mailgunConnection(eu, { region: 'eu' })
  expect(await adapter.send(european, message, signal)).toMatchObject({ kind: 'sent' })
  expect(await adapter.check(european, signal)).toEqual({ kind: 'proven' })
  expect(eu.mails).toHaveLength(1)
})

test('no header can be added', async () => {
  const given = {
    to: 'ada@example.org',
    subject: 'x\r\nBcc: eve@example.org',
    inReplyTo: '<a>\r\nBcc: eve@example.org',
  }
  expect(
    await adapter.send(connection, { ...message, id: 'r\r\n>@evil', replyTo: given }, signal),
  ).toMatchObject({ kind: 'sent' })
  for (const [name, value] of Object.entries(fake.mails.at(-1)!))
    if (!['text', 'html'].includes(name)) expect(value).not.toMatch(/[\r\n]/)
  expect(fake.mails.at(-1)!['h:Message-Id']).toBe('<tendril.r....evil@example.com>')
})

test('an active domain is proven, as the SDK sees it', async () => {
  expect(await check()).toEqual({ kind: 'proven' })
  expect(await sdk.domains.get('example.com')).toMatchObject({
    name: 'example.com',
    state: 'active',
  })
})

test.each([{ state: 'unverified' }, { state: 'active', is_disabled: true }])(
  'a domain that cannot be used: %p',
  async (domain) => {
    fake.domains.set('half.example.com', domain)
    expect(await check({ routingKey: 'a@half.example.com' })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining('not active'),
    })
  },
)

test('any fields come back from a form with files as they were', async () => {
  const field = fc.tuple(
    fc.stringMatching(/^[A-Za-z-]{1,20}$/),
    fc
      .string({ unit: 'binary', maxLength: 60 })
      .filter((text) => text.isWellFormed() && !/[\r\n]/.test(text)),
  )
  const { postedForm } = await import('#port/channel/posts')
  await fc.assert(
    fc.asyncProperty(
      fc.array(field, { maxLength: 8 }),
      fc.uint8Array({ maxLength: 200 }),
      async (fields, bytes) => {
        const form = new FormData()
        for (const [name, value] of fields) form.append(name, value)
        form.append(
          'attachment-1',
          new Blob([bytes], { type: 'text/plain' }),
          'a "quoted" näme.txt',
        )
        const post = await postOf(new Request(ADDRESS, { method: 'POST', body: form }))
        const read = postedForm(post)!
        expect(read.fields).toEqual(fields)
        expect(read.files.map((one) => ({ ...one, bytes: Buffer.from(one.bytes) }))).toEqual([
          {
            field: 'attachment-1',
            name: 'a "quoted" näme.txt',
            mimeType: expect.stringMatching(/^text\/plain/),
            bytes: Buffer.from(bytes),
          },
        ])
      },
    ),
    runs(200),
  )
})
