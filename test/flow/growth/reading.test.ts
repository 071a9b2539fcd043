/**
 * Single records over HTTP: the same as in their list, and only in their own workspace; and the
 * filters of lists.
 */
import { describe, expect, test } from 'bun:test'
import { readsOnly } from '#contract/op'
import { newId } from '#kernel/ids'
import {
  call,
  newWorkspace,
  usualOperations as operations,
  prefixOf,
  recipes,
} from '#test/support/contract/prepare'
import { othersPost } from '#test/support/growth/records'
import { newStory } from '#test/support/growth/story'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const singles = operations.filter(
  (o) => o.id.startsWith('growth.') && readsOnly(o) && o.path.endsWith('/:id'),
)

describe.each(singles.map((o) => [o.id, o] as const))('%s', (_, o) => {
  const list = operations.find(({ id }) => id === `${prefixOf(o)}.list`)
  test.skipIf(!list)('has every field that the list shows', async () => {
    const workspace = await newWorkspace(app)
    const { id } = await recipes[prefixOf(o)]!.make(workspace)
    const [rows] = Object.values<unknown>((await call(workspace, list!, {})).body)
    const [single] = Object.values((await call(workspace, o, { id })).body)
    expect(single).toMatchObject((rows as { id: string }[]).find((row) => row.id === id)!)
  })
})

test('a signal that has expired unnoticed reads expired, as in the list', async () => {
  const workspace = await newWorkspace(app)
  const { id } = await recipes['growth.signals']!.make(workspace)
  await app.owner`update signal set expires_at = now() - interval '1 second' where id = ${id!}`
  const { body } = await app.send('GET', `signals/${id}`, { key: workspace.key })
  expect(body.signal).toMatchObject({ id, status: 'expired' })
})

test('the profile and the channels read as the overview shows them', async () => {
  const { send } = await newStory(app)
  await send('PUT', 'profile', {
    body: { goal: 'More demos', writing_dna: { voice_rules: ['Short'] } },
  })
  const { profile, channels } = (await send('GET', 'overview')).body.overview
  expect((await send('GET', 'profile')).body).toEqual({ profile })
  expect(profile).toMatchObject({ goal: 'More demos' })
  expect((await send('GET', 'channels')).body).toEqual({ channels })
})

describe('automation', () => {
  test('reads who paused it and since when, until it is resumed', async () => {
    const { tenantId, send } = await newStory(app)
    const state = async () => (await send('GET', 'automation')).body.automation
    expect(await state()).toEqual({
      paused: false,
      since: null,
      by: null,
      held: null,
      paused_everywhere_since: null,
      on_resuming: null,
      in_flight: [],
    })
    const { key, personId } = await signedIn(app, tenantId, 'approver')
    const paused = await app.send('POST', 'automation/pause-all', { key })
    expect(paused.status).toBe(200)
    const first = await state()
    expect(first).toEqual({
      paused: true,
      since: expect.any(String),
      by: { kind: 'person', id: personId, name: null },
      held: null,
      paused_everywhere_since: null,
      on_resuming: { sent: 0, skipped: 0 },
      in_flight: [],
    })
    const { automation } = (await app.send('GET', 'automation', { key })).body
    expect(automation).toEqual({ ...first, by: { ...first.by, name: 'Test' } })
    expect((await send('POST', 'automation/pause-all')).status).toBe(200)
    expect(await state()).toEqual(first)
    await send('POST', 'automation/resume-all')
    expect(await state()).toEqual({
      paused: false,
      since: null,
      by: null,
      held: null,
      paused_everywhere_since: null,
      on_resuming: null,
      in_flight: [],
    })
    await send('POST', 'automation/pause-all')
    expect((await state()).by).toMatchObject({ kind: 'key' })
  })

  test('paused twice writes one audit row, for no rate limit bounds these requests', async () => {
    const { tenantId, send } = await newStory(app)
    const audited = async () =>
      (
        await app.owner`select operation from audit where tenant_id = ${tenantId}
          and operation like '%automation%' order by id`
      ).map(({ operation }) => operation.split('.').at(-1))
    for (let times = 0; times < 5; times++)
      expect((await send('POST', 'automation/pause-all')).body.automation).toEqual({
        paused: true,
        in_flight: [],
      })
    expect(await audited()).toEqual(['pauseAll'])
    for (const word of ['resume', 'pause']) await send('POST', `automation/${word}-all`)
    expect(await audited()).toEqual(['pauseAll', 'resumeAll', 'pauseAll'])
  })
})

test('a key reads the same plan as a signed-in person', async () => {
  const { tenantId, send } = await newStory(app)
  await app.owner`insert into counter (tenant_id, key, period, used)
    values (${tenantId}, 'posts', to_char(now() at time zone 'UTC', 'YYYY-MM'), 2)`
  const { key } = await signedIn(app, tenantId, 'viewer')
  const [own, shown] = [
    await send('GET', 'plan'),
    await app.send('GET', '/api/v1/app/plan', { key }),
  ]
  expect([own.status, own.body]).toEqual([200, shown.body])
  expect(own.body.plan.quotas).toContainEqual(expect.objectContaining({ key: 'posts', used: 2 }))
})

