/** Direct calls of capabilities over HTTP: each code, what is kept of them, and what people decide about them. */
import { describe, expect, test } from 'bun:test'
import type { Tool } from '#decisions/agent/toolbox'
import { newId } from '#kernel/ids'
import type { Scope } from '#kernel/scopes'
import { call, clock, NAME, options } from '#test/support/agent/direct-calls'
import { brokenInvariants } from '#test/support/agent/invariants'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually, type Reply } from '#test/support/app'
import { makeDue, setPlan } from '#test/support/database/writes'
import { useApp } from '#test/support/use'

const app = useApp(options(20_000))
/** Does not wait for what takes time. */
const hasty = useApp(options(50))

const as = async (of: Tool['class'], run: (surface: Surface) => Promise<void>, at = app) => {
  Object.assign(clock, { class: of, way: of === 'outside_read' ? 'read' : 'command', calls: 0, refuses: undefined })
  clock.answers = Promise.resolve()
  const surface = await newSurface(at)
  try {
    await run(surface)
  } finally {
    expect(await brokenInvariants(at.owner)).toEqual([])
    Object.assign(clock, { class: 'read', way: 'read' })
  }
}

const jobsOf = async ({ send }: Surface) => (await send('GET', 'jobs?kind=action')).body.jobs

// biome-ignore lint/suspicious/noExplicitAny: an error of any code
const refused = ({ status, body }: Reply<any>) => [status, body.error?.code]

// biome-ignore lint/suspicious/noExplicitAny: an error of any code
const namedIn = ({ body }: Reply<any>): Record<string, string> =>
  Object.fromEntries(body.error.details.map(({ path, message }: { path: string; message: string }) => [path, message]))

const ask = async ({ send, as: roleOf }: Surface) => send('PUT', `tool-rules/${NAME}`, { decision: 'ask' }, await roleOf('owner'))

describe('a direct call', () => {
  test('answers 200 with the result, and is kept as a job of one step', () =>
    as('read', async (surface) => {
      const reply = await call(surface, { body: { timeZone: 'Europe/Berlin' } })
      expect([reply.status, Object.keys(reply.body), reply.body.result.timeZone]).toEqual([200, ['result'], 'Europe/Berlin'])
      const [job, ...others] = await jobsOf(surface)
      expect([job.status, job.toolCalls, others]).toEqual(['completed', 1, []])
      const { body } = await surface.send('GET', `jobs/${job.id}`)
      expect(body.steps).toMatchObject([{ name: NAME, state: 'done', arguments: { timeZone: 'Europe/Berlin' } }])
      expect(body.steps[0].result).toContain('timeZone: Europe/Berlin')
      expect((await surface.send('GET', `jobs/${job.id}/trace`)).body.spans).toHaveLength(2)
      const [audited] = await app.owner`select actor_kind, detail from audit where operation = 'agent.actions.call' and ref_id = ${job.id}`
      expect(audited).toEqual({ actor_kind: 'key', detail: { tool: NAME } })
    }))

  test('answers 400 to arguments that the capability does not take', () =>
    as('read', async (surface) => {
      const unknown = await call(surface, { body: { zone: 'UTC' } })
      expect([...refused(unknown), unknown.body.error.details[0].path]).toEqual([400, 'invalid_input', 'zone'])
      const wrong = await call(surface, { body: { timeZone: 'Mars/Olympus' } })
      expect(wrong.body.error.message).toContain('there is no Mars/Olympus')
      expect(await jobsOf(surface)).toEqual([])
    }))

  test('answers 404 to what is no capability, and names the route of an operation', () =>
    as('read', async (surface) => {
      expect(refused(await call(surface, { name: 'no-such-thing' }))).toEqual([404, 'not_found'])
      const near = await call(surface, { name: 'get_curent_time' })
      expect([near.status, near.body.error.message]).toEqual([404, 'no such capability; did you mean get_current_time?'])
      const growth = await call(surface, { name: 'growth_approve_item' })
      expect([growth.status, growth.body.error.message]).toEqual([
        404,
        'growth_approve_item is no capability: send POST /api/v1/growth/items/{id}/approve',
      ])
      for (const inner of ['use_tools', 'search_conversation']) expect((await call(surface, { name: inner })).status).toBe(404)
    }))

  test('answers 422 to what the capability refuses, which a key repeats', () =>
    as('draft', async (surface) => {
      clock.refuses = 'the clock stands still'
      for (const _ of [1, 2]) {
        const reply = await call(surface, { once: 'again' })
        expect([...refused(reply), reply.body.error.message]).toEqual([
          422,
          'capability_failed',
          'capability_failed: the clock stands still',
        ])
      }
      expect(clock.calls).toBe(1)
      const [job, ...others] = await jobsOf(surface)
      expect([job.status, job.error, others]).toEqual(['failed', 'capability_failed', []])
    }))

  test('under a key is made once, and its answer is repeated to the byte', () =>
    as('draft', async (surface) => {
      const [first, second] = [await call(surface, { once: 'k' }), await call(surface, { once: 'k' })]
      expect([second.text, second.headers.get('idempotency-replayed'), clock.calls]).toEqual([first.text, 'true', 1])
      expect(refused(await call(surface, { once: 'k', body: { timeZone: 'UTC' } }))).toEqual([422, 'idempotency_key_reused'])
    }))

  test('needs the scopes of the workspace and of the capability', () =>
    as('read', async (surface) => {
      const key = async (...scopes: Scope[]) => (await app.newKey(scopes, surface.tenantId)).api_key
      expect(refused(await call(surface, { by: await key('api:read', 'api:write') }))).toEqual([403, 'missing_scope'])
      expect(refused(await call(surface, { by: await key('api:read', 'workspace:use') }))).toEqual([403, 'missing_scope'])
      expect(refused(await call(surface, { by: await key('api:write', 'workspace:use') }))).toEqual([403, 'forbidden'])
      expect((await call(surface, { by: await key('api:read', 'api:write', 'workspace:use') })).status).toBe(200)
    }))

  test('counts against the hour of its tool', () =>
    as('draft', async (surface) => {
      await setPlan(app, surface.tenantId, { overrides: { agent_calls_hour: 2 } })
      expect([(await call(surface)).status, (await call(surface)).status]).toEqual([200, 200])
      const third = await call(surface)
      expect([...refused(third), third.body.error.message]).toEqual([429, 'rate_limited', 'rate_limited:agent_calls_hour'])
    }))
})

