/** Why something is refused, and who acted first: what two people see who decide at once. */
import { describe, expect, test } from 'bun:test'
import { conflictReasons } from '#kernel/conflict'
import { cli } from '#test/support/cli/host'
import { newStory, type Story } from '#test/support/growth/story'
import { connectMcp } from '#test/support/mcp/mcp'
import { acceptInvitation, inviteTo, joinAs } from '#test/support/people'
import { tokenOf } from '#test/support/session'
import { useApp, useSharedApp } from '#test/support/use'

const app = useSharedApp()
const other = useApp(() => ({ database: app.options }))

/** A workspace with two people; the first is called Lena. */
const team = async () => {
  const story = await newStory(app)
  const { tenantId } = story
  const token = await inviteTo(app, { tenantId, role: 'approver' })
  const lena = await acceptInvitation(app, { token, email: `${tenantId}@a.example`, name: 'Lena' })
  const ben = await joinAs(app, { tenantId, role: 'approver' })
  return { story, lena: lena.body.session.access_token as string, ben: ben.access }
}
const post = (story: Story, path: string, key: string, body: object = {}) =>
  story.send('POST', path, { key, body })

test('a decision after that of somebody else says who it was, and when', async () => {
  const { story, lena, ben } = await team()
  const id = await story.drafted()
  const { decision } = (await post(story, `items/${id}/reject`, lena)).body.item
  const { status, body } = await post(story, `items/${id}/approve`, ben)
  const by = { kind: 'person', id: decision.by.id, name: 'Lena' }
  expect([status, body.error]).toEqual([
    409,
    {
      code: 'conflict',
      message: expect.stringContaining('the item is rejected'),
      reason: 'wrong_state',
      by,
      at: decision.at,
      details: [{ path: 'next', message: `growth.items.reopen ${id}` }],
      request_id: expect.any(String),
    },
  ])

  // Keys see no names of people, on no surface.
  const nameless = { reason: 'wrong_state', by: { ...by, name: null }, at: decision.at }
  expect((await post(story, `items/${id}/approve`, story.key)).body.error).toMatchObject(nameless)
  const env = { TENDRIL_API_URL: app.url, TENDRIL_API_KEY: story.key }
  const { err } = await cli(['items', 'approve', id, '--json'], { env })
  expect(JSON.parse(err).error).toMatchObject(nameless)
  expect((await cli(['items', 'approve', id], { env })).err).toContain(
    `by person ${by.id}, ${decision.at}`,
  )
  await using mcp = await connectMcp(app.url, { key: story.key })
  const told = await mcp.call('growth_approve_item', { id })
  expect(told._meta?.['tendril/error']).toMatchObject(nameless)

  // Another server passes them on.
  const passed = await other.send('POST', `items/${id}/approve`, { key: ben })
  expect(passed.body.error).toMatchObject({ reason: 'wrong_state', by, at: decision.at })
})

test('in bulk each entry says so, and a repeated request says it again', async () => {
  const { story, lena, ben } = await team()
  const [rejected, mine] = [await story.drafted(), await story.drafted()]
  await post(story, `items/${rejected}/reject`, lena)
  const ask = (key: string) =>
    story.send('POST', 'items/bulk', {
      key,
      body: { action: 'reject', items: [{ id: rejected }, { id: mine }] },
      headers: { 'idempotency-key': 'both' },
    })
  const { results } = (await ask(ben)).body
  expect(results[0].error).toMatchObject({
    reason: 'wrong_state',
    by: { kind: 'person', name: 'Lena' },
    at: expect.any(String),
  })
  expect(results[1].error).toBeNull()
  const replayed = await ask(ben)
  expect([replayed.headers.get('idempotency-replayed'), replayed.body.results]).toEqual([
    'true',
    results,
  ])
})

describe('a text that somebody else has changed', () => {
  test('is neither approved nor changed unseen, and the refusal says whose text it is', async () => {
    const { story, lena, ben } = await team()
    const id = await story.drafted()
    const { item } = (
      await story.send('PATCH', `items/${id}`, { key: lena, body: { body: 'Mine' } })
    ).body
    const about = { by: { kind: 'person', name: 'Lena' }, at: item.updated_at }
    const unseen = await post(story, `items/${id}/approve`, ben, {
      expect_hash: '0'.repeat(64),
    })
    expect(unseen.body.error).toMatchObject({ reason: 'stale_text', ...about })
    const late = await story.send('PATCH', `items/${id}`, {
      key: ben,
      body: { body: 'Yours', revision: 1 },
    })
    expect(late.body.error).toMatchObject({ reason: 'stale_revision', ...about })
  })

  test('so with the profile', async () => {
    const { story } = await team()
    const owner = await tokenOf(app, story.tenantId, 'editor')
    const { profile } = (
      await story.send('PUT', 'profile', { key: owner, body: { goal: 'Book demos' } })
    ).body
    const late = await story.send('PUT', 'profile', { body: { goal: 'Other', revision: 0 } })
    expect(late.body.error).toMatchObject({
      reason: 'stale_revision',
      by: { kind: 'person' },
      at: profile.updated_at,
    })
  })
})

test('nobody acted first where nobody decided', async () => {
  const { story, ben } = await team()
  const { error } = (
    await post(story, `items/${await story.drafted()}/schedule`, ben, {
      post_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
  ).body
  expect(error.reason).toBe('wrong_state')
  expect([error.by, error.at]).toEqual([undefined, undefined])
})

test('the API document has every reason, with a sentence', async () => {
  const { body: document } = await app.send('GET', '/api/v1/openapi.json')
  const { reason } = document.components.schemas.Error.properties.error.properties
  expect(reason.enum).toEqual(Object.keys(conflictReasons))
  for (const sentence of Object.values(conflictReasons))
    expect(reason.description).toContain(sentence)
})