describe('filters', () => {
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

  test('of rules: state as shown, kind of trigger, and when they were made', async () => {
    const { send } = await newStory(app)
    const make = async (trigger: object, more: object = {}): Promise<string> =>
      (
        await send('POST', 'rules', {
          body: { name: 'Keep drafting', trigger, action: { kind: 'draft_batch' }, ...more },
        })
      ).body.rule.id
    const posted = await make({ kind: 'item_posted' })
    const settled = await make({ kind: 'batch_settled' }, { status: 'paused' })
    const list = async (query: string) => idsOf((await send('GET', `rules?${query}`)).body.rules)
    expect(await list('status=active')).toEqual([posted])
    expect(await list('status=paused')).toEqual([settled])
    expect(await list('trigger=item_posted')).toEqual([posted])
    const { created_at } = (await send('GET', `rules/${settled}`)).body.rule
    expect(await list(`from=${created_at}`)).toEqual([settled])
    expect(await list(`to=${created_at}`)).toEqual([posted])
    await send('POST', 'automation/pause-all')
    expect([await list('status=active'), await list('status=paused')]).toEqual([
      [],
      [settled, posted],
    ])
    expect((await send('GET', `rules/${posted}`)).body.rule).toMatchObject({
      status: 'paused',
      paused_by: 'all',
    })
  })

  test('of signals: their target, and the time of the post', async () => {
    const workspace = await newWorkspace(app)
    const make = async () => (await recipes['growth.signals']!.make(workspace)).id!
    const [one, other] = [await make(), await make()]
    const list = async (query: string) =>
      idsOf((await app.send('GET', `signals?${query}`, { key: workspace.key })).body.signals)
    const { signal } = (await app.send('GET', `signals/${one}`, { key: workspace.key })).body
    expect(await list(`target_id=${signal.target_id}`)).toEqual([one])
    await app.owner`update signal set posted_at = '2026-11-01T00:00:00Z' where id = ${one}`
    expect([
      await list('to=2026-11-02T00:00:00Z'),
      await list('from=2026-11-02T00:00:00Z'),
    ]).toEqual([[one], [other]])
  })

  test('of engagements: one or more states, action, time, and the signal that was answered', async () => {
    const { send } = await newStory(app)
    const drafted = async (action: string): Promise<string> => {
      const words = action === 'reply' ? { body: 'We call first.' } : {}
      const { body } = await send('POST', 'engagements', {
        body: { post: await othersPost({ app }), action, ...words },
      })
      return body.engagement.id
    }
    const [like, reply, repost] = [
      await drafted('like'),
      await drafted('reply'),
      await drafted('repost'),
    ]
    await send('POST', `engagements/${reply}/approve`)
    await send('POST', `engagements/${repost}/reject`)
    const list = async (query: string) =>
      idsOf((await send('GET', `engagements?${query}`)).body.engagements)
    expect(await list('status=drafted,approved')).toEqual([reply, like])
    expect(await list('status=rejected')).toEqual([repost])
    expect(await list('action=like')).toEqual([like])
    expect(await list('status=drafted,approved&limit=1')).toEqual([reply])
    const { created_at } = (await send('GET', `engagements/${reply}`)).body.engagement
    expect([await list(`from=${created_at}`), await list(`to=${created_at}`)]).toEqual([
      [repost, reply],
      [like],
    ])
    const refused = await send('GET', 'engagements?status=drafted,waiting')
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'status'])
    const signal = newId()
    await app.owner`update engagement set signal_id = ${signal} where id = ${like}`
    expect([await list(`signal_id=${signal}`), await list(`signal_id=${newId()}`)]).toEqual([
      [like],
      [],
    ])
  })

  test.each(['batches', 'audits', 'reports'])('of %s: state and time', async (path) => {
    const workspace = await newWorkspace(app)
    const send = (query: string) => app.send('GET', `${path}?${query}`, { key: workspace.key })
    const list = async (query: string) => idsOf((await send(query)).body[path])
    const make = async (status: string, days: number): Promise<string> => {
      const { id } = await recipes[`growth.${path}`]!.make(workspace)
      const table = { batches: 'batch', audits: 'growth_audit', reports: 'report' }[path]!
      await app.owner`update ${app.owner(table)} set status = ${status},
        created_at = created_at - ${days} * interval '1 day' where id = ${id!}`
      return id!
    }
    const [first, second] = [await make('failed', 1), await make('ready', 0)]
    const timeOf = async (status: string) =>
      (await send(`status=${status}`)).body[path][0].created_at
    const [from, later] = [await timeOf('failed'), await timeOf('ready')]
    expect([
      await list('status=ready'),
      await list('status=failed'),
      await list('status=queued'),
    ]).toEqual([[second], [first], []])
    expect([
      await list(`from=${from}&to=${later}`),
      await list(`from=${later}`),
      await list(`to=${from}`),
    ]).toEqual([[first], [second], []])
    expect(await list(`from=${later}&status=failed`)).toEqual([])
  })
})
