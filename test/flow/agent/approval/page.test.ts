/** The page of an approval over HTTP: what it shows, who can decide, and what a decision does. */
import { afterEach, describe, expect, test } from 'bun:test'
import type { Approval } from '#domain/agent/job/approval'
import { overJob, turn, waitingJob } from '#test/support/agent/agent'
import { makeApproval } from '#test/support/agent/records'
import { createVisitor, signedInVisitor } from '#test/support/http/visitor'
import { scriptedModel } from '#test/support/model/scripted-model'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const NOTE = 'Posts with numbers work'
const model = scriptedModel((_, answers) =>
  answers === 0
    ? { calls: [['growth_add_learning', { kind: 'worked', note: NOTE }]] }
    : { text: 'Done.' },
)
const app = useApp({ overrides: { thinker: model } })
afterEach(() => forgetAttempts(app))

const TEXT = 'Ship on Friday,\n\n  <b>rest</b> on Sunday. 🎉'
const SHA = '0123456789abcdef'.repeat(4)
const posting = {
  tool_name: 'growth_approve_item',
  summary: 'Approve the draft "Ship on Friday"',
  subject: { records: [], account: 'tendril_test', text: TEXT, sha256: SHA },
  why: ['publishes', 'untrusted: signal'],
}
const waiting = async (changes: Partial<Approval> = {}, tenantId = app.tenantId) => {
  const { id } = await makeApproval({ app, tenantId }, changes)
  return { id, path: `/approvals/${id}` }
}
const statusOf = async (id: string) =>
  (await app.owner`select status from agent_approval where id = ${id}`)[0]!.status

describe('the page of an approval', () => {
  test('leads through sign-in to what would go out, why it is asked, and what the agent has read', async () => {
    const { id, path } = await waiting(posting)
    await app.owner`update agent_job set taint = ${['fetch_url example.org']}
      where id = (select job_id from agent_approval where id = ${id})`
    const { email } = await joinAs(app)
    const one = createVisitor(app)
    const to = (await one.get(path)).location!
    expect(to).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    expect((await one.send('/sign-in', { email, password: PASSWORD, next: path })).location).toBe(
      path,
    )
    const { status, text, headers } = await one.get(path)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).not.toMatch(/<script|\son\w+=|style="/i)
    const shown = [
      ...[
        '<h1>Approve this?</h1>',
        'Approve the draft &quot;Ship on Friday&quot;',
        '<dd>01234567</dd>',
        '<dd>@tendril_test</dd>',
      ],
      ...[
        '>Ship on Friday,\n\n  &lt;b&gt;rest&lt;/b&gt; on Sunday. 🎉</dd>',
        'It publishes, now or at the time that it names',
        '<dd>fetch_url example.org</dd>',
      ],
      ...[
        'people outside the workspace wrote',
        '<dd>Test</dd>',
        'growth_approve_item',
        'What is late?',
        'The agent has read text from outside: signal',
      ],
    ]
    for (const part of shown) expect(text).toContain(part)
    expect(text).not.toContain(SHA)
  })

  test('is the same for unknown ids, for no ids and for those of other workspaces', async () => {
    const { one } = await signedInVisitor(app)
    const foreign = await waiting(posting, (await app.newWorkspace()).tenantId)
    const pages = [
      foreign.path,
      '/approvals/01890000-0000-7000-8000-000000000000',
      '/approvals/x',
      '/approvals/%22%3E%3Cscript%3E',
    ]
    const replies = await Promise.all(pages.map((page) => one.get(page)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([404]))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(replies[0]!.text).toContain('Approval not found')
    expect(replies[0]!.text).not.toContain('Friday')
    for (const decision of ['approve', 'reject']) {
      const sent = await one.send(foreign.path, { decision, arguments: '{}' })
      expect([sent.status, sent.text]).toEqual([404, replies[0]!.text])
    }
    expect(await statusOf(foreign.id)).toBe('pending')
  })

  test('tells a member who cannot make the call why they cannot decide, and takes no decision', async () => {
    const { id, path } = await waiting(posting)
    await signedInVisitor(app, { role: 'approver' })
    const { one } = await signedInVisitor(app, { role: 'viewer' })
    const { text } = await one.get(path)
    expect(text).toMatch(/your role is viewer\. Here owners and approvers can decide: \S/)
    expect(text).not.toContain('<form')
    for (const decision of ['approve', 'reject']) {
      const sent = await one.send(path, { decision, arguments: '{}' })
      expect([sent.status, sent.text]).toEqual([403, expect.stringContaining('role="alert"')])
    }
    expect(await statusOf(id)).toBe('pending')
  })

  test('takes no form that another page submits', async () => {
    const { id, path } = await waiting()
    const { one } = await signedInVisitor(app)
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
    ])
      expect(
        (await one.send(path, { decision: 'approve', arguments: '{}' }, headers as never)).status,
      ).toBe(403)
    expect(await statusOf(id)).toBe('pending')
  })

  test('rejects with a reason, and says who decided', async () => {
    const { path, id } = await waiting()
    const { one } = await signedInVisitor(app)
    const long = await one.send(path, { decision: 'reject', reason: 'x'.repeat(501) })
    expect([long.status, long.text]).toEqual([
      400,
      expect.stringContaining('<a href="#reason">Reason'),
    ])
    expect(await statusOf(id)).toBe('pending')
    expect(
      (await one.send(path, { decision: 'reject', reason: 'Not <i>today</i>' })).location,
    ).toBe(path)
    const { text } = await one.get(path)
    for (const part of [
      '<h1>Rejected</h1>',
      'Rejected by Ann, <time',
      'Not &lt;i&gt;today&lt;/i&gt;',
    ])
      expect(text).toContain(part)
    expect(text).not.toContain('<form')
    const late = await one.send(path, { decision: 'approve', arguments: '{}' })
    expect([late.status, late.text]).toEqual([409, expect.stringContaining('already rejected')])
  })

  test('keeps arguments that cannot be used, and says at the field what is wrong', async () => {
    const { path, id } = await waiting({
      tool_name: 'growth_add_learning',
      arguments: { kind: 'worked', note: NOTE },
    })
    const { one } = await signedInVisitor(app)
    const wrong = {
      '{"kind"': 'Arguments must be a JSON object',
      '[]': 'Arguments must be a JSON object',
      '': 'must be a JSON object',
    }
    for (const [typed, says] of Object.entries({
      ...wrong,
      '{"kind":"worked"}': 'Arguments note',
    })) {
      const { status, text } = await one.send(path, { decision: 'approve', arguments: typed })
      expect([typed, status, text]).toEqual([
        typed,
        400,
        expect.stringContaining(`<a href="#arguments">`),
      ])
      expect(text).toContain(says)
      if (typed !== '') expect(text).toContain(`\n${Bun.escapeHTML(typed)}</textarea>`)
    }
    expect(await statusOf(id)).toBe('pending')
  })

  test('says that a pending one has expired, and approves it no more', async () => {
    const { path, id } = await waiting({ expires_at: new Date(Date.now() - 60_000) })
    const { one } = await signedInVisitor(app)
    const { text } = await one.get(path)
    expect(text).toContain('<h1>Not decided in time</h1>')
    expect(text).not.toContain('<form')
    expect((await one.send(path, { decision: 'approve', arguments: '{}' })).text).toContain(
      'the time to decide is over',
    )
    expect(await statusOf(id)).toBe('pending')
  })

  test.each([
    ['expiry', 'Nobody decided in time'],
    ['cancel', "The agent's job ended before anyone decided"],
    ['stale', 'changed after it was shown'],
  ] as const)('says why it is rejected when nobody did it: %s', async (decided_how, says) => {
    const { path } = await waiting({ status: 'rejected', decided_how, decided_at: new Date() })
    const { one } = await signedInVisitor(app)
    expect((await one.get(path)).text).toContain(says)
  })
})

