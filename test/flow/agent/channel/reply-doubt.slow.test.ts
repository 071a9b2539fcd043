/**
 * A reply of which nobody knows whether it arrived: why, who is told, and how a person ends the
 * doubt.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { testStops } from '#test/support/actors/stops'
import { eventually, testApp } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import { devChannel } from '#test/support/channels/dev-posts'
import { reply, replyOnce, replyRow } from '#test/support/channels/replies'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { openReceiver } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const env = {
  EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
  OPENAI_API_KEY: 'none',
  OPENAI_BASE_URL: 'http://127.0.0.1:9',
}
const thinker = scriptedModel(() => ({ text: 'We open at nine.' }))
const app = useApp(() => ({ env, overrides: { thinker } }))
/** A message with this text gets no answer that says anything. */
const BROKEN = 'broken'
const answer = ({ body }: { body: string }) =>
  JSON.parse(body).text.includes(BROKEN) ? { raw: 'HTTP/1.1 2' } : {}
beforeEach(() => {
  receiver.answer = answer
})

const namesOf = (id: string): string[] =>
  receiver.requests.flatMap(({ body }) =>
    JSON.parse(body).id.startsWith(id) ? [JSON.parse(body).id.slice(id.length + 1)] : [],
  )

const place = async (at = app) => {
  const { tenantId } = await at.newWorkspace()
  const admin = await channelAdmin(at, tenantId)
  const { id: connection } = await devChannel(at, { config: { url: receiver.url } }, tenantId)
  /** Two messages, the first of which is in doubt. */
  const doubtful = async (): Promise<ChannelReply> => {
    const text = [BROKEN, 'second']
      .map((word) => `${word} ${'word '.repeat(4_000)}`.trim())
      .join('\n\n')
    const id = await reply(at, { tenantId, connection, text })
    return replyOnce(at, id, 'unknown')
  }
  /** By who has just seen it, if not otherwise said. */
  const settle = async (
    id: string,
    outcome: 'arrived' | 'not_arrived',
    more: object = {},
    key = admin.key,
  ) => {
    const updatedAt = (await replyRow(at, id))?.updated_at ?? new Date()
    return at.send('POST', `/api/v1/channels/replies/${id}/settle`, {
      key,
      body: { outcome, updatedAt, ...more },
    })
  }
  return { tenantId, connection, doubtful, settle, ...admin }
}

test('a reply that is unknown says why, and stands in the brief until a person has settled it', async () => {
  const { doubtful, send, settle } = await place()
  const { id } = await doubtful()
  const { body } = await send('GET', `channels/replies/${id}`)
  const { status, error } = body.reply
  expect([status, error]).toEqual(['unknown', expect.stringMatching(/\w/)])
  const inBrief = async () =>
    (await send('GET', 'growth/brief?include=items')).body.brief.actions.find(
      ({ kind }: { kind: string }) => kind === 'settle_replies',
    )
  expect(await inBrief()).toMatchObject({
    count: 1,
    operation: 'agent.channelReplies.settle',
    tool: null,
    arguments: { id },
    items: [{ id, type: 'reply', status: 'unknown', title: `dev: ${error}` }],
  })
  expect((await settle(id, 'arrived')).body.reply).toMatchObject({ status: 'sent', error: null })
  expect(await inBrief()).toBeUndefined()
})

test('the brief of a key that may not use the agent says nothing of replies', async () => {
  const { doubtful, tenantId } = await place()
  await doubtful()
  const { api_key: key } = await app.newKey(['api:read'], tenantId)
  const { body } = await app.send('GET', 'brief', { key })
  expect(body.brief.actions.map(({ kind }: { kind: string }) => kind)).not.toContain(
    'settle_replies',
  )
})

