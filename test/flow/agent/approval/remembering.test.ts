/**
 * What a person allows from now on: a tool that writes outside, as it was shown, and hosts whose
 * pages are read unasked.
 */
import { beforeEach, expect, test } from 'bun:test'
import { jobOf, overJob, turn, waitingJob } from '#test/support/agent/agent'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { plannedModel, planText } from '#test/support/agent/plan'
import { openReceiver } from '#test/support/http/receiver'
import { signedIn } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const notes: string[] = []
const send = async (text: string): Promise<void> => void notes.push(text)
const site = use(openReceiver)
beforeEach(() => {
  site.requests.length = 0
  site.answer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Parcels' }
})
const host = () => `127.0.0.1:${site.port}`
const app = useApp(() => ({
  overrides: { thinker: plannedModel(), tools: withOutside(send) },
  env: { EGRESS_ALLOW: host() },
}))

const asking = async (
  name: string,
  args: Record<string, unknown>,
  tenantId = app.tenantId,
): Promise<string> => {
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  return turn(app, {
    content: planText([[[name, args]]]),
    by: { kind: 'key', id, personId: null },
    tenantId,
  })
}
const noting = (text: string) => asking(OUTSIDE, { text })
const reading = (path: string, tenantId: string) =>
  asking('fetch_url', { url: `${site.url}${path}` }, tenantId)

const asked = async (job: string): Promise<string> => {
  await waitingJob(app, job)
  return (
    await app.owner<{ id: string }[]>`select id from agent_approval where job_id = ${job}`
  )[0]!.id
}

test('a remembered approval allows equal tools, and no tool whose definition has changed', async () => {
  const first = await noting('one')
  const { key } = await signedIn(app, app.tenantId, 'owner')
  const approve = await app.send('POST', `/api/v1/agent/approvals/${await asked(first)}/approve`, {
    key,
    body: { remember: 'workspace' },
  })
  expect(approve.status).toBe(200)
  await overJob(app, first)
  await overJob(app, await noting('two'))
  expect(notes).toEqual(['one', 'two'])
  await app.owner`update agent_tool_rule set definition_hash = 'of another definition'
    where tool_name = ${OUTSIDE}`
  await asked(await noting('three'))
  expect(notes).toEqual(['one', 'two'])
})

/** A job that asks for one page, and how a person decides. */
const askedFor = async (path: string, tenantId: string) => {
  const job = await reading(path, tenantId)
  const id = await asked(job)
  const decide = (key: string, body: object) =>
    app.send('POST', `/api/v1/agent/approvals/${id}/approve`, { key, body })
  return { job, decide }
}

test('a host that a person allows from now on is read unasked, until the rule is removed', async () => {
  const { tenantId } = await app.newWorkspace()
  const { key: approver } = await signedIn(app, tenantId, 'approver')
  const { job, decide } = await askedFor('first', tenantId)
  expect((await decide(approver, { remember: 'workspace' })).status).toBe(200)
  await overJob(app, job)
  expect((await overJob(app, await reading('second', tenantId))).status).toBe('completed')
  const elsewhere = await reading('third', (await app.newWorkspace()).tenantId)
  await asked(elsewhere)
  expect(site.requests.map(({ url }) => url)).toEqual(['/first', '/second'])
  const hostsOf = async () =>
    (await app.send('GET', '/api/v1/agent/tools', { key: approver })).body.tools.find(
      ({ name }: { name: string }) => name === 'fetch_url',
    ).hosts
  expect(await hostsOf()).toEqual([host()])
  const [audited] = await app.owner`select detail from audit where tenant_id = ${tenantId}
      and operation = 'agent.approvals.approve'`
  expect(audited!.detail).toMatchObject({ tool: 'fetch_url', remember: 'workspace' })
  const removed = await app.send('DELETE', `/api/v1/agent/tool-rules/fetch_url:${host()}`, {
    key: approver,
  })
  expect([removed.status, removed.body.tool.hosts, await hostsOf()]).toEqual([200, [], []])
  await asked(await reading('fourth', tenantId))
  expect(site.requests).toHaveLength(2)
})

test('only owners and approvers allow a host from now on, and only for what can be remembered', async () => {
  const { tenantId } = await app.newWorkspace()
  const { job, decide } = await askedFor('', tenantId)
  for (const role of ['editor', 'viewer'] as const)
    expect(
      (await decide((await signedIn(app, tenantId, role)).key, { remember: 'workspace' })).status,
    ).toBe(403)
  const { key: owner } = await signedIn(app, tenantId, 'owner')
  for (const remember of ['job', true, null])
    expect((await decide(owner, { remember })).status).toBe(400)
  expect((await jobOf(app, job)).status).toBe('waiting_approval')
  expect(await app.owner`select 1 from agent_tool_rule where tenant_id = ${tenantId}`).toHaveLength(
    0,
  )

  const commit = await asking('growth_resume_automation', {}, tenantId)
  const remembering = await app.send(
    'POST',
    `/api/v1/agent/approvals/${await asked(commit)}/approve`,
    {
      key: owner,
      body: { remember: 'workspace' },
    },
  )
  expect([remembering.status, remembering.body.error?.details?.[0]?.path]).toEqual([
    400,
    'remember',
  ])
})

test('people allow at most a hundred hosts', async () => {
  const { tenantId } = await app.newWorkspace()
  await app.owner`insert into agent_tool_rule (id, tenant_id, tool_name, decision,
    set_by, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, 'fetch_url:h' || n || '.example', 'allow',
      gen_random_uuid(), now(), now() from generate_series(1, 100) n`
  const { job, decide } = await askedFor('', tenantId)
  const { key: owner } = await signedIn(app, tenantId, 'owner')
  expect((await decide(owner, { remember: 'workspace' })).status).toBe(409)
  expect((await decide(owner, {})).status).toBe(200)
  await overJob(app, job)
})
