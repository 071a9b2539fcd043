/** What the workspace may spend, as its members see it. */
import { expect, test } from 'bun:test'
import { monthOf, plans } from '#domain/app/plan'
import { setPlan, setUsed } from '#test/support/database/writes'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

interface Budget {
  key: string
  used: number
  limit: number
  period: string
  resets_at: string
}

test('the plan shows what is used of each quota and cap, with the limits that refusals enforce', async () => {
  const { tenantId } = await app.newWorkspace()
  const { key } = await signedIn(app, tenantId, 'viewer')
  const read = async () => (await app.send('GET', '/api/v1/app/plan', { key })).body.plan
  const budget = async (name: string): Promise<Budget> => {
    const { quotas, caps } = await read()
    return [...quotas, ...caps].find((one: Budget) => one.key === name)
  }
  const before = await read()
  expect(before).toMatchObject({ name: 'team', billing: 'ok' })
  expect(before.quotas.map((one: Budget) => one.key)).toEqual(Object.keys(plans.team.quotas))
  expect(before.caps.map((one: Budget) => one.key)).toEqual(Object.keys(plans.team.caps))
  await setUsed(app, tenantId, { key: 'reports', used: 3, period: monthOf(new Date()) })
  const reports = await budget('reports')
  expect(reports).toMatchObject({
    used: 3,
    limit: plans.team.quotas.reports,
    period: monthOf(new Date()),
  })
  expect(new Date(reports.resets_at).getUTCDate()).toBe(1)
  await setPlan(app, tenantId, { billing: 'trial_expired', overrides: { reports: 1 } })
  expect(await budget('reports')).toMatchObject({ used: 3, limit: 1 })
  expect((await read()).billing).toBe('trial_expired')
})