describe('a person says', () => {
  test('that it arrived: nothing of it is sent again, and the audit has it', async () => {
    const { doubtful, settle, tenantId } = await place()
    const { id } = await doubtful()
    const { body } = await settle(id, 'arrived')
    expect(new Set(body.reply.parts.map(({ state }: { state: string }) => state))).toEqual(
      new Set(['sent']),
    )
    expect(namesOf(id)).not.toContain('0.1')
    const [audit] = await app.owner`select detail from audit
      where tenant_id = ${tenantId} and operation = 'agent.channelReplies.settle'`
    expect(audit).toMatchObject({ detail: { outcome: 'arrived', status: 'sent' } })
  })

  test('that it did not: only the part in doubt is sent again, once, under a new name', async () => {
    const { doubtful, settle } = await place()
    const { id, parts } = await doubtful()
    const doubts = parts.flatMap(({ state }, n) => (state === 'unknown' ? [n] : []))
    receiver.answer = {}
    expect((await settle(id, 'not_arrived')).body.reply.status).toBe('queued')
    await replyOnce(app, id, 'sent')
    const names = namesOf(id)
    expect(names.toSorted()).toEqual(
      [...parts.keys()]
        .map(String)
        .concat(doubts.map((n) => `${n}.1`))
        .toSorted(),
    )
  })

  test('two different things at once: one counts, the other gets 409, and nothing is sent twice', async () => {
    const { doubtful, settle, tenantId } = await place()
    receiver.answer = answer
    const { key } = await signedIn(app, tenantId, 'approver')
    for (let n = 0; n < 2; n++) {
      const { id, updated_at } = await doubtful()
      receiver.answer = {}
      const seen = { updatedAt: updated_at.toISOString() }
      const all = await Promise.all([
        settle(id, 'not_arrived', seen),
        settle(id, 'arrived', seen, key),
        settle(id, 'not_arrived', seen, key),
      ])
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
      await replyOnce(app, id, 'sent')
      expect(new Set(namesOf(id)).size).toBe(namesOf(id).length)
      receiver.answer = answer
    }
  })

  test('what they have seen of one doubt: a press that comes late settles no newer one, and one that names none is refused', async () => {
    const { doubtful, settle, tenantId, send } = await place()
    const { key } = await signedIn(app, tenantId, 'approver')
    const { id, updated_at } = await doubtful()
    const seen = { updatedAt: updated_at.toISOString() }
    for (const outcome of ['arrived', 'not_arrived'] as const)
      expect((await send('POST', `channels/replies/${id}/settle`, { outcome })).status).toBe(400)
    // Sent again, it comes into doubt anew.
    expect((await settle(id, 'not_arrived', seen)).status).toBe(200)
    const anew = await eventually(
      () => replyRow(app, id),
      ({ status, updated_at: at }) => status === 'unknown' && at > updated_at,
    )
    const before = namesOf(id)
    for (const outcome of ['arrived', 'not_arrived'] as const) {
      const late = await settle(id, outcome, seen, key)
      expect([late.status, late.body.error.message]).toEqual([
        409,
        expect.stringContaining('changed since you looked'),
      ])
    }
    expect([await replyRow(app, id), namesOf(id)]).toEqual([anew, before])
    expect(
      (await settle(id, 'arrived', { updatedAt: anew.updated_at.toISOString() }, key)).body.reply
        .status,
    ).toBe('sent')
  })

  test('that it did not arrive while all is paused: people asked for it, so it goes', async () => {
    const { doubtful, settle, send } = await place()
    const { id } = await doubtful()
    receiver.answer = {}
    await send('POST', 'growth/automation/pause-all')
    await settle(id, 'not_arrived')
    expect((await replyOnce(app, id, 'sent')).status).toBe('sent')
  })

  test('that it did not arrive, and the channel is disconnected before it goes: nothing is sent', async () => {
    const { doubtful, settle, send, connection } = await place()
    const { id } = await doubtful()
    const before = namesOf(id)
    await app.owner`update channel_connection set next_out_at = now() + interval '1 hour'
      where id = ${connection}`
    await settle(id, 'not_arrived')
    const { body } = await send('DELETE', `channels/${connection}`)
    expect(body.in_flight).toEqual([])
    expect((await send('GET', `channels/replies/${id}`)).status).toBe(404)
    expect((await settle(id, 'arrived')).status).toBe(404)
    expect(namesOf(id)).toEqual(before)
  })
})

test('a process that dies at any point after the decision sends what is in doubt once at most', async () => {
  const stops = testStops()
  await using db = await freshDb()
  const start = () =>
    testApp({ database: db.options, env, overrides: { failpoints: stops.at, thinker } })
  const points = [
    'letter.deciding:agent.channelReplies.settle',
    'channel.reply.claimed',
    'channel.reply.sending',
    'channel.reply.sent',
  ] as const
  await using dying = await start()
  const found: {
    id: string
    goOn(): void
    point: string
    said: Promise<unknown>
    doubt: number
  }[] = []
  for (const point of points) {
    receiver.answer = answer
    const { doubtful, settle } = await place(dying)
    const { id, parts } = await doubtful()
    receiver.answer = {}
    const stopped = stops.stopNext(point)
    const said = settle(id, 'not_arrived').catch(() => {})
    found.push({
      id,
      goOn: await stopped,
      point,
      said,
      doubt: parts.findIndex(({ state }) => state === 'unknown'),
    })
    if (point.startsWith('letter')) found.at(-1)!.goOn()
  }
  await crash(dying)
  await using next = await start()
  for (const { id, goOn, doubt } of found) {
    const check = async () => {
      await replyOnce(next, id, 'sent', 'unknown')
      expect(namesOf(id).filter((name) => name === `${doubt}.1`).length).toBeLessThanOrEqual(1)
    }
    await check()
    goOn()
    await check()
  }
  await eventually(
    () => next.owner`select 1 from work where kind = 'channel_reply'`,
    ({ length }) => length === 0,
  )
})
