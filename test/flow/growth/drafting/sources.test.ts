/** Where a draft comes from, and who wrote and decided it, in lists and answers. */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { newRules } from '#test/support/growth/rule-story'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

test('drafts name the batch, the rule, the person or key, and the item that they come of', async () => {
  const rules = await newRules(app)
  const { story } = rules
  const ida = await signedIn(app, story.tenantId, 'owner')
  const rule = await rules.create({
    name: 'Go on',
    trigger: { kind: 'batch_settled' },
    action: { kind: 'draft_batch', count: 1, focus: 'late ships' },
  })
  const { batch } = (await story.send('POST', 'batches', { body: { count: 1, focus: 'the dock' } }))
    .body
  const own = (
    await app.send('POST', 'items', { key: ida.key, body: { body: 'We call before they do.' } })
  ).body.item
  const keys = (await story.send('POST', 'items', { body: { body: 'Ships wait for no one.' } }))
    .body.item
  await app.send('PATCH', `items/${keys.id}`, { key: ida.key, body: { body: 'Ships wait.' } })
  const copy = (await story.send('POST', `items/${own.id}/duplicate`)).body.item
  const all = await eventually(
    async () => (await app.send('GET', 'items?limit=100', { key: ida.key })).body.items,
    (items) => items.length === 5,
  )
  interface Listed {
    id: string
    source: { id: string | null }
  }
  const of = (id: string) => all.find((one: Listed) => one.id === id)
  const drafted = (id: string) => all.find(({ source }: Listed) => source.id === id)
  const person = { kind: 'person', id: ida.personId, name: 'Test' }
  expect(drafted(batch.id).source).toEqual({ kind: 'batch', id: batch.id, name: 'the dock' })
  expect(drafted(batch.id).written_by).toBeNull()
  expect(drafted(rule.id).source).toEqual({ kind: 'rule', id: rule.id, name: 'Go on' })
  expect([own.source, own.written_by]).toEqual([person, person])
  expect([of(own.id).source, of(own.id).written_by]).toEqual([person, person])
  // An edit changes who wrote the text, not where the draft comes from.
  expect(of(keys.id)).toMatchObject({
    source: { kind: 'key', id: keys.source.id, name: expect.any(String) },
    written_by: person,
  })
  expect(copy.source).toEqual({ kind: 'resurfaced', id: own.id, name: null })
  // A key is shown no names of people.
  const shown = (await story.send('GET', `items/${own.id}`)).body.item
  expect([shown.source, shown.written_by]).toEqual([
    { ...person, name: null },
    { ...person, name: null },
  ])
  const made = (await story.send('GET', `batches/${drafted(rule.id).batch_id}`)).body.batch
  expect([made.rule_id, batch.rule_id]).toEqual([rule.id, null])
})

test('a decision names its maker at once, and comments are counted', async () => {
  const { story } = await newRules(app)
  const ida = await signedIn(app, story.tenantId, 'approver')
  const id = await story.drafted()
  const as = (path: string, body?: object) =>
    app.send('POST', `items/${id}/${path}`, { key: ida.key, ...(body && { body }) })
  await as('comments', { body: 'Ask Ida.' })
  const rejected = (await as('reject', { reason: 'Too loud' })).body.item
  expect(rejected).toMatchObject({
    comments: 2,
    decision: {
      what: 'rejected',
      by: { kind: 'person', id: ida.personId, name: 'Test' },
      allowed_by: null,
    },
  })
  const [listed] = (await app.send('GET', 'items?limit=1', { key: ida.key })).body.items
  expect([listed.comments, listed.decision]).toEqual([2, rejected.decision])
  const byKey = (await story.send('GET', 'items?limit=1')).body.items[0]
  expect(byKey.decision.by).toEqual({ kind: 'person', id: ida.personId, name: null })
})