/** Approvals like those that wait already, so that there are `count`. */
const fillApprovals = (tenantId: string, count: number) => app.owner`
  insert into agent_approval (id, tenant_id, job_id, step_id, goal, tool_name, summary, arguments, arguments_hash, subject, why, status,
    expires_at, created_at, updated_at)
  select gen_random_uuid(), a.tenant_id, a.job_id, gen_random_uuid(), 'flood', tool_name, summary, arguments, arguments_hash, subject, why, status,
    expires_at, created_at, updated_at
  from agent_approval a, generate_series(1, ${count} - (select count(*)::int from agent_approval where tenant_id = ${tenantId})) n
  where a.id = (select min(id::text)::uuid from agent_approval where tenant_id = ${tenantId})`

describe('a direct call that must be asked', () => {
  test('finds a place when one caller has asked for all but the last, which are for whoever has asked for few', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const other = (await app.newKey(['api:read', 'api:write', 'workspace:use'], surface.tenantId)).api_key
      const asked = async (timeZone: string, by = surface.key) => refused(await call(surface, { by, body: { timeZone } }))
      expect(await asked('Asia/Tokyo')).toEqual([409, 'approval_required'])
      await fillApprovals(surface.tenantId, 150)
      expect(await asked('Asia/Seoul')).toEqual([429, 'rate_limited'])
      expect(await asked('Asia/Seoul', other)).toEqual([409, 'approval_required'])
      await fillApprovals(surface.tenantId, 200)
      expect(await asked('Asia/Dubai', other)).toEqual([429, 'rate_limited'])
      await app.owner`delete from agent_approval where tenant_id = ${surface.tenantId} and goal = 'flood'`
    }))

  test('answers 409 with its approval, and runs once a person allows it; its key then finds the result', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const reply = await call(surface, { once: 'later', body: { timeZone: 'Asia/Tokyo' } })
      expect(refused(reply)).toEqual([409, 'approval_required'])
      const { approval, job, url } = namedIn(reply)
      expect([url, reply.body.error.message]).toEqual([
        expect.stringContaining(`/approvals/${approval}`),
        expect.stringContaining(`approval_required: a person must allow this call at ${url}`),
      ])
      expect(refused(await call(surface, { once: 'later', body: { timeZone: 'Asia/Tokyo' } }))).toEqual([409, 'approval_required'])
      expect([(await surface.send('GET', `jobs/${job}`)).body.job.status, clock.calls]).toEqual(['waiting_approval', 0])
      expect((await surface.send('POST', `approvals/${approval}/approve`, {}, await surface.as('approver'))).status).toBe(200)
      const done = await eventually(
        () => call(surface, { once: 'later', body: { timeZone: 'Asia/Tokyo' } }),
        ({ status }) => status !== 202,
      )
      expect([done.status, done.body.result.timeZone, clock.calls]).toEqual([200, 'Asia/Tokyo', 1])
      expect((await jobsOf(surface)).map(({ status }: { status: string }) => status)).toEqual(['completed'])
    }))

  test('joins an equal one of the same caller, and of no other', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const other = (await app.newKey(['api:read', 'api:write', 'workspace:use'], surface.tenantId)).api_key
      const [first, equal] = [namedIn(await call(surface)), namedIn(await call(surface, { once: 'k' }))]
      expect(equal).toEqual(first)
      const unequal = [namedIn(await call(surface, { body: { timeZone: 'UTC' } })), namedIn(await call(surface, { by: other }))]
      expect(new Set([first, ...unequal].map(({ approval }) => approval)).size).toBe(3)
      await surface.send('POST', `approvals/${first.approval}/reject`, {}, await surface.as('owner'))
      expect(namedIn(await call(surface)).approval).not.toBe(first.approval!)
    }))

  test.each(['reject', 'cancel', 'expire'])('that ends by a %s answers 422 under its key, and never runs', (how) =>
    as('draft', async (surface) => {
      await ask(surface)
      const { approval, job } = namedIn(await call(surface, { once: 'never' }))
      if (how === 'reject') await surface.send('POST', `approvals/${approval}/reject`, { reason: 'not now' }, await surface.as('owner'))
      if (how === 'cancel') await surface.send('POST', `jobs/${job}/cancel`)
      if (how === 'expire') {
        await app.owner`update agent_approval set expires_at = now() - interval '1 s' where id = ${approval!}`
        await makeDue(app, job!)
        // Begins work, and with it a look for what is due.
        await surface.asked()
      }
      const ended = await eventually(
        async () => (await surface.send('GET', `jobs/${job}`)).body,
        ({ job: { endedAt } }) => endedAt !== null,
      )
      expect([ended.job.status, ended.job.error, ended.approvals[0].status]).toEqual([
        ...{ reject: ['failed', 'rejected'], cancel: ['cancelled', null], expire: ['failed', 'approval_expired'] }[how]!,
        'rejected',
      ])
      const reply = await call(surface, { once: 'never' })
      const words = { reject: 'not now', cancel: 'the call was cancelled', expire: 'nobody approved it' }[how]!
      expect([...refused(reply), reply.body.error.message]).toEqual([422, 'capability_failed', expect.stringContaining(words)])
      expect(clock.calls).toBe(0)
    }),
  )

  test('is not asked of a person whose role may, and not made by one who only reads', () =>
    as('commit', async (surface) => {
      await ask(surface)
      expect((await call(surface, { by: await surface.as('editor') })).status).toBe(200)
      expect(refused(await call(surface, { by: await surface.as('viewer') }))).toEqual([403, 'forbidden'])
      expect(refused(await call(surface))).toEqual([409, 'approval_required'])
    }))

  test('is made by a key whose role may, if only its class would have it asked', () =>
    as('commit', async (surface) => expect((await call(surface)).status).toBe(200)))

  test('is not made against a rule of the workspace, whoever calls', () =>
    as('draft', async (surface) => {
      const owner = await surface.as('owner')
      await surface.send('PUT', `tool-rules/${NAME}`, { decision: 'deny' }, owner)
      for (const by of [owner, surface.key]) expect(refused(await call(surface, { by }))).toEqual([403, 'forbidden'])
    }))

  test('ends if its caller has gone when it is allowed', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const { id, api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], surface.tenantId)
      const { approval, job } = namedIn(await call(surface, { by: api_key }))
      await app.owner`update api_key set revoked_at = now() where id = ${id}`
      await surface.send('POST', `approvals/${approval}/approve`, {}, await surface.as('owner'))
      const ended = await eventually(
        async () => (await surface.send('GET', `jobs/${job}`)).body.job,
        ({ endedAt }) => endedAt !== null,
      )
      expect([ended.status, ended.error, clock.calls]).toEqual(['failed', 'caller_gone', 0])
    }))
})

