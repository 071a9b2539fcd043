/**
 * Approvals over HTTP: who decides, once, about which arguments; and what the decision does to the
 * job. No job runs here.
 */
import { describe, expect, test } from 'bun:test'
import { argumentsHash } from '#domain/agent/hash'
import type { Approval } from '#domain/agent/job/approval'
import { newId } from '#kernel/ids'
import { makeApproval, makeConversation } from '#test/support/agent/records'
import { newSurface } from '#test/support/agent/surface'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

const setUp = async (changes: Partial<Approval> = {}) => {
  const surface = await newSurface(app)
  const { id } = await makeApproval(surface, changes)
  const owner = await surface.as('owner')
  const decide = (how: 'approve' | 'reject', body: object = {}, key = owner) =>
    surface.send('POST', `approvals/${id}/${how}`, body, key)
  const step = async () => {
    const [row] =
      await app.owner`select s.* from agent_step s join agent_approval a on a.step_id = s.id
        where a.id = ${id}`
    return row!
  }
  const job = async () => (await surface.send('GET', `approvals/${id}`)).body.approval.job_id
  const events = async () =>
    (await surface.send('GET', `jobs/${await job()}/events?after=1`)).body.events
  return { ...surface, id, owner, decide, step, job, events }
}

describe('approving', () => {
  test('makes the call ready and its job due, in the name of the person', async () => {
    const { decide, step, job, events, tenantId, id } = await setUp()
    const { status, body } = await decide('approve')
    expect(status).toBe(200)
    expect(body.approval).toMatchObject({
      status: 'approved',
      decided_how: 'person',
      decided_by: expect.any(String),
      edited: false,
    })
    expect((await step()).state).toBe('ready')
    expect(
      await app.owner`select 1 from work where ref_id = ${await job()}
        and run_at <= (select decided_at from agent_approval where id = ${id})`,
    ).toHaveLength(1)
    expect(
      (await events()).map(({ type, data }: { type: string; data: object }) => [type, data]),
    ).toEqual([
      [
        'approval.decided',
        {
          approvalId: id,
          status: 'approved',
          how: 'person',
          reason: null,
          tool: 'growth_overview',
          edited: false,
          number: 1,
        },
      ],
    ])
    const audited = await app.owner`select actor_kind, actor_id, ref_id from audit
      where tenant_id = ${tenantId} and operation = 'agent.approvals.approve'`
    expect({ ...audited[0] }).toEqual({
      actor_kind: 'person',
      actor_id: body.approval.decided_by,
      ref_id: id,
    })
  })

  test('by two people at once is decided by one of them', async () => {
    const { decide, as, events } = await setUp()
    const replies = await Promise.all([decide('approve'), decide('reject', {}, await as('owner'))])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(
      (await events()).filter(({ type }: { type: string }) => type === 'approval.decided'),
    ).toHaveLength(1)
  })

  test('after a rejection is refused, and the call stays rejected', async () => {
    const { decide, step } = await setUp()
    expect((await decide('reject', { reason: 'Not on a Sunday' })).status).toBe(200)
    const refused = await decide('approve')
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'cannot approve: the call was already rejected',
    ])
    expect(await step()).toMatchObject({
      state: 'rejected',
      result: { text: 'A person rejected this call: Not on a Sunday' },
    })
  })

  test('with other arguments replaces them, once they are checked', async () => {
    const { decide, step } = await setUp({ tool_name: 'growth_list_queue' })
    const wrong = await decide('approve', { arguments: { limit: 0 } })
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'arguments.limit'])
    const unknown = await decide('approve', { arguments: { nothing: 1 } })
    expect([unknown.status, unknown.body.error.details[0].path]).toEqual([400, 'arguments.nothing'])
    expect((await step()).state).toBe('asked')
    const { body } = await decide('approve', { arguments: { limit: 3 } })
    expect(body.approval).toMatchObject({ edited: true, arguments: { limit: 3 } })
    expect(await step()).toMatchObject({
      state: 'ready',
      args: { limit: 3 },
      args_hash: argumentsHash({ limit: 3 }),
    })
    expect((await decide('approve', { arguments: { limit: 4 } })).status).toBe(409)
  })

  test('is refused to whoever saw others than somebody else has just approved', async () => {
    const { decide, as, step } = await setUp({ tool_name: 'growth_list_queue' })
    const [first, second] = [await as('approver'), await as('owner')]
    expect((await decide('approve', { arguments: { limit: 3 } }, first)).status).toBe(200)
    expect((await decide('approve', {}, first)).status).toBe(200)
    const refused = await decide('approve', {}, second)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('approved with other arguments'),
    ])
    expect((await decide('approve', { arguments: { limit: 3 } }, second)).status).toBe(200)
    expect(await step()).toMatchObject({ args: { limit: 3 } })
  })

  test('with arguments that name records by handles of the conversation, or by any id', async () => {
    const id = newId()
    const { decide, step, job, ...surface } = await setUp({ tool_name: 'growth_reject_item' })
    const { id: conversation } = await makeConversation(surface)
    await app.owner`update agent_conversation set handles = ${app.owner.json({ 'item:3': id })}
      where id = ${conversation}`
    await app.owner`update agent_job set conversation_id = ${conversation}
      where id = ${await job()}`
    const unknown = await decide('approve', { arguments: { id: 'item:4' } })
    expect([unknown.status, unknown.body.error.details]).toEqual([
      400,
      [{ path: 'arguments', message: 'no such record in this conversation: item:4' }],
    ])
    expect((await decide('approve', { arguments: { id: 'item:3' } })).body.approval).toMatchObject({
      edited: true,
      arguments: { id },
    })
    expect(await step()).toMatchObject({
      state: 'ready',
      args: { id },
      args_hash: argumentsHash({ id }),
    })
    const { decide: elsewhere } = await setUp({ tool_name: 'growth_reject_item' })
    expect((await elsewhere('approve', { arguments: { id } })).body.approval).toMatchObject({
      arguments: { id },
    })
  })

  test('is for people who may run the operation themselves', async () => {
    const { decide, as, key, step } = await setUp({ tool_name: 'growth_resume_automation' })
    for (const role of ['viewer', 'editor'] as const)
      for (const how of ['approve', 'reject'] as const)
        expect([role, (await decide(how, {}, await as(role))).status]).toEqual([role, 403])
    expect((await decide('approve', {}, key)).status).toBe(403)
    expect((await step()).state).toBe('asked')
    expect((await decide('approve', {}, await as('approver'))).status).toBe(200)
  })

  test('is refused once the job has ended, as rejecting is', async () => {
    const { decide, send, job, id } = await setUp()
    expect((await send('POST', `jobs/${await job()}/cancel`)).status).toBe(200)
    expect((await send('GET', `approvals/${id}`)).body.approval).toMatchObject({
      status: 'rejected',
      decided_how: 'cancel',
      decided_by: null,
    })
    for (const how of ['approve', 'reject'] as const) expect((await decide(how)).status).toBe(409)
  })
})

test('approvals are listed by status, and outlive their job', async () => {
  const { send, decide, id, job } = await setUp()
  const list = async (status: string) =>
    (await send('GET', `approvals?status=${status}`)).body.approvals
  expect((await list('pending')).map((one: Approval) => one.id)).toEqual([id])
  await decide('reject')
  expect([await list('pending'), (await list('rejected')).length]).toEqual([[], 1])
  await app.owner`delete from agent_job where id = ${await job()}`
  expect(await list('rejected')).toEqual([
    expect.objectContaining({ id, goal: 'What is late?', job: null }),
  ])
})
