/** `tendril admin plan …` beside two running servers, which apply it from the next request on. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

const deployment = use(newDeployment)
const servers = [
  use(() => startServer(deployment.server)),
  use(() => startServer(deployment.server)),
]
let workspace: string
beforeAll(async () => {
  workspace = (await deployment.firstWorkspace()).tenantId
})

const admin = (...args: string[]) => runAdmin(deployment.server, 'plan', ...args)
const set = (...args: string[]) => admin('set', '--workspace', workspace, ...args)

test('a plan that an operator sets takes effect at once on every server', async () => {
  const createBatches = () =>
    Promise.all(servers.map((server) => server.send('POST', 'batches', { body: { count: 1 } })))
  await set('--plan', 'team', '--billing', 'ok', '--clear-overrides')
  expect((await createBatches()).map(({ status }) => status)).toEqual([201, 201])
  const done = await set(
    '--override',
    'create_batch=2',
    '--override',
    'reads_payg=500000',
    '--override',
    'feature:rules=off',
  )
  const overrides = { create_batch: 2, reads_payg: 500_000, features: { rules: false } }
  expect(done).toMatchObject({
    code: 0,
    json: { workspace_id: workspace, plan: 'team', billing: 'ok', overrides },
  })
  for (const { body, headers } of await createBatches()) {
    expect(body.error?.message).toBe('rate_limited:create_batch')
    expect(headers.get('ratelimit-policy')).toStartWith('"create_batch";q=2;w=3600, "posts";')
  }
  await set('--billing', 'trial_expired')
  for (const { body } of await createBatches())
    expect(body.error?.message).toBe('plan_invalid:trial_expired')
  const restored = await set('--billing', 'ok', '--clear-overrides')
  expect(restored.json).toMatchObject({ billing: 'ok', overrides: {} })
  expect((await createBatches()).map(({ status }) => status)).toEqual([201, 201])
})

test('set changes only what it names, and an override set to default returns to the number of the plan', async () => {
  await set('--plan', 'creator', '--override', 'posts=7', '--override', 'audits=1')
  expect((await set('--override', 'posts=default')).json).toMatchObject({
    plan: 'creator',
    billing: 'ok',
    overrides: { audits: 1 },
  })
})

test('get shows the plan and what is used of it', async () => {
  await set(
    '--plan',
    'free',
    '--clear-overrides',
    '--override',
    'articles=1',
    '--override',
    'feature:engagement=on',
  )
  const { code, json } = await admin('get', '--workspace', workspace)
  expect(code).toBe(0)
  expect(json).toMatchObject({
    workspace_id: workspace,
    plan: 'free',
    billing: 'ok',
    features: ['articles', 'audits', 'reports', 'engagement'],
  })
  expect(json.quotas).toContainEqual(
    expect.objectContaining({ key: 'articles', used: 0, limit: 1 }),
  )
  expect(json.reads.map(({ tier, unit }: { tier: string; unit: string }) => [tier, unit])).toEqual([
    ['free', 'resources'],
    ['payg', 'usd_micros'],
  ])
})

describe('set and get refuse, and change nothing:', () => {
  test.each([
    [['set'], 2, '--workspace is missing'],
    [['set', '--workspace', 'w'], 2, '--workspace is not an id: w'],
    [
      ['set', '--workspace', 'OWN'],
      2,
      'nothing to set: give --plan, --billing, --override or --clear-overrides',
    ],
    [
      ['set', '--workspace', 'OWN', '--plan', 'gold'],
      2,
      '--plan must be one of free, creator, team',
    ],
    [
      ['set', '--workspace', 'OWN', '--billing', 'late'],
      2,
      '--billing must be one of ok, billing_suspended',
    ],
    [['set', '--workspace', 'OWN', '--override', 'post=1'], 2, 'did you mean posts?'],
    [
      ['set', '--workspace', 'OWN', '--override', 'posts=many'],
      2,
      '--override posts takes a whole number',
    ],
    [
      ['set', '--workspace', '00000000-0000-4000-8000-000000000000', '--plan', 'free'],
      6,
      'no such workspace',
    ],
    [['get', '--workspace', '00000000-0000-4000-8000-000000000000'], 6, 'no such workspace'],
  ] as [string[], number, string][])('%p', async (args, code, message) => {
    const before = await deployment.owner`select plan, billing, overrides from tenant`
    const result = await admin(...args.map((arg) => (arg === 'OWN' ? workspace : arg)))
    expect([result.code, result.err]).toEqual([code, expect.stringContaining(message)])
    expect(await deployment.owner`select plan, billing, overrides from tenant`).toEqual(before)
  })
})