describe('a direct call that takes time', () => {
  test('answers with its outcome', () =>
    as('outside_read', async (surface) => {
      const reply = await call(surface, { body: { timeZone: 'UTC' } })
      expect([reply.status, reply.body.result?.timeZone, clock.calls]).toEqual([200, 'UTC', 1])
    }))

  test('answers 422 if it fails', () =>
    as('outside_read', async (surface) => {
      clock.refuses = 'no answer'
      const reply = await call(surface)
      expect([...refused(reply), reply.body.error.message]).toEqual([422, 'capability_failed', 'capability_failed: no answer'])
    }))

  test('answers 202 with its job if that goes on, and 200 under its key once it is over', () =>
    as(
      'outside_read',
      async (surface) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        clock.answers = promise
        const reply = await call(surface, { once: newId() })
        expect([reply.status, reply.body.result, reply.body.job.kind]).toEqual([202, null, 'action'])
        resolve()
        const over = await eventually(
          async () => (await surface.send('GET', `jobs/${reply.body.job.id}`)).body.job,
          ({ endedAt }) => endedAt !== null,
        )
        expect([over.status, clock.calls]).toEqual(['completed', 1])
      },
      hasty,
    ))

  test('tells a waiting caller that it was cancelled', () =>
    as('outside_read', async (surface) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      clock.answers = promise
      const waiting = call(surface)
      const [job] = await eventually(
        () => jobsOf(surface),
        (jobs) => jobs[0]?.status === 'running',
      )
      await surface.send('POST', `jobs/${job.id}/cancel`)
      resolve()
      expect(refused(await waiting)).toEqual([422, 'capability_failed'])
    }))
})
