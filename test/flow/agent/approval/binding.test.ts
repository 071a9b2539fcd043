/** Decisions that bind to the call and the records as they were shown. */
import { expect, test } from 'bun:test'
import { overJob } from '#test/support/agent/agent'
import { answered, person, useAskedCalls } from '#test/support/agent/asked-calls'
import { plannedModel } from '#test/support/agent/plan'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { thinker: plannedModel() } })
const { at, send, asking, onCall, read } = useAskedCalls(app)

test('a decision binds to the call and to the records as they were shown', async () => {
  const [asked] = await asking([['growth_approve_item']])
  const { sha256, subject } = await read(asked!)
  for (const how of ['approve', 'reject'] as const)
    expect(
      answered(await onCall(at.ann, asked!, how, { expect_sha256: subject.records[0].sha256 })),
    ).toEqual([409, 'stale_call'])
  const changed = await send(at.bob, 'PATCH', `items/${asked!.item}`, { body: 'Another text.' })
  expect(changed.status).toBe(200)
  const refused = await onCall(at.ann, asked!, 'approve', { expect_sha256: sha256 })
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    { code: 'conflict', reason: 'stale_call', by: person(at.bob), at: expect.any(String) },
  ])
  expect(
    answered(await onCall(at.ann, asked!, 'approve', { expect_sha256: subject.sha256 })),
  ).toEqual([409, 'stale_call'])
  expect((await read(asked!)).status).toBe('pending')
  // Without the hash it is approved, and then not carried out.
  expect((await onCall(at.ann, asked!, 'approve')).status).toBe(200)
  await overJob(app, asked!.job)
  expect(await read(asked!)).toMatchObject({ status: 'approved', outcome: 'stale', error: null })
  // A refusal changes no record.
  const [other] = await asking([['growth_approve_item']])
  const seen = (await read(other!)).sha256
  await send(at.bob, 'PATCH', `items/${other!.item}`, { body: 'Another text.' })
  const rejected = await onCall(at.ann, other!, 'reject', { expect_sha256: seen })
  expect(rejected.body.approval).toMatchObject({ status: 'rejected', outcome: null })
})

test('an unchanged call is approved by the hash of all of it, or of its text, and its failure shows', async () => {
  const [first] = await asking([['growth_approve_item']])
  const { sha256 } = await read(first!)
  expect((await onCall(at.ann, first!, 'approve', { expect_sha256: sha256 })).status).toBe(200)
  await overJob(app, first!.job)
  expect(await read(first!)).toMatchObject({ outcome: 'done', error: null })
  const [second] = await asking([['growth_schedule_item', { post_at: 'next_slot' }]])
  const { subject } = await read(second!)
  const approved = await onCall(at.ann, second!, 'approve', { expect_sha256: subject.sha256 })
  expect(approved.status).toBe(200)
  await overJob(app, second!.job)
  expect(await read(second!)).toMatchObject({
    outcome: 'failed',
    error: expect.stringContaining('drafted'),
  })
})
