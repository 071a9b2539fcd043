/**
 * Replies on their way out, and those that are held: to a receiver that plays the provider of the
 * dev channel.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import {
  makeReply,
  reply,
  replyingPlace,
  replyOnce,
  sayTogether,
} from '#test/support/channels/replies'
import { openReceiver } from '#test/support/http/receiver'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const app = useApp(() => ({ env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` } }))
beforeEach(() => {
  receiver.answer = {}
})

const place = () => replyingPlace(app, receiver)

describe('a reply', () => {
  test('goes out once, is shown with its parts, and is in the audit', async () => {
    const { say, send, connection, tenantId, bodies, texts } = await place()
    const id = await say('We open at *nine*.')
    await replyOnce(app, id, 'sent')
    expect(texts()).toEqual(['We open at *nine*.'])
    expect(bodies()[0]).toMatchObject({ id: `${id}.0`, sender: 'U1', thread: null, part: 0 })
    const { body } = await send('GET', `channels/replies/${id}`)
    expect(body.reply).toMatchObject({
      id,
      connectionId: connection,
      channel: 'dev',
      recipient: 'U1',
      text: 'We open at *nine*.',
      status: 'sent',
      tries: 0,
      error: null,
      parts: [{ text: 'We open at *nine*.', state: 'sent', externalId: null, error: null }],
      sentAt: expect.any(String),
    })
    const [audit] =
      await app.owner`select operation, detail from audit where tenant_id = ${tenantId}
        and ref_id = ${id}`
    expect(audit).toEqual({
      operation: 'channel.reply.sent',
      detail: { connection_id: connection, job_id: null, parts: 1 },
    })
    expect(
      await app.owner`select 1 from channel_connection where id = ${connection}
        and last_out_at is not null`,
    ).toHaveLength(1)
  })

  test('of no words is none', async () => {
    const { tenantId, connection } = await place()
    await expect(reply(app, { tenantId, connection, text: ' \n' })).rejects.toThrow()
    expect(
      await app.owner`select 1 from channel_reply where connection_id = ${connection}`,
    ).toHaveLength(0)
  })

  test('of many parts goes in order, before replies that came after it', async () => {
    const { say, texts, ...at } = await place()
    const long = Array.from({ length: 3 }, (_, n) => `${n} ${'word '.repeat(4_000)}`.trim()).join(
      '\n\n',
    )
    const [first, second] = await sayTogether(app, at, say, long, 'short')
    await replyOnce(app, second!, 'sent')
    const { parts } = await replyOnce(app, first!, 'sent')
    expect(parts.length).toBeGreaterThan(1)
    expect(texts()).toEqual([...parts.map(({ text }) => text), 'short'])
  })
})

describe('the list', () => {
  test('is newest first, and filters by status, connection and job', async () => {
    const { send, say, connection, tenantId } = await place()
    const held = []
    for (let n = 0; n < 3; n++) held.unshift(await say(`held ${n}`, { held: true }))
    const job = newId()
    const other = await makeReply({ app, tenantId } as never, { job_id: job, status: 'discarded' })
    const ids = async (query: string) =>
      (await send('GET', `channels/replies?${query}`)).body.replies.map(
        ({ id }: { id: string }) => id,
      )
    expect(await ids('')).toEqual([other, ...held])
    expect(await ids('status=held')).toEqual(held)
    expect(await ids(`connectionId=${connection}`)).toEqual(held)
    expect(await ids(`jobId=${job}`)).toEqual([other])
  })
})

test.each(['{}', '[null]', '[{"text":1}]', 'null'])(
  'a reply whose parts are %s in the database hides no other, and is not sent again',
  async (parts) => {
    const { send, tenantId, connection } = await place()
    const [id] = [
      await makeReply({ app, tenantId } as never, { connection_id: connection, status: 'failed' }),
    ]
    const other = await makeReply({ app, tenantId } as never, { connection_id: connection })
    await app.owner`update channel_reply set parts = ${parts}::text::jsonb where id = ${id}`
    const { status, body } = await send('GET', 'channels/replies')
    expect([status, body.replies.map((one: { id: string }) => one.id)]).toEqual([200, [other, id]])
    expect(body.replies[1]).toMatchObject({
      parts: [],
      error: expect.stringContaining('cannot be read'),
      status: 'failed',
    })
    expect((await send('GET', `channels/replies/${id}`)).body.reply.parts).toEqual([])
    // Nobody knows what of it was sent.
    expect((await send('POST', `channels/replies/${id}/send`)).status).toBe(409)
  },
)

describe('a held reply', () => {
  test('tells the webhook that somebody has to decide, and goes nowhere by itself', async () => {
    const { say, tenantId, connection, texts } = await place()
    const id = await say('To a stranger', { held: true })
    const events = await app.owner`select type, data from outbox where tenant_id = ${tenantId}`
    expect(events).toMatchObject([
      {
        type: 'growth.approval.requested',
        data: {
          kind: 'reply',
          reply_id: id,
          job_id: null,
          connection_id: connection,
          channel: 'dev',
          recipient: 'U1',
        },
      },
    ])
    await replyOnce(app, await say('after it'), 'sent')
    expect(texts()).toEqual(['after it'])
  })

  test('goes once a person lets it, with the text that the person wants', async () => {
    const { say, send, texts } = await place()
    const id = await say('Draft', { held: true })
    const { status, body } = await send('POST', `channels/replies/${id}/send`, { text: 'Better' })
    expect([status, body.reply.status, body.reply.text, body.reply.decidedBy]).toEqual([
      200,
      'queued',
      'Better',
      expect.any(String),
    ])
    await replyOnce(app, id, 'sent')
    expect((await send('POST', `channels/replies/${id}/send`, {})).body.reply.status).toBe('sent')
    expect((await send('POST', `channels/replies/${id}/send`, { text: 'Other' })).status).toBe(409)
    expect(texts()).toEqual(['Better'])
  })

  test('is shown as its channel has it, to those who may read it', async () => {
    const { say, send } = await place()
    const id = await say('We open at *nine*.', { held: true })
    expect((await send('GET', `channels/replies/${id}`)).body.messages).toEqual([
      'We open at *nine*.',
    ])
    await app.owner`update channel_reply set text = ${'One line. '.repeat(5_000)} where id = ${id}`
    const long = (await send('GET', `channels/replies/${id}`)).body.messages
    expect(long.length).toBeGreaterThan(1)
    await send('POST', `channels/replies/${id}/discard`)
    expect((await send('GET', `channels/replies/${id}`)).body.messages).toBeNull()
  })

  test('is shown with the message that it answers, as long as that is kept', async () => {
    const { say, send, tenantId, connection } = await place()
    const id = await say('At nine.', { held: true })
    const message = newId()
    const words = '\u{1f69a} When do you open?\n'.repeat(2_000)
    await app.owner`insert into channel_message (id, tenant_id, connection_id, state, sender,
      sender_name, thread, subject, text, reply_to, created_at, updated_at)
      values (${message}, ${tenantId}, ${connection}, 'taken', 'U1', 'Ada', 't', 'Hours', ${words},
        '{}', now(), now())`
    expect((await send('GET', `channels/replies/${id}`)).body.reply.question).toBeNull()
    await app.owner`update channel_reply set message_id = ${message} where id = ${id}`
    const cutTo = (most: number) => [...words].slice(0, most).join('')
    const shown = { subject: 'Hours', sender: 'Ada', at: expect.any(String), isCut: true }
    expect((await send('GET', `channels/replies/${id}`)).body.reply.question).toEqual({
      ...shown,
      text: cutTo(20_000),
    })
    expect((await send('GET', 'channels/replies')).body.replies[0].question).toEqual({
      ...shown,
      text: cutTo(500),
    })
    await app.owner`delete from channel_message where id = ${message}`
    expect((await send('GET', `channels/replies/${id}`)).body.reply.question).toBeNull()
  })

  test('goes once to two people who send it, and with the words of one of two who edit it', async () => {
    const { say, send, texts, tenantId } = await place()
    const second = await signedIn(app, tenantId, 'approver')
    const both = async (id: string, [mine, yours]: [object, object]) => {
      const { contentHash: expect_hash } = (await send('GET', `channels/replies/${id}`)).body.reply
      const path = `channels/replies/${id}/send`
      const body = { ...yours, expect_hash }
      return Promise.all([
        send('POST', path, { ...mine, expect_hash }),
        app.send('POST', `/api/v1/${path}`, { key: second.key, body }),
      ])
    }
    const same = await say('The same', { held: true })
    expect((await both(same, [{}, {}])).map(({ status }) => status)).toEqual([200, 200])
    await replyOnce(app, same, 'sent')
    const edited = await say('Draft', { held: true })
    const replies = await both(edited, [{ text: 'Mine' }, { text: 'Yours' }])
    const [won, lost] = replies.toSorted((one, other) => one.status - other.status)
    expect([won!.status, lost!.status, lost!.body.error.reason]).toEqual([200, 409, 'stale_text'])
    expect(lost!.body.error.by).toMatchObject({ kind: 'person', id: won!.body.reply.decidedBy })
    await replyOnce(app, edited, 'sent')
    const mixed = await say('Another draft', { held: true })
    const [edit, plain] = await both(mixed, [{ text: 'Edited' }, {}])
    expect([edit.status, plain.status].sort()).toEqual([200, 409])
    expect(edit.status === 409 ? edit.body.error.message : plain.body.error.reason).toMatch(
      /stale_text|cannot change the text/,
    )
    await replyOnce(app, mixed, 'sent')
    const last = edit.status === 200 ? 'Edited' : 'Another draft'
    expect(texts()).toEqual(['The same', won!.body.reply.text, last])
  })
})
