/**
 * Direct calls of capabilities that a person must allow: what is asked, how it ends, and what its
 * caller finds then.
 */
import { describe, expect, test } from 'bun:test'
import { asClass, call, clock, NAME, options, refused } from '#test/support/agent/direct-calls'
import type { Surface } from '#test/support/agent/surface'
import { eventually, type Reply } from '#test/support/app'
import { makeDue } from '#test/support/database/writes'
import { useApp } from '#test/support/use'

const app = useApp(options(20_000))
const as = asClass(app)

// biome-ignore lint/suspicious/noExplicitAny: an error of any code
const namedIn = ({ body }: Reply<any>): Record<string, string> =>
  Object.fromEntries(
    body.error.details.map(({ path, message }: { path: string; message: string }) => [
      path,
      message,
    ]),
  )

const ask = async ({ send, as: roleOf }: Surface) =>
  send('PUT', `tool-rules/${NAME}`, { decision: 'ask' }, await roleOf('owner'))

/** Approvals like those that wait already, so that there are `count`. */
const fillApprovals = (tenantId: string, count: number) => app.owner`
  insert into agent_approval (id, tenant_id, job_id, step_id, goal, tool_name, summary, arguments,
    arguments_hash, subject, why, status,
    expires_at, created_at, updated_at)
  select gen_random_uuid(), a.tenant_id, a.job_id, gen_random_uuid(), 'flood', tool_name, summary,
    arguments, arguments_hash, subject, why, status,
    expires_at, created_at, updated_at
  from agent_approval a, generate_series(1, ${count} - (select count(*)::int from agent_approval
    where tenant_id = ${tenantId})) n
  where a.id = (select min(id::text)::uuid from agent_approval where tenant_id = ${tenantId})`

describe('a direct call that must be asked', () => {
  test('finds a place when one caller has asked for all but the last, which are for whoever has asked for few', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const other = (await app.newKey(['api:read', 'api:write', 'workspace:use'], surface.tenantId))
        .api_key
      const asked = async (timeZone: string, by = surface.key) =>
        refused(await call(surface, { by, body: { timeZone } }))
      expect(await asked('Asia/Tokyo')).toEqual([409, 'approval_required'])
      await fillApprovals(surface.tenantId, 150)
      expect(await asked('Asia/Seoul')).toEqual([429, 'rate_limited'])
      expect(await asked('Asia/Seoul', other)).toEqual([409, 'approval_required'])
      await fillApprovals(surface.tenantId, 200)
      expect(await asked('Asia/Dubai', other)).toEqual([429, 'rate_limited'])
      await app.owner`delete from agent_approval where tenant_id = ${surface.tenantId}
        and goal = 'flood'`
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
      expect(
        refused(await call(surface, { once: 'later', body: { timeZone: 'Asia/Tokyo' } })),
      ).toEqual([409, 'approval_required'])
      expect([(await surface.send('GET', `jobs/${job}`)).body.job.status, clock.calls]).toEqual([
        'waiting_approval',
        0,
      ])
      expect(
        (
          await surface.send(
            'POST',
            `approvals/${approval}/approve`,
            {},
            await surface.as('approver'),
          )
        ).status,
      ).toBe(200)
      const done = await eventually(
        () => call(surface, { once: 'later', body: { timeZone: 'Asia/Tokyo' } }),
        ({ status }) => status !== 202,
      )
      expect([done.status, done.body.result.timeZone, clock.calls]).toEqual([200, 'Asia/Tokyo', 1])
      expect(
        (await surface.send('GET', 'jobs?kind=action')).body.jobs.map(
          ({ status }: { status: string }) => status,
        ),
      ).toEqual(['completed'])
    }))

  test('joins an equal one of the same caller, and of no other', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const other = (await app.newKey(['api:read', 'api:write', 'workspace:use'], surface.tenantId))
        .api_key
      const [first, equal] = [
        namedIn(await call(surface)),
        namedIn(await call(surface, { once: 'k' })),
      ]
      expect(equal).toEqual(first)
      const unequal = [
        namedIn(await call(surface, { body: { timeZone: 'UTC' } })),
        namedIn(await call(surface, { by: other })),
      ]
      expect(new Set([first, ...unequal].map(({ approval }) => approval)).size).toBe(3)
      await surface.send(
        'POST',
        `approvals/${first.approval}/reject`,
        {},
        await surface.as('owner'),
      )
      expect(namedIn(await call(surface)).approval).not.toBe(first.approval!)
    }))

  test.each(['reject', 'cancel', 'expire'])(
    'that ends by a %s answers 422 under its key, and never runs',
    (how) =>
      as('draft', async (surface) => {
        await ask(surface)
        const { approval, job } = namedIn(await call(surface, { once: 'never' }))
        if (how === 'reject')
          await surface.send(
            'POST',
            `approvals/${approval}/reject`,
            { reason: 'not now' },
            await surface.as('owner'),
          )
        if (how === 'cancel') await surface.send('POST', `jobs/${job}/cancel`)
        if (how === 'expire') {
          await app.owner`update agent_approval set expires_at = now() - interval '1 s'
            where id = ${approval!}`
          await makeDue(app, job!)
          // Begins work, and with it a look for what is due.
          await surface.asked()
        }
        const ended = await eventually(
          async () => (await surface.send('GET', `jobs/${job}`)).body,
          ({ job: { endedAt } }) => endedAt !== null,
        )
        const [status, error] = {
          reject: ['failed', 'rejected'],
          cancel: ['cancelled', null],
          expire: ['failed', 'approval_expired'],
        }[how]!
        expect([ended.job, ended.approvals[0].status]).toMatchObject([
          { status, error },
          'rejected',
        ])
        const reply = await call(surface, { once: 'never' })
        const words = {
          reject: 'not now',
          cancel: 'the call was cancelled',
          expire: 'nobody approved it',
        }[how]!
        expect([...refused(reply), reply.body.error.message]).toEqual([
          422,
          'capability_failed',
          expect.stringContaining(words),
        ])
        expect(clock.calls).toBe(0)
      }),
  )

  test('is not asked of a person whose role may, and not made by one who only reads', () =>
    as('commit', async (surface) => {
      await ask(surface)
      expect((await call(surface, { by: await surface.as('editor') })).status).toBe(200)
      expect(refused(await call(surface, { by: await surface.as('viewer') }))).toEqual([
        403,
        'forbidden',
      ])
      expect(refused(await call(surface))).toEqual([409, 'approval_required'])
    }))

  test('is made by a key whose role may, if only its class would have it asked', () =>
    as('commit', async (surface) => expect((await call(surface)).status).toBe(200)))

  test('is not made against a rule of the workspace, whoever calls', () =>
    as('draft', async (surface) => {
      const owner = await surface.as('owner')
      await surface.send('PUT', `tool-rules/${NAME}`, { decision: 'deny' }, owner)
      for (const by of [owner, surface.key])
        expect(refused(await call(surface, { by }))).toEqual([403, 'forbidden'])
    }))

  test('ends if its caller has gone when it is allowed', () =>
    as('draft', async (surface) => {
      await ask(surface)
      const { id, api_key } = await app.newKey(
        ['api:read', 'api:write', 'workspace:use'],
        surface.tenantId,
      )
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
