/**
 * The `webhooks` section of the OpenAPI document matches what is sent, headers and bodies alike.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020'
import { events } from '#contract/events'
import { eventBody } from '#domain/app/webhook'
import { articleItem, newArticle, readyArticle } from '#domain/growth/drafting/article'
import { failedBatch, newBatch } from '#domain/growth/drafting/batch'
import { engagement } from '#domain/growth/sending/engagement'
import { post } from '#domain/growth/sending/post'
import { settle } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { othersPost } from '#test/support/growth/records'
import { type Hook, hookOf } from '#test/support/http/hooks'
import { openReceiver, type Received } from '#test/support/http/receiver'
import { use, useApp } from '#test/support/use'
import { attemptWith } from '../domain/records.ts'

interface DescribedEvent {
  post: {
    operationId: string
    summary: string
    security: object[]
    parameters: { $ref: string }[]
    responses: Record<string, object>
  }
}

let hook: Hook
let webhooks: Record<string, DescribedEvent>
let ajv: Ajv2020
const receiver = use(openReceiver)
const app = useApp(() => ({ env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` } }))
beforeAll(async () => {
  hook = hookOf(app, app.tenantId)
  await hook.set(receiver.url)
  const document = (await app.send('GET', '/api/v1/openapi.json', { key: null }))
    .body as unknown as { webhooks: typeof webhooks }
  webhooks = document.webhooks
  const formats = {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
  }
  ajv = new Ajv2020({ strict: false, formats })
  ajv.addSchema({ ...document, $id: 'openapi' })
})

/** How a payload deviates from the document. */
const flawsOf = (type: string, body: string): unknown => {
  const pointer = `webhooks/${type}/post/requestBody/content/application~1json/schema`
  const check = ajv.getSchema(`openapi#/${pointer}`) ?? ajv.compile({ $ref: `openapi#/${pointer}` })
  return check(JSON.parse(body)) ? [] : check.errors
}

const expectAsDescribed = ({ headers, body }: Received): void => {
  const { type } = JSON.parse(body)
  const named = webhooks[type]!.post.parameters.map(({ $ref }) =>
    $ref.split('/').at(-1)!.toLowerCase(),
  )
  expect([type, named.filter((name) => headers[name] === undefined)]).toEqual([type, []])
  expect([type, flawsOf(type, body)]).toEqual([type, []])
}

test("the section has every kind of event, and each documents the receiver's answers", () => {
  expect(Object.keys(webhooks)).toEqual(events.map(({ type }) => type))
  for (const { post } of Object.values(webhooks)) {
    expect(post.parameters).toHaveLength(4)
    expect([post.security, Object.keys(post.responses).sort()]).toEqual([
      [],
      ['2XX', '410', '429', '503', 'default'],
    ])
    expect(post.summary).toMatch(/^\S.{10,}[^.]$/)
  }
})

test('the events of a real workspace match the document', async () => {
  const { body } = await app.send('POST', 'batches', {
    body: { count: 1, focus: 'late deliveries' },
  })
  const batch = await eventually(
    async () => (await app.send('GET', `batches/${body.batch.id}`)).body.batch,
    ({ status }) => status === 'ready' || status === 'failed',
  )
  const [item] = batch.items
  await app.send('POST', `items/${item.id}/approve`)
  await app.send('POST', `items/${item.id}/post-now`)
  await app.send('POST', 'engagements', {
    body: { post: await othersPost({ app }), action: 'like' },
  })
  await hook.run('test')
  const requests = await receiver.received(5)
  const kinds = requests
    .map((one) => JSON.parse(one.body))
    .map(({ type, data }) => [type, data.kind].filter(Boolean).join(' '))
  for (const one of requests) expectAsDescribed(one)
  expect(kinds).toEqual(
    expect.arrayContaining([
      'growth.batch.settled',
      'growth.approval.requested batch',
      'growth.item.posted',
      'webhook.test',
    ]),
  )
})

describe('rare events match the document too', () => {
  const now = new Date()
  const set = {
    article: { title: 'T', text: 'Text.', rationale: 'r', stories: [], learnings: [] },
    model: 'composer',
    usage: null,
  }
  const article = newArticle(newId(), { topic: 't', length: 'short', outline: null, now })
  const measure = (text: string) => text.length
  const item = {
    ...articleItem(set as never, { id: newId(), article, measure, now }),
    batch_id: newId(),
  }
  const refused = { kind: 'refused', reason: 'too long' } as never
  const taken = { key: 'posts', period: '2026-11', amount: 1 }
  const batch = newBatch(newId(), { count: 1, focus: 'x', now } as never)
  const rare: Record<string, { type: string; data: Record<string, unknown> }[]> = {
    'a batch that failed': failedBatch(batch, 'generation_failed: fewer', { taken, now }).events,
    'an article': readyArticle(article, set as never, { item, now }).events,
    'a post that was not sent': post.returned(item, 'x_not_connected', now).events,
    'a post that was refused': settle(
      { moves: post, record: item, attempt: attemptWith(), now, times: sendTimes, tries: 0 },
      refused,
    ).events,
    'an engagement in review': [engagement.reviewEvent({ id: newId() } as never)],
  }
  test.each(Object.entries(rare))('%s', (_, all) => {
    expect(all.length).toBeGreaterThan(0)
    for (const { type, data } of all)
      expect([
        type,
        flawsOf(type, eventBody({ id: newId(), type, data, created_at: now }, app.tenantId)),
      ]).toEqual([type, []])
  })

  test('and an event that does not match is noticed', () => {
    const body = eventBody(
      { id: newId(), type: 'growth.item.failed', data: { item_id: 'x' }, created_at: now },
      app.tenantId,
    )
    expect(flawsOf('growth.item.failed', body)).not.toEqual([])
  })
})
