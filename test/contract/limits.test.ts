/**
 * What a plan refuses, over every operation that it limits: exact messages, statuses, Retry-After,
 * and which refusal comes first. The contract declares which operations these are, so new ones are
 * covered.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { keyOperations } from '#contract/index'
import { billingStates, type PlanOverrides } from '#contract/limits'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { hourOf, monthOf, planOf } from '#domain/app/plan'
import { dayOf, readCounter, tiers } from '#domain/app/read-budget'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { eventually, type Reply } from '#test/support/app'
import {
  call,
  legalInput,
  newWorkspace,
  prefixOf,
  recipes,
  type Workspace,
} from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { steppedDb } from '#test/support/database/clock'
import { setPlan, setUsed } from '#test/support/database/writes'
import { limitsOf } from '#test/support/http/rate-limits'
import { use, useApp } from '#test/support/use'
import { capped, costly, declares, featured, limitedOnes, metered, reading } from './limited.ts'

const named = (list: NamedOp[]) => list.map((o) => [o.id, o] as const)

let workspace: Workspace
const db = use(steppedDb)
const app = useApp(() => ({ database: db.options }))
beforeEach(async () => {
  // Recipes make their records by the clock of this machine.
  await db.clock.set(new Date())
  workspace = await newWorkspace(app)
})

const now = async () => new Date(await db.clock.now())
const setBilling = (billing: string) => setPlan(app, workspace.tenantId, { billing })
const setOverrides = (overrides: PlanOverrides) => setPlan(app, workspace.tenantId, { overrides })
const spend = (key: string, period: string, used: number) =>
  setUsed(app, workspace.tenantId, { key, period, used })

const send = async (o: NamedOp, more: Parameters<typeof call>[0] | object = {}) =>
  call({ ...workspace, ...more }, o, await legalInput(workspace, o))

/**
 * After a step of its clock a process answers 503 until it has renewed what it owns: retry under
 * the same key, as clients do.
 */
const afterStep = (o: NamedOp, input: Record<string, unknown>) => {
  const headers = { 'idempotency-key': newId() }
  return eventually(
    () => call({ ...workspace, headers }, o, input),
    ({ status }) => status !== 503 && status !== 202,
  )
}

const expectRefused = (reply: Reply, status: number, message: string) =>
  expect([reply.status, reply.body.error?.message]).toEqual([status, message])

const planOfTests = planOf({ plan: 'team' })

describe.each(named(limitedOnes.filter((o) => !costly.includes(o))))('%s', (_, o) => {
  test('goes on whatever the state of billing', async () => {
    const input = await legalInput(workspace, o)
    await setBilling('billing_suspended')
    expect((await call(workspace, o, input)).status).toBe(o.status)
  })
})

describe.each(named(costly))('%s', (_, o) => {
  test.each(billingStates.filter((state) => state !== 'ok'))(
    'is refused with plan_invalid:%s',
    async (billing) => {
      const input = await legalInput(workspace, o)
      await setBilling(billing)
      const reply = await call(workspace, o, input)
      expectRefused(reply, 403, `plan_invalid:${billing}`)
      expect([reply.body.error?.code, reply.headers.get('retry-after')]).toEqual([
        'plan_invalid',
        null,
      ])
      await setBilling('ok')
      expect((await call(workspace, o, input)).status).toBe(o.status)
    },
  )
})

