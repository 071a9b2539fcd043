/** Jobs over HTTP: followed, traced and cancelled. No job runs here. */
import { describe, expect, test } from 'bun:test'
import { makeApproval, makeJob } from '#test/support/agent/records'
import { newSurface } from '#test/support/agent/surface'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

const statusesOf = async (tenantId: string) =>
  Object.fromEntries(
    (await app.owner`select id, status from agent_job where tenant_id = ${tenantId}`).map(
      ({ id, status }) => [id, status],
    ),
  )

const workOf = async (job: string) =>
  (await app.owner`select run_at from work where kind = 'agent' and ref_id = ${job}`)[0]?.run_at

describe('cancelling', () => {
  test('ends the job and its descendants with all that they ask, and leaves no work', async () => {
    const surface = await newSurface(app)
    const { job: root, conversation } = await surface.asked()
    const { id: child } = await makeJob(surface, { parent_id: root, root_id: root, depth: 1 })
    const { id: over } = await makeJob(surface, {
      parent_id: root,
      root_id: root,
      depth: 1,
      status: 'completed',
      ended_at: new Date(),
    })
    const { id: grandchild } = await makeJob(surface, { parent_id: child, root_id: root, depth: 2 })
    const { id: approval } = await makeApproval(surface)
    await app.owner`update agent_step set job_id = ${grandchild}
      where tenant_id = ${surface.tenantId}`
    await app.owner`update agent_approval set job_id = ${grandchild} where id = ${approval}`
    const { status, body } = await surface.send('POST', `jobs/${root}/cancel`)
    expect([status, body.job.status, body.job.error]).toEqual([200, 'cancelled', null])
    expect(await statusesOf(surface.tenantId)).toMatchObject({
      [root]: 'cancelled',
      [child]: 'cancelled',
      [grandchild]: 'cancelled',
      [over]: 'completed',
    })
    const { steps, approvals } = (await surface.send('GET', `jobs/${grandchild}`)).body
    expect([steps[0].state, approvals[0].status, approvals[0].decided_how]).toEqual([
      'cancelled',
      'rejected',
      'cancel',
    ])
    expect(await workOf(root)).toBeUndefined()
    const { events, done } = (await surface.send('GET', `jobs/${root}/events?after=1`)).body
    expect([events.map(({ data }: { data: object }) => data), done]).toEqual([
      [{ status: 'cancelled', error: null }],
      true,
    ])
    expect(
      (await surface.send('POST', `conversations/${conversation}/messages`, { content: 'Again' }))
        .status,
    ).toBe(201)
  })

  test('lets the next message of the conversation go on at once, unless another job is before it', async () => {
    const surface = await newSurface(app)
    const { conversation, job: first } = await surface.asked()
    const more = async () =>
      (await surface.send('POST', `conversations/${conversation}/messages`, { content: 'And?' }))
        .body.job.id
    const [second, third] = [await more(), await more()]
    const isDueAfter = async (over: string) =>
      (await workOf(third)) <=
      (await app.owner<{ ended_at: Date }[]>`select ended_at from agent_job where id = ${over}`)[0]!
        .ended_at
    await surface.send('POST', `jobs/${second}/cancel`)
    expect(await isDueAfter(second)).toBe(false)
    await surface.send('POST', `jobs/${first}/cancel`)
    expect(await isDueAfter(first)).toBe(true)
  })

  test('twice changes nothing', async () => {
    const surface = await newSurface(app)
    const { job } = await surface.asked()
    const first = await surface.send('POST', `jobs/${job}/cancel`)
    const again = await surface.send('POST', `jobs/${job}/cancel`)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect((await surface.send('GET', `jobs/${job}/events`)).body.events).toHaveLength(2)
  })

  test('is for everybody on their own jobs, and for all but viewers on those of others', async () => {
    const surface = await newSurface(app)
    const viewer = await signedIn(app, surface.tenantId, 'viewer')
    const { job } = await surface.asked()
    const refused = await surface.send('POST', `jobs/${job}/cancel`, undefined, viewer.key)
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      expect.stringContaining('the jobs of others'),
    ])
    const own = await surface.send('POST', 'messages', { content: 'Mine' }, viewer.key)
    expect(
      (await surface.send('POST', `jobs/${own.body.job.id}/cancel`, undefined, viewer.key)).status,
    ).toBe(200)
    expect(
      (await surface.send('POST', `jobs/${job}/cancel`, undefined, await surface.as('editor')))
        .status,
    ).toBe(200)
  })
})

