/** What a direct call shows once is nowhere else: neither in its job nor in anything that keeps it. */
import { expect, test } from 'bun:test'
import { newSurface } from '#test/support/agent-surface'
import { useApp } from '#test/support/use'

const app = useApp()

/** The tables of the workspace in which the text stands as it is. */
const tablesWith = async (text: string): Promise<string[]> => {
  const tables = await app.owner<{ name: string }[]>`select relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind = 'r' order by relname`
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await app.owner`select 1 from ${app.owner(name)} t where position(${text} in t::text) > 0 limit 1`
    if (row) found.push(name)
  }
  return found
}

test('the secret of a rule goes to its caller, and to the same caller again under the key', async () => {
  const { key, tenantId, send } = await newSurface(app)
  const call = (by: string) =>
    app.send('POST', '/api/v1/actions/create_webhook_rule', {
      ...{ key: by, body: { name: 'Orders', goal: 'Draft a post about the order' } },
      headers: { 'idempotency-key': 'once' },
    })
  const [first, second] = [await call(key), await call(key)]
  const { secret } = (first.body as { result: { secret: string } }).result
  expect([first.status, secret, second.text]).toEqual([200, expect.stringMatching(/^whsec_/), first.text])
  const { api_key: other } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  expect((await call(other)).status).toBe(422)
  const [job] = (await send('GET', 'jobs?kind=action')).body.jobs
  const { text } = await send('GET', `jobs/${job.id}`)
  expect([text.includes('shown to the person'), text.includes(secret)]).toEqual([true, false])
  expect(await tablesWith(secret)).toEqual([])
  expect(await tablesWith(job.id)).toContain('agent_job')
})