describe.each(named(capped))('%s', (_, o) => {
  const cap = o.cap!

  test('reports its limits, on success and on refusal', async () => {
    const first = limitsOf(await send(o))
    const limit = planOfTests.caps[cap]
    expect(first.policy[cap]).toEqual({ q: limit, w: 3_600 })
    expect(first.left[cap]).toEqual({ r: limit - 1, t: expect.any(Number) })
    expect(first.left[cap]!.t).toBeWithin(1, 3_601)
    expect(Object.keys(first.policy)).toEqual(o.quota ? [cap, o.quota] : [cap])
    if (o.quota) expect(first.left[o.quota]!.r).toBeLessThan(planOfTests.quotas[o.quota])
    await setOverrides({ [cap]: 1 })
    const refused = await send(o)
    expectRefused(refused, 429, `rate_limited:${cap}`)
    const limits = limitsOf(refused)
    expect([limits.policy[cap], limits.left[cap]?.r]).toEqual([{ q: 1, w: 3_600 }, 0])
    expect(String(limits.left[cap]?.t)).toBe(refused.headers.get('retry-after')!)
  })

  test('is refused at its hourly cap, and works again after Retry-After', async () => {
    const input = await legalInput(workspace, o)
    await spend(cap, hourOf(await now()), planOfTests.caps[cap])
    const refused = await call(workspace, o, input)
    expectRefused(refused, 429, `rate_limited:${cap}`)
    expect(refused.body.error?.code).toBe('rate_limited')
    await db.clock.pass(Number(refused.headers.get('retry-after')) * 1_000)
    expect((await afterStep(o, input)).status).toBe(o.status)
  })

  test('reports the same limits for a replay, which uses up nothing', async () => {
    const input = await legalInput(workspace, o)
    const headers = { 'idempotency-key': newId() }
    const [first, again] = [
      await call({ ...workspace, headers }, o, input),
      await call({ ...workspace, headers }, o, input),
    ]
    expect([again.headers.get('idempotency-replayed'), again.text]).toEqual(['true', first.text])
    expect(limitsOf(again).left[cap]?.r).toBe(limitsOf(first).left[cap]?.r as number)
  })
})

describe.each(named(metered))('%s', (_, o) => {
  const quota = o.quota!

  test("is refused when the month's quota is used up, and works the next month", async () => {
    const at = await now()
    const input = await legalInput(workspace, o)
    await spend(quota, monthOf(at), planOfTests.quotas[quota])
    const refused = await call(workspace, o, input)
    expectRefused(refused, 403, `plan_quota_exceeded:${quota}`)
    expect([refused.body.error?.code, refused.headers.get('retry-after')]).toEqual([
      'plan_quota_exceeded',
      null,
    ])
    const { left } = limitsOf(refused)
    expect(left[quota]?.r).toBe(0)
    await db.clock.pass(left[quota]!.t! * 1_000)
    expect((await afterStep(o, input)).status).toBe(o.status)
  })
})

describe.each(named(featured))('%s', (_, o) => {
  test('is refused if the plan lacks its feature', async () => {
    const input = await legalInput(workspace, o)
    await setOverrides({ features: { [o.feature!]: false } })
    const reply = await call(workspace, o, input)
    expectRefused(reply, 403, `plan_feature_disabled:${o.feature}`)
    expect(reply.body.error?.code).toBe('plan_feature_disabled')
    await setOverrides({})
    expect((await call(workspace, o, input)).status).toBe(o.status)
  })
})

for (const o of reading)
  test(`${o.id} is refused when the day's reads are spent, until the next day`, async () => {
    const input = await legalInput(workspace, o)
    for (const tier of tiers) await spend(readCounter(tier), dayOf(await now()), 1_000_000_000)
    const reply = await call(workspace, o, input)
    expectRefused(reply, 429, 'x_read_budget_exhausted')
    const wait = Number(reply.headers.get('retry-after')) * 1_000
    const resumes = new Date((await now()).getTime() + wait)
    expect([resumes.getUTCHours(), resumes.getUTCMinutes()]).toEqual([0, 0])
    await db.clock.pass(wait)
    expect((await afterStep(o, input)).status).toBe(o.status)
  })

/** Makes the plan refuse everything that it can. */
const refuseAll = async ({ cap, quota, feature }: NamedOp) => {
  await setBilling('billing_suspended')
  await setOverrides({
    ...(cap ? { [cap]: 0 } : {}),
    ...(quota ? { [quota]: 0 } : {}),
    ...(feature ? { features: { [feature]: false } } : {}),
  })
}