describe('events', () => {
  test('that come while a caller waits are given at once', async () => {
    const surface = await newSurface(app)
    const { job } = await surface.asked()
    const waiting = surface.send('GET', `jobs/${job}/events?after=1&wait=25`)
    await surface.send('POST', `jobs/${job}/cancel`)
    const { status, body } = await waiting
    expect([
      status,
      body.events.map(({ seq }: { seq: number }) => seq),
      body.nextSeq,
      body.done,
    ]).toEqual([200, [2], 2, true])
  })

  test('are not waited for when the job is over', async () => {
    const surface = await newSurface(app)
    const { job } = await surface.asked()
    await surface.send('POST', `jobs/${job}/cancel`)
    expect((await surface.send('GET', `jobs/${job}/events?after=2&wait=25`)).body).toEqual({
      events: [],
      nextSeq: 2,
      resync: false,
      done: true,
    })
  })

  test('are all given to who names a number below the oldest, with nothing to forget', async () => {
    const surface = await newSurface(app)
    const { job, conversation } = await surface.asked()
    await surface.send('POST', `jobs/${job}/cancel`)
    // As after the oldest were removed.
    const [left] = await app.owner`with gone as (delete from agent_event
        where tenant_id = ${surface.tenantId} and seq = 1)
      select seq::int, conversation_seq::int as number from agent_event where job_id = ${job}
        and seq > 1`
    for (const [path, oldest] of [
      [`jobs/${job}`, left!.seq],
      [`conversations/${conversation}`, left!.number],
    ]) {
      const { body } = await surface.send('GET', `${path}/events?after=${oldest - 1}`)
      expect(body).toMatchObject({ events: [{ seq: oldest }], nextSeq: oldest, resync: false })
    }
  })

  test('come in parts, the last of which says so', async () => {
    const surface = await newSurface(app)
    const { id } = await makeJob(surface, { status: 'completed', ended_at: new Date() })
    await app.owner`insert into agent_event (tenant_id, job_id, seq, at, type, data)
      select ${surface.tenantId}, ${id}, n, now(), 'step.started', '{}'
        from generate_series(2, 700) n`
    await app.owner`update agent_job set next_event = 701 where id = ${id}`
    const first = (await surface.send('GET', `jobs/${id}/events`)).body
    const second = (await surface.send('GET', `jobs/${id}/events?after=${first.nextSeq}`)).body
    expect([first.events.length, first.done, second.events.length, second.done]).toEqual([
      500,
      false,
      200,
      true,
    ])
  })
})

describe('a job', () => {
  test('shows the first 4,000 characters of what each step gave', async () => {
    const surface = await newSurface(app)
    const { id } = await makeApproval(surface)
    const { job_id } = (await surface.send('GET', `approvals/${id}`)).body.approval
    await app.owner`update agent_step set result = ${app.owner.json({ text: 'é'.repeat(4_001) })}
      where job_id = ${job_id}`
    const [step] = (await surface.send('GET', `jobs/${job_id}`)).body.steps
    expect([step.result.length, step.resultIsCut, step.arguments]).toEqual([4_000, true, {}])
  })

  test('is found by status, kind and conversation', async () => {
    const surface = await newSurface(app)
    const { conversation, job } = await surface.asked()
    const { id: other } = await makeJob(surface, {
      status: 'completed',
      ended_at: new Date(),
      kind: 'task',
    })
    const ids = async (query: string) =>
      (await surface.send('GET', `jobs?${query}`)).body.jobs.map(({ id }: { id: string }) => id)
    expect(await ids('')).toEqual([other, job])
    expect([
      await ids('status=queued'),
      await ids('kind=task'),
      await ids(`conversationId=${conversation}`),
    ]).toEqual([[job], [other], [job]])
  })
})
