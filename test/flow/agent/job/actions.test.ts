/** Direct calls of capabilities over HTTP: each code, and what is kept of them. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Scope } from '#kernel/scopes'
import { asClass, call, clock, NAME, options, refused } from '#test/support/agent/direct-calls'
import type { Surface } from '#test/support/agent/surface'
import { eventually } from '#test/support/app'
import { setPlan } from '#test/support/database/writes'
import { useApp } from '#test/support/use'

const app = useApp(options(20_000))
/** Does not wait for what takes time. */
const hasty = useApp(options(50))
const as = asClass(app)

const jobsOf = async ({ send }: Surface) => (await send('GET', 'jobs?kind=action')).body.jobs

describe('a direct call', () => {
  test('answers 200 with the result, and is kept as a job of one step', () =>
    as('read', async (surface) => {
      const reply = await call(surface, { body: { timeZone: 'Europe/Berlin' } })
      expect([reply.status, Object.keys(reply.body), reply.body.result.timeZone]).toEqual([
        200,
        ['result'],
        'Europe/Berlin',
      ])
      const [job, ...others] = await jobsOf(surface)
      expect([job.status, job.toolCalls, others]).toEqual(['completed', 1, []])
      const { body } = await surface.send('GET', `jobs/${job.id}`)
      expect(body.steps).toMatchObject([
        { name: NAME, state: 'done', arguments: { timeZone: 'Europe/Berlin' } },
      ])
      expect(body.steps[0].result).toContain('timeZone: Europe/Berlin')
      expect((await surface.send('GET', `jobs/${job.id}/trace`)).body.spans).toHaveLength(2)
      const [audited] =
        await app.owner`select actor_kind, detail from audit where operation = 'agent.actions.call'
          and ref_id = ${job.id}`
      expect(audited).toEqual({ actor_kind: 'key', detail: { tool: NAME } })
    }))

  test('answers 400 to arguments that the capability does not take', () =>
    as('read', async (surface) => {
      const unknown = await call(surface, { body: { zone: 'UTC' } })
      expect([...refused(unknown), unknown.body.error.details[0].path]).toEqual([
        400,
        'invalid_input',
        'zone',
      ])
      const wrong = await call(surface, { body: { timeZone: 'Mars/Olympus' } })
      expect(wrong.body.error.message).toContain('there is no Mars/Olympus')
      expect(await jobsOf(surface)).toEqual([])
    }))

  test('answers 404 to what is no capability, and names the route of an operation', () =>
    as('read', async (surface) => {
      expect(refused(await call(surface, { name: 'no-such-thing' }))).toEqual([404, 'not_found'])
      const near = await call(surface, { name: 'get_curent_time' })
      expect([near.status, near.body.error.message]).toEqual([
        404,
        'no such capability; did you mean get_current_time?',
      ])
      const growth = await call(surface, { name: 'growth_approve_item' })
      expect([growth.status, growth.body.error.message]).toEqual([
        404,
        'growth_approve_item is no capability: send POST /api/v1/growth/items/{id}/approve',
      ])
      for (const inner of ['use_tools', 'search_conversation'])
        expect((await call(surface, { name: inner })).status).toBe(404)
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

  test('needs the scopes of the workspace and of the capability', () =>
    as('read', async (surface) => {
      const key = async (...scopes: Scope[]) => (await app.newKey(scopes, surface.tenantId)).api_key
      expect(refused(await call(surface, { by: await key('api:read', 'api:write') }))).toEqual([
        403,
        'missing_scope',
      ])
      expect(refused(await call(surface, { by: await key('api:read', 'workspace:use') }))).toEqual([
        403,
        'missing_scope',
      ])
      expect(refused(await call(surface, { by: await key('api:write', 'workspace:use') }))).toEqual(
        [403, 'forbidden'],
      )
      expect(
        (await call(surface, { by: await key('api:read', 'api:write', 'workspace:use') })).status,
      ).toBe(200)
    }))

  test('counts against the hour of its tool', () =>
    as('draft', async (surface) => {
      await setPlan(app, surface.tenantId, { overrides: { agent_calls_hour: 2 } })
      expect([(await call(surface)).status, (await call(surface)).status]).toEqual([200, 200])
      const third = await call(surface)
      expect([...refused(third), third.body.error.message]).toEqual([
        429,
        'rate_limited',
        'rate_limited:agent_calls_hour',
      ])
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
      expect([...refused(reply), reply.body.error.message]).toEqual([
        422,
        'capability_failed',
        'capability_failed: no answer',
      ])
    }))

  test('answers 202 with its job if that goes on, and 200 under its key once it is over', () =>
    asClass(hasty)('outside_read', async (surface) => {
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
    }))

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