const limited = keyOperations.filter((o) => o.cap || o.quota || o.feature)

describe.each(named(limited))('of several refusals, %s answers the first:', (_, o) => {
  const refused = async (input: Record<string, unknown>, more: object = {}) => {
    const { status, body } = await call({ ...workspace, ...more }, o, input)
    return [status, body.error?.code]
  }
  const hasId = pathParams(o.path).length > 0

  test('caller, scope, input, id, key, then plan', async () => {
    const input = await legalInput(workspace, o)
    const used = { 'idempotency-key': newId() }
    const other = await legalInput(workspace, o, 'whole')
    const first = await call({ ...workspace, headers: used }, o, other)
    expect(first.status).toBe(o.status)
    await refuseAll(o)
    const { api_key: key } = await app.newKey(
      scopes.filter((scope) => scope !== o.scope),
      workspace.tenantId,
    )
    expect(await refused(input, { key: null })).toEqual([401, 'unauthenticated'])
    expect(await refused({ ...input, no_such_field: 1 }, { key })).toEqual([403, 'missing_scope'])
    expect(await refused({ ...input, no_such_field: 1 })).toEqual([400, 'invalid_input'])
    if (hasId) {
      expect(await refused({ ...input, id: newId() })).toEqual([404, 'not_found'])
      expect(await refused({ ...input, id: newId() }, { headers: used })).toEqual([
        404,
        'not_found',
      ])
    }
    const replayed = await call({ ...workspace, headers: used }, o, other)
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([
      o.status,
      'true',
    ])
    if (Bun.deepEquals(input, other)) return
    expect(await refused(input, { headers: used })).toEqual([422, 'idempotency_key_reused'])
  })

  const steps = recipes[prefixOf(o)]?.before?.[o.id.slice(prefixOf(o).length + 1)] ?? []
  const inFirstState = async () => {
    const record = await recipes[prefixOf(o)]!.make(workspace)
    await refuseAll(o)
    expect(await refused({ ...sampleOf(o, 'needed'), ...record })).toEqual([409, 'conflict'])
  }
  if (steps.length > 0) test('state, then plan', inFirstState)

  const withoutAccount = async () => {
    const input = await legalInput(workspace, o)
    await app.owner`update connection set status = 'disconnected', is_default = false
      where tenant_id = ${workspace.tenantId}`
    await refuseAll(o)
    expect(await refused(input)).toEqual([400, 'x_not_connected'])
  }
  if (declares(o, 'x_not_connected')) test('account, then plan', withoutAccount)

  test('feature, billing, quota, then cap', async () => {
    const input = await legalInput(workspace, o)
    await refuseAll(o)
    if (o.feature) expect(await refused(input)).toEqual([403, 'plan_feature_disabled'])
    const none = { ...(o.cap ? { [o.cap]: 0 } : {}), ...(o.quota ? { [o.quota]: 0 } : {}) }
    await setOverrides(none)
    if (declares(o, 'plan_invalid')) expect(await refused(input)).toEqual([403, 'plan_invalid'])
    await setBilling('ok')
    if (o.quota) expect(await refused(input)).toEqual([403, 'plan_quota_exceeded'])
    if (o.cap) await setOverrides({ [o.cap]: 0 })
    if (o.cap) expect(await refused(input)).toEqual([429, 'rate_limited'])
  })
})

test.each(named(keyOperations.filter(readsOnly)))(
  '%s stays available whatever the plan refuses',
  async (_, o) => {
    const input = await legalInput(workspace, o)
    await refuseAll(o)
    for (const tier of tiers) await spend(readCounter(tier), dayOf(await now()), 1_000_000_000)
    const features = Object.fromEntries(
      limited.flatMap(({ feature }) => (feature ? [[feature, false]] : [])),
    )
    await setOverrides({ features, reads_free: 0, reads_payg: 0 })
    expect((await call(workspace, o, input)).status).toBe(o.status)
  },
)