test('an approved call is made with the arguments of the person, and the link is in the record, the event and the webhook', async () => {
  const { one, access } = await signedInVisitor(app)
  await app.send('PUT', '/api/v1/agent/tool-rules/growth_add_learning', {
    key: access,
    body: { decision: 'ask' },
  })
  const { id: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  const jobId = await turn(app, {
    content: 'note it',
    by: { kind: 'key', id: key, personId: null },
  })
  await waitingJob(app, jobId)
  const { body } = await app.send('GET', `/api/v1/agent/jobs/${jobId}`, { key: access })
  const [{ id, url, job }] = body.approvals
  const { publicUrl } = app.workplace.world.identity
  expect([url, job]).toEqual([
    `${publicUrl}/approvals/${id}`,
    { id: jobId, goal: 'note it', taint: [] },
  ])
  expect(
    (await app.send('GET', `/api/v1/agent/approvals/${id}`, { key: access })).body.approval,
  ).toEqual(body.approvals[0])
  const path = `/approvals/${id}`
  expect((await one.get(path)).text).toContain('A rule of this workspace asks for it')
  const edited = JSON.stringify({ kind: 'worked', note: 'Posts with questions work' })
  expect((await one.send(path, { decision: 'approve', arguments: edited })).location).toBe(path)
  expect((await one.get(path)).text).toContain('Approved with changed arguments by Ann, <time')
  expect((await overJob(app, jobId)).status).toBe('completed')
  expect([...(await app.owner`select note from learning`)]).toEqual([
    { note: 'Posts with questions work' },
  ])
  const told = await app.owner`select data->>'url' as url from agent_event where job_id = ${jobId}
      and type = 'approval.requested'`
  const sent =
    await app.owner`select data->>'url' as url from outbox where type = 'growth.approval.requested'`
  expect([[...told], [...sent]]).toEqual([[{ url }], [{ url }]])
})
